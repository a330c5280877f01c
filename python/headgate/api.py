"""Runs a scenario from Python, in memory or into a result folder; the command line stands on this too."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headgate import _core, store, streams, tables
from headgate.errors import InterruptedRunError, RunFailedError, UsageError
from headgate.results import Result
from headgate.runner import Failures, Timing, Watcher, run_point, run_points
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

    Raises `ScenarioError` for a bad scenario, `ResultError` for a folder that cannot be written, `RunFailedError` if a
    point failed and `InterruptedRunError` on Ctrl-C; finished points are kept in the folder in both of these cases.
    """
    if threads is not None and threads < 1:
        raise UsageError(f"threads must be at least 1, found {threads}")
    if not isinstance(scenario, Scenario):
        scenario = Scenario.load(scenario, set=set, qdiscs=qdiscs, seeds=seeds)
    elif set or qdiscs or seeds is not None:
        scenario = scenario.changed(set=set, qdiscs=qdiscs, seeds=seeds)
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
            if not folder.complete:
                _run_missing(folder, threads, watcher or Watcher())
                _finish(folder)
            else:
                (watcher or Watcher()).begin(len(scenario.points), len(scenario.points), 0.0)
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


def _run_missing(folder: Store, threads: int | None, watcher: Watcher) -> None:
    """Runs the points that are not finished."""
    scenario = folder.scenario
    missing = [point for point in scenario.points if not folder.has(point)]

    def job(point: Point, progress: _core.Progress) -> None:
        with folder.writing(point) as path:
            with streams.Files(path, scenario) as files:
                outcome, timing = run_point(scenario, point, progress, files.batch, files.capture)
            for name, table in _tables(outcome).items():
                tables.write(path / f"{name}.parquet", table)
            store.write_json(path / store.TIMING, timing._asdict())

    def finished() -> int:
        return sum(map(folder.has, scenario.points))

    _supervise(scenario, missing, job, finished, folder.path, threads, watcher)


def _in_memory(scenario: Scenario, threads: int | None, watcher: Watcher) -> Result:
    """Runs all points and keeps their tables."""
    done: dict[Point, tuple[dict[str, pa.Table], Timing]] = {}

    def job(point: Point, progress: _core.Progress) -> None:
        recorded = streams.Memory(scenario)
        outcome, timing = run_point(scenario, point, progress, recorded.batch)
        done[point] = (_tables(outcome) | recorded.tables(), timing)

    _supervise(scenario, scenario.points, job, lambda: len(done), None, threads, watcher)
    parts = [done[point] for point in scenario.points]
    whole = {name: tables.concat(part[name] for part, _ in parts) for name in parts[0][0]}
    timing = [_timing_row(point, done[point][1]._asdict()) for point in scenario.points]
    return Result(scenario, store.manifest_of(scenario, {}), timing, whole)


def _supervise(
    scenario: Scenario,
    points: list[Point],
    job: Callable[[Point, _core.Progress], None],
    finished: Callable[[], int],
    path: Path | None,
    threads: int | None,
    watcher: Watcher,
) -> None:
    """Runs `points` and says in one sentence what went wrong, if anything did."""
    total = len(scenario.points)
    watcher.begin(total, total - len(points), len(points) * scenario.duration_s)
    try:
        run_points(points, job, threads=threads, watcher=watcher)
    except KeyboardInterrupt:
        raise InterruptedRunError(finished(), total, path) from None
    except Failures as failures:
        kept = "" if path is None else f"; the finished ones are kept in {path}"
        raise RunFailedError(f"{len(failures.errors)} of {total} points failed{kept}\n{failures}") from failures


def _finish(folder: Store) -> None:
    """Makes the final tables of the finished points, then the manifest."""
    points = folder.scenario.points
    files = []
    for name in tables.NAMES:
        whole = tables.concat(tables.read(folder.point(point) / f"{name}.parquet") for point in points)
        files.append(folder.path / f"{name}.parquet")
        store.write_whole(files[-1], lambda file, whole=whole: tables.write(file, whole))  # type: ignore[misc]
    files += folder.move_streams()
    timing = [_timing_row(point, store.read_json(folder.point(point) / store.TIMING)) for point in points]
    store.write_json(folder.path / store.TIMING, {"points": timing})
    folder.finish(files)


def _tables(outcome: _core.Outcome) -> dict[str, pa.Table]:
    """The tables of one outcome, by name."""
    return {name: tables.table(getattr(outcome, name)()) for name in tables.NAMES}


def _timing_row(point: Point, timing: dict[str, Any]) -> dict[str, Any]:
    return {"qdisc": point.qdisc, "seed": point.seed, **timing}
