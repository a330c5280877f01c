"""Grades a measured quantity by a criterion, with the same three-valued comparisons as claims of papers."""

from enum import Enum

from headgate.analysis.judge import Quantity, Verdict, above, below
from headgate.evaluate.section import Criterion


class Grade(Enum):
    """The grade of a discipline by one criterion in one case."""

    STRENGTH = "strength"
    FAIR = "fair"
    FAILURE = "failure"
    INCONCLUSIVE = "inconclusive"


def graded(quantity: Quantity, criterion: Criterion) -> Grade:
    """Grades a quantity by its 95 % interval.

    It is a strength or a failure if the whole interval is beyond that threshold, and fair if the interval ends before
    the threshold of failure. It is inconclusive if the interval contains that threshold, or with fewer than five
    different runs that have a value.
    """
    beyond = above if criterion.strong > criterion.weak else below
    short_of = below if criterion.strong > criterion.weak else above
    if beyond(quantity, criterion.strong).verdict is Verdict.HOLDS:
        return Grade.STRENGTH
    failure = short_of(quantity, criterion.weak).verdict
    return {Verdict.HOLDS: Grade.FAILURE, Verdict.DIFFERS: Grade.FAIR, Verdict.INCONCLUSIVE: Grade.INCONCLUSIVE}[
        failure
    ]
