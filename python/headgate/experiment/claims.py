"""Conditions of claims, such as `above(m("goodput", "FABA"), m("goodput", "RED"))`.

A `Condition` compares `Term`s. A term is a measure of a discipline in a case. `in_each_case` checks a condition in
every case of the experiment.
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
    """A quantity in a claim: a measure of a discipline, or a combination of several. `labels` are the disciplines."""

    value: Callable[[ExperimentResults, Case], Quantity]
    labels: frozenset[str] = frozenset()

    def __mul__(self, factor: float) -> Term:
        return Term(lambda results, case: self.value(results, case) * factor, self.labels)

    def __truediv__(self, other: Term) -> Term:
        return self._with(other, operator.truediv)

    def __sub__(self, other: Term) -> Term:
        return self._with(other, operator.sub)

    def _with(self, other: Term, by: Callable[[Quantity, Quantity], Quantity]) -> Term:
        return Term(
            lambda results, case: by(self.value(results, case), other.value(results, case)), self.labels | other.labels
        )


@dataclass(frozen=True)
class Curve:
    """The values of an axis, and a quantity at each."""

    points: Callable[[ExperimentResults, Case], tuple[Sequence[Any], Sequence[Quantity]]]
    labels: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Condition:
    """The condition of a claim: comparisons that must all hold.

    `numeric` is true if a comparison has a number, such as a factor. `labels` are the compared disciplines.
    """

    judgements: Callable[[ExperimentResults, Case], list[Judgement]]
    numeric: bool = False
    labels: frozenset[str] = frozenset()

    def __call__(self, results: ExperimentResults) -> Judgement:
        """The verdict, and the numbers that decided it."""
        return judge.every(self.judgements(results, {}))


#: The other side of a comparison: a term, a number, or a number that depends on the case.
Bound: TypeAlias = Term | float | Callable[[Case], float]


def m(measure: str, label: str, /, **case: Any) -> Term:
    """The measure of a discipline (by its label) in the case with these values."""
    return Term(lambda results, at: results(measure, label, **{**at, **case}), frozenset({label}))


def mean(measure: str, label: str, /, **where: Any) -> Term:
    """The mean of a measure over the cases that were run. `where` selects cases by the value of an axis."""

    def value(results: ExperimentResults, _: Case) -> Quantity:
        cases = _selected(results, where)
        return judge.average([results(measure, label, **each) for each in cases])

    return Term(value, frozenset({label}))


def over(axis: str, measure: str, label: str, /, **case: Any) -> Curve:
    """A measure of a discipline along an axis. `case` fixes the other axes."""
    return Curve(lambda results, at: results.over(axis, measure, label, **{**at, **case}), frozenset({label}))


def along(terms: Mapping[Any, Term]) -> Curve:
    """A curve through terms. The keys are the values of its axis."""
    return Curve(
        lambda results, case: (list(terms), [term.value(results, case) for term in terms.values()]),
        _labels(terms.values()),
    )


def below(a: Term, b: Bound, *, times: float = 1.0) -> Condition:
    """Whether `a` < `times` * `b`."""
    return _ordered(judge.below, a, b, times)


def above(a: Term, b: Bound, *, times: float = 1.0) -> Condition:
    """Whether `a` > `times` * `b`."""
    return _ordered(judge.above, a, b, times)


def at_most(a: Term, most: float) -> Condition:
    """Whether `a` <= `most`, equality included."""
    return _one(lambda results, case: judge.at_most(a.value(results, case), most), a.labels, numeric=True)


def between(a: Term, low: float, high: float) -> Condition:
    """Whether `low` <= `a` <= `high`."""
    return _one(lambda results, case: judge.between(a.value(results, case), low, high), a.labels, numeric=True)


def near(a: Term, value: float | Callable[[Case], float], *, within: float) -> Condition:
    """Whether `a` differs from `value` by at most the share `within` of `value` (0.1 is 10 %)."""
    return _one(
        lambda results, case: judge.near(
            a.value(results, case), value(case) if callable(value) else value, within=within
        ),
        a.labels,
        numeric=True,
    )


def rises(curve: Curve) -> Condition:
    """Whether a curve rises: its last value is above its first, and no point falls far below an earlier one."""
    return _one(lambda results, case: judge.rises(curve.points(results, case)[1]), curve.labels)


def falls(curve: Curve) -> Condition:
    """Whether a curve falls: its last value is below its first, and no point rises far above an earlier one."""
    return _one(lambda results, case: judge.falls(curve.points(results, case)[1]), curve.labels)


def every(conditions: Iterable[Condition]) -> Condition:
    """Whether all conditions hold."""
    needed = list(conditions)
    return Condition(
        lambda results, case: [each for one in needed for each in one.judgements(results, case)],
        any(each.numeric for each in needed),
        _labels(needed),
    )


def some(conditions: Iterable[Condition]) -> Condition:
    """Whether at least one condition holds."""
    choices = list(conditions)
    return _one(
        lambda results, case: judge.some(judge.every(one.judgements(results, case)) for one in choices),
        _labels(choices),
        numeric=any(each.numeric for each in choices),
    )


def in_each_case(condition: Condition, /, **where: Any) -> Condition:
    """Whether a condition holds in each case that was run.

    `where` selects cases by the value of an axis, or by a function of that value: `buffer=lambda size: size > 45`.
    """

    def judgements(results: ExperimentResults, case: Case) -> list[Judgement]:
        cases = _selected(results, where)
        return [judgement for each in cases for judgement in condition.judgements(results, {**case, **each})]

    return Condition(judgements, condition.numeric, condition.labels)


def _selected(results: ExperimentResults, where: Case) -> list[Case]:
    cases = [each for each in results.cases if all(_meets(each[name], wanted) for name, wanted in where.items())]
    if not cases:
        raise NotRunError(f"a shortened run leaves out all cases of {sorted(where)}")
    return cases


def _meets(value: Any, wanted: Any) -> bool:
    return bool(wanted(value) if callable(wanted) else value == wanted)


def _ordered(compare: Callable[..., Judgement], a: Term, b: Bound, times: float) -> Condition:
    return _one(
        lambda results, case: compare(a.value(results, case), _bound(b, results, case), times=times),
        a.labels | (b.labels if isinstance(b, Term) else frozenset()),
        numeric=times != 1.0 or not isinstance(b, Term),
    )


def _one(
    compare: Callable[[ExperimentResults, Case], Judgement], labels: frozenset[str], *, numeric: bool = False
) -> Condition:
    return Condition(lambda results, case: [compare(results, case)], numeric, labels)


def _labels(several: Iterable[Term] | Iterable[Condition]) -> frozenset[str]:
    return frozenset(label for each in several for label in each.labels)


def _bound(b: Bound, results: ExperimentResults, case: Case) -> Quantity | float:
    if isinstance(b, Term):
        return b.value(results, case)
    return b(case) if callable(b) else b
