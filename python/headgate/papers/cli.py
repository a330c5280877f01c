"""The command `headgate paper`: the figures and tables of the papers, one command each."""

from pathlib import Path
from typing import Annotated

import typer

from headgate.errors import UsageError
from headgate.terminal.console import console, explained
from headgate.terminal.options import Force, Threads, instead_of, print_json, watcher

app = typer.Typer(
    name="paper",
    help="Run the figures and tables of the papers, and see which of their claims hold.",
    no_args_is_help=True,
)

Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="faba/table1, or faba for all of a paper, or all.")]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Where results are kept.")]
Quick = Annotated[bool, typer.Option("--quick", help="A shortened run for a first look.")]
With = Annotated[
    str | None,
    typer.Option("--with", metavar="SPECS", help="Further disciplines beside the paper's: codel,fq_codel,pie."),
]
Seeds = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Run seeds 1 to N in place of the experiment's own.")
]

PAGE = "report.html"


@app.command(name="list")
@explained
def list_experiments(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME...", help="A paper, such as faba.")] = None,
) -> None:
    """List the experiments, one line each, with their expected time on this machine."""
    from headgate.experiment import show
    from headgate.papers import catalogue

    console().print(show.listed([catalogue.row(name) for name in catalogue.chosen(names or ["all"])]))


@app.command()
@explained
def show(name: Annotated[str, typer.Argument(metavar="NAME", help="An experiment, such as faba/table1.")]) -> None:
    """Explain an experiment: what it shows, claims, published numbers, what the paper leaves open, scenario."""
    from headgate.experiment import show as shown
    from headgate.papers import catalogue

    console().print(shown.explained(name, catalogue.experiment(name), catalogue.paper(name.partition("/")[0]).citation))


@app.command()
@explained
def run(
    names: Names,
    quick: Quick = False,
    further: With = None,
    seeds: Seeds = None,
    trace: Annotated[
        Path | None,
        typer.Option(metavar="PCAP", help="A packet trace for the experiments that read one (red-pd/fig3)."),
    ] = None,
    out: Out = Path("results/papers"),
    as_json: Annotated[bool, instead_of("tables")] = False,
    threads: Threads = None,
    force: Force = False,
) -> None:
    """Run experiments, print the paper's numbers beside ours, and judge each claim.

    Finished runs (one case, one discipline, one seed) are reused. Ctrl-C keeps finished runs; the same command
    resumes.
    """
    from headgate.experiment import record
    from headgate.experiment import show as shown
    from headgate.experiment.running import RunOptions
    from headgate.papers import catalogue

    if trace is not None and not trace.is_file():
        raise UsageError(f"cannot read {trace}: there is no such file")
    how = RunOptions(quick, seeds, catalogue.further(further), {}, trace, threads, force)
    chosen = catalogue.chosen(names)
    documents = []
    for number, name in enumerate(chosen, 1):
        count = f"{number}/{len(chosen)} " if len(chosen) > 1 else ""
        kept = record.carry_out(name, catalogue.experiment(name), out, how, watcher(as_json, f"{count}{name}"))
        documents.append(kept.document)
        if not as_json:
            console().print(shown.found(kept.document))
            typer.echo(f"figure  {kept.path / 'figure.png'}\n")
    if as_json:
        print_json(documents)
    elif len(documents) > 1:
        console().print(shown.score(documents))


@app.command()
@explained
def report(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="Which experiments (default: all).")
    ] = None,
    quick: Quick = False,
    further: With = None,
    seeds: Seeds = None,
    out: Out = Path("results/papers"),
) -> None:
    """Write one HTML page of all finished experiments, with a scorecard of the claims."""
    from headgate.experiment import record
    from headgate.experiment import show as shown
    from headgate.experiment.running import RunOptions
    from headgate.papers import catalogue, page

    how = RunOptions(quick, seeds, catalogue.further(further))
    chosen = catalogue.chosen(names or ["all"])
    kept = {name: record.load(name, catalogue.experiment(name), out, how) for name in chosen}
    records = [each for each in kept.values() if each is not None]
    if not records:
        again = " ".join(["headgate paper run", *(names or ["all"]), *(["--quick"] if quick else [])])
        raise UsageError(f"none of these experiments has been run in {out}: {again}")
    file = out / (f"quick-{PAGE}" if quick else PAGE)
    page.write(records, [name for name, each in kept.items() if each is None], file)
    console().print(shown.score(each.document for each in records))
    typer.echo(f"report  {file}")


@app.command()
@explained
def sensitivity(
    name: Annotated[str, typer.Argument(metavar="NAME", help="An experiment, such as faba/table1.")],
    quick: Quick = False,
    seeds: Seeds = None,
    out: Out = Path("results/papers"),
    threads: Threads = None,
) -> None:
    """Show which claims hold as the parameters that a paper leaves open vary."""
    from headgate.experiment import sensitivity as margins
    from headgate.experiment.running import RunOptions
    from headgate.papers import catalogue
    from headgate.terminal.progress import Bar

    experiment = catalogue.experiment(name)
    rows = margins.rows(name, experiment, out, RunOptions(quick, seeds, threads=threads), Bar)
    console().print(margins.table(name, experiment, rows))
