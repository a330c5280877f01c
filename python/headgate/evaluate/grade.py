"""Grades a measured quantity by a criterion, with the same three-valued comparisons as claims of papers."""

from enum import Enum

from headgate.analysis.judge import Quantity, Verdict, above, below
from headgate.evaluate.section import Criterion


class Grade(Enum):
    """What a discipline is by one criterion in one case."""

    STRENGTH = "strength"
    FAIR = "fair"
    FAILURE = "failure"
    INCONCLUSIVE = "inconclusive"


def graded(quantity: Quantity, criterion: Criterion) -> Grade:
    """A strength or a failure where the 95 % interval lies beyond the threshold, fair where it is short of failure.

    An interval that holds the threshold of failure is inconclusive, and so is a measure without a value.
    """
    beyond = above if criterion.strong > criterion.weak else below
    short_of = below if criterion.strong > criterion.weak else above
    if beyond(quantity, criterion.strong).verdict is Verdict.HOLDS:
        return Grade.STRENGTH
    failure = short_of(quantity, criterion.weak).verdict
    return {Verdict.HOLDS: Grade.FAILURE, Verdict.DIFFERS: Grade.FAIR, Verdict.INCONCLUSIVE: Grade.INCONCLUSIVE}[
        failure
    ]
