"""The command `headgate export`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from headgate.counting import counted
from headgate.terminal.console import with_error_messages


class Format(StrEnum):
    """The formats of an export."""

    FLENT = "flent"
    CSV = "csv"
    LATEX = "latex"


@with_error_messages
def export(
    result: Annotated[
        Path, typer.Argument(metavar="RESULT", help="A result folder, or with csv also a sweep's dataset.")
    ],
    format: Annotated[
        Format,
        typer.Option(
            "--format",
            help="flent: a .flent.gz for each discipline and seed; csv: every table; latex: the printed table.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write to this new folder (default: exported/RESULT-FORMAT)."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
) -> None:
    """Export a result as CSV, LaTeX or for flent.

    docs/guide/export.md describes the files.
    """
    from headgate.export import csv, flent, summary
    from headgate.export.folder import write_files

    folder = out or Path("exported") / f"{result.resolve().name}-{format}"
    makers = {Format.CSV: csv.files, Format.FLENT: flent.files, Format.LATEX: summary.files}
    count = write_files(folder, makers[format](result), force=force)
    typer.echo(f"{counted(count, 'file')} in {folder}")
