"""Executes the missing runs of a plan on this machine or on a cluster."""

import threading
import time
from collections.abc import Sequence
from typing import TypeAlias

from headgate import _core
from headgate.counting import counted
from headgate.execution.batch import supervised
from headgate.execution.runner import Failures, Watcher, execute_runs, processors
from headgate.sweeps import work
from headgate.sweeps.bundle import Bundle, failures_by_run
from headgate.sweeps.cluster import Cluster
from headgate.sweeps.dataset import Dataset
from headgate.sweeps.plan import SweepPlan
from headgate.sweeps.result import Sweep, SweepCost

#: Number of trial bundles of an estimate, and the seconds of each.
_PROBES = 5
_PROBE_S = 0.1


class ThreadExecutor:
    """Executes runs on the processors of this machine: a simulation leaves the interpreter to other threads.

    `count` is the number of threads; `where` describes the machine in words.
    """

    def __init__(self, threads: int | None = None) -> None:
        self.count = threads or processors()
        self.where = f"on {counted(self.count, 'thread')}"

    def run(self, bundles: Sequence[Bundle], dataset: Dataset, watcher: Watcher) -> float:
        """Executes runs, and writes each bundle to the dataset when it is finished. Returns their processor seconds.

        Raises `Failures` after all other runs if some failed. Any other error ends the runs at once.
        """
        spent: list[float] = []

        def job(bundle: Bundle, progress: _core.Progress) -> None:
            done = work.run(dataset.plan.read_runs(bundle.runs), dataset.plan.tables, progress)
            dataset.keep(done)
            spent.append(done.cpu_s)
            if failed := bundle.failures(done.errors):
                raise failed

        try:
            execute_runs(bundles, job, threads=self.count, watcher=watcher, size=lambda bundle: len(bundle.runs))
        except Failures as failures:
            raise failures_by_run(failures.errors) from None
        return sum(spent)


#: An executor of runs: threads of this machine, or a cluster.
Executor: TypeAlias = ThreadExecutor | Cluster


def run(dataset: Dataset, executor: Executor, watcher: Watcher) -> Sweep:
    """Executes every missing run. In any case it writes the table of the finished runs at the end.

    Raises `RunFailedError` after all other runs if some failed, `InterruptedRunError` on Ctrl-C, and
    `ResultError` if the dataset cannot be written.
    """
    bundles = dataset.missing_bundles
    missing = len(dataset.missing)
    total = len(dataset.plan.runs)
    began = time.perf_counter()
    cpu_s = 0.0
    with dataset.folder.locked():
        dataset.begin()
        watcher.begin(total, total - missing, sum(bundle.duration_s for bundle in bundles))
        try:
            with supervised(lambda: dataset.finished, total, dataset.folder.url):
                if bundles:
                    cpu_s = executor.run(bundles, dataset, watcher)
        finally:
            dataset.write_points()
    return Sweep(dataset.folder, SweepCost(missing, cpu_s, time.perf_counter() - began))


def estimate(plan: SweepPlan, bundles: Sequence[Bundle], threads: int) -> float | None:
    """The estimated seconds that the runs take on so many threads, from short trials of a few bundles.

    None without threads, or if the trials were too short for an estimate.
    """
    if not threads:
        return None
    chosen = bundles[:: max(1, len(bundles) // _PROBES)][:_PROBES]
    costs = [cost for bundle in chosen if (cost := _probe(plan, bundle)) is not None]
    return sum(costs) / len(costs) * len(bundles) / threads if costs and len(costs) == len(chosen) else None


def _probe(plan: SweepPlan, bundle: Bundle) -> float | None:
    """Estimates the seconds of one bundle from a short trial; None if the trial was too short."""
    ready = list(plan.read_runs(bundle.runs))
    progress = _core.Progress()
    alarm = threading.Timer(_PROBE_S, progress.stop)
    began = time.perf_counter()
    alarm.start()
    try:
        work.run(ready, plan.tables, progress)
        return time.perf_counter() - began
    except _core.Stopped:
        part = progress.seconds / bundle.duration_s
        return (time.perf_counter() - began) / part if part > 0 else None
    finally:
        alarm.cancel()
