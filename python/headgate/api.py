"""`headgate.run` and `headgate.load`: runs scenarios in memory or into result folders."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict, Unpack, overload

from headgate import style
from headgate.errors import UsageError
from headgate.execution import batch
from headgate.execution.runner import Watcher
from headgate.files import durable, store
from headgate.files.disk import DISK
from headgate.live.worlds import prepared, prepared_for_live
from headgate.results import Result
from headgate.scenario import Scenario
from headgate.style import NO_FILES, FigureFiles

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
    figures: Iterable[str]
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
    figures: Iterable[str] = (),
    force: bool = False,
    watcher: Watcher | None = None,
) -> Result | list[Result]:
    """Runs every discipline and seed of a scenario, or of several, on all processors.

    `scenario` is a file, a `Scenario`, or a list of them, with results in the same order. `set`, `qdiscs` and `seeds`
    change each of them as in `Scenario.load`.

    With `out`, a result goes to the folder `out/<name>-<hash>`, with figures and a page if `report`; with `figures`,
    such as `["overview"]`, only with these. Finished runs in that folder are reused unless `force`. Without `out` the
    result stays in memory and nothing is written.

    `live` runs on real packets in real time, one run after the other (docs/guide/live.md).

    Raises `ScenarioError` for a bad scenario, `ResultError` for a folder that cannot be written, `RunFailedError` if a
    run failed, and `InterruptedRunError` on Ctrl-C. In the last two cases finished runs are kept in the folder.
    """
    if threads is not None and threads < 1:
        raise UsageError(f"threads must be at least 1, found {threads}")
    changes = list(set), list(qdiscs), seeds if seeds is None or isinstance(seeds, int) else list(seeds)
    scenarios = [
        _changed(each, *changes, live=live)
        for each in (scenario if isinstance(scenario, (list, tuple)) else [scenario])
    ]
    different = list(dict.fromkeys(scenarios))  # equal scenarios are run once
    if out is not None and (prototypes := [name for each in different for name in each.prototypes]):
        raise UsageError(
            f"{prototypes[0]} is written in Python, so a result folder could not be run again. "
            "Run without `out`, and save the tables that you need"
        )
    if out is None:
        in_order = _in_memory(different, threads, watcher or Watcher())
    else:
        paths = store.folders(Path(out), different)
        home = Path(out) if len(paths) > 1 else next(iter(paths), Path(out))
        in_order = _into_folders(paths, home, threads, _Pages(report, list(figures)), force, watcher or Watcher())
    results = dict(zip(different, in_order, strict=True))
    return [results[each] for each in scenarios] if isinstance(scenario, (list, tuple)) else results[scenarios[0]]


def _changed(
    scenario: AnyScenario, set: list[str], qdiscs: list[AnyQdisc], seeds: int | list[int] | None, *, live: bool
) -> Scenario:
    """One scenario to run: read, changed, and prepared for real packets if `live`."""
    scenario = Scenario.of(scenario, set=set, qdiscs=qdiscs, seeds=seeds)
    return prepared_for_live(scenario) if live and not scenario.live else prepared(scenario, scenario.world)


def load(path: str | Path) -> Result:
    """The result in a folder that `run` wrote; `ResultError` if there is none."""
    return Result.load(Path(path))


def run_into(
    path: Path,
    scenario: Scenario,
    *,
    threads: int | None = None,
    report: bool = True,
    figures: Iterable[str] = (),
    force: bool = False,
    watcher: Watcher | None = None,
) -> Result:
    """Runs `scenario` into the folder `path`, as `run` does."""
    pages = _Pages(report, list(figures))
    return _into_folders({path: scenario}, path, threads, pages, force, watcher or Watcher())[0]


class _Pages(NamedTuple):
    """Whether results get a page, and the figures in it; an empty list stands for all."""

    wanted: bool
    figures: list[str]


def _into_folders(
    scenarios: Mapping[Path, Scenario], home: Path, threads: int | None, pages: _Pages, force: bool, watcher: Watcher
) -> list[Result]:
    """Runs several scenarios in one thread pool; each writes its own result folder, with a page if wanted.

    A page that exists is drawn again only if certain figures are wanted.
    """
    style.check_figures(pages.figures)
    with batch.into_folders(scenarios, home, threads=threads, force=force, watcher=watcher) as results:
        for path, result in results.items():
            if pages.wanted and (pages.figures or not (path / store.REPORT).is_file()):
                advice = "the result itself is finished; use --no-report to skip the report"
                write_report(result, advice, pages.figures)
        return list(results.values())


def write_report(result: Result, advice: str = "", figures: Collection[str] = ()) -> Path:
    """Draws the figures of a result (only `figures` if given) and writes its page, replacing those in its folder.

    Figures are written as SVG. Raises `ResultError` if they cannot be written; `advice` ends its message.
    """
    from headgate import plot
    from headgate import report as page

    if result.path is None:
        raise UsageError("this result is in memory: run the scenario with `out` to get a report")
    folder = result.path / store.FIGURES
    unfinished = result.path / f"{store.UNFINISHED}{store.FIGURES}"
    drawn = plot.pictures(result, names=figures, png=False)
    try:
        DISK.remove_tree(unfinished)
        plot.save_all(result, unfinished, drawn)
        DISK.remove_tree(folder)
        durable.sync_tree(unfinished)
        DISK.rename(unfinished, folder)
        store.write_whole(result.path / store.REPORT, page.page(result, drawn), sync=True)
        DISK.sync(result.path)
    except OSError as error:
        raise store.not_writable(result.path, error, "figures and report", advice) from None
    return result.path / store.REPORT


def write_explanation(result: Result, explanation: Explanation, wanted: FigureFiles = NO_FILES) -> list[Path]:
    """Draws an explanation into the folder `why` of the result, as PNG and SVG, and as `wanted`.

    Returns the paths, the PNG's first.
    """
    from headgate.plot import printing
    from headgate.plot.flow import flow
    from headgate.plot.picture import picture

    if result.path is None:
        raise UsageError("this result is in memory: run the scenario with `out` to get pictures")
    folder = result.path / store.WHY
    name = f"{store.slug(explanation.run)}-flow{explanation.facts.flow}"
    drawn = picture(flow(result, explanation)).files(name)
    store.write_files(folder, drawn, "the picture", "use --no-picture to skip it")
    further = printing.save({name: lambda: flow(result, explanation)}, wanted, folder)
    return [folder / f"{name}.png", *further]


def write_figures(result: Result, wanted: FigureFiles, names: Collection[str] = ()) -> list[Path]:
    """Writes the figures of a result (only `names` if given) for a document, beside those of its report."""
    if not wanted.formats:
        return []
    from headgate import plot

    if result.path is None:
        raise UsageError("this result is in memory: run the scenario with `out` to get figures")
    return plot.save_files(result, result.path / store.FIGURES, wanted, names)


def _in_memory(scenarios: Sequence[Scenario], threads: int | None, watcher: Watcher) -> list[Result]:
    """Runs several scenarios in one thread pool and keeps their tables in memory."""
    results: dict[int, Result] = {}
    pool = batch.InMemory(scenarios, results.__setitem__)
    total = len(pool.jobs)
    watcher.begin(total, 0, sum(job.scenario.duration_s for job in pool.jobs))
    with batch.supervised(lambda: pool.finished, total, None):
        pool.run(threads, watcher)
    return [results[number] for number in range(len(scenarios))]
