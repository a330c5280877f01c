"""Conditions of claims: `above(m("goodput", "FABA"), m("goodput", "RED"))`, for one case or for each case that was run.

A `Condition` compares `Term`s. A term is a measure of one discipline in one case; `in_each_case` fills in the case.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from headgate.analysis import judge
from headgate.analysis.judge import Judgement, Quantity
from headgate.experiment.results import ExperimentResults, NotRunError

Case: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Term:
    """A quantity in a claim: a measure of a discipline, or a combination of several."""

    value: Callable[[ExperimentResults, Case], Quantity]

    def __mul__(self, factor: float) -> Term:
        return Term(lambda found, case: self.value(found, case) * factor)

    def __truediv__(self, other: Term) -> Term:
        return self._with(other, operator.truediv)

    def __sub__(self, other: Term) -> Term:
        return self._with(other, operator.sub)

    def _with(self, other: Term, by: Callable[[Quantity, Quantity], Quantity]) -> Term:
        return Term(lambda found, case: by(self.value(found, case), other.value(found, case)))


@dataclass(frozen=True)
class Curve:
    """Values of an axis, and a term at each."""

    points: Callable[[ExperimentResults, Case], tuple[Sequence[Any], Sequence[Quantity]]]


@dataclass(frozen=True)
class Condition:
    """The condition of a claim: comparisons that must all hold."""

    judgements: Callable[[ExperimentResults, Case], list[Judgement]]

    def __call__(self, found: ExperimentResults) -> Judgement:
        """The verdict, and the numbers that led to it."""
        return judge.every(self.judgements(found, {}))


#: The other side of a comparison: a term, a number, or a number that depends on the case.
Bound: TypeAlias = Term | float | Callable[[Case], float]


def m(measure: str, label: str, /, **case: Any) -> Term:
    """A measure of a discipline in the case with these values."""
    return Term(lambda found, at: found(measure, label, **{**at, **case}))


def over(axis: str, measure: str, label: str, /, **case: Any) -> Curve:
    """A measure of a discipline against the values of an axis, where `case` fixes the other axes."""
    return Curve(lambda found, at: found.over(axis, measure, label, **{**at, **case}))


def along(terms: Mapping[Any, Term]) -> Curve:
    """A curve through terms, by their place on the axis."""
    return Curve(lambda found, case: (list(terms), [term.value(found, case) for term in terms.values()]))


def below(a: Term, b: Bound, *, times: float = 1.0) -> Condition:
    """Whether `a` < `times` * `b`."""
    return _one(lambda found, case: judge.below(a.value(found, case), _bound(b, found, case), times=times))


def above(a: Term, b: Bound, *, times: float = 1.0) -> Condition:
    """Whether `a` > `times` * `b`."""
    return _one(lambda found, case: judge.above(a.value(found, case), _bound(b, found, case), times=times))


def at_most(a: Term, most: float) -> Condition:
    """Whether `a` <= `most`, equality included."""
    return _one(lambda found, case: judge.at_most(a.value(found, case), most))


def between(a: Term, low: float, high: float) -> Condition:
    """Whether `low` <= `a` <= `high`."""
    return _one(lambda found, case: judge.between(a.value(found, case), low, high))


def near(a: Term, value: float | Callable[[Case], float], *, within: float) -> Condition:
    """Whether `a` differs from `value` by at most the share `within` of `value` (0.1 is 10 %)."""
    return _one(
        lambda found, case: judge.near(a.value(found, case), value(case) if callable(value) else value, within=within)
    )


def rises(curve: Curve) -> Condition:
    """Whether a curve rises: its last value is above its first, and no step falls significantly."""
    return _one(lambda found, case: judge.rises(curve.points(found, case)[1]))


def falls(curve: Curve) -> Condition:
    """Whether a curve falls: its last value is below its first, and no step rises significantly."""
    return _one(lambda found, case: judge.falls(curve.points(found, case)[1]))


def every(conditions: Iterable[Condition]) -> Condition:
    """Whether all conditions hold."""
    all_of_them = list(conditions)
    return Condition(lambda found, case: [each for one in all_of_them for each in one.judgements(found, case)])


def some(conditions: Iterable[Condition]) -> Condition:
    """Whether one condition holds."""
    all_of_them = list(conditions)
    return _one(lambda found, case: judge.some(judge.every(one.judgements(found, case)) for one in all_of_them))


def in_each_case(condition: Condition, /, **where: Any) -> Condition:
    """Whether a condition holds in each case that was run.

    `where` picks cases by the value of an axis, or by a function of it: `buffer=lambda size: size > 45`.
    """

    def judgements(found: ExperimentResults, case: Case) -> list[Judgement]:
        cases = [each for each in found.cases if all(_meets(each[name], wanted) for name, wanted in where.items())]
        if not cases:
            raise NotRunError(f"a shortened run leaves out all cases of {sorted(where)}")
        return [judgement for each in cases for judgement in condition.judgements(found, {**case, **each})]

    return Condition(judgements)


def _meets(value: Any, wanted: Any) -> bool:
    return bool(wanted(value) if callable(wanted) else value == wanted)


def _one(compare: Callable[[ExperimentResults, Case], Judgement]) -> Condition:
    return Condition(lambda found, case: [compare(found, case)])


def _bound(b: Bound, found: ExperimentResults, case: Case) -> Quantity | float:
    if isinstance(b, Term):
        return b.value(found, case)
    return b(case) if callable(b) else b
