"""The command `headgate evaluate`: the guidelines of RFC 7928 for any disciplines."""

from pathlib import Path
from typing import Annotated

import typer

from headgate.terminal.console import console, with_error_messages
from headgate.terminal.options import (
    Force,
    Formats,
    Style,
    Threads,
    figure_files,
    instead_of,
    print_json,
    tell_files,
    watcher,
)


@with_error_messages
def evaluate(
    disciplines: Annotated[
        list[str] | None, typer.Argument(metavar="SPEC", help="Disciplines, such as faba or sfb:bins=46.")
    ] = None,
    section: Annotated[
        list[int] | None, typer.Option(metavar="N", help="Only this section of the RFC, 4 to 10. Repeatable.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the tests and exit.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Shortened runs of 3 seeds for a first look. They decide no grade.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Run seeds 1 to N (default: 10, --quick: 3). Fewer than 5 decide no grade."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for results.")] = Path("results/evaluate"),
    as_json: Annotated[bool, instead_of("the page")] = False,
    threads: Threads = None,
    force: Force = False,
    formats: Formats = None,
    style: Style = None,
) -> None:
    """Grade disciplines by the guidelines of RFC 7928.

    Runs the tests of sections 4 to 10 with and without ECN, and DropTail as the baseline. One page lists the strengths
    and failures of each discipline. Finished runs are reused. After Ctrl-C, the same command resumes.
    """
    from headgate.evaluate import catalogue, show

    wanted = figure_files(formats, style)
    sections = catalogue.chosen(section or ())
    if listed:
        console().print(show.listed(sections))
        return
    from headgate.evaluate import page, record
    from headgate.evaluate.candidates import candidates
    from headgate.experiment.running import RunOptions

    options = RunOptions(quick, seeds, threads=threads, force=force)
    stored = record.carry_out(sections, candidates(disciplines or ()), out, options, watcher(as_json))
    written = page.write_figures(stored.document, stored.path, wanted) if wanted.formats else []
    if as_json:
        print_json(stored.document)
        return
    console().print(show.page(stored.document))
    typer.echo(f"report  {stored.path / record.PAGE}\nfolder  {stored.path}")
    tell_files(written)
