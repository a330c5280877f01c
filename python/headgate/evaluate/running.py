"""Runs tests: the points of all sections and disciplines as one pool, each kept by the hash of what it is."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from headgate.evaluate.candidates import BASELINE, Candidate
from headgate.evaluate.measures import COMMON
from headgate.evaluate.section import Case, Section, Test
from headgate.experiment.found import measured
from headgate.experiment.running import RUNS, Part, carried_out
from headgate.judge import Quantity
from headgate.runner import Watcher

SEEDS, QUICK_SEEDS = 10, 3

#: Folders that are filled together. Each holds a lock, and a process may hold a thousand files open.
POOL = 400


class How(NamedTuple):
    """How an evaluation is run; `seeds` replaces the usual number."""

    quick: bool = False
    seeds: int | None = None
    threads: int | None = None
    force: bool = False

    @property
    def number(self) -> int:
        """Seeds of each case."""
        return self.seeds if self.seeds is not None else QUICK_SEEDS if self.quick else SEEDS


class Place(NamedTuple):
    """Where a number belongs: a test in one case with or without ECN, and a discipline."""

    test: Test
    case: Case
    ecn: bool
    candidate: Candidate


class Found(NamedTuple):
    """Every measure of every place, and what it cost."""

    values: Mapping[int, Mapping[str, Quantity]]
    places: Sequence[Place]
    cpu_s: float
    wall_s: float

    def at(self, number: int, measure: str) -> Quantity:
        """A measure of the place of this number."""
        return self.values[number][measure]

    def baseline(self, number: int, measure: str) -> Quantity:
        """The same of DropTail, which never marks."""
        test, case, _, _ = self.places[number]
        for other, place in enumerate(self.places):
            if place.test is test and place.case is case and place.candidate.spec == BASELINE:
                return self.values[other][measure]
        raise KeyError(f"{BASELINE} was not run in {test.name}")


def places(sections: Sequence[Section], found: Sequence[Candidate]) -> Iterator[Place]:
    """Everything there is to run: with ECN only where senders and the discipline have it."""
    for section in sections:
        for test in section.tests:
            for case in test.cases:
                for candidate in found:
                    for ecn in (False, True) if test.ecn and candidate.ecn else (False,):
                        yield Place(test, case, ecn, candidate)


def run(sections: Sequence[Section], found: Sequence[Candidate], out: Path, how: How, watcher: Watcher) -> Found:
    """Runs what is not yet in `out`, and measures."""
    began = time.perf_counter()
    wanted = list(places(sections, found))
    parts = [_part(number, place, how) for number, place in enumerate(wanted)]
    common = {name: each.measure for name, each in COMMON.items()}
    values: dict[int, dict[str, Quantity]] = {}
    cpu_s = 0.0
    for first in range(0, len(parts), POOL):
        pool = parts[first : first + POOL]
        runs, cost = carried_out(pool, out / RUNS, how.threads, how.force, watcher)
        cpu_s += cost
        for part in pool:
            of = (part.labels[0], part.number)
            named = measured({**common, **wanted[part.number].test.every_measure()}, {of: runs[of]})
            values[part.number] = {measure: quantity for (measure, _, _), quantity in named.items()}
    return Found(values, wanted, cpu_s, time.perf_counter() - began)


def _part(number: int, place: Place, how: How) -> Part:
    test, case, ecn, candidate = place
    scenario = test.scenario_of(case, candidate.spec, ecn=ecn, quick=how.quick, seeds=how.number)
    return Part(number, test.values(case, quick=how.quick), (candidate.spec,), scenario)
