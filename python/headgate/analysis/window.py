"""Whether a result's window is long enough: did the warm-up suffice, and how many independent samples has a seed?

The queue length at the bottleneck and the goodput of each group are compared between the halves of the window, for each
discipline (`analysis.steadiness`). All comparisons are one family of tests (Holm).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from headgate import style
from headgate.analysis import steadiness
from headgate.analysis.columns import ColumnArrays
from headgate.analysis.data import bottleneck, qdiscs
from headgate.analysis.repeats import repeats
from headgate.analysis.schedule import scheduled
from headgate.analysis.significance import holm
from headgate.analysis.steadiness import ALPHA, LEAST_SAMPLES, Array, Drift, drift
from headgate.files.result_tables import ResultTables

#: Drifts of less than this share of the window's mean are not reported.
LEAST_DRIFT = 0.05
#: Drifts of a queue length below this are not reported, in packets.
LEAST_PACKETS = 1.0

QUEUE, GOODPUT = "queue_packets", "goodput_bps"


class WindowVerdict(Enum):
    """Whether the warm-up of a result sufficed."""

    ENOUGH = "enough"
    TOO_SHORT = "too short"
    UNKNOWN = "cannot be told"
    SCHEDULED = "scheduled changes"


class SeriesDrift(NamedTuple):
    """A series over time under one discipline, one of each seed with warm-up, and its drift; None if it is not known.

    `of` is the quantity. `p` is corrected for the number of all series. `least` is the smallest change that is reported.
    """

    label: str
    of: str
    whole: Sequence[Array]
    drift: Drift | None
    least: float
    p: float = 1.0

    @property
    def told(self) -> bool:
        """Whether the window is long enough to tell a drift from chance."""
        return self.drift is not None and self.drift.told

    @property
    def shown(self) -> bool:
        """Whether a drift that matters is shown."""
        if self.drift is None or self.p >= ALPHA:
            return False
        return abs(self.drift.relative) >= LEAST_DRIFT and abs(self.drift.change) >= self.least


class WindowCheck(NamedTuple):
    """The verdict on a result's window, and the same in a sentence."""

    verdict: WindowVerdict
    sentence: str


def check(result: ResultTables) -> WindowCheck:
    """Checks the window of a result. Seeds that gave the same run count once."""
    if change := scheduled(result):
        return WindowCheck(
            WindowVerdict.SCHEDULED,
            f"By the scenario's schedule {change}. The window thus has no steady state, and its warm-up was not tested.",
        )
    every = _corrected(list(_series(result)))
    shown = [each for each in every if each.shown]
    if shown:
        return WindowCheck(WindowVerdict.TOO_SHORT, _too_short(result, min(shown, key=lambda each: each.p)))
    if untold := [each for each in every if not each.told]:
        return WindowCheck(WindowVerdict.UNKNOWN, _unknown(untold, len(every)))
    least = min(every, key=_samples)
    return WindowCheck(
        WindowVerdict.ENOUGH,
        f"The warm-up of {style.number(result.scenario.warmup_s)} s sufficed: neither queue length nor goodput is shown to "
        f"drift between the halves of the window. A seed holds at least {math.floor(_samples(least))} independent "
        f"samples ({least.of} with {least.label}).",
    )


def _samples(each: SeriesDrift) -> float:
    """The independent samples of a series; 0 if they cannot be told."""
    return 0.0 if each.drift is None or each.drift.samples is None else each.drift.samples


def _series(result: ResultTables) -> Iterator[SeriesDrift]:
    """The drift of every tested series."""
    looks = style.looks(qdiscs(result))
    intervals = ColumnArrays.of(result, "intervals")
    for qdisc, places in repeats(result).items():
        seeds = [result.scenario.seeds[place] for place in dict.fromkeys(places)]
        mine = intervals.where(qdisc=qdisc)
        label = looks[qdisc].label
        yield _one(label, "queue length", bottleneck(result, mine.where(metric=QUEUE)), seeds, result, LEAST_PACKETS)
        goodput = mine.where(metric=GOODPUT)
        for name in dict.fromkeys(group.name for group in result.scenario.groups):
            yield _one(label, f"goodput of “{name}”", goodput.where(group=name), seeds, result, 0.0)


def _one(
    label: str, of: str, rows: ColumnArrays, seeds: Sequence[int], result: ResultTables, least: float
) -> SeriesDrift:
    each = [_in_time(rows.of_seed(seed)) for seed in seeds]
    whole = [values for _, values in each]
    windows = [values[times > result.scenario.warmup_s] for times, values in each]
    return SeriesDrift(label, of, whole, drift(windows), least)


def _in_time(rows: ColumnArrays) -> tuple[Array, Array]:
    """The times, and at each the sum of the values: groups of both protocols may have one name."""
    times, index = np.unique(rows["time_s"], return_inverse=True)
    return times, np.bincount(index, weights=rows["value"], minlength=len(times)).astype(np.float64)


def _corrected(every: list[SeriesDrift]) -> list[SeriesDrift]:
    corrected = holm([1.0 if each.drift is None else each.drift.p for each in every])
    return [each._replace(p=p) for each, p in zip(every, corrected, strict=True)]


def _too_short(result: ResultTables, worst: SeriesDrift) -> str:
    assert worst.drift is not None
    rises = "rises" if worst.drift.change > 0 else "falls"
    by = style.number(100 * abs(worst.drift.relative), 2)
    return (
        f"The warm-up of {style.number(result.scenario.warmup_s)} s is too short: with {worst.label}, the {worst.of} "
        f"{rises} by {by} % of its mean from the first to the second half of the window. {_remedy(result, worst)}."
    )


def _remedy(result: ResultTables, worst: SeriesDrift) -> str:
    """A longer warm-up (MSER-5 of the mean over seeds), or a longer run if none is found within it."""
    scenario = result.scenario
    mean = np.mean(worst.whole, axis=0)
    cut = steadiness.mser(mean)
    seconds = 0.0 if cut is None else cut * scenario.duration_s / len(mean)
    if seconds <= scenario.warmup_s:
        return "Make the run longer, and the warm-up with it"
    return f"About {style.number(math.ceil(seconds), 2)} s would suffice (MSER-5): warmup = \"{math.ceil(seconds)}s\""


def _unknown(untold: Sequence[SeriesDrift], tests: int) -> str:
    worst = min(untold, key=_samples)
    holds = "is too short to count independent samples"
    if count := math.floor(_samples(worst)):
        holds = f"holds about {count} independent samples a seed, and at least {LEAST_SAMPLES} are needed"
    others = f" (and {len(untold) - 1} more of {tests} series)" if len(untold) > 1 else ""
    return (
        f"Whether the warm-up sufficed cannot be told: the window of the {worst.of} with {worst.label} {holds}{others}. "
        "Make the run longer, or record.interval shorter."
    )
