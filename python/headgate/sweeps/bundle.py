"""Bundles: short runs of a sweep that are executed in turn and share a file for each table.

Writing seven files takes longer than a short simulation. The plan alone decides which runs share a bundle, not the
clock or the number of threads. A resumed sweep therefore writes the same files as an undisturbed one.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import NamedTuple, Self

from headgate.execution.runner import Failures
from headgate.sweeps import receipt
from headgate.sweeps.plan import SweepRun

#: Greatest number of runs in a bundle: they share the cost of its files, and are lost together if it is damaged.
MOST_RUNS = 128
#: A sweep has at least this number of bundles, so that a short sweep has a file for each run.
LEAST_BUNDLES = 16
#: Greatest number of packets that the runs of a bundle are expected to send. It bounds what a stopped
#: sweep has to repeat, and how long a processor can be without work at the end. Decision 0007 has the times.
MOST_PACKETS = 100_000.0


class Bundle(NamedTuple):
    """One run, or several short ones."""

    runs: tuple[SweepRun, ...]

    @property
    def name(self) -> str:
        """The name of its files."""
        return receipt.name_of([run.hash for run in self.runs])

    @property
    def duration_s(self) -> float:
        """Simulated seconds of all its runs."""
        return sum(run.duration_s for run in self.runs)

    def without(self, finished: Container[str]) -> Self:
        """The bundle of the runs that are not finished."""
        return self._replace(runs=tuple(run for run in self.runs if run.hash not in finished))

    def failures(self, errors: Mapping[str, BaseException]) -> Failures | None:
        """The failed runs among its runs, from their errors by hash; None if no run failed."""
        failed: dict[SweepRun, BaseException] = {run: errors[run.hash] for run in self.runs if run.hash in errors}
        return Failures(failed) if failed else None

    def __str__(self) -> str:
        return f"{self.runs[0]}{'' if len(self.runs) == 1 else ' ..'}"


def divided(runs: Sequence[SweepRun]) -> list[Bundle]:
    """All runs of a plan in bundles, in their order."""
    return [Bundle(tuple(some)) for some in _divided(runs)]


def _divided(runs: Sequence[SweepRun]) -> Iterator[list[SweepRun]]:
    most = min(MOST_RUNS, len(runs) // LEAST_BUNDLES)
    some: list[SweepRun] = []
    packets = 0.0
    for run in runs:
        if some and (len(some) >= most or packets + run.packets > MOST_PACKETS):
            yield some
            some, packets = [], 0.0
        some.append(run)
        packets += run.packets
    if some:
        yield some


def failures_by_run(errors: Mapping[Bundle, BaseException]) -> Failures:
    """The failed runs of bundles that failed. An error that is not that of single runs is one of each run."""
    by_run: dict[SweepRun, BaseException] = {}
    for bundle, error in errors.items():
        by_run |= error.errors if isinstance(error, Failures) else dict.fromkeys(bundle.runs, error)
    return Failures(by_run)
