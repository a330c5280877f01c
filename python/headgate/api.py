"""Runs a scenario from Python, in memory or into a result folder; the command line stands on this too."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack, overload

from headgate.errors import UsageError
from headgate.execution import batch
from headgate.execution.runner import Watcher
from headgate.files import store
from headgate.live.worlds import ready
from headgate.results import Result
from headgate.scenario import Scenario

if TYPE_CHECKING:
    from headgate.prototype.discipline import AnyQdisc
    from headgate.why import Explanation


AnyScenario = str | Path | Scenario


class RunKeywords(TypedDict, total=False):
    """The keywords of `run`."""

    set: Iterable[str]
    qdiscs: Iterable[AnyQdisc]
    seeds: int | Iterable[int] | None
    live: bool
    out: str | Path | None
    threads: int | None
    report: bool
    force: bool
    watcher: Watcher | None


@overload
def run(scenario: AnyScenario, **options: Unpack[RunKeywords]) -> Result: ...


@overload
def run(scenario: list[AnyScenario] | tuple[AnyScenario, ...], **options: Unpack[RunKeywords]) -> list[Result]: ...


def run(
    scenario: AnyScenario | list[AnyScenario] | tuple[AnyScenario, ...],
    *,
    set: Iterable[str] = (),
    qdiscs: Iterable[AnyQdisc] = (),
    seeds: int | Iterable[int] | None = None,
    live: bool = False,
    out: str | Path | None = None,
    threads: int | None = None,
    report: bool = True,
    force: bool = False,
    watcher: Watcher | None = None,
) -> Result | list[Result]:
    """Runs every discipline and seed of a scenario, or of several, on all processors.

    `scenario` is a file or a `Scenario`, or a list of them, whose results come back in the same order; `set`, `qdiscs`
    and `seeds` change each as in `Scenario.load`. With `out`, a result goes to the folder `out/<name>-<hash8>`, where
    points that are finished there already are not run again (unless `force`), with figures and a page if `report`.
    Without `out` it stays in memory and nothing is written.

    `live` runs it on real packets, one point after the other and in real time (docs/guide/live.md).

    Raises `ScenarioError` for a bad scenario, `ResultError` for a folder that cannot be written, `RunFailedError` if a
    point failed and `InterruptedRunError` on Ctrl-C; finished points are kept in the folder in both of these cases.
    """
    if threads is not None and threads < 1:
        raise UsageError(f"threads must be at least 1, found {threads}")
    changes = list(set), list(qdiscs), seeds if seeds is None or isinstance(seeds, int) else list(seeds)
    scenarios = [
        _changed(each, *changes, live=live)
        for each in (scenario if isinstance(scenario, (list, tuple)) else [scenario])
    ]
    # Two that are equal are one run.
    different = list(dict.fromkeys(scenarios))
    if out is not None and (made := [name for each in different for name in each.prototypes]):
        raise UsageError(
            f"{made[0]} is written in Python and no part of the scenario's text: a folder could not run from itself; "
            "run it in memory, without `out`, and write the tables that you want to keep"
        )
    if out is None:
        found = _in_memory(different, threads, watcher or Watcher())
    else:
        paths = {Path(out) / store.folder_name(each): each for each in different}
        home = Path(out) if len(paths) > 1 else next(iter(paths), Path(out))
        found = _into_folders(paths, home, threads, report, force, watcher or Watcher())
    results = dict(zip(different, found, strict=True))
    return [results[each] for each in scenarios] if isinstance(scenario, (list, tuple)) else results[scenarios[0]]


def _changed(
    scenario: AnyScenario, set: list[str], qdiscs: list[AnyQdisc], seeds: int | list[int] | None, *, live: bool
) -> Scenario:
    """What is to be run: read, changed, and ready for real packets if that is wanted."""
    scenario = Scenario.of(scenario, set=set, qdiscs=qdiscs, seeds=seeds)
    return ready(scenario) if live or scenario.live else scenario


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
    return _into_folders({path: scenario}, path, threads, report, force, watcher or Watcher())[0]


def _into_folders(
    scenarios: Mapping[Path, Scenario], home: Path, threads: int | None, report: bool, force: bool, watcher: Watcher
) -> list[Result]:
    """Runs the points of all scenarios together, each into a folder of its own, with a page if `report`."""
    with batch.into_folders(scenarios, home, threads=threads, force=force, watcher=watcher) as results:
        for path, result in results.items():
            if report and not (path / store.REPORT).is_file():
                write_report(result, "the result is finished; --no-report leaves the report out")
        return list(results.values())


def write_report(result: Result, otherwise: str = "") -> Path:
    """Draws the figures of a result in a folder and writes its page, in place of those that are there.

    Raises `ResultError` if they cannot be written, saying what to do `otherwise`.
    """
    from headgate import plot
    from headgate import report as page

    if result.path is None:
        raise UsageError("this result is in memory: run it with `out` to have a report")
    figures = result.path / "figures"
    unfinished = result.path / f"{store.UNFINISHED}figures"
    drawn = plot.pictures(result)
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        plot.save_all(result, unfinished, drawn)
        shutil.rmtree(figures, ignore_errors=True)
        unfinished.rename(figures)
        store.write_whole(result.path / store.REPORT, lambda file: page.write(result, file, drawn))
    except OSError as error:
        raise store.not_writable(result.path, error, "figures and report", otherwise) from None
    return result.path / store.REPORT


def write_explanation(result: Result, explanation: Explanation) -> Path:
    """Draws the picture of an explanation into the result's folder `why`, as PNG and SVG; gives the PNG's path."""
    from headgate.plot.flow import flow
    from headgate.plot.picture import picture

    if result.path is None:
        raise UsageError("this result is in memory: run it with `out` to have pictures")
    folder = result.path / store.WHY
    name = f"{store.slug(explanation.point)}-flow{explanation.facts.flow}"
    drawn = picture(flow(result, explanation)).files(name)
    store.write_files(folder, drawn, "the picture", "--no-picture leaves it out")
    return folder / f"{name}.png"


def _in_memory(scenarios: Sequence[Scenario], threads: int | None, watcher: Watcher) -> list[Result]:
    """Runs all points of all scenarios together and keeps their tables."""
    found: dict[int, Result] = {}
    pool = batch.InMemory(scenarios, found.__setitem__)
    total = len(pool.jobs)
    watcher.begin(total, 0, sum(job.scenario.duration_s for job in pool.jobs))
    with batch.supervised(lambda: pool.finished, total, None):
        pool.run(threads, watcher)
    return [found[number] for number in range(len(scenarios))]
