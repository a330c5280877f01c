"""The command `headgate tune`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headgate.style import FigureFiles
from headgate.terminal.console import console, with_error_messages
from headgate.terminal.options import (
    Changes,
    Formats,
    Seeds,
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
    from headgate.tuning.tuned import TuningResult

File = Annotated[Path, typer.Argument(metavar="FILE", help="A scenario file, such as scenarios/penalty-box.toml.")]
Qdisc = Annotated[
    str | None,
    typer.Option(metavar="SPEC", help="The discipline, such as sfb or sfb:bins=46 (default: the file's only one)."),
]


@with_error_messages
def tune(
    file: File,
    objective: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC", help="The metric to optimize, such as 'p95 queue delay'. Several give a Pareto front."
        ),
    ] = None,
    subject_to: Annotated[
        list[str] | None, typer.Option(metavar="BOUND", help="A bound on a metric, such as 'utilization >= 0.95'.")
    ] = None,
    qdisc: Qdisc = None,
    param: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=LOW..HIGH", help="Search this parameter (default: all numeric parameters)."),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, metavar="N", help="Try N settings.")] = 60,
    seeds: Annotated[int | None, typer.Option(min=1, metavar="N", help="Search with seeds 1 to N.")] = None,
    held_out: Annotated[
        int, typer.Option(min=2, metavar="N", help="Compare with the original setting on N further seeds.")
    ] = 10,
    changes: Changes = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Write the folder of the search below DIR.")] = Path(
        "results"
    ),
    as_json: Annotated[bool, instead_of("tables")] = False,
    threads: Threads = None,
    formats: Formats = None,
    style: Style = None,
) -> None:
    """Search a discipline's parameters for the best setting.

    The best setting is compared with the original one on held-out seeds. After Ctrl-C, the same command resumes; a
    larger --trials continues a finished search.
    """
    from headgate.scenario import Scenario
    from headgate.tuning import tuned

    wanted = figure_files(formats, style)
    with reading(file):
        scenario = Scenario.load(file, set=changes or (), qdiscs=[qdisc] if qdisc else (), seeds=seeds)
    tuning = tuned.tune(
        scenario,
        objective or (),
        subject_to=subject_to or (),
        params=param or (),
        trials=trials,
        held_out=held_out,
        out=out,
        threads=threads,
        watcher=watcher(as_json),
        figures=not as_json,
    )
    written = _write_figures(tuning, wanted)
    if as_json:
        print_json(tuning.document)
    else:
        from headgate.tuning import show

        for part in show.parts(tuning.outcome, tuning.importances):
            typer.echo(part) if isinstance(part, str) else console().print(part)
        tell_files([*tuning.figures, *written])
        typer.echo(f"folder  {tuning.folder}")
    if not tuning.outcome.compared:
        raise typer.Exit(1)


def _write_figures(tuning: "TuningResult", wanted: FigureFiles) -> list[Path]:
    """Writes the figures of a search for a document."""
    if not wanted.formats:
        return []
    from headgate.plot import printing
    from headgate.tuning import figures

    return printing.save(figures.makers(tuning.outcome, tuning.importances), wanted, tuning.folder)


@with_error_messages
def sensitivity(
    file: File,
    objective: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC", help="The metric to measure (default: p95 queue delay and goodput)."),
    ] = None,
    qdisc: Qdisc = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=LOW..HIGH", help="Vary this parameter (default: each, from half to twice its value)."
        ),
    ] = None,
    seeds: Seeds = None,
    changes: Changes = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Write the result folder below DIR.")] = Path("results"),
    as_json: Annotated[bool, instead_of("the table")] = False,
    threads: Threads = None,
    formats: Formats = None,
    style: Style = None,
) -> None:
    """Vary each parameter of a discipline and show the effect.

    One parameter is varied at a time; the others keep their values.
    """
    from headgate.scenario import Scenario
    from headgate.tuning import sensitivity as varying

    wanted = figure_files(formats, style)
    with reading(file):
        scenario = Scenario.load(file, set=changes or (), qdiscs=[qdisc] if qdisc else (), seeds=seeds)
    varied = varying.sensitivity(
        scenario,
        objective or varying.OBJECTIVES,
        params=param or (),
        out=out,
        threads=threads,
        watcher=watcher(as_json),
    )
    from headgate.plot import printing
    from headgate.plot.picture import save
    from headgate.tuning import sensitivity_show as show

    written = printing.save({"sensitivity": lambda: show.figure(varied)}, wanted, varied.folder)
    if as_json:
        print_json(varied.document())
        return
    console().print(show.table(varied))
    for sentence in show.sentences(varied):
        typer.echo(sentence)
    typer.echo()
    tell_files([save(show.figure(varied), varied.folder / "sensitivity"), *written])
    typer.echo(f"folder  {varied.folder}")
