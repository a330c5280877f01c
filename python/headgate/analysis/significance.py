"""The differences that seeds show: paired t tests, corrected for their number, and the seeds that would show more.

Runs of one seed share their random streams, so disciplines are compared seed by seed. `headgate run`, `compare`,
`sensitivity`, `tune`, `evaluate` and the claims of papers all use these functions. Fewer than `LEAST_SEEDS` seeds
show neither a difference nor an equality.

A t test supposes that values vary. Counts and the quantiles of histograms are rounded, so a few seeds may agree by
rounding alone: the variance is at least that of the rounding (`rounding`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from headgate.analysis.spread import student_t, within

#: The error probability of a whole family of two-sided tests.
ALPHA = 0.05
#: The probability with which the number of seeds in `seeds_needed` shows the difference.
POWER = 0.8
#: The least number of seeds that can show a difference.
LEAST_SEEDS = 5
#: The widest bin of a histogram (`aqm::parts::Histogram`), as a share of its value.
BIN = 2.0**-6
#: The largest number of seeds that `seeds_needed` gives.
MOST_SEEDS = 1000


class TTest(NamedTuple):
    """The mean of values that are 0 if nothing differs, and its 95 % margin of error; None for fewer than two values.

    `p_below` is the probability of a mean at least as far below 0 if the true mean is not below 0, `p_above` likewise.
    """

    mean: float
    half: float | None
    deviation: float
    runs: int
    p_below: float
    p_above: float

    @property
    def p(self) -> float:
        """The p-value of the two-sided test."""
        return min(1.0, 2 * min(self.p_below, self.p_above))


def once(sides: Sequence[Sequence[float]], repeats: Sequence[Sequence[int] | None]) -> list[list[float]]:
    """The values of several sides at those seeds whose runs no earlier seed gave too.

    `repeats` has, for each side and seed, the place of the first seed with the same run; None if all differ.
    """
    seeds = range(len(sides[0]))
    keys = [tuple(seed if not places else places[seed] for places in repeats) for seed in seeds]
    first = [seed for seed in seeds if keys.index(keys[seed]) == seed]
    return [[side[seed] for seed in first] for side in sides]


def rounding(*sides: Sequence[float]) -> list[float]:
    """The variance that rounding adds to a value of each side. Equal values in a side show that it is rounded.

    A rounded value lies anywhere in its interval, with a variance of the width's square over 12. The width is 1 if all
    values of all sides are whole numbers, such as counts. Else it is the least difference between values of the side,
    or a bin of a histogram if all are equal.
    """
    known = [[value for value in side if math.isfinite(value)] for side in sides]
    counts = all(value == round(value) for side in known for value in side)
    return [_width(side, counts=counts) ** 2 / 12 for side in known]


def _width(values: Sequence[float], *, counts: bool) -> float:
    distinct = sorted(set(values))
    if len(distinct) == len(values):
        return 0.0
    if counts:
        return 1.0
    if len(distinct) == 1:
        return BIN * abs(distinct[0])
    return min(high - low for low, high in pairwise(distinct))


def t_test(values: Sequence[float], *, size: float = 0.0, floor: float = 0.0) -> TTest:
    """Student's t test of the finite `values`, whose variance is at least `floor`.

    Means up to rounding errors of numbers of this `size` count as 0.
    """
    known = [value for value in values if math.isfinite(value)]
    count = len(known)
    mean = math.fsum(known) / count if known else math.nan
    if count < 2:
        return TTest(mean, None, 0.0, count, 1.0, 1.0)
    deviation = math.sqrt(max(floor, math.fsum((value - mean) ** 2 for value in known) / (count - 1)))
    error = deviation / math.sqrt(count)
    half = student_t(count - 1) * error
    if abs(mean) <= 1e-12 * size or mean == 0:
        return TTest(mean, half, deviation, count, 1.0, 1.0)
    # The same difference in every seed leaves no doubt about its sign.
    tail = (1 - within(abs(mean) / error, count - 1)) / 2 if error > 0 else 0.0
    return TTest(mean, half, deviation, count, *((tail, 1 - tail) if mean < 0 else (1 - tail, tail)))


def paired(one: Sequence[float], other: Sequence[float]) -> TTest:
    """The test of `one` - `other`, seed by seed. Seeds without a value in either are left out."""
    size = max((abs(value) for value in (*one, *other) if math.isfinite(value)), default=0.0)
    floor = math.fsum(rounding(one, other))
    return _of_enough(t_test([a - b for a, b in zip(one, other, strict=True)], size=size, floor=floor))


def _of_enough(test: TTest) -> TTest:
    """The test, which shows no difference if it has fewer than `LEAST_SEEDS` seeds."""
    return test if test.runs >= LEAST_SEEDS else test._replace(p_below=1.0, p_above=1.0)


def unpaired(one: Sequence[float], other: Sequence[float]) -> TTest:
    """The test of the mean of `one` - that of `other` for independent runs (Welch, Biometrika 34, 1947).

    Degrees of freedom are rounded down.
    """
    floors = rounding(one, other)
    sides = [t_test(values, floor=floor) for values, floor in zip((one, other), floors, strict=True)]
    mean = sides[0].mean - sides[1].mean
    count = min(side.runs for side in sides)
    if count < 2:
        return TTest(mean, None, 0.0, count, 1.0, 1.0)
    parts = [side.deviation**2 / side.runs for side in sides]
    error = math.sqrt(math.fsum(parts))
    if error == 0:
        tail = 0.0 if mean else 1.0
        return TTest(mean, 0.0, 0.0, count, tail if mean < 0 else 1.0, tail if mean > 0 else 1.0)
    freedom = error**4 / math.fsum(part**2 / (side.runs - 1) for part, side in zip(parts, sides, strict=True))
    freedom = max(1, math.floor(freedom * (1 + 1e-9)))  # a whole number up to rounding errors is that number
    tail = (1 - within(abs(mean) / error, freedom)) / 2
    tails = (tail, 1 - tail) if mean < 0 else (1 - tail, tail)
    return _of_enough(TTest(mean, student_t(freedom) * error, error * math.sqrt(count), count, *tails))


def equivalent(test: TTest, margin: float) -> bool:
    """Whether the seeds show that the true mean is at most `margin` from 0: the whole 95 % interval is.

    That is the test of equivalence by two one-sided tests (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics
    15, 1987), at 2.5 % each. Fewer than `LEAST_SEEDS` seeds show no equality either.
    """
    return test.half is not None and test.runs >= LEAST_SEEDS and abs(test.mean) + test.half <= margin


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values corrected for their number (Holm's step-down procedure, 1979), in the given order.

    If no difference is real, the probability that any of them is below a bound is at most this bound.
    """
    corrected = [1.0] * len(p_values)
    largest = 0.0
    for step, number in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, p_values[number] * (len(p_values) - step)))
        corrected[number] = largest
    return corrected


def seeds_needed(test: TTest, tests: int) -> int | None:
    """The seeds that would show this mean, at this deviation, among so many `tests`, with the probability `POWER`.

    At least `LEAST_SEEDS`. None if the mean is 0, is not known to have a deviation, or needs more than `MOST_SEEDS`.
    """
    if test.half is None or not test.mean or test.deviation == 0:
        return None
    effect, inside = abs(test.mean) / test.deviation, 1 - ALPHA / tests

    def enough(seeds: int) -> bool:
        # The t of the power: between -t and t lies what is not in the two tails.
        reach = student_t(seeds - 1, inside) + student_t(seeds - 1, 2 * POWER - 1)
        return effect * math.sqrt(seeds) >= reach

    if not enough(MOST_SEEDS):
        return None
    low, high = LEAST_SEEDS - 1, MOST_SEEDS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
