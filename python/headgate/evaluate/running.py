"""Runs tests: the runs of all sections and disciplines in one pool, each stored by the hash of its scenario."""

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from headgate.analysis.judge import Quantity
from headgate.evaluate.candidates import BASELINE, Candidate
from headgate.evaluate.common import COMMON
from headgate.evaluate.section import GuidelineTest, RfcSection, SectionCase
from headgate.execution.runner import Watcher
from headgate.experiment.results import measured
from headgate.experiment.running import RUNS, CaseScenario, RunOptions, pooled

SEEDS, QUICK_SEEDS = 10, 3


class EvaluatedCase(NamedTuple):
    """The key of measures: a test, one of its cases, with or without ECN, and a discipline."""

    test: GuidelineTest
    case: SectionCase
    ecn: bool
    candidate: Candidate


class MeasuredCase(NamedTuple):
    """The measures of a case, and those of DropTail, which never marks."""

    place: EvaluatedCase
    values: Mapping[str, Quantity]
    baseline: Mapping[str, Quantity]


class EvaluationResults(NamedTuple):
    """The measures of every case by test name, and the cost."""

    by_test: Mapping[str, Sequence[MeasuredCase]]
    cpu_s: float
    wall_s: float


def evaluated_cases(sections: Sequence[RfcSection], candidates: Sequence[Candidate]) -> Iterator[EvaluatedCase]:
    """Every case to run, the baseline first. Cases with ECN only if senders and the discipline support it."""
    for test in (test for section in sections for test in section.tests):
        for case in test.cases:
            for candidate in candidates:
                for ecn in (False, True) if test.ecn and candidate.ecn else (False,):
                    yield EvaluatedCase(test, case, ecn, candidate)


def run(
    sections: Sequence[RfcSection], candidates: Sequence[Candidate], out: Path, options: RunOptions, watcher: Watcher
) -> EvaluationResults:
    """Executes the runs that are missing in `out`, and measures all runs."""
    began = time.perf_counter()
    cases = list(evaluated_cases(sections, candidates))
    planned = [_case_scenario(number, place, options) for number, place in enumerate(cases)]
    common = {name: each.measure for name, each in COMMON.items()}
    rows: dict[str, list[MeasuredCase]] = {}
    baseline: Mapping[str, Quantity] = {}
    cpu_s = 0.0
    for place, done in zip(cases, pooled(planned, out / RUNS, options, watcher), strict=True):
        values = measured({**common, **place.test.every_measure()}, done.runs[place.candidate.spec])
        baseline = values if place.candidate.spec == BASELINE else baseline
        rows.setdefault(place.test.name, []).append(MeasuredCase(place, values, baseline))
        cpu_s += done.cpu_s
    return EvaluationResults(rows, cpu_s, time.perf_counter() - began)


def seeds_of(options: RunOptions) -> int:
    """Seeds of each case."""
    return options.seeds_of(SEEDS, QUICK_SEEDS)


def _case_scenario(number: int, place: EvaluatedCase, options: RunOptions) -> CaseScenario:
    test, case, ecn, candidate = place
    scenario = test.scenario_of(case, candidate.spec, ecn=ecn, quick=options.quick, seeds=seeds_of(options))
    return CaseScenario(number, test.values(case, quick=options.quick), (candidate.spec,), scenario)
