"""Runs a scenario from Python, in memory or into a result folder; the command line stands on this too."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headgate import _core, batch, store, streams
from headgate.errors import UsageError
from headgate.live.ready import ready
from headgate.results import Result
from headgate.runner import Timing, Watcher, at_once, run_point
from headgate.scenario import Point, Scenario
from headgate.store import Store

if TYPE_CHECKING:
    from headgate.why import Explanation


def run(
    scenario: str | Path | Scenario,
    *,
    set: Iterable[str] = (),
    qdiscs: Iterable[str] = (),
    seeds: int | Iterable[int] | None = None,
    live: bool = False,
    out: str | Path | None = None,
    threads: int | None = None,
    report: bool = True,
    force: bool = False,
    watcher: Watcher | None = None,
) -> Result:
    """Runs every discipline and seed of a scenario on all processors.

    `scenario` is a file or a `Scenario`; `set`, `qdiscs` and `seeds` change it as in `Scenario.load`. With `out`, the
    result goes to the folder `out/<name>-<hash8>`, where points that are finished there already are not run again
    (unless `force`), with figures and a page if `report`. Without `out` it stays in memory and nothing is written.

    `live` runs it on real packets, one point after the other and in real time (docs/guide/live.md).

    Raises `ScenarioError` for a bad scenario, `ResultError` for a folder that cannot be written, `RunFailedError` if a
    point failed and `InterruptedRunError` on Ctrl-C; finished points are kept in the folder in both of these cases.
    """
    if threads is not None and threads < 1:
        raise UsageError(f"threads must be at least 1, found {threads}")
    if not isinstance(scenario, Scenario):
        scenario = Scenario.load(scenario, set=set, qdiscs=qdiscs, seeds=seeds)
    elif set or qdiscs or seeds is not None:
        scenario = scenario.changed(set=set, qdiscs=qdiscs, seeds=seeds)
    if live or scenario.live:
        scenario = ready(scenario)
    if out is None:
        return _in_memory(scenario, threads, watcher or Watcher())
    path = Path(out) / store.folder_name(scenario)
    return run_into(path, scenario, threads=threads, report=report, force=force, watcher=watcher)


def load(path: str | Path) -> Result:
    """The result in a folder that `run` wrote; `ResultError` if it is none."""
    return Result.load(Path(path))


def run_into(
    path: Path,
    scenario: Scenario,
    *,
    threads: int | None = None,
    report: bool = True,
    force: bool = False,
    watcher: Watcher | None = None,
) -> Result:
    """Runs `scenario` into the folder `path`, as `run` does."""
    with Store.open(path, scenario, force=force) as folder:
        try:
            batch.fill([folder], path, threads=threads, watcher=watcher or Watcher())
            result = Result.load(path)
            if report and not (path / store.REPORT).is_file():
                write_report(result)
        except OSError as error:
            raise store.not_writable(path, error) from None
        return result


def write_report(result: Result) -> Path:
    """Draws the figures of a result in a folder and writes its page, in place of those that are there."""
    from headgate import plot
    from headgate import report as page

    if result.path is None:
        raise UsageError("this result is in memory: run it with `out` to have a report")
    figures = result.path / "figures"
    unfinished = result.path / f"{store.UNFINISHED}figures"
    shutil.rmtree(unfinished, ignore_errors=True)
    drawn = plot.pictures(result)
    plot.save_all(result, unfinished, drawn)
    shutil.rmtree(figures, ignore_errors=True)
    unfinished.rename(figures)
    store.write_whole(result.path / store.REPORT, lambda file: page.write(result, file, drawn))
    return result.path / store.REPORT


def write_explanation(result: Result, explanation: Explanation) -> Path:
    """Draws the picture of an explanation into the result's folder `why`, as PNG and SVG; gives the PNG's path."""
    from headgate.plot.flow import flow
    from headgate.plot.picture import picture

    if result.path is None:
        raise UsageError("this result is in memory: run it with `out` to have pictures")
    folder = result.path / store.WHY
    drawn = picture(flow(result, explanation))
    name = f"{store.slug(explanation.point)}-flow{explanation.facts.flow}"
    try:
        folder.mkdir(exist_ok=True)
        for kind, content in (("svg", drawn.svg), ("png", drawn.png)):
            store.write_whole(folder / f"{name}.{kind}", lambda file, content=content: file.write_bytes(content))  # type: ignore[misc]
    except OSError as error:
        raise store.not_writable(folder, error) from None
    return folder / f"{name}.png"


def _in_memory(scenario: Scenario, threads: int | None, watcher: Watcher) -> Result:
    """Runs all points and keeps their tables."""
    done: dict[Point, tuple[dict[str, pa.Table], Timing]] = {}
    proofs: dict[Point, dict[str, Any]] = {}

    def job(point: Point, progress: _core.Progress) -> None:
        recorded = streams.Memory(scenario)
        outcome, timing, proof = run_point(scenario, point, progress, recorded.batch)
        done[point] = (batch.tables_of(outcome) | recorded.tables(), timing)
        if proof is not None:
            proofs[point] = proof

    watcher.begin(len(scenario.points), 0, len(scenario.points) * scenario.duration_s)
    threads = at_once([scenario], threads)
    batch.supervise(scenario.points, job, lambda: len(done), None, threads, watcher)
    result = batch.in_memory(scenario, done)
    if scenario.live:
        result.manifest |= store.world(scenario, [proofs[point] for point in scenario.points])
    return result
