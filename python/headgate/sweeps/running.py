"""Executes the missing runs of a plan on this machine or on a cluster."""

import threading
import time
from collections.abc import Sequence
from typing import TypeAlias

from headgate import _core
from headgate.execution.batch import supervised
from headgate.execution.runner import Watcher, execute_runs, processors
from headgate.sweeps import work
from headgate.sweeps.cluster import Cluster
from headgate.sweeps.dataset import Dataset
from headgate.sweeps.plan import SweepPlan, SweepRun
from headgate.sweeps.result import Sweep, SweepCost

#: Number of trial runs of an estimate, and the seconds of each.
_PROBES = 5
_PROBE_S = 0.1


class ThreadExecutor:
    """Executes runs on the processors of this machine: a simulation leaves the interpreter to other threads.

    `count` is the number of threads; `where` describes the machine in words.
    """

    def __init__(self, threads: int | None = None) -> None:
        self.count = threads or processors()
        self.where = f"on {self.count} thread{'' if self.count == 1 else 's'}"

    def run(self, runs: Sequence[SweepRun], dataset: Dataset, watcher: Watcher) -> float:
        """Executes runs, and writes each to the dataset when it is finished. Returns their processor seconds.

        Raises `Failures` after all other runs if some failed. Any other error ends the runs at once.
        """
        spent: list[float] = []

        def job(run: SweepRun, progress: _core.Progress) -> None:
            done = work.run(dataset.plan.work(run), progress)
            dataset.keep(run, done)
            spent.append(done.timing.cpu_s)

        execute_runs(runs, job, threads=self.count, watcher=watcher)
        return sum(spent)


#: An executor of runs: threads of this machine, or a cluster.
Executor: TypeAlias = ThreadExecutor | Cluster


def run(dataset: Dataset, executor: Executor, watcher: Watcher) -> Sweep:
    """Executes every missing run. In any case it writes the table of the finished runs at the end.

    Raises `RunFailedError` after all other runs if some failed, `InterruptedRunError` on Ctrl-C, and
    `ResultError` if the dataset cannot be written.
    """
    runs = dataset.missing
    total = len(dataset.plan.runs)
    began = time.perf_counter()
    cpu_s = 0.0
    with dataset.folder.locked():
        dataset.begin()
        watcher.begin(total, total - len(runs), sum(dataset.plan.duration_s(run) for run in runs))
        try:
            with supervised(lambda: dataset.finished, total, dataset.folder.url):
                if runs:
                    cpu_s = executor.run(runs, dataset, watcher)
        finally:
            dataset.write_points()
    return Sweep(dataset.folder, SweepCost(len(runs), cpu_s, time.perf_counter() - began))


def estimate(plan: SweepPlan, runs: Sequence[SweepRun], threads: int) -> float | None:
    """The estimated seconds that the runs take on so many threads, from short trials of a few of them.

    None without threads, or if the trials were too short for an estimate.
    """
    if not threads:
        return None
    chosen = runs[:: max(1, len(runs) // _PROBES)][:_PROBES]
    costs = [cost for run in chosen if (cost := _probe(plan, run)) is not None]
    return sum(costs) / len(costs) * len(runs) / threads if costs and len(costs) == len(chosen) else None


def _probe(plan: SweepPlan, run: SweepRun) -> float | None:
    """Estimates the seconds of one run from a short trial; None if the trial was too short."""
    ready = plan.work(run)
    progress = _core.Progress()
    alarm = threading.Timer(_PROBE_S, progress.stop)
    began = time.perf_counter()
    alarm.start()
    try:
        work.run(ready, progress)
        return time.perf_counter() - began
    except _core.Stopped:
        part = progress.seconds / plan.duration_s(run)
        return (time.perf_counter() - began) / part if part > 0 else None
    finally:
        alarm.cancel()
