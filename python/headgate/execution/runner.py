"""Executes runs (one discipline, one seed each) on all cores, and stops them cleanly."""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import Any, NamedTuple, TypeVar

from headgate import _core
from headgate.qdiscs.kernel import counterpart
from headgate.scenario import RunKey, RunWorld, Scenario

#: One item of work. Messages show it as text.
Item = TypeVar("Item")

#: Seconds between reports of progress.
TICK = 0.1


class Timing(NamedTuple):
    """The cost of a run: processor time and wall time of the simulation, in seconds.

    On real packets, the processor time is that of the forwarding thread.
    """

    cpu_s: float
    wall_s: float


class FinishedRun(NamedTuple):
    """The outcome of a run; on real packets also its `accuracy`, with `notes`."""

    outcome: _core.Outcome
    timing: Timing
    accuracy: dict[str, Any] | None


class Watcher:
    """Gets the progress of runs. This one ignores it."""

    def tell(self, sentence: str) -> None:
        """A message for the user before the runs begin."""

    def begin(self, total: int, cached: int, seconds: float) -> None:
        """Runs begin: `total` runs, of which `cached` are finished; `seconds` of simulated time remain."""

    def tick(self, finished: int, seconds: float) -> None:
        """So far `finished` runs and `seconds` of simulated time are done."""

    def end(self) -> None:
        """The last run is done, or the runs stop."""


class Failures(Exception):
    """Failed runs with their errors; all other runs are finished."""

    def __init__(self, errors: dict[Any, BaseException]) -> None:
        self.errors = errors
        super().__init__("\n".join(f"{run}: {error}" for run, error in errors.items()))


def execute_run(
    scenario: Scenario,
    run: RunKey,
    progress: _core.Progress,
    on_batch: Callable[[str, Any], object] | None = None,
    on_capture: Callable[[str, bytes], object] | None = None,
) -> FinishedRun:
    """Executes one run in this thread; the interpreter is free for other threads meanwhile."""
    wall, cpu = time.perf_counter(), time.thread_time()
    if scenario.live:
        from headgate.execution.top_socket import ViewSocket

        with ExitStack() as stack:

            def show(look: Callable[[], Mapping[str, Any]]) -> None:
                stack.enter_context(ViewSocket("run", f"{scenario.name}, {run}")).serve(look)

            command = counterpart(run.qdisc, scenario) if scenario.world == RunWorld.KERNEL else None
            outcome, accuracy, notes = _core.run_live(
                scenario.core,
                run.qdisc_index,
                run.seed,
                progress,
                on_batch,
                on_capture,
                show,
                None if command is None else list(command.words),
            )
        if command is not None:
            accuracy["kernel_qdisc"] = {"tc": " ".join(command.words)} | _counts(accuracy["kernel_qdisc"])
            notes = [*notes, *(f"{run.qdisc}: {note}" for note in command.notes)]
        timing = Timing(accuracy["cpu_s"], time.perf_counter() - wall)
        return FinishedRun(outcome, timing, {**accuracy, "notes": notes})
    outcome = _core.run(scenario.core, run.qdisc_index, run.seed, progress, on_batch, on_capture)
    return FinishedRun(outcome, Timing(time.thread_time() - cpu, time.perf_counter() - wall), None)


def _counts(report: dict[str, Any]) -> dict[str, Any]:
    """The kernel's report on its qdisc, with the statistics of the qdisc itself."""
    statistics = json.loads(report["statistics"])
    return {**report, "statistics": next(each for each in statistics if each["handle"] == "2:")}


def execute_runs(
    runs: Sequence[Item],
    job: Callable[[Item, _core.Progress], None],
    *,
    threads: int | None = None,
    watcher: Watcher | None = None,
    size: Callable[[Item], int] = lambda _: 1,
) -> None:
    """Calls `job` for every run, on `threads` threads (all processors if None).

    If an item is several runs, `size` tells their number, for `watcher`.

    Raises `Failures` after all other runs if some failed, `OSError` at once if a result cannot be written, and
    `KeyboardInterrupt` after the current runs have stopped.
    """
    progress = _core.Progress()
    watcher = watcher or Watcher()
    with ThreadPoolExecutor(max_workers=threads or processors()) as pool:
        futures = {pool.submit(job, run, progress): run for run in runs}
        try:
            _watch(futures, progress, watcher, size)
        except BaseException:
            progress.stop()
            pool.shutdown(cancel_futures=True)
            raise
        finally:
            watcher.end()
    errors = {run: error for future, run in futures.items() if (error := future.exception()) is not None}
    if errors:
        raise Failures(errors)


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _watch(
    futures: dict[Future[None], Item], progress: _core.Progress, watcher: Watcher, size: Callable[[Item], int]
) -> None:
    """Waits for all futures; an error in writing ends it at once."""
    pending = set(futures)
    finished = 0
    while pending:
        done, pending = wait(pending, timeout=TICK, return_when=FIRST_COMPLETED)
        finished += sum(size(futures[future]) for future in done)
        watcher.tick(finished, progress.seconds)
        for future in done:
            if isinstance(error := future.exception(), OSError):
                raise error
