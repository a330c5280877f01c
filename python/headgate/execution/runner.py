"""Runs points (a discipline with a seed each) on all cores, and stops them cleanly."""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from typing import Any, NamedTuple, TypeVar

from headgate import _core
from headgate.scenario import RunKey, Scenario

#: What is run: anything that names itself in a message.
Item = TypeVar("Item")

#: How often, in seconds of wall time, a watcher is told how far things are.
TICK = 0.1


class Timing(NamedTuple):
    """What one point cost: processor time and wall time of the simulation alone, in seconds.

    On real packets, the processor time is that of the loop that is the link.
    """

    cpu_s: float
    wall_s: float


class FinishedRun(NamedTuple):
    """What one point gave; on real packets also how true that is: the `proof` with `notes`."""

    outcome: _core.Outcome
    timing: Timing
    proof: dict[str, Any] | None


class Watcher:
    """Is told how a run goes; this one looks away."""

    def tell(self, sentence: str) -> None:
        """Something that a person should know, before the run begins."""

    def begin(self, total: int, cached: int, seconds: float) -> None:
        """A run begins: `total` points, of which `cached` were finished before; `seconds` remain to be simulated."""

    def tick(self, finished: int, seconds: float) -> None:
        """So far `finished` points of this run are done, and `seconds` of simulated time."""

    def end(self) -> None:
        """The last point is done, or the run stops."""


class Failures(Exception):
    """Points that failed, each with its error; the others were finished."""

    def __init__(self, errors: dict[Any, BaseException]) -> None:
        self.errors = errors
        super().__init__("\n".join(f"{point}: {error}" for point, error in errors.items()))


def run_point(
    scenario: Scenario,
    point: RunKey,
    progress: _core.Progress,
    on_batch: Callable[[str, Any], object] | None = None,
    on_capture: Callable[[str, bytes], object] | None = None,
) -> FinishedRun:
    """Runs one point in this thread; the interpreter is free for other threads meanwhile."""
    wall, cpu = time.perf_counter(), time.thread_time()
    if scenario.live:
        from headgate.execution.top_socket import ViewSocket

        with ExitStack() as stack:

            def show(look: Callable[[], Mapping[str, Any]]) -> None:
                stack.enter_context(ViewSocket("run", f"{scenario.name}, {point}", look))

            outcome, proof, notes = _core.run_live(
                scenario.core, point.qdisc_index, point.seed, progress, on_batch, on_capture, show
            )
        timing = Timing(proof["cpu_s"], time.perf_counter() - wall)
        return FinishedRun(outcome, timing, {**proof, "notes": notes})
    outcome = _core.run(scenario.core, point.qdisc_index, point.seed, progress, on_batch, on_capture)
    return FinishedRun(outcome, Timing(time.thread_time() - cpu, time.perf_counter() - wall), None)


def at_once(scenarios: Iterable[Scenario], threads: int | None) -> int | None:
    """How many points of `scenarios` may run at a time if `threads` are wanted: on real packets, one.

    Two links that keep time on the same machine would each make the other late.
    """
    return 1 if any(scenario.live for scenario in scenarios) else threads


def run_points(
    points: Sequence[Item],
    job: Callable[[Item, _core.Progress], None],
    *,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> None:
    """Calls `job` for every point, on `threads` threads (all processors if None).

    Raises `Failures` when the others are done if some failed, `OSError` at once if a result cannot be written, and
    `KeyboardInterrupt` when the running points have been stopped.
    """
    progress = _core.Progress()
    watcher = watcher or Watcher()
    with ThreadPoolExecutor(max_workers=threads or processors()) as pool:
        futures = {pool.submit(job, point, progress): point for point in points}
        try:
            _watch(futures, progress, watcher)
        except BaseException:
            progress.stop()
            pool.shutdown(cancel_futures=True)
            raise
        finally:
            watcher.end()
    errors = {point: error for future, point in futures.items() if (error := future.exception()) is not None}
    if errors:
        raise Failures(errors)


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _watch(futures: dict[Future[None], Item], progress: _core.Progress, watcher: Watcher) -> None:
    """Waits for all futures; an error in writing ends it at once."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=TICK, return_when=FIRST_COMPLETED)
        watcher.tick(len(futures) - len(pending), progress.seconds)
        for future in done:
            if isinstance(error := future.exception(), OSError):
                raise error
