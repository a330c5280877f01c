"""Runs an experiment and measures its runs. All runs share one pool; results are stored by the scenario's hash."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from headgate.analysis.judge import Quantity
from headgate.analysis.runs import Run
from headgate.errors import UsageError
from headgate.execution import batch
from headgate.execution.runner import Watcher, processors
from headgate.experiment.declare import Case, ComputedRun, Experiment
from headgate.experiment.results import ExperimentResults, MeasureKey
from headgate.files.store import folder_name, folders, slug_of
from headgate.scenario import Scenario

#: The folder for results of single scenarios, in the folder of all experiments.
RUNS = "runs"

#: Number of scenarios that run in one pool. The folder of each is locked, and a process may open about 1000 files.
POOL = 400


class RunOptions(NamedTuple):
    """Options of an experiment's runs.

    `further` are added disciplines. `seeds` replaces the experiment's number of seeds, `choices` values of open
    parameters. `trace` is a packet trace for experiments that read one. Each of `settings` is `KEY=VALUE`: an open
    parameter of the experiment, or a key of its scenarios.
    """

    quick: bool = False
    seeds: int | None = None
    further: tuple[str, ...] = ()
    choices: Mapping[str, Any] = {}
    trace: Path | None = None
    threads: int | None = None
    force: bool = False
    settings: tuple[str, ...] = ()

    def seeds_of(self, whole: int, quick: int) -> int:
        """Number of seeds of a case: `seeds` if given, else `whole`, or `quick` in a shortened run."""
        return self.seeds if self.seeds is not None else quick if self.quick else whole

    def name_parts(self) -> list[str]:
        """The parts of a folder's name that stand for a shortened run, another number of seeds, and settings."""
        parts = ["quick"] if self.quick else []
        parts += [] if self.seeds is None else [f"seeds{self.seeds}"]
        return [*parts, *(slug_of(setting.replace("=", ":", 1)) for setting in self.settings)]


class CaseScenario(NamedTuple):
    """One scenario of an experiment: a case with the paper's disciplines, or with the added disciplines."""

    number: int
    case: Case
    labels: tuple[str, ...]
    scenario: Scenario


class FinishedCase(NamedTuple):
    """A scenario that was run: the runs of each discipline by label, one per seed, and their processor seconds.

    If several cases have the same scenario, its processor seconds count once.
    """

    planned: CaseScenario
    runs: Mapping[str, list[Run]]
    cpu_s: float


class ExperimentRun(NamedTuple):
    """The results and their cost: processor seconds of all runs, reused runs included, and this command's wall time."""

    results: ExperimentResults
    cpu_s: float
    wall_s: float


def run(experiment: Experiment, out: Path, options: RunOptions, watcher: Watcher) -> ExperimentRun:
    """Executes the runs that are missing in `out`, and measures all runs."""
    began, busy = time.perf_counter(), time.process_time()
    if experiment.compute is not None:
        results = _computed(experiment, options, watcher)
        cpu_s = time.process_time() - busy
    else:
        results, cpu_s = _simulated(experiment, out, options, watcher)
    return ExperimentRun(results, cpu_s, time.perf_counter() - began)


def case_scenarios(experiment: Experiment, options: RunOptions) -> Iterator[CaseScenario]:
    """The scenarios of an experiment, one or two per case.

    Added disciplines have a second scenario, so that finished runs of the paper's disciplines are reused.
    """
    labels = experiment.labels(options.further)
    ours, added = tuple(experiment.qdiscs), tuple(label for label in labels if label not in experiment.qdiscs)
    for number, case in enumerate(experiment.cases_of(options.quick)):
        for names in filter(None, (ours, added)):
            yield from _of_case(experiment, number, case, {name: labels[name] for name in names}, options)


