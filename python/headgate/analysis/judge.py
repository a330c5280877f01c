"""Three-valued comparison of measured quantities: a claim holds, differs or is inconclusive."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, NamedTuple

from headgate import style
from headgate.analysis.spread import estimate, half_interval


class Verdict(Enum):
    """The outcome of a comparison."""

    HOLDS = "holds"
    DIFFERS = "differs"
    INCONCLUSIVE = "inconclusive"


class Judgement(NamedTuple):
    """A verdict and the numbers that led to it."""

    verdict: Verdict
    numbers: str


class Quantity(NamedTuple):
    """A measured quantity: one value per seed, in the order of the seeds; NaN if a seed has no value."""

    per_seed: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over the seeds that have a value; NaN if none has."""
        mean = estimate(self.per_seed)["mean"]
        return math.nan if mean is None else mean

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
        return Quantity(tuple(value * factor for value in self.per_seed))

    def __truediv__(self, other: Quantity) -> Quantity:
        """The ratio, seed by seed; NaN where the divisor is 0."""
        pairs = zip(self.per_seed, other.per_seed, strict=True)
        return Quantity(tuple(a / b if b else math.nan for a, b in pairs))

    def __sub__(self, other: Quantity) -> Quantity:
        """The difference, seed by seed: runs of one seed share their random streams, so they are compared in pairs."""
        return Quantity(tuple(a - b for a, b in zip(self.per_seed, other.per_seed, strict=True)))

    def __str__(self) -> str:
        if not math.isfinite(self.mean):
            return style.MISSING
        half = self.half
        return style.number(self.mean) + (f" ± {style.number(half, 2)}" if half > 0 else "")


def below(a: Quantity, b: Quantity | float, *, times: float = 1.0) -> Judgement:
    """Whether `a` < `times` * `b`, by the 95 % interval of the differences seed by seed."""
    return _signed(a - _bound(b, a, times), a, "<", b, times)


def above(a: Quantity, b: Quantity | float, *, times: float = 1.0) -> Judgement:
    """Whether `a` > `times` * `b`."""
    return _signed(_bound(b, a, times) - a, a, ">", b, times)


def at_most(a: Quantity, most: float) -> Judgement:
    """Whether `a` <= `most`, equality included, for quantities that should be 0."""
    return Judgement(_within(a, -math.inf, most), f"{a} at most {style.number(most)}")


def between(a: Quantity, low: float, high: float) -> Judgement:
    """Whether `low` <= `a` <= `high`: the interval lies inside, outside, or across an end."""
    return Judgement(_within(a, low, high), f"{a} in {style.number(low)} to {style.number(high)}")


def _within(a: Quantity, low: float, high: float) -> Verdict:
    least, most = a.mean - a.half, a.mean + a.half
    if low <= least and most <= high:
        return Verdict.HOLDS
    return Verdict.DIFFERS if most < low or high < least else Verdict.INCONCLUSIVE


def near(a: Quantity, value: float, *, within: float) -> Judgement:
    """Whether `a` differs from `value` by at most the share `within` of `value` (0.1 is 10 %)."""
    slack = abs(value) * within
    return between(a, value - slack, value + slack)


def rises(curve: Sequence[Quantity]) -> Judgement:
    """Whether a curve rises: its last value is above its first, and no step falls significantly."""
    return _trend(curve, "rises", 1.0)


def falls(curve: Sequence[Quantity]) -> Judgement:
    """Whether a curve falls: its last value is below its first, and no step rises significantly."""
    return _trend(curve, "falls", -1.0)


def average(quantities: Iterable[Quantity]) -> Quantity:
    """The mean of several quantities, seed by seed."""
    rows = list(zip(*(quantity.per_seed for quantity in quantities), strict=True))
    return Quantity(tuple(sum(row) / len(row) for row in rows))


def every(judgements: Iterable[Judgement]) -> Judgement:
    """Holds if all hold, differs if one differs. The numbers are those of the first judgement with this verdict."""
    return _combined(judgements, (Verdict.DIFFERS, Verdict.INCONCLUSIVE, Verdict.HOLDS))


def some(judgements: Iterable[Judgement]) -> Judgement:
    """Holds if one holds, differs if all differ."""
    return _combined(judgements, (Verdict.HOLDS, Verdict.INCONCLUSIVE, Verdict.DIFFERS))


def _bound(b: Quantity | float, a: Quantity, times: float) -> Quantity:
    return b * times if isinstance(b, Quantity) else Quantity((b * times,) * len(a.per_seed))


def _signed(difference: Quantity, a: Quantity, sign: str, b: Quantity | float, times: float) -> Judgement:
    """Judges whether `difference` is below 0. The numbers read `a` `sign` `times` times `b`."""
    factor = "" if times == 1.0 else f"{style.plain(times)} times "
    shown = str(b) if isinstance(b, Quantity) else style.number(b)
    return Judgement(_negative(difference), f"{a} {sign} {factor}{shown}")


def _negative(difference: Quantity) -> Verdict:
    """Whether a difference is below 0, by its 95 % interval."""
    mean, half = difference.mean, difference.half
    if not math.isfinite(mean):
        return Verdict.INCONCLUSIVE
    if mean + half < 0:
        return Verdict.HOLDS
    # Values that are exactly equal in every seed are not below each other.
    return Verdict.DIFFERS if mean - half > 0 or (half == 0 and mean == 0) else Verdict.INCONCLUSIVE


def _trend(curve: Sequence[Quantity], word: str, sign: float) -> Judgement:
    if len(curve) < 2:
        return Judgement(Verdict.INCONCLUSIVE, "too few cases were run")
    numbers = f"{word} from {curve[0]} to {curve[-1]}"
    ends = _negative((curve[0] - curve[-1]) * sign)
    steps = [_negative((after - before) * sign) for before, after in itertools.pairwise(curve)]
    against = Verdict.HOLDS in steps and len(curve) > 2
    if ends is Verdict.HOLDS and against:
        at = steps.index(Verdict.HOLDS)
        return Judgement(Verdict.DIFFERS, f"{numbers}, but {curve[at]} is followed by {curve[at + 1]}")
    return Judgement(ends, numbers)


def _combined(judgements: Iterable[Judgement], order: tuple[Verdict, ...]) -> Judgement:
    all_judgements = list(judgements)
    decisive = next(verdict for verdict in order if any(each.verdict is verdict for each in all_judgements))
    shown = [each.numbers for each in all_judgements if each.verdict is decisive]
    more = f" (and {len(shown) - 1} more)" if len(shown) > 1 else ""
    return Judgement(decisive, f"{shown[0]}{more}")


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
