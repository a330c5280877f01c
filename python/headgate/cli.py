"""The command `headgate`. docs/reference/cli.md explains every option and exit code."""

from __future__ import annotations

import shutil
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headgate import _core
from headgate.budget.cli import check
from headgate.errors import UsageError
from headgate.evaluate.cli import evaluate
from headgate.export.cli import export
from headgate.files import store
from headgate.live.cli import link
from headgate.live.gateway_cli import gateway
from headgate.live.top_cli import top
from headgate.migrate import migrate
from headgate.papers.cli import app as papers
from headgate.sweeps.cli import query, sweep
from headgate.terminal.console import INTERRUPTED, console, explained
from headgate.terminal.options import Changes, Force, Seeds, Threads, instead_of, print_json, reading, watcher
from headgate.tuning.cli import sensitivity, tune

if TYPE_CHECKING:
    from headgate.results import Result

app = typer.Typer(
    name="headgate",
    help="See which packets should enter a congested link: simulate queue disciplines and compare them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(papers)


@app.callback(invoke_without_command=True)
def headgate(
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
) -> None:
    """See which packets should enter a congested link: simulate queue disciplines and compare them."""
    if version:
        typer.echo(f"headgate {_core.VERSION}")
        raise typer.Exit


@app.command()
@explained
def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A scenario file, such as scenarios/protect.toml.")],
    changes: Changes = None,
    qdisc: Annotated[
        list[str] | None,
        typer.Option(metavar="SPEC", help="Try this discipline, such as sfb:bins=46, in place of the file's."),
    ] = None,
    seeds: Seeds = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Put the result's folder here.")] = Path("results"),
    as_json: Annotated[bool, instead_of("the table")] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Run on real packets, with the kernel's TCP and in real time (Linux).")
    ] = False,
    threads: Threads = None,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Draw figures and write report.html.")] = True,
    force: Force = False,
) -> None:
    """Run every discipline and seed of a scenario and compare them.

    Points (a discipline with a seed) that are finished already are not run again. Ctrl-C keeps what is finished; the
    same command resumes.
    """
    from headgate.scenario import Scenario

    with reading(file):
        scenario = Scenario.load(file, set=changes or (), qdiscs=qdisc or (), seeds=seeds)
    if live:
        from headgate.live.worlds import ready

        if threads is not None:
            raise UsageError("--threads: on real packets, points run one after the other")
        scenario = ready(scenario)
    # Not before: numpy starts threads, and a process that has some cannot enter a user namespace.
    from headgate.api import run_into
    from headgate.files.store import folder_name

    path = out / folder_name(scenario)
    result = run_into(path, scenario, threads=threads, report=report, force=force, watcher=watcher(as_json))
    if as_json:
        print_json(result.document())
    else:
        _show(result)


class ListedKind(StrEnum):
    """What `headgate list` can list."""

    DISCIPLINES = "disciplines"
    CONTROLLERS = "controllers"
    SOURCES = "sources"


@app.command(name="list")
@explained
def list_names(
    what: Annotated[ListedKind | None, typer.Argument(metavar="WHAT", help="Only these.")] = None,
) -> None:
    """List disciplines, controllers and traffic sources, a line each."""
    from headgate.terminal import listing

    # What can be listed is a function of `_core`, and one of `listing` that draws it.
    for each in ListedKind if what is None else [what]:
        console().print(getattr(listing, each)(getattr(_core, each)()))
    console().print(listing.HINT)


@app.command()
@explained
def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A discipline, controller or source, such as sfb, cubic or voip.")
    ],
) -> None:
    """Explain one of these: idea, paper, parameters and presets."""
    from headgate.terminal import listing

    try:
        found = _core.find(name)
    except LookupError as error:
        raise UsageError(str(error)) from None
    console().print(listing.explained(found))


@app.command()
@explained
def rerun(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result's folder.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the new result here (default: kept only if it differs).")
    ] = None,
    threads: Threads = None,
) -> None:
    """Run a result anew and compare the files, byte for byte.

    timing.json is left out: it alone is never the same twice.
    """
    from headgate.api import load
    from headgate.rerun import rerun as run_again
    from headgate.terminal.progress import Bar

    old = load(result)
    parent = out or Path(tempfile.mkdtemp(prefix="headgate-rerun-"))
    same = False
    try:
        found = run_again(old, parent, threads=threads, watcher=Bar())
        same = not found.differences
    finally:
        if out is None and (same or not any(parent.iterdir())):
            shutil.rmtree(parent)
    if same:
        typer.echo(f"identical: {found.files} files, byte for byte")
        return
    typer.echo("\n".join(["different:", *(f"  {line}" for line in found.differences)]))
    typer.echo(f"the rerun is kept in {found.result.path}")
    raise typer.Exit(1)