def _of_case(
    experiment: Experiment, number: int, case: Case, labels: Mapping[str, str], options: RunOptions
) -> Iterator[CaseScenario]:
    """The scenario of a case with these disciplines.

    If other values of open parameters change only settings of disciplines, the scenario with our values comes first.
    A second scenario has the changed disciplines, whose runs replace those of the first.
    """
    named, keys = experiment.split(options.settings)
    choices = {**options.choices, **named}

    def made(specs: Iterable[str], choices: Mapping[str, Any], keys: Sequence[str] = ()) -> Scenario:
        return experiment.scenario_of(
            case, specs, quick=options.quick, seeds=options.seeds, choices=choices, settings=keys
        )

    names = tuple(labels)
    if choices:
        ours = experiment.values_of(case, labels.values()).qdiscs
        changed_specs = experiment.values_of(case, labels.values(), choices).qdiscs
        adopted = made(ours, {})
        if made(ours, choices, keys).config_hash == adopted.config_hash:
            yield CaseScenario(number, case, names, adopted)
            pairs = zip(names, ours, changed_specs, strict=True)
            labels = {name: labels[name] for name, mine, changed in pairs if mine != changed}
            names = tuple(labels)
    if names:
        yield CaseScenario(number, case, names, made(labels.values(), choices, keys))


def _simulated(
    experiment: Experiment, out: Path, options: RunOptions, watcher: Watcher
) -> tuple[ExperimentResults, float]:
    done = list(pooled(list(case_scenarios(experiment, options)), out / RUNS, options, watcher))
    runs = {(label, each.planned.number): mine for each in done for label, mine in each.runs.items()}
    results = ExperimentResults.of_runs(
        experiment, experiment.labels(options.further), experiment.cases_of(options.quick), runs
    )
    return results, sum(each.cpu_s for each in done)


def execute_missing(planned: Sequence[CaseScenario], out: Path, options: RunOptions, watcher: Watcher) -> None:
    """Executes the runs of these scenarios that are missing in `out`."""
    for _ in pooled(planned, out / RUNS, options, watcher):
        pass


def pooled(
    planned: Sequence[CaseScenario], home: Path, options: RunOptions, watcher: Watcher
) -> Iterator[FinishedCase]:
    """Finishes every planned scenario. Runs that are missing in `home` are executed, many scenarios in one pool."""
    counted: set[Path] = set()
    for first in range(0, len(planned), POOL):
        pool = [(part, home / folder_name(part.scenario)) for part in planned[first : first + POOL]]
        scenarios = folders(home, (part.scenario for part, _ in pool))
        with batch.into_folders(
            scenarios, home, threads=options.threads, force=options.force, watcher=watcher
        ) as results:
            pass
        for part, path in pool:
            result = results[path]
            cpu_s = 0.0 if path in counted else sum(float(row["cpu_s"]) for row in result.timing)
            counted.add(path)
            qdiscs = zip(part.labels, result.scenario.qdiscs, strict=True)
            runs = {label: Run.of_qdisc(result, qdisc, label, part.case) for label, qdisc in qdiscs}
            yield FinishedCase(part, runs, cpu_s)


def _computed(experiment: Experiment, options: RunOptions, watcher: Watcher) -> ExperimentResults:
    compute = experiment.compute
    if compute is None:
        raise UsageError(f"{experiment.title} is a simulation")
    if options.settings:
        raise UsageError(f"{experiment.title} is a computation: it has no scenario whose keys could be set")
    cases = experiment.cases_of(options.quick)
    seeds = range(1, options.seeds_of(experiment.seeds, experiment.quick.seeds) + 1)
    labels = list(experiment.qdiscs)
    jobs = [(label, case) for label in labels for case in range(len(cases))]
    watcher.begin(len(jobs), 0, 0.0)
    values: dict[MeasureKey, Quantity] = {}

    def work(job: tuple[str, int]) -> Sequence[Mapping[str, float]]:
        label, case = job
        return [compute(ComputedRun(label, cases[case], seed, options.quick, options.trace)) for seed in seeds]

    try:
        with ThreadPoolExecutor(options.threads or processors()) as pool:
            for (label, case), done in zip(jobs, pool.map(work, jobs), strict=True):
                for name in done[0]:
                    values[name, label, case] = Quantity(tuple(each[name] for each in done), exact=experiment.exact)
    finally:
        watcher.end()
    return ExperimentResults(experiment, experiment.labels(), cases, values)
