"""Whether a result's window is long enough: is it steady, and how many independent samples does a seed hold?

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
from headgate.analysis.metrics.views import over_time
from headgate.analysis.repeats import repeats
from headgate.analysis.schedule import scheduled
from headgate.analysis.significance import ALPHA, holm
from headgate.analysis.steadiness import LEAST_SAMPLES, Array, Drift, drift
from headgate.files.result_tables import ResultTables

#: Drifts of less than this share of the window's mean are not reported.
LEAST_DRIFT = 0.05
#: Drifts of a queue length below this are not reported, in packets.
LEAST_PACKETS = 1.0
#: Drifts of a goodput below this share of the link's rate are not reported.
LEAST_RATE = 0.02

QUEUE, GOODPUT = "queue_packets", "goodput_bps"


class WindowVerdict(Enum):
    """Whether the window of a result is long enough."""

    ENOUGH = "enough"
    TOO_SHORT = "too short"
    UNKNOWN = "cannot be told"
    SCHEDULED = "scheduled changes"


class SeriesDrift(NamedTuple):
    """A series over time under one discipline, one of each seed with warm-up, and its drift; None if it is not known.

    `of` is the quantity. `p` is corrected for the number of all series. `least` is the least change that is reported.
    `deviation` is that of all values in the window.
    """

    label: str
    of: str
    whole: Sequence[Array]
    drift: Drift | None
    least: float
    deviation: float
    p: float = 1.0

    @property
    def told(self) -> bool:
        """Whether the window is long enough to tell a drift from chance, or varies too little for one that matters."""
        return self.drift is not None and (self.drift.told or self.negligible)

    @property
    def negligible(self) -> bool:
        """Whether the series varies too little for a reported drift: halves differ by at most two deviations."""
        mean = 0.0 if self.drift is None else abs(self.drift.mean)
        return 2 * self.deviation < max(self.least, LEAST_DRIFT * mean)

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
            f"By the scenario's schedule {change}. The window has no steady state, so its warm-up was not tested.",
        )
    every = corrected([each for each in _series(result) if any(map(len, each.whole))])
    if not every:
        return WindowCheck(
            WindowVerdict.UNKNOWN, "Whether the window is long enough cannot be told: nothing was recorded over time."
        )
    shown = [each for each in every if each.shown]
    if shown:
        return WindowCheck(WindowVerdict.TOO_SHORT, _too_short(result, min(shown, key=lambda each: each.p)))
    if untold := [each for each in every if not each.told]:
        return WindowCheck(WindowVerdict.UNKNOWN, _unknown(untold, len(every)))
    return WindowCheck(WindowVerdict.ENOUGH, _enough(result, every))


def _enough(result: ResultTables, every: Sequence[SeriesDrift]) -> str:
    text = (
        f"The window is long enough: after the warm-up of {style.number(result.scenario.warmup_s)} s, neither queue "
        "length nor goodput is shown to drift between its halves."
    )
    counted = [each for each in every if not each.negligible]
    if not counted:
        return text
    least = min(counted, key=_samples)
    count = math.floor(_samples(least))
    return f"{text} A seed holds at least {count} independent samples ({least.of} with {least.label})."


def _samples(each: SeriesDrift) -> float:
    """The independent samples of a series; 0 if they cannot be told."""
    return 0.0 if each.drift is None or each.drift.samples is None else each.drift.samples


def _series(result: ResultTables) -> Iterator[SeriesDrift]:
    """The drift of every tested series."""
    looks = style.looks(qdiscs(result))
    intervals = ColumnArrays.of(result, "intervals")
    least_bps = LEAST_RATE * result.scenario.rate_bps
    for qdisc, places in repeats(result).items():
        seeds = [result.scenario.seeds[place] for place in dict.fromkeys(places)]
        mine = intervals.where(qdisc=qdisc)
        label = looks[qdisc].label
        yield _one(label, "queue length", bottleneck(result, mine.where(metric=QUEUE)), seeds, result, LEAST_PACKETS)
        goodput = mine.where(metric=GOODPUT)
        for name in dict.fromkeys(group.name for group in result.scenario.groups):
            yield _one(label, f"goodput of “{name}”", goodput.where(group=name), seeds, result, least_bps)


def _one(
    label: str, of: str, rows: ColumnArrays, seeds: Sequence[int], result: ResultTables, least: float
) -> SeriesDrift:
    each = [over_time(rows.of_seed(seed)) for seed in seeds]
    whole = [values for _, values in each]
    windows = [values[times > result.scenario.warmup_s] for times, values in each]
    values = np.concatenate(windows)
    deviation = float(np.std(values)) if len(values) else 0.0
    return SeriesDrift(label, of, whole, drift(windows), least, deviation)


def corrected(every: list[SeriesDrift]) -> list[SeriesDrift]:
    """The series with p-values that are corrected for their number (Holm)."""
    p_values = holm([1.0 if each.drift is None else each.drift.p for each in every])
    return [each._replace(p=p) for each, p in zip(every, p_values, strict=True)]


def _too_short(result: ResultTables, worst: SeriesDrift) -> str:
    relative = 0.0 if worst.drift is None else worst.drift.relative
    return (
        f"The window is not long enough: with {worst.label}, the {worst.of} {'rises' if relative > 0 else 'falls'} by "
        f"{style.number(100 * abs(relative), 2)} % of its mean from the first to the second half. "
        f"{_remedy(result, worst)}."
    )


def _remedy(result: ResultTables, worst: SeriesDrift) -> str:
    """A longer warm-up (MSER-5 of the mean over seeds), or a longer run if none is found within it."""
    scenario = result.scenario
    mean = np.mean(worst.whole, axis=0)
    cut = steadiness.mser(mean)
    # Runs of data centers take milliseconds.
    unit, scale = ("s", 1) if scenario.duration_s >= 1 else ("ms", 1000)
    amount = 0 if cut is None else math.ceil(cut * scenario.duration_s * scale / len(mean))
    if amount <= scenario.warmup_s * scale:
        return "Make the run longer, and the warm-up with it"
    return f'A longer warm-up leaves out the transient (MSER-5): warmup = "{amount}{unit}"'


def _unknown(untold: Sequence[SeriesDrift], tests: int) -> str:
    worst = min(untold, key=_samples)
    samples = f"independent samples of the {worst.of} with {worst.label}"
    found = f"it is too short to count {samples}"
    if count := math.floor(_samples(worst)):
        found = f"a seed holds about {count} {samples}, and at least {LEAST_SAMPLES} are needed"
    others = f" (and {len(untold) - 1} more of {tests} series)" if len(untold) > 1 else ""
    return f"Whether the window is long enough cannot be told: {found}{others}. Make the run longer."
