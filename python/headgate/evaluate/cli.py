"""The command `headgate evaluate`: the guidelines of RFC 7928 for any disciplines."""

from pathlib import Path
from typing import Annotated

import typer

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
    l4s: Annotated[
        bool, typer.Option("--l4s", help="Draw heat maps of one Prague flow beside one CUBIC flow instead.")
    ] = False,
    rate: Annotated[
        list[str] | None,
        typer.Option(metavar="RATE", help="With --l4s: a rate of the heat map, such as 40Mbit/s. Repeatable."),
    ] = None,
    rtt: Annotated[
        list[str] | None,
        typer.Option(metavar="TIME", help="With --l4s: a base round-trip time, such as 20ms. Repeatable."),
    ] = None,
    buffer: Annotated[
        float | None,
        typer.Option(metavar="BDPS", help="With --l4s: buffer in bandwidth-delay products (default: 250 ms)."),
    ] = None,
    classic_ecn: Annotated[
        bool, typer.Option("--classic-ecn", help="With --l4s: CUBIC accepts marks (default: it does not).")
    ] = False,
    no_fallback: Annotated[
        bool, typer.Option("--no-fallback", help="With --l4s: Prague without its fall-back on classic queues.")
    ] = False,
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With --l4s: profile of both flows, such as linux (default: rfc)."),
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

    With --l4s: the goodput of a Prague flow over a CUBIC flow's, by rate and round-trip time, of each discipline
    (default: dualpi2, fq_codel and codel).
    """
    from headgate.evaluate.coexistence import cli as coexistence
    from headgate.experiment.running import RunOptions

    wanted = figure_files(formats, style)
    asked = coexistence.HeatMapOptions(rate or (), rtt or (), buffer, classic_ecn, no_fallback, profile)
    options = RunOptions(quick, seeds, threads=threads, force=force)
    if l4s:
        if section or listed:
            raise UsageError("--l4s has no sections: leave out --section and --list")
        coexistence.carry_out(disciplines or (), asked, out, options, wanted, as_json=as_json)
        return
    asked.refuse_any()
    from headgate.evaluate import catalogue, show

    sections = catalogue.chosen(section or ())
    if listed:
        console().print(show.listed(sections))
        return
    from headgate.evaluate import page, record
    from headgate.evaluate.candidates import candidates

    stored = record.carry_out(sections, candidates(disciplines or ()), out, options, watcher(as_json))
    written = page.write_figures(stored.document, stored.path, wanted) if wanted.formats else []
    if as_json:
        print_json(stored.document)
        return
    console().print(show.page(stored.document))
    typer.echo(f"report  {stored.path / record.PAGE}\nfolder  {stored.path}")
    tell_files(written)
