"""Whether a series over time is steady: its independent samples, and the drift between the halves of its window.

Values of neighboring intervals are correlated: a long queue stays long for a while. A window of n intervals with the
autocorrelation time t tells as much as n / t independent values (`samples`).

The drift is the difference of the means of both halves. Five different seeds show one by the spread of their own
differences. Fewer seeds need the variance within a run, which follows from the autocorrelation time (`long_run`).

The autocorrelation time is the sum of the autocorrelations at all lags. Their estimates at long lags are noise, so the
sum ends where pairs of neighboring lags fall to 0 (Geyer, Statistical Science 7, 1992, section 3.3). It comes from
second halves alone, less their linear trends: a transient or a ramp would otherwise hide itself in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headgate.analysis.significance import LEAST_SEEDS, rounding, t_test
from headgate.analysis.spread import within

Array = npt.NDArray[np.float64]

#: The least number of intervals in a window of which anything can be told.
LEAST_INTERVALS = 100
#: The least number of independent samples in a seed's window. With fewer, autocorrelation times are underestimated.
LEAST_SAMPLES = 30
#: The factor of p-values by variances within runs, whose autocorrelation times are estimates. With it, steady series
#: drift in at most 5 % of results (docs/window_rates.py).
DOUBT = 2.5
#: The intervals in a batch of MSER-5.
BATCH = 5


class LongRun(NamedTuple):
    """The correlation of a steady series.

    The mean of n intervals has a variance of `variance` / n. `time` is the autocorrelation time in intervals, at least
    1. `lags` is the number of lags on either side that were summed, and lag 0.
    """

    variance: float
    time: float
    lags: int


class Drift(NamedTuple):
    """The difference of the means of the second and the first half of a window, over all seeds.

    `mean` is that of the window. `samples` is the number of independent values that a seed's window holds, None if it
    is too short to tell. `p` is the probability of so large a change if the series is steady; 1 if nothing can be told.
    """

    change: float
    mean: float
    samples: float | None
    p: float

    @property
    def relative(self) -> float:
        """The change over the window's mean; 0 if that is 0."""
        return self.change / abs(self.mean) if self.mean else 0.0

    @property
    def told(self) -> bool:
        """Whether the window is long enough to tell a drift from chance."""
        return self.samples is not None and self.samples >= LEAST_SAMPLES


def long_run(parts: Sequence[Array]) -> LongRun | None:
    """The correlation of series of equal length about their linear trends; None if they are too short to tell."""
    length = len(parts[0])
    covariances = np.mean([_autocovariances(part) for part in parts], axis=0)
    if covariances[0] <= 1e-18 * max(float(np.max(np.square(part))) for part in parts):
        return LongRun(0.0, 1.0, 1)
    pairs = covariances[0 : length - 1 : 2] + covariances[1:length:2]
    positive = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else len(pairs)
    pairs = np.minimum.accumulate(pairs[: max(1, positive)])
    lags = 4 * len(pairs) - 1
    if 4 * lags > length:
        return None
    total = max(2 * float(pairs.sum()) - covariances[0], covariances[0])
    # Deviations from a fitted line are too small, at each lag by the variances of the fitted mean and slope.
    variance = total / (1 - 2 * lags / length)
    return LongRun(variance, max(1.0, variance / (covariances[0] + 2 * variance / length)), lags)


def _autocovariances(part: Array) -> Array:
    """The autocovariances at all lags, by Fourier transforms (Wiener and Khinchin)."""
    length = len(part)
    size = 1 << (2 * length - 1).bit_length()
    at = np.linspace(-1, 1, length)
    spectrum = np.fft.rfft(part - part.mean() - at * (at @ part / (at @ at)), size)
    found: Array = np.fft.irfft(spectrum * np.conj(spectrum), size)[:length] / length
    return found


def samples(series: Array) -> float | None:
    """The independent samples that a window holds, at most one an interval; None if the window is too short to tell."""
    if not _can_be_told([series]):
        return None
    found = long_run([series[-(len(series) // 2) :]])
    return None if found is None else len(series) / found.time


def drift(seeds: Sequence[Array]) -> Drift | None:
    """The drift between the halves of a window, one series a seed; None without series of values."""
    if not _can_be_told(seeds, 2):
        return None
    half = len(seeds[0]) // 2
    changes = [float(series[-half:].mean() - series[:half].mean()) for series in seeds]
    mean, change = float(np.mean(seeds)), float(np.mean(changes))
    found = long_run([series[-half:] for series in seeds]) if _can_be_told(seeds) else None
    count = None if found is None else len(seeds[0]) / found.time
    if len(seeds) >= LEAST_SEEDS:
        return Drift(change, mean, count, t_test(changes, size=abs(mean), floor=math.fsum(rounding(changes))).p)
    if found is None or len(seeds[0]) < LEAST_SAMPLES * found.time:
        return Drift(change, mean, count, 1.0)
    return Drift(change, mean, count, min(1.0, DOUBT * _p_within_runs(change, mean, found, half, len(seeds))))


def _p_within_runs(change: float, mean: float, found: LongRun, half: int, seeds: int) -> float:
    """The p-value of a change by the variance within runs (Student's t).

    A sum over 2m + 1 lags of n intervals has n / (2m + 1) degrees of freedom (Bartlett, Nature 161, 1948).
    """
    error = math.sqrt(2 * found.variance / half / seeds)
    if error == 0:
        return 0.0 if abs(change) > 1e-9 * abs(mean) else 1.0
    return 1 - within(abs(change) / error, max(1, seeds * half // found.lags))


def _can_be_told(seeds: Sequence[Array], least: int = LEAST_INTERVALS) -> bool:
    """Whether there are series of enough intervals, all with values."""
    return (
        len(seeds) > 0
        and min(map(len, seeds)) >= least
        and len(set(map(len, seeds))) == 1
        and all(bool(np.isfinite(series).all()) for series in seeds)
    )


def mser(series: Array) -> int | None:
    """The intervals to cut off, so that the mean of the rest has the least standard error; None for half or more.

    The rule is MSER-5 (White, Simulation 69, 1997; White, Cobb and Spratt, Winter Simulation Conference 2000): it takes
    means of five intervals, and their variance as if they were independent.
    """
    count = len(series) // BATCH
    if count < 4:
        return None
    means = series[: count * BATCH].reshape(count, BATCH).mean(axis=1)
    errors = [float(means[cut:].var() / (count - cut)) for cut in range(count - 1)]
    best = int(np.argmin(errors[: count // 2 + 1]))
    return best * BATCH if 2 * best < count else None
