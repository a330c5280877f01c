"""The command `headgate paper`: the figures and tables of the papers."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headgate import guarded
from headgate.errors import UsageError
from headgate.terminal.console import console, with_error_messages
from headgate.terminal.options import (
    Force,
    Formats,
    Style,
    Threads,
    figure_files,
    instead_of,
    print_json,
    reading,
    tell_files,
    watcher,
)

if TYPE_CHECKING:
    from headgate.execution.runner import Watcher

app = typer.Typer(
    name="paper",
    help="Reproduce the figures and tables of the papers.",
    no_args_is_help=True,
)

Names = Annotated[
    list[str], typer.Argument(metavar="NAME...", help="An experiment (faba/table1), a paper (faba), or all.")
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="The folder for results.")]
Quick = Annotated[
    bool, typer.Option("--quick", help="A shortened run for a first look. Fewer than 5 seeds decide no claim.")
]
With = Annotated[
    str | None,
    typer.Option("--with", metavar="SPECS", help="Disciplines to add to the paper's, such as codel,fq_codel,pie."),
]
Seeds = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Run seeds 1 to N instead of the experiment's own. Fewer than 5 decide no claim."
    ),
]

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change an open parameter, such as buffer=66, or a key of the scenarios, such as cbr.rate=1Mbit/s.",
    ),
]

PAGE = "report.html"


@app.command(name="list")
@with_error_messages
def list_experiments(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME...", help="A paper, such as faba.")] = None,
) -> None:
    """List the experiments with their estimated run times."""
    from headgate.experiment import show
    from headgate.papers import catalogue

    console().print(show.listed([catalogue.row(name) for name in catalogue.chosen(names or ["all"])]))


@app.command()
@with_error_messages
def show(name: Annotated[str, typer.Argument(metavar="NAME", help="An experiment, such as faba/table1.")]) -> None:
    """Explain an experiment.

    Prints its disciplines, its claims, the parameters that the paper does not state, and its scenario.
    """
    from headgate.experiment import show as shown
    from headgate.papers import catalogue

    console().print(
        shown.description(name, catalogue.experiment(name), catalogue.paper(name.partition("/")[0]).citation)
    )


@app.command()
@with_error_messages
def run(
    names: Names,
    quick: Quick = False,
    settings: Settings = None,
    further: With = None,
    seeds: Seeds = None,
    trace: Annotated[
        Path | None,
        typer.Option(metavar="PCAP", help="A packet trace for experiments that read one (red-pd/fig3)."),
    ] = None,
    out: Out = Path("results/papers"),
    as_json: Annotated[bool, instead_of("tables")] = False,
    threads: Threads = None,
    force: Force = False,
    formats: Formats = None,
    style: Style = None,
) -> None:
    """Run experiments and judge the paper's claims.

    Prints the published numbers beside ours and a verdict on each claim. Finished runs are reused. After Ctrl-C, the
    same command resumes.
    """
    from headgate.experiment import record
    from headgate.experiment import show as shown
    from headgate.experiment.running import RunOptions
    from headgate.papers import catalogue

    wanted = figure_files(formats, style)
    if trace is not None:
        with reading(trace):
            guarded.check(trace, guarded.CAPTURE)
    options = RunOptions(quick, seeds, catalogue.further(further), {}, trace, threads, force, tuple(settings or ()))
    chosen = catalogue.chosen(names)
    documents = []
    for number, name in enumerate(chosen, 1):
        count = f"{number}/{len(chosen)} " if len(chosen) > 1 else ""
        bar = watcher(as_json, f"{count}{name}")
        stored = record.carry_out(name, catalogue.experiment(name), out, options, bar, wanted)
        documents.append(stored.document)
        if not as_json:
            console().print(shown.result_tables(stored.document))
            files = [wanted.name("figure", each) for each in wanted.formats]
            tell_files([stored.path / name for name in ["figure.png", *files]])
            typer.echo()
    if as_json:
        print_json(documents)
    elif len(documents) > 1:
        console().print(shown.score(documents))


@app.command()
@with_error_messages
def report(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="The experiments of the page (default: all).")
    ] = None,
    quick: Quick = False,
    further: With = None,
    seeds: Seeds = None,
    out: Out = Path("results/papers"),
) -> None:
    """Write an HTML page of experiments that were run.

    The page has a scorecard of the claims, and each experiment with its figure and numbers. It has the verdicts under
    each reading after `headgate paper readings`.
    """
    from headgate.experiment import readings, record
    from headgate.experiment import show as shown
    from headgate.experiment.running import RunOptions
    from headgate.papers import catalogue, page

    options = RunOptions(quick, seeds, catalogue.further(further))
    chosen = catalogue.chosen(names or ["all"])
    stored = {name: record.load(name, catalogue.experiment(name), out, options) for name in chosen}
    records = [each for each in stored.values() if each is not None]
    if not records:
        again = " ".join(["headgate paper run", *(names or ["all"]), *(["--quick"] if quick else [])])
        raise UsageError(f"{out} has no results of these experiments: run {again}")
    file = out / (f"quick-{PAGE}" if quick else PAGE)
    tried = {
        name: readings.load(name, catalogue.experiment(name), out, options)
        for name in chosen
        if stored[name] is not None and readings.open_parameters(catalogue.experiment(name))
    }
    page.write(records, [name for name, each in stored.items() if each is None], file, tried)
    console().print(shown.score(each.document for each in records))
    typer.echo(f"report  {file}")


@app.command(name="readings")
@with_error_messages
def judge_readings(
    names: Names,
    quick: Quick = False,
    seeds: Seeds = None,
    out: Out = Path("results/papers"),
    as_json: Annotated[bool, instead_of("tables")] = False,
    threads: Threads = None,
) -> None:
    """Judge claims under each reading of the paper.

    A reading is a value of a parameter that the paper does not state. Finished runs are reused. After Ctrl-C, the same
    command resumes.
    """
    from headgate.experiment import readings
    from headgate.experiment import readings_show as shown
    from headgate.experiment.running import RunOptions
    from headgate.papers import catalogue

    chosen = catalogue.with_readings(names)
    options = RunOptions(quick, seeds, threads=threads)
    if not as_json:
        typer.echo(catalogue.readings_estimate(chosen, options), err=True)
    documents = []
    for number, name in enumerate(chosen, 1):
        count = f"{number}/{len(chosen)} " if len(chosen) > 1 else ""
        stored = readings.carry_out(name, catalogue.experiment(name), out, options, _observers(as_json, count))
        documents.append(stored.document)
        if not as_json:
            console().print(shown.table(stored.document))
            typer.echo(f"{shown.form(stored.document)}; verdicts in {stored.path}\n")
    if as_json:
        print_json(documents)
    else:
        console().print(shown.sentence(documents))


def _observers(as_json: bool, count: str) -> "Callable[[str], Watcher]":
    """Makes a progress bar from a title. `count` precedes the title."""
    return lambda title: watcher(as_json, f"{count}{title}")


app.command(name="sensitivity", hidden=True, deprecated=True)(judge_readings)
