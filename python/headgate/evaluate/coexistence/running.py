"""Runs the cells of a heat map in one pool, and measures them."""

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from headgate.analysis.judge import Quantity
from headgate.evaluate.candidates import Candidate
from headgate.evaluate.coexistence.grid import MEASURES, QUICK_SEEDS, QUICK_TIMES, SEEDS, TIMES, Grid
from headgate.execution.runner import Watcher
from headgate.experiment.declare import Case
from headgate.experiment.results import measured
from headgate.experiment.running import RUNS, CaseScenario, RunOptions, pooled


class MeasuredCell(NamedTuple):
    """The measures of a cell with one discipline."""

    spec: str
    cell: Case
    values: Mapping[str, Quantity]


class CoexistenceResults(NamedTuple):
    """The measures of every cell, the disciplines one after the other, and the cost."""

    cells: Sequence[MeasuredCell]
    cpu_s: float
    wall_s: float


def run(
    grid: Grid, chosen: Sequence[Candidate], out: Path, options: RunOptions, watcher: Watcher
) -> CoexistenceResults:
    """Executes the runs that are missing in `out`, and measures all runs."""
    began, cpu_s = time.perf_counter(), 0.0
    cells: list[MeasuredCell] = []
    for done in pooled(list(_planned(grid, chosen, options)), out / RUNS, options, watcher):
        (spec,) = done.planned.labels
        cells.append(MeasuredCell(spec, done.planned.case, measured(MEASURES, done.runs[spec])))
        cpu_s += done.cpu_s
    return CoexistenceResults(cells, cpu_s, time.perf_counter() - began)


def seeds_of(options: RunOptions) -> int:
    """Seeds of each cell."""
    return options.seeds_of(SEEDS, QUICK_SEEDS)


def times_of(options: RunOptions) -> tuple[int, int]:
    """Length of each run and of its warm-up, in seconds."""
    return QUICK_TIMES if options.quick else TIMES


def _planned(grid: Grid, chosen: Sequence[Candidate], options: RunOptions) -> Iterator[CaseScenario]:
    """A scenario for each cell and discipline, so that a further discipline costs only its own runs."""
    cells = [(candidate.spec, cell) for candidate in chosen for cell in grid.cells()]
    for number, (spec, cell) in enumerate(cells):
        scenario = grid.scenario(cell, spec, times_of(options), seeds_of(options))
        yield CaseScenario(number, cell, (spec,), scenario)
