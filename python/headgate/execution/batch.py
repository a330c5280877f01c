"""Executes the missing runs of several result folders in one thread pool."""

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import pyarrow as pa

from headgate import _core
from headgate.errors import InterruptedRunError, RunFailedError
from headgate.execution.memory import concurrent_runs
from headgate.execution.runner import Failures, FinishedRun, Watcher, execute_run, execute_runs
from headgate.files import store, streams, tables
from headgate.files.store import Store
from headgate.results import Result
from headgate.scenario import RunKey, RunWorld, Scenario

#: The destination of a result: a folder, or the scenario's number if the result stays in memory.
Destination = TypeVar("Destination")


class Job(NamedTuple, Generic[Destination]):
    """One run of one of several scenarios."""

    scenario: Scenario
    run: RunKey
    destination: Destination
    named: bool = True

    def __str__(self) -> str:
        return f"{self.scenario.name}: {self.run}" if self.named else str(self.run)


@contextmanager
def into_folders(
    scenarios: Mapping[Path, Scenario], home: Path, *, threads: int | None, force: bool, watcher: Watcher
) -> Iterator[dict[Path, Result]]:
    """Executes every run that a scenario's folder lacks, all in one thread pool.

    The folders stay locked during the context. `home` names them in messages; `force` executes finished runs again.
    Raises `RunFailedError` after all other runs if some failed, `InterruptedRunError` on Ctrl-C, and `ResultError` for
    a folder that cannot be written. Finished runs are kept.
    """
    with ExitStack() as opened:
        folders = [opened.enter_context(Store.open(path, each, force=force)) for path, each in scenarios.items()]
        try:
            _execute_missing(folders, home, threads, watcher)
            results = {path: Result.load(path) for path in scenarios}
        except OSError as error:
            raise store.not_writable(home, error) from None
        yield results


def _execute_missing(folders: Sequence[Store], home: Path, threads: int | None, watcher: Watcher) -> None:
    """Executes the missing runs and finishes the folders."""
    for folder in folders:
        if folder.damaged:
            watcher.tell(f"damaged files in {folder.path} are recomputed: {', '.join(folder.damaged)}")
    jobs = [Job(folder.scenario, run, folder) for folder in folders for run in folder.scenario.runs
            if not folder.has(run)]  # fmt: skip
    total = sum(len(folder.scenario.runs) for folder in folders)
    watcher.begin(total, total - len(jobs), sum(job.scenario.duration_s for job in jobs))
    if jobs:
        threads = concurrent_runs((job.scenario for job in jobs), threads, watcher)
        with supervised(lambda: total - sum(not job.destination.has(job.run) for job in jobs), total, home):
            execute_runs(jobs, _run, threads=threads, watcher=watcher)
    for folder in folders:
        if not folder.complete:
            _finish(folder)


@contextmanager
def supervised(finished: Callable[[], int], total: int, destination: Path | str | None) -> Iterator[None]:
    """Turns a failure or Ctrl-C into one error, with the number of `finished` runs and their folder `destination`."""
    try:
        yield
    except KeyboardInterrupt:
        raise InterruptedRunError(finished(), total, destination) from None
    except Failures as failures:
        kept_where = "" if destination is None else f"; finished runs are kept in {destination}"
        failed = f"{len(failures.errors)} of {total} runs" if total > 1 else "the run"
        raise RunFailedError(f"{failed} failed{kept_where}\n{failures}") from failures


