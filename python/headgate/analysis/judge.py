"""Three-valued comparison of measured quantities: a claim holds, differs or is inconclusive.

A comparison is a one-sided t test of the differences seed by seed, at 2.5 % on either side. Its verdict is that of the
95 % interval. `every` and `some` correct for their number of comparisons (Holm). Fewer seeds widen the interval, so
they never help a claim. Fewer than `significance.LEAST_SEEDS` different runs with a value decide nothing. Computed
numbers without chance are judged by the sign of their mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, NamedTuple

from headgate import style
from headgate.analysis import significance
from headgate.analysis.spread import estimate, half_interval
from headgate.counting import agreeing, counted

#: The error probability of each one-sided test. A 95 % interval leaves as much on either side.
ALPHA = significance.ALPHA / 2

#: The largest step back of a rising or falling curve, as a share of the change from its first to its last point.
STEP_BACK = 0.1


class Verdict(Enum):
    """The outcome of a comparison."""

    HOLDS = "holds"
    DIFFERS = "differs"
    INCONCLUSIVE = "inconclusive"


class Judgement(NamedTuple):
    """A verdict, the numbers that led to it, and its p-values.

    `p_holds` is the probability of data that speak for the claim at least as clearly, if it does not hold. `p_differs`
    is the same for data against the claim, if it holds.
    """

    verdict: Verdict
    numbers: str
    p_holds: float = 1.0
    p_differs: float = 1.0


class Quantity(NamedTuple):
    """A measured quantity: one value per seed, in the order of the seeds; NaN if a seed has no value.

    `repeats` has the place of the first seed with the same run, for each seed; empty if it is not known. `exact`
    numbers are computed and have no chance in them.
    """

    per_seed: tuple[float, ...]
    repeats: tuple[int, ...] = ()
    exact: bool = False

    @property
    def different(self) -> list[float]:
        """The values of those seeds whose runs no earlier seed gave too."""
        (values,) = significance.once([self.per_seed], [self.repeats])
        return [value for value in values if math.isfinite(value)]

    @property
    def mean(self) -> float:
        """Mean over the seeds that have a value; NaN if none has."""
        mean = estimate(self.per_seed)["mean"]
        return math.nan if mean is None else mean

    @property
    def measured(self) -> int:
        """The number of seeds that have a value."""
        return sum(map(math.isfinite, self.per_seed))

    @property
    def half(self) -> float:
        """Half the width of the mean's 95 % interval (Student's t); 0 for one seed."""
        known = [value for value in self.per_seed if math.isfinite(value)]
        return half_interval(known, self.mean)

    def document(self) -> dict[str, Any]:
        """The quantity as JSON: mean, margin of error, every seed; null without a value."""
        per_seed = [_finite(value) for value in self.per_seed]
        return {"mean": _finite(self.mean), "half": _finite(self.half), "per_seed": per_seed}

    def __mul__(self, factor: object) -> Quantity:
        if not isinstance(factor, int | float):
            return NotImplemented
        return self._replace(per_seed=tuple(value * factor for value in self.per_seed))

    def __truediv__(self, other: Quantity) -> Quantity:
        """The ratio, seed by seed; NaN where the divisor is 0."""
        return _by_seed([self, other], lambda pair: pair[0] / pair[1] if pair[1] else math.nan)

    def __sub__(self, other: Quantity) -> Quantity:
        """The difference, seed by seed: runs of one seed share their random streams, so they are compared in pairs."""
        return _by_seed([self, other], lambda pair: pair[0] - pair[1])

    def __str__(self) -> str:
        return self.shown()

    def shown(self, digits: int = 3) -> str:
        """The mean with about `digits` significant digits, and its margin of error."""
        if not math.isfinite(self.mean):
            return style.MISSING
        # Margins that six decimals do not show are left out.
        margin = f" ± {style.number(self.half, 2)}" if self.half >= 0.5e-6 else ""
        return style.number(self.mean, digits) + margin


def _by_seed(sides: Sequence[Quantity], combined: Callable[[Sequence[float]], float]) -> Quantity:
    """A quantity that combines others seed by seed. Its runs are the same where those of all sides are."""
    values = tuple(combined(row) for row in zip(*(side.per_seed for side in sides), strict=True))
    repeats: tuple[int, ...] = ()
    if any(side.repeats for side in sides):
        keys = list(zip(*(side.repeats or range(len(values)) for side in sides), strict=True))
        repeats = tuple(map(keys.index, keys))
    return Quantity(values, repeats, all(side.exact for side in sides))


def below(a: Quantity, b: Quantity | float, *, times: float = 1.0) -> Judgement:
    """Whether `a` < `times` * `b`, by the 95 % interval of the differences seed by seed. Equality is inconclusive."""
    return _compared(a, "below", b, times, 1.0)


def above(a: Quantity, b: Quantity | float, *, times: float = 1.0) -> Judgement:
    """Whether `a` > `times` * `b`. Equality is inconclusive."""
    return _compared(a, "above", b, times, -1.0)


def at_most(a: Quantity, most: float) -> Judgement:
    """Whether `a` <= `most`, equality included, for quantities that should be 0."""
    return _within(a, -math.inf, most, f"at most {style.number(most)}", (most,))


def between(a: Quantity, low: float, high: float) -> Judgement:
    """Whether `low` <= `a` <= `high`: the interval lies inside, outside, or across an end."""
    return _within(a, low, high, f"{style.number(low)} to {style.number(high)}", (low, high))


def near(a: Quantity, value: float, *, within: float) -> Judgement:
    """Whether `a` differs from `value` by at most the share `within` of `value` (0.1 is 10 %)."""
    slack = abs(value) * within
    return between(a, value - slack, value + slack)


def rises(curve: Sequence[Quantity]) -> Judgement:
    """Whether a curve rises: its last value is above its first, and no point falls far below an earlier one.

    "Far" is `STEP_BACK` of the rise. A curve holds only if its intervals exclude such a fall.
    """
    return _trend(curve, "to rise", 1.0)


def falls(curve: Sequence[Quantity]) -> Judgement:
    """Whether a curve falls: its last value is below its first, and no point rises far above an earlier one."""
    return _trend(curve, "to fall", -1.0)


def average(quantities: Iterable[Quantity]) -> Quantity:
    """The mean of several quantities, seed by seed."""
    return _by_seed(list(quantities), lambda row: sum(row) / len(row))


def every(judgements: Iterable[Judgement]) -> Judgement:
    """Holds if all hold; differs if one differs, corrected for the number of comparisons (Holm).

    Each comparison that must hold is tested in full, so that side needs no correction. The numbers are those of the
    first judgement with the verdict.
    """
    all_judgements = list(judgements)
    verdict, decisive = _decided(all_judgements)
    p_differs = min(1.0, len(all_judgements) * min(each.p_differs for each in all_judgements))
    return Judgement(verdict, _numbers(decisive), max(each.p_holds for each in all_judgements), p_differs)


def some(judgements: Iterable[Judgement]) -> Judgement:
    """Holds if one holds, corrected for the number of comparisons (Holm); differs if all differ."""
    return _opposite(every(_opposite(each) for each in judgements))


def _opposite(judgement: Judgement) -> Judgement:
    """The judgement of the opposite claim."""
    verdicts = {Verdict.HOLDS: Verdict.DIFFERS, Verdict.DIFFERS: Verdict.HOLDS}
    verdict = verdicts.get(judgement.verdict, judgement.verdict)
    return Judgement(verdict, judgement.numbers, judgement.p_differs, judgement.p_holds)


def _decided(judgements: Sequence[Judgement]) -> tuple[Verdict, Sequence[Judgement]]:
    """The verdict on a claim that needs all judgements to hold, and the judgements that decide it."""
    corrected = significance.holm([each.p_differs for each in judgements])
    if against := [each for each, p in zip(judgements, corrected, strict=True) if p <= ALPHA]:
        return Verdict.DIFFERS, against
    if doubtful := [each for each in judgements if each.verdict is not Verdict.HOLDS]:
        return Verdict.INCONCLUSIVE, doubtful
    return Verdict.HOLDS, judgements


def _compared(a: Quantity, word: str, b: Quantity | float, times: float, sign: float) -> Judgement:
    """Judges whether `sign` times the difference of `a` and `times` * `b` is below 0."""
    bound = b * times if isinstance(b, Quantity) else _constant(b * times, len(a.per_seed))
    factor = "" if times == 1.0 else f"{style.plain(times)} times "
    digits = _digits(a.mean, bound.mean)
    shown = b.shown(digits) if isinstance(b, Quantity) else style.number(b)
    claimed, measured = f"claimed {word} {factor}{shown}", f"measured {a.shown(digits)}"
    difference = a - bound
    if not difference.measured:
        return Judgement(Verdict.INCONCLUSIVE, _without_value(a, bound, claimed, measured))
    numbers = f"{claimed}, {measured}"
    # Equal up to rounding in the last digits of a float.
    if math.isclose(a.mean, bound.mean, rel_tol=1e-12):
        return Judgement(Verdict.INCONCLUSIVE, f"{numbers}: equal")
    measured_sides = (a, bound) if isinstance(b, Quantity) else (a,)
    return _of_difference(numbers, difference * sign, _floor(*measured_sides))


def _constant(value: float, seeds: int) -> Quantity:
    return Quantity((value,) * seeds, (0,) * seeds, exact=True)


def _without_value(a: Quantity, bound: Quantity, claimed: str, measured: str) -> str:
    """The sentence on a comparison of which no seed has both sides."""
    if a.measured and bound.measured:
        return f"{claimed}, {measured}, but no run has both values"
    if a.measured:
        return f"{measured}, but no run has a value to compare it with"
    if bound.measured:
        return f"{claimed}, but no run has a value to compare with it"
    return "no run has a value to compare"


def _within(a: Quantity, low: float, high: float, claimed: str, ends: Sequence[float]) -> Judgement:
    if not a.measured:
        return Judgement(Verdict.INCONCLUSIVE, f"claimed {claimed}, but no run has a value to compare with it")
    numbers = f"claimed {claimed}, measured {a.shown(max(_digits(a.mean, end) for end in ends))}"
    if few := _too_few(a):
        return Judgement(Verdict.INCONCLUSIVE, f"{numbers}: {few}")
    half = half_interval(a.different, a.mean)
    least, most = a.mean - half, a.mean + half
    # A value exactly on an end, in every seed, is inside: no t test says so.
    if low <= least and most <= high:
        return Judgement(Verdict.HOLDS, numbers, 0.0, 1.0)
    floor = _floor(a)
    above_low, below_low = _p_values(_moved(a, low), floor) if math.isfinite(low) else (1.0, 0.0)
    below_high, above_high = _p_values(_moved(a, high), floor)
    return _judgement(numbers, max(below_low, below_high), min(above_low, above_high))


def _moved(a: Quantity, by: float) -> Quantity:
    return a._replace(per_seed=tuple(value - by for value in a.per_seed))


def _of_difference(numbers: str, difference: Quantity, floor: float) -> Judgement:
    """Judges whether a difference is below 0, by different runs alone."""
    if few := _too_few(difference):
        return Judgement(Verdict.INCONCLUSIVE, f"{numbers}: {few}")
    return _judgement(numbers, *_p_values(difference, floor))


def _too_few(quantity: Quantity) -> str:
    """Why a quantity has too few different runs to decide anything; empty if it has enough."""
    runs = len(quantity.different)
    if quantity.exact or runs >= significance.LEAST_SEEDS:
        return ""
    return (
        f"too few seeds: {counted(runs, 'different run')} with a value, at least {significance.LEAST_SEEDS} are needed"
    )


def _judgement(numbers: str, p_holds: float, p_differs: float) -> Judgement:
    verdict = Verdict.HOLDS if p_holds < ALPHA else Verdict.DIFFERS if p_differs < ALPHA else Verdict.INCONCLUSIVE
    return Judgement(verdict, numbers, p_holds, p_differs)


def _p_values(difference: Quantity, floor: float = 0.0) -> tuple[float, float]:
    """The p-values of a difference below 0 and above 0 (one-sided t tests); 1 and 1 if it is 0 or was not measured.

    Its variance is at least `floor`. An exact difference is judged by its sign.
    """
    test = significance.t_test(difference.different, floor=floor)
    if difference.exact and test.mean != 0:
        return (0.0, 1.0) if test.mean < 0 else (1.0, 0.0)
    return test.p_below, test.p_above


def _trend(curve: Sequence[Quantity], word: str, sign: float) -> Judgement:
    if len(curve) < 2:
        return Judgement(Verdict.INCONCLUSIVE, "too few cases were run")
    missing = [number for number, point in enumerate(curve, 1) if not point.measured]
    if missing:
        return _trend_with_gaps(curve, missing, word, sign)
    numbers = f"claimed {word}, measured {curve[0]} to {curve[-1]}"
    checks = [_of_difference(numbers, (curve[0] - curve[-1]) * sign, _floor(curve[0], curve[-1]))]
    slack = STEP_BACK * abs(curve[-1].mean - curve[0].mean)
    for number, point in enumerate(curve[1:] if len(curve) > 2 else (), 1):
        farthest = max(curve[:number], key=lambda earlier: earlier.mean * sign)
        back = _moved((farthest - point) * sign, slack)
        step = f"{numbers}, but {farthest} is followed by {point}"
        checks.append(_of_difference(step, back, _floor(farthest, point)))
    _, decisive = _decided(checks)
    return every(checks)._replace(numbers=decisive[0].numbers)


def _floor(*sides: Quantity) -> float:
    """The variance of rounding. None beside a bound if each run has exactly 0 or 1: such a share is not rounded."""
    if len(sides) == 1 and set(sides[0].different) in ({0.0}, {1.0}):
        return 0.0
    different = significance.once([side.per_seed for side in sides], [side.repeats for side in sides])
    return math.fsum(significance.rounding(*different))


def _trend_with_gaps(curve: Sequence[Quantity], missing: Sequence[int], word: str, sign: float) -> Judgement:
    """The judgement on a curve of which no run has some points (their numbers from 1). Such a curve never holds."""
    if curve[0].measured and curve[-1].measured:
        judgement = _trend([point for point in curve if point.measured], word, sign)
        if judgement.verdict is Verdict.DIFFERS:
            return judgement
    points = f"{agreeing(len(missing), 'point')} {style.listed([str(number) for number in missing])}"
    return Judgement(Verdict.INCONCLUSIVE, f"claimed {word}, but no run has a value of {points} of {len(curve)}")


def _digits(a: float, b: float) -> int:
    """Significant digits that tell two numbers apart: 3, or more for numbers close to each other."""
    if not (math.isfinite(a) and math.isfinite(b)) or a == b:
        return 3
    return next((digits for digits in range(3, 7) if style.number(a, digits) != style.number(b, digits)), 3)


def _numbers(judgements: Sequence[Judgement]) -> str:
    more = f" (and {len(judgements) - 1} more)" if len(judgements) > 1 else ""
    return f"{judgements[0].numbers}{more}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
