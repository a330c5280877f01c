"""Grades measured quantities by criteria, with the same comparisons as claims of papers.

All grades of an evaluation are one family: the probability that any of them is false is at most `ALPHA`. Each grading
has an equal part of it. A grading first tells whether the quantity is a failure, then whether it is a strength. Once it
has told all that it can, it leaves its part to the others, as hypotheses do in Holm's procedure. Both are cases of the
sequential rejection principle (J. J. Goeman, A. Solari, Annals of Statistics 38, 2010).
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from headgate.analysis.judge import Quantity, above, below
from headgate.analysis.significance import ALPHA
from headgate.evaluate.section import Criterion


class Grade(Enum):
    """The grade of a discipline by one criterion in one case."""

    STRENGTH = "strength"
    FAIR = "fair"
    FAILURE = "failure"
    INCONCLUSIVE = "inconclusive"


class _Statements(NamedTuple):
    """The p-values of three statements on a quantity, each that of a two-sided test."""

    failure: float
    no_failure: float
    strength: float

    def grade(self, level: float) -> Grade:
        """The grade if each test may err with the probability `level`."""
        if self.strength < level:
            return Grade.STRENGTH
        if self.no_failure < level:
            return Grade.FAIR
        return Grade.FAILURE if self.failure < level else Grade.INCONCLUSIVE

    def is_complete(self, level: float) -> bool:
        """Whether no further statement can follow."""
        return self.grade(level) in (Grade.STRENGTH, Grade.FAILURE)


def graded(table: Iterable[tuple[Quantity, Criterion]]) -> list[Grade]:
    """The grades of a whole table of quantities, by their criteria.

    A quantity is a strength or a failure if it is shown to be beyond that threshold, and fair if it is only shown to be
    no failure. It is inconclusive if neither is shown, or with fewer than five different runs that have a value. In a
    table of one quantity, the 95 % interval decides.
    """
    every = [_tested(quantity, criterion) for quantity, criterion in table]
    level = _level(every)
    return [each.grade(level) for each in every]


def _level(every: Sequence[_Statements]) -> float:
    """The error probability of each grading, so that together they have `ALPHA`."""
    level = ALPHA
    left, before = len(every), 0
    while left and left != before:
        level = ALPHA / left
        left, before = sum(not each.is_complete(level) for each in every), left
    return level


def _tested(quantity: Quantity, criterion: Criterion) -> _Statements:
    beyond, short_of = (above, below) if criterion.strong > criterion.weak else (below, above)
    failure, strength = short_of(quantity, criterion.weak), beyond(quantity, criterion.strong)
    return _Statements(2 * failure.p_holds, 2 * failure.p_differs, 2 * max(strength.p_holds, failure.p_differs))
