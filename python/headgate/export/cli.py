"""The command `headgate export`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from headgate.terminal.console import explained


class Format(StrEnum):
    """What a result can be written as."""

    FLENT = "flent"
    CSV = "csv"


@explained
def export(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A result's folder; of csv also a sweep's dataset.")],
    format: Annotated[
        Format, typer.Option("--format", help="flent: a .flent.gz for each discipline and seed; csv: every table.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write into this new folder (default: exported/RESULT-FORMAT)."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there already.")] = False,
) -> None:
    """Write a result in files that other programs open.

    docs/guide/export.md says what each file holds.
    """
    from headgate.export import csv, flent
    from headgate.export.folder import written

    folder = out or Path("exported") / f"{result.resolve().name}-{format}"
    files = csv.files(result) if format is Format.CSV else flent.files(result)
    count = written(folder, files, force=force)
    typer.echo(f"{count} files in {folder}")