@app.command()
@explained
def verify(result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result's folder.")]) -> None:
    """Compare a result's files with the hashes that were taken when it was finished."""
    from headgate.errors import ResultError

    if damaged := store.changed(result):
        raise ResultError(f"{result}: changed or missing: {', '.join(damaged)}; headgate run --force makes them anew")
    typer.echo(f"{result}: every file is as it was written")


@app.command()
@explained
def report(result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result's folder.")]) -> None:
    """Draw a result's figures and write its page again."""
    from headgate.api import load, write_report

    typer.echo(f"report  {write_report(load(result))}")


@app.command()
@explained
def compare(
    first: Annotated[Path, typer.Argument(metavar="SIM", help="A result's folder, or a scenario file.")],
    second: Annotated[
        Path | None, typer.Argument(metavar="LIVE", help="Another result's folder, of the same scenario.")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Of a file: change a key of the scenario, for both results."),
    ] = None,
    then: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Of a file: change a key for the second result alone.")
    ] = None,
    worlds: Annotated[
        str, typer.Option(metavar="WORLDS", help="Of a file: where it runs, such as live,live.")
    ] = "sim,live",
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="Compare although the scenarios differ in this key, such as tcp.min_rto."),
    ] = None,
    as_json: Annotated[bool, instead_of("the tables")] = False,
    page: Annotated[bool, typer.Option("--page/--no-page", help="Draw a figure and write a page.")] = True,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Put results and the page here.")] = Path("results"),
) -> None:
    """Set two results of one scenario side by side: simulated and live, or two simulations.

    For each discipline and group of flows: goodput, waiting, loss and marks in both, and the gap. A scenario file in
    place of two results is run in both worlds first, as far as it was not.
    """
    from headgate.compare.sources import of_file, of_folders

    if second is None:
        found = of_file(first, out, worlds, changes or (), then or (), quiet=as_json)
    elif changes or then or worlds != "sim,live":
        raise UsageError("--set, --then and --worlds go with a scenario file, not with results")
    else:
        found = of_folders(first, second, allow or ())
    if as_json:
        print_json(found.document())
    else:
        from headgate.compare import terminal

        console().print(terminal.tables(found))
    if page:
        from headgate.compare import page as pages

        path = pages.write(found, out / "compared" / pages.folder_name(found))
        if not as_json:
            typer.echo(f"page    {path}")


@app.command()
@explained
def why(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result's folder.")],
    flow: Annotated[int, typer.Option(min=0, metavar="N", help="The flow's number, from 0, as in the table of flows.")],
    qdisc: Annotated[
        str | None, typer.Option(metavar="SPEC", help="Under this discipline (default: the result's first).")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="With this seed (default: the result's first).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print numbers and sentences as one JSON document.")] = False,
    picture: Annotated[bool, typer.Option("--picture/--no-picture", help="Draw the flow over time.")] = True,
) -> None:
    """Explain what happened to a flow, and why.

    The more the scenario records, the more there is to tell; what is missing is said, and how to record it.
    """
    from headgate.api import load
    from headgate.why import explain

    found = load(result)
    explanation = explain(found, flow, qdisc=qdisc, seed=seed)
    print_json(explanation.document()) if as_json else typer.echo(explanation.text)
    if picture:
        from headgate.api import write_explanation

        path = write_explanation(found, explanation)
        if not as_json:
            typer.echo(f"\npicture  {path}")


app.command()(sweep)
app.command()(query)
app.command()(tune)
app.command()(sensitivity)
app.command()(evaluate)
app.command()(check)
app.command()(export)
app.command()(migrate)
app.command(context_settings={"allow_interspersed_args": False})(link)
app.command()(gateway)
app.command()(top)


def _show(result: Result) -> None:
    """The table, the answer, and where the rest is."""
    from headgate.analysis import proof, verdict
    from headgate.terminal import table

    out = console()
    found = table.rows(result)
    out.print(table.table(result, found))
    if table.several(found):
        out.print(table.links(found))
    out.print(f"{verdict.verdict(result)}.\n", style="bold")
    if result.live is not None:
        for warning in proof.warnings(result.live):
            out.print(f"note: {warning}")
    if result.path is None:
        return
    if (result.path / store.REPORT).is_file():
        typer.echo(f"report  {result.path / store.REPORT}")
    for name in [*result.scenario.records, *([store.CAPTURES] if result.scenario.captures else [])]:
        files = sum(1 for file in (result.path / name).iterdir() if file.is_file())
        typer.echo(f"{name:<7} {result.path / name} ({files} file{'' if files == 1 else 's'})")
    typer.echo(f"folder  {result.path}")


def main() -> None:
    """The entry point."""
    try:
        app()
    except KeyboardInterrupt:  # before a command began, which says more
        typer.echo("error: stopped", err=True)
        raise SystemExit(INTERRUPTED) from None
    finally:
        # `python -m` dies of SIGINT, whatever the exit code, if Ctrl-C came up in text that a module executes, as for a
        # dataclass, unless text is executed again (`unhandled_keyboard_interrupt` in CPython's pythonrun.c and main.c).
        exec("")  # noqa: S102