class InMemory:
    """The runs of several scenarios in one thread pool. `keep` gets the number and result of each finished scenario.

    Without `streamed` a result has no events, traces or other packet-level tables.
    """

    def __init__(
        self, scenarios: Sequence[Scenario], keep: Callable[[int, Result], object], *, streamed: bool = True
    ) -> None:
        several = len({each.name for each in scenarios}) > 1
        self.jobs = [Job(each, run, number, several) for number, each in enumerate(scenarios)
                     for run in each.runs]  # fmt: skip
        self.finished = 0
        self._streamed = streamed
        self._keep = keep
        self._lock = threading.Lock()
        self._done: dict[int, dict[RunKey, tuple[dict[str, pa.Table], FinishedRun]]] = {}

    def run(self, threads: int | None, watcher: Watcher) -> None:
        """Executes all runs; raises what `execute_runs` raises."""
        threads = concurrent_runs((job.scenario for job in self.jobs), threads, watcher)
        execute_runs(self.jobs, self._run, threads=threads, watcher=watcher)

    def _run(self, job: Job[int], progress: _core.Progress) -> None:
        recorded = streams.MemoryStreams(job.scenario)
        ran = execute_run(job.scenario, job.run, progress, recorded.batch if self._streamed else None)
        all_tables = tables_of(ran.outcome, job.scenario.world) | (recorded.tables() if self._streamed else {})
        with self._lock:
            self.finished += 1
            done = self._done.setdefault(job.destination, {})
            done[job.run] = all_tables, ran
            if len(done) < len(job.scenario.runs):
                return
            del self._done[job.destination]
        self._keep(job.destination, _in_memory(job.scenario, done))


def _in_memory(scenario: Scenario, done: Mapping[RunKey, tuple[dict[str, pa.Table], FinishedRun]]) -> Result:
    """The result of a scenario whose runs are all `done`."""
    parts = [done[run] for run in scenario.runs]
    whole = {name: tables.concat(part[name] for part, _ in parts) for name in parts[0][0]}
    timing = [timing_row(run, done[run][1].timing._asdict()) for run in scenario.runs]
    manifest = store.manifest_of(scenario, {})
    if scenario.live:
        manifest |= store.live_manifest(scenario, [ran.accuracy for _, ran in parts if ran.accuracy is not None])
    return Result(scenario, manifest, timing, whole)


def tables_of(outcome: _core.Outcome, world: RunWorld, names: Iterable[str] = tables.NAMES) -> dict[str, pa.Table]:
    """The tables of one outcome, by name. A qdisc of the kernel does not tell the reasons of its drops and marks."""
    found = {name: tables.table(getattr(outcome, name)()) for name in names}
    return {name: tables.without_reasons(each) for name, each in found.items()} if world == RunWorld.KERNEL else found


def timing_row(run: RunKey, timing: dict[str, Any]) -> dict[str, Any]:
    """The cost of one run, as a row of `timing.json`."""
    return {"qdisc": run.qdisc, "seed": run.seed, **timing}


def _run(job: Job[Store], progress: _core.Progress) -> None:
    with job.destination.writing(job.run) as path:
        with streams.FileStreams(path, job.scenario) as files:
            ran = execute_run(job.scenario, job.run, progress, files.batch, files.capture)
        for name, table in tables_of(ran.outcome, job.scenario.world).items():
            tables.write(path / f"{name}.parquet", table)
        store.write_json(path / store.TIMING, ran.timing._asdict())
        if ran.accuracy is not None:
            store.write_json(path / store.LIVE, ran.accuracy)


def _finish(folder: Store) -> None:
    """Writes the final tables from the finished runs, then the manifest."""
    runs = folder.scenario.runs
    parts = {run: folder.hashes(run) for run in runs}
    hashes = {}
    for name in tables.NAMES:
        file = f"{name}.parquet"
        whole = tables.concat(tables.read(folder.run(run) / file, parts[run][file]) for run in runs)
        data = tables.to_bytes(whole)
        store.write_whole(folder.path / file, data)
        hashes[folder.path / file] = hashlib.sha256(data).hexdigest()
    hashes |= folder.move_streams()
    timing = [timing_row(run, store.read_json(folder.run(run) / store.TIMING, "run-timing-1")) for run in runs]
    store.write_json(folder.path / store.TIMING, {"runs": timing})
    folder.finish(hashes)
