"""The command `headgate`. docs/reference/cli.md explains every option and exit code."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, ClassVar

import typer

from headgate.errors import ResultError
from headgate.terminal import stopping
from headgate.terminal.arguments import HELP
from headgate.terminal.console import INTERRUPTED, storage_failure
from headgate.terminal.group import COMMAND_OPTIONS, Commands, Entry
from headgate.terminal.loading import Loading


class Headgate(Commands):
    """All commands. The test of the help texts compares each sentence with the command's docstring."""

    entries: ClassVar = {
        "demo": Entry("headgate.first_steps:demo", "Compare seven disciplines beside an unresponsive flow."),
        "new": Entry("headgate.first_steps:new", "Write a scenario that comes with Headgate to a file of yours."),
        "run": Entry("headgate.commands:run", "Run a scenario with each discipline and compare them."),
        "list": Entry("headgate.commands:list_names", "List disciplines, congestion controls and traffic sources."),
        "show": Entry("headgate.commands:show", "Explain a discipline, congestion control or traffic source."),
        "rerun": Entry("headgate.commands:rerun", "Run a result again and compare the files byte for byte."),
        "verify": Entry("headgate.commands:verify", "Check all results in a folder against their recorded hashes."),
        "report": Entry("headgate.commands:report", "Draw the figures and the report page of a result again."),
        "compare": Entry("headgate.commands:compare", "Compare two results of one scenario."),
        "why": Entry("headgate.commands:why", "Explain a flow's goodput: its drops and its sender."),
        "sweep": Entry("headgate.sweeps.cli:sweep", "Run a scenario for many values of its keys."),
        "query": Entry("headgate.sweeps.cli:query", "Query a result or a sweep in SQL (DuckDB)."),
        "tune": Entry("headgate.tuning.cli:tune", "Search a discipline's parameters for the best setting."),
        "sensitivity": Entry(
            "headgate.tuning.cli:sensitivity", "Vary each parameter of a discipline and show the effect."
        ),
        "evaluate": Entry("headgate.evaluate.cli:evaluate", "Grade disciplines by the guidelines of RFC 7928."),
        "check": Entry("headgate.expectations.cli:check", "Run a scenario and judge its expectations."),
        "export": Entry("headgate.export.cli:export", "Export a result as CSV, LaTeX or for flent."),
        "cite": Entry("headgate.cite.cli:cite", "Print BibTeX of a discipline, its paper and Headgate."),
        "lab": Entry("headgate.lab_page.cli:lab", "Watch a queue decide, packet by packet, in a browser."),
        "tc": Entry("headgate.tc_cli:tc", "Print a discipline as a command of tc, or read one back."),
        "migrate": Entry("headgate.migrate:migrate", "Rewrite scenario files with the current names of keys."),
        "link": Entry(
            "headgate.live.cli:link",
            "Run a command behind an emulated link (Linux).",
            {"allow_interspersed_args": False},
        ),
        "gateway": Entry("headgate.live.gateway_cli:gateway", "Forward packets between two interfaces (Linux)."),
        "top": Entry("headgate.live.top_cli:top", "Show the flows using a running link or gateway (Linux)."),
        "paper": Entry("headgate.papers.cli:app", "Reproduce the figures and tables of the papers."),
    }


app = typer.Typer(
    name="headgate",
    cls=Headgate,
    help="Active queue management you can run: compare queue disciplines in simulation and on real packets.",
    no_args_is_help=True,
    context_settings={"help_option_names": HELP},
    **COMMAND_OPTIONS,
)


@app.callback(invoke_without_command=True)
def headgate(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Active queue management you can run: compare queue disciplines in simulation and on real packets."""
    if version:
        with Loading():
            from headgate import _core
        typer.echo(f"headgate {_core.VERSION}")
        raise typer.Exit


def main() -> None:
    """The entry point."""
    try:
        app()
    except KeyboardInterrupt:  # before a command began; commands print more
        typer.echo("error: stopped", err=True)
        raise SystemExit(stopping.exit_code()) from None
    except SystemExit as end:
        # The code of typer for every interruption outside of a command.
        if end.code == INTERRUPTED:
            raise SystemExit(stopping.exit_code()) from None
        raise
    except OSError as error:  # of a help text; commands handle their own
        with suppress(OSError):
            typer.echo(storage_failure(error), err=True)
        raise SystemExit(ResultError.exit_code) from None
    except Exception:
        if not stopping.received():
            raise
        typer.echo("error: stopped", err=True)
        raise SystemExit(stopping.exit_code()) from None
    finally:
        # CPython remembers a KeyboardInterrupt that ended an `exec` of text, as in the definition of a dataclass.
        # `python -m` then dies of SIGINT, whatever the exit code. Another `exec` of text resets this
        # (`unhandled_keyboard_interrupt` in CPython's pythonrun.c and main.c).
        exec("")  # noqa: S102
