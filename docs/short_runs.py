"""Short runs: one seed, seconds of simulated time. Their digests tell whether the numbers of a page are of this code.

The numbers of a page take up to an hour of simulation. A change of the simulator or of a scenario changes a short run
too, which takes a second. The digest covers the columns of `FLOWS` and `LINKS` and every measure of an experiment. So
no page becomes stale by a new column. Numbers that are not whole count with `DIGITS` digits, because sums may differ in
the last digits between machines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path

from headgate.analysis.runs import Run
from headgate.evaluate import catalogue as sections
from headgate.evaluate import running as evaluation
from headgate.evaluate.candidates import candidates, named
from headgate.evaluate.coexistence import running as coexistence
from headgate.evaluate.coexistence.grid import QDISCS, RATES_BPS, RTTS_MS, SEEDS, TIMES, Grid
from headgate.evaluate.section import GuidelineTest
from headgate.execution.runner import Watcher
from headgate.experiment import running
from headgate.experiment.declare import Case, Experiment
from headgate.experiment.results import ExperimentResults
from headgate.experiment.running import RunOptions
from headgate.papers import catalogue

#: The columns of the tables `flows` and `links` that a digest covers.
COUNTS = ("arrived", "sent", "sent_bytes", "dropped", "marked", "link_losses")
FLOWS = (*COUNTS, "retransmits", "timeouts", "goodput_bps")
LINKS = (*COUNTS, "queue_packets_mean", "queue_delay_ms_p95")
DIGITS = 6
#: Cases of an experiment that are run: the first, the last, and others evenly between.
CASES = 3


def digest(lines: Iterable[str]) -> str:
    """The first 16 digits of the SHA-256 of these lines."""
    return sha256("\n".join(lines).encode()).hexdigest()[:16]


@cache
def of_experiment(name: str, home: Path) -> str:
    """The digest of an experiment. Its runs are stored in `home`, and shared with experiments of the same scenarios."""
    declared = catalogue.experiment(name)
    results = running.run(shortened(declared), home, RunOptions(quick=True, seeds=1), Watcher()).results
    return digest([*whole(declared), *measured(results), *counted(results)])


def compared() -> list[str]:
    """The experiments that compare disciplines by one number, and can take today's disciplines too."""
    declared = {name: catalogue.experiment(name) for name in catalogue.names()}
    return [name for name, each in declared.items() if each.headline and each.modern]


@cache
def of_evaluation(specs: tuple[str, ...], home: Path) -> str:
    """The digest of an evaluation of these disciplines by RFC 7928, of the first case of each test."""
    short = [replace(section, tests=tuple(map(first_case, section.tests))) for section in sections.chosen(())]
    options = RunOptions(quick=True, seeds=1)
    results = evaluation.run(short, candidates(specs), home, options, Watcher())
    tests = [test for section in sections.chosen(()) for test in section.tests]
    cases = (f"{test.name}: {case.title}" for test in tests for case in test.cases)
    values = (
        f"{test}, {place.candidate.spec}, ECN {place.ecn}: {name} {numbers(quantity.per_seed)}"
        for test, of_test in results.by_test.items()
        for place, measures, _ in of_test
        for name, quantity in measures.items()
    )
    return digest([*cases, *values])


@cache
def of_coexistence(home: Path) -> str:
    """The digest of the heat maps of L4S: the corners of the grid, with and without Prague's fall-back."""
    corners = Grid(RATES_BPS[:: len(RATES_BPS) - 1], RTTS_MS[:: len(RTTS_MS) - 1])
    lines = [f"{cells} of {TIMES} s, {SEEDS} seeds" for cells in (corners.rates_bps, corners.rtts_ms)]
    for grid in (corners, corners._replace(fallback=False, classic_ecn=True)):
        results = coexistence.run(grid, named(QDISCS), home, RunOptions(quick=True), Watcher())
        lines += (
            f"{grid.words()}, {spec}, {shown(cell)}: {name} {numbers(quantity.per_seed)}"
            for spec, cell, values in results.cells
            for name, quantity in values.items()
        )
    return digest(lines)


def first_case(test: GuidelineTest) -> GuidelineTest:
    """The test with its first case alone."""
    return replace(test, cases=test.cases[:1])


def shortened(declared: Experiment) -> Experiment:
    """The experiment whose quick form has at most `CASES` cases."""
    return replace(declared, quick=replace(declared.quick, cases=few(declared.cases_of(quick=True))))


def few(cases: Sequence[Case]) -> tuple[Case, ...]:
    """At most `CASES` of these cases, evenly spread, the first and the last among them."""
    if len(cases) <= CASES:
        return tuple(cases)
    return tuple(cases[round(number * (len(cases) - 1) / (CASES - 1))] for number in range(CASES))


def whole(declared: Experiment) -> Iterator[str]:
    """What the short form leaves out: the seeds and cases of whole runs, their duration and warm-up."""
    yield f"{declared.seeds} seeds"
    for case in declared.cases:
        yield f"case {shown(case)}"
    if declared.scenario is not None:
        for case in few(declared.cases):
            scenario = declared.scenario_of(case, declared.qdiscs.values(), seeds=1)
            yield f"{scenario.duration_s} s, measured after {scenario.warmup_s} s"


def measured(results: ExperimentResults) -> Iterator[str]:
    """Every measure of an experiment, sorted by name, discipline and case."""
    for (measure, label, case), quantity in sorted(results.values.items(), key=lambda item: item[0]):
        yield f"{measure} of {label}, {shown(results.cases[case])}: {numbers(quantity.per_seed)}"


def counted(results: ExperimentResults) -> Iterator[str]:
    """The counts of every run; nothing for an experiment that computes."""
    if results.experiment.compute is None:
        for label in sorted(results.labels):
            for case in results.cases:
                for run in results.runs(label, **case):
                    yield f"{label}, {shown(case)}"
                    yield from counts(run)


def counts(run: Run) -> Iterator[str]:
    """The counts of a run by flow, and by link that runs the compared discipline."""
    for column in FLOWS:
        yield f"flows {column} {numbers(run.flows(column))}"
    for row in run.table("links").select(["link", "direction", "compared", *LINKS]).to_pylist():
        if row["compared"]:
            yield f"{row['link']} {row['direction']} {numbers(row[column] for column in LINKS)}"


def numbers(values: Iterable[float | None]) -> str:
    """Numbers as text: whole ones exactly, others with `DIGITS` digits."""
    return " ".join(map(_number, values))


def _number(value: float | None) -> str:
    if value is None:
        return "none"
    return str(int(value)) if float(value).is_integer() else f"{value:.{DIGITS}g}"


def shown(case: Case) -> str:
    """The values of a case, as text."""
    return ", ".join(f"{name}={value}" for name, value in case.items())
