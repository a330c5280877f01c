"""Grades measured quantities by criteria, with the same comparisons as claims of papers.

All grades of an evaluation are one family: the probability that any of them is false is at most `ALPHA`. Each grading
has an equal part of it. A grading first tells whether the quantity is a failure, then whether it is a strength. Once it
has told all that it can, it leaves its part to the others, as hypotheses do in Holm's procedure. Both are cases of the
sequential rejection principle (J. J. Goeman, A. Solari, Annals of Statistics 38, 2010).

A mean is compared with a constant, so skewness of the seeds' values does not cancel as it does in differences between
disciplines. Student's t then errs more often than its p-value says, on the side of the short tail (`SKEWED`).
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from headgate.analysis.judge import Quantity, above, below
from headgate.analysis.significance import ALPHA
from headgate.evaluate.section import Criterion

#: A p-value to this power is the true error of Student's t for values of skewness 1. Means of 5 to 20 values of a gamma
#: distribution err within 20 % of it, for p-values from 0.025 to 0.00002.
SKEWED = 0.75


class Grade(Enum):
    """The grade of a discipline by one criterion in one case."""

    STRENGTH = "strength"
    FAIR = "fair"
    FAILURE = "failure"
    INCONCLUSIVE = "inconclusive"


class _Statements(NamedTuple):
    """The p-values of three statements on a quantity, with that of the opposite one."""

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
    no failure. It is inconclusive if neither is shown, or with fewer than five different runs that have a value.
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
    p_values = failure.p_holds, failure.p_differs, max(strength.p_holds, failure.p_differs)
    # Skewness raises the error of one tail and lowers that of the other. Without it, both err alike.
    return _Statements(*(max(2 * p, p**SKEWED) for p in p_values))
