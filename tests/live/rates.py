"""Rates on real packets, which other processes on the machine can only lower."""

from collections.abc import Callable

TRIES = 3


def best(measure: Callable[[], float], least: float) -> float:
    """The first of a few measured rates that is at least `least`; without one, the greatest."""
    greatest = 0.0
    for _ in range(TRIES):
        greatest = max(greatest, measure())
        if greatest >= least:
            break
    return greatest
