"""Histograms from the tables, and their quantiles."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.analysis.columns import ColumnArrays
from headgate.analysis.spread import Estimate, estimate

Array = npt.NDArray[np.float64]

QUANTILES = {"min": 0.0, "p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}


def place(share: float, count: float) -> int:
    """The place of the quantile `share` (0 to 1) among `count` values in ascending order, from 0.

    The quantile is the least value that more than this share of the values do not exceed, and 1 is the greatest value.
    It is always one of the values. The core has the same rule (`Histogram::quantile`).
    """
    return min(int(share * count), int(count) - 1)


def quantile(values: Array, share: float) -> float:
    """The quantile of values one by one; NaN without a value."""
    return float(np.sort(values)[place(share, len(values))]) if len(values) else math.nan


class BinnedValues(NamedTuple):
    """A histogram: the middles of its bins, ascending, and their counts."""

    values: Array
    counts: Array

    def mean(self) -> float | None:
        """The mean; None without a value."""
        return float((self.values * self.counts).sum() / self.counts.sum()) if len(self.values) else None

    def quantile(self, share: float) -> float | None:
        """The quantile; None without a value."""
        if not len(self.values):
            return None
        below = np.cumsum(self.counts)
        return float(self.values[int(np.searchsorted(below, place(share, below[-1]), side="right"))])

    def minus(self, least: float) -> "BinnedValues":
        """The histogram with `least` subtracted from every value."""
        return BinnedValues(self.values - least, self.counts)


def histogram(table: pa.Table | ColumnArrays, value: str) -> BinnedValues:
    """The histogram in the rows of `table`; bins with the same middle are added."""
    rows = table if isinstance(table, ColumnArrays) else ColumnArrays(table)
    return merged([BinnedValues(rows[value], rows["count"])])


def merged(parts: Iterable[BinnedValues]) -> BinnedValues:
    """One histogram of all values in `parts`; bins with the same middle are added."""
    every = list(parts)
    middles, index = np.unique(np.concatenate([each.values for each in every]), return_inverse=True)
    counts = np.bincount(index, weights=np.concatenate([each.counts for each in every]), minlength=len(middles))
    return BinnedValues(middles, counts.astype(np.float64))


def by_seed(table: pa.Table | ColumnArrays, value: str, seeds: Iterable[int]) -> list[BinnedValues]:
    """One histogram for each seed."""
    rows = table if isinstance(table, ColumnArrays) else ColumnArrays(table)
    return [histogram(rows.of_seed(seed), value) for seed in seeds]


def estimates(histograms: Iterable[BinnedValues], *parts: str) -> dict[str, Estimate]:
    """An estimate for each of `parts` (`mean`, or a key of QUANTILES), from one histogram per seed."""
    per_seed = list(histograms)
    return {
        part: estimate(each.mean() if part == "mean" else each.quantile(QUANTILES[part]) for each in per_seed)
        for part in parts
    }
