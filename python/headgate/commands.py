"""The commands `run`, `list`, `show`, `rerun`, `verify`, `report`, `compare` and `why`."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headgate.counting import counted
from headgate.errors import UsageError
from headgate.terminal.console import console, with_error_messages
from headgate.terminal.options import (
    Changes,
    Figures,
    Force,
    Formats,
    MemoryLimit,
    Seeds,
    Style,
    Threads,
    figure_files,
    instead_of,
    listed,
    print_json,
    reading,
    tell_files,
    watcher,
)

if TYPE_CHECKING:
    from headgate.results import Result


@with_error_messages
def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A scenario file, such as scenarios/protect.toml.")],
    changes: Changes = None,
    qdisc: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SPEC", help="Run this discipline, such as sfb:bins=46, instead of the file's. Repeatable."
        ),
    ] = None,
    seeds: Seeds = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Write the result folder below DIR.")] = Path("results"),
    as_json: Annotated[bool, instead_of("the table")] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Run on real packets in real time, with the kernel's TCP (Linux).")
    ] = False,
    threads: Threads = None,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Draw the figures and write report.html.")
    ] = True,
    figures: Figures = None,
    formats: Formats = None,
    style: Style = None,
    memory_limit: MemoryLimit = None,
    force: Force = False,
) -> None:
    """Run a scenario with each discipline and compare them.

    A run is one discipline with one seed. Finished runs are reused. After Ctrl-C, the same command resumes.
    """
    from headgate.scenario import Scenario

    wanted = figure_files(formats, style)
    with reading(file):
        scenario = Scenario.load(file, set=changes or (), qdiscs=qdisc or (), seeds=seeds)
    if live:
        from headgate.live.worlds import prepared_for_live

        if threads is not None:
            raise UsageError("--threads cannot be used with --live: on real packets, one run follows the other")
        scenario = prepared_for_live(scenario)
    # Imported here: numpy starts threads, and a process with threads cannot enter a user namespace.
    from headgate.api import run_into, write_figures
    from headgate.execution import memory
    from headgate.files.store import folder_name

    memory.limit_to(memory_limit)
    path = out / folder_name(scenario)
    result = run_into(
        path,
        scenario,
        threads=threads,
        report=report,
        figures=listed(figures),
        force=force,
        watcher=watcher(as_json),
    )
    written = write_figures(result, wanted, listed(figures))
    if as_json:
        print_json(result.document())
    else:
        _show(result)
    tell_files(written, quiet=as_json)


class ListedKind(StrEnum):
    """The kinds of objects that `headgate list` prints."""

    DISCIPLINES = "disciplines"
    CONTROLLERS = "controllers"
    SOURCES = "sources"


@with_error_messages
def list_names(
    kind: Annotated[
        ListedKind | None,
        typer.Argument(metavar="KIND", help="Only this kind (default: all)."),
    ] = None,
) -> None:
    """List disciplines, congestion controls and traffic sources."""
    from headgate import _core
    from headgate.terminal import listing

    # Each kind names a function of `_core` and the function of `listing` that prints its result.
    for each in ListedKind if kind is None else [kind]:
        console().print(getattr(listing, each)(getattr(_core, each)()))
    console().print(listing.HINT)


@with_error_messages
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A discipline, congestion control or traffic source, such as sfb, cubic or voip."
        ),
    ],
) -> None:
    """Explain a discipline, congestion control or traffic source.

    Prints its idea, its source, and its parameters with their defaults and presets.
    """
    from headgate import _core
    from headgate.terminal import listing

    try:
        entry = _core.find(name)
    except LookupError as error:
        raise UsageError(str(error)) from None
    console().print(listing.details(entry))


@with_error_messages
def rerun(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result's folder.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the new result below DIR (default: keep it only if it differs)."),
    ] = None,
    threads: Threads = None,
) -> None:
    """Run a result again and compare the files byte for byte.

    timing.json is not compared: it holds the processor time of each run.
    """
    import shutil
    import tempfile

    from headgate.api import load
    from headgate.rerun import rerun as run_again
    from headgate.terminal.progress import Bar

    old = load(result)
    parent = out or Path(tempfile.mkdtemp(prefix="headgate-rerun-"))
    same = False
    try:
        comparison = run_again(old, parent, threads=threads, watcher=Bar())
        same = not comparison.differences
    finally:
        if out is None and (same or not any(parent.iterdir())):
            shutil.rmtree(parent)
    if same:
        typer.echo(f"identical: {comparison.files} files, byte for byte")
        return
    typer.echo("\n".join(["the rerun differs:", *(f"  {line}" for line in comparison.differences)]))
    typer.echo(f"rerun   {comparison.result.path}")
    raise typer.Exit(1)


@with_error_messages
def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of a result, a sweep, a search or papers.")],
) -> None:
    """Check all results in a folder against their recorded hashes."""
    from headgate import verify as verifying
    from headgate.errors import ResultError

    found = verifying.verify(folder)
    if damaged := [each.damage for each in found if each.damage]:
        raise ResultError("\n".join(damaged))
    several = f" ({verifying.summary(found)})" if len(found) > 1 else ""
    renamed = f"; the folder was called {name}" if (name := verifying.renamed_from(folder)) else ""
    typer.echo(f"{folder}: all files match their hashes{several}{renamed}")


@with_error_messages
def report(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result's folder.")],
    figures: Figures = None,
    formats: Formats = None,
    style: Style = None,
) -> None:
    """Draw the figures and the report page of a result again."""
    from headgate.api import load, write_figures, write_report

    wanted, loaded = figure_files(formats, style), load(result)
    typer.echo(f"report  {write_report(loaded, figures=listed(figures))}")
    tell_files(write_figures(loaded, wanted, listed(figures)))


@with_error_messages
def compare(
    first: Annotated[Path, typer.Argument(metavar="SIM", help="A result folder, or a scenario file.")],
    second: Annotated[
        Path | None, typer.Argument(metavar="LIVE", help="A second result folder of the same scenario.")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="With a scenario file: change a key in both results."),
    ] = None,
    then: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="With a scenario file: change a key in the second result only."),
    ] = None,
    worlds: Annotated[
        str, typer.Option(metavar="WORLDS", help="With a scenario file: where each result is run: sim, live or kernel.")
    ] = "sim,live",
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="Accept that the scenarios differ in this key, such as tcp.min_rto."),
    ] = None,
    as_json: Annotated[bool, instead_of("the tables")] = False,
    page: Annotated[bool, typer.Option("--page/--no-page", help="Draw the figure and write an HTML page.")] = True,
    formats: Formats = None,
    style: Style = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Write results and the page below DIR.")] = Path("results"),
) -> None:
    """Compare two results of one scenario.

    Compares a simulation with a run on real packets, or two simulations. For each discipline and group of flows, the
    tables show goodput, queueing delay, drop rate and mark rate of both results, and the difference. A scenario file is
    run in both worlds first. Finished runs are reused. In the world kernel, Linux's own qdiscs take the place of
    the disciplines (root, tc).
    """
    from headgate.compare.sources import compare_file, compare_folders

    wanted = figure_files(formats, style)
    if second is None:
        comparison = compare_file(first, out, worlds, changes or (), then or (), quiet=as_json)
    elif changes or then or worlds != "sim,live":
        raise UsageError("--set, --then and --worlds need a scenario file: give one in place of the two result folders")
    else:
        comparison = compare_folders(first, second, allow or ())
    if as_json:
        print_json(comparison.document())
    else:
        from headgate.compare import terminal

        console().print(terminal.tables(comparison))
    if page or wanted.formats:
        from headgate.compare import page as pages

        folder = out / "compared" / pages.folder_name(comparison)
        path = pages.write(comparison, folder) if page else None
        if path is not None and not as_json:
            typer.echo(f"page    {path}")
        tell_files(pages.write_figure(comparison, folder, wanted), quiet=as_json)


@with_error_messages
def why(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result's folder.")],
    flow: Annotated[
        int, typer.Option(min=0, metavar="N", help="The flow's number, counted from 0, as in flows.parquet.")
    ],
    qdisc: Annotated[
        str | None, typer.Option(metavar="SPEC", help="The discipline (default: the result's first).")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="The seed (default: the result's first).")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the numbers and sentences as one JSON document.")
    ] = False,
    picture: Annotated[bool, typer.Option("--picture/--no-picture", help="Draw the flow over time.")] = True,
    formats: Formats = None,
    style: Style = None,
) -> None:
    """Explain a flow's goodput: its drops and its sender.

    The explanation uses what the scenario records. It lists missing records and the command that adds them.
    """
    from headgate.api import load
    from headgate.why import explain

    wanted = figure_files(formats, style)
    loaded = load(result)
    explanation = explain(loaded, flow, qdisc=qdisc, seed=seed)
    print_json(explanation.document()) if as_json else typer.echo(explanation.text)
    if picture:
        from headgate.api import write_explanation

        path, *further = write_explanation(loaded, explanation, wanted)
        if not as_json:
            typer.echo(f"\npicture  {path}")
        tell_files(further, quiet=as_json)


def _notes(result: Result) -> Iterator[str]:
    """What a reader of the numbers should know: a short window, other limits than the link, inexact real packets."""
    from headgate.analysis import accuracy, limits, window

    if (checked := window.check(result)).verdict is window.WindowVerdict.TOO_SHORT:
        yield checked.sentence
    yield from limits.sentences(result, limits.of(result))
    if result.live is not None:
        yield from accuracy.warnings(result.live)


def _show(result: Result) -> None:
    """Prints the table, the verdict, and the paths of the result's files."""
    from headgate.analysis import findings, limits, verdict
    from headgate.files import store
    from headgate.terminal import columns, pairs, table

    out = console()
    rows = columns.rows(result)
    out.print(table.table(result, rows, out.width))
    if columns.several(rows):
        out.print(table.links(result, rows, out.width))
    if held := limits.line(limits.of(result)):
        out.print(f"limits  {held}")
    compared = findings.of(result)
    out.print(f"{verdict.of(result, compared)}.\n", style="bold")
    if (shown := pairs.pairs(compared)) is not None:
        out.print(shown)
    for note in _notes(result):
        out.print(f"note: {note}")
    if result.path is None:
        return
    if (result.path / store.REPORT).is_file():
        typer.echo(f"report  {result.path / store.REPORT}")
    for name in [*result.scenario.records, *([store.CAPTURES] if result.scenario.captures else [])]:
        files = sum(1 for file in (result.path / name).iterdir() if file.is_file())
        typer.echo(f"{name:<7} {result.path / name} ({counted(files, 'file')})")
    typer.echo(f"folder  {result.path}")
