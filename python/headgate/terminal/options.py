"""Options that several commands share, and their handling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headgate import shipped
from headgate.errors import UsageError, did_you_mean
from headgate.style import FigureFiles, FigureFormat, PageStyle

if TYPE_CHECKING:
    from headgate.execution.runner import Watcher

Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario, such as link.rate=5Mbit/s."),
]
Figures = Annotated[
    str | None,
    typer.Option("--figures", metavar="NAMES", help="Draw only these figures, such as overview,queue (default: all)."),
]
Formats = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMATS",
        help="Write the figures for a document too: svg, pdf, png or pgf, such as pdf,pgf (default with --style: pdf).",
    ),
]
Style = Annotated[
    PageStyle | None,
    typer.Option(
        "--style",
        metavar="STYLE",
        help="Draw these figures for the screen, or for one or both columns of a paper: screen, paper, paper2.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Run finished runs again.")]
MemoryLimit = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Refuse runs that need more memory, such as 8GB (default: what is available)."),
]
Seeds = Annotated[int | None, typer.Option(min=1, metavar="N", help="Run seeds 1 to N.")]
Threads = Annotated[int | None, typer.Option(min=1, metavar="N", help="Run on N threads (default: all processors).")]


def instead_of(shown: str) -> Any:
    """The option `--json` of a command that prints `shown` by default."""
    return typer.Option("--json", help=f"Print one JSON document instead of {shown}.")


def figure_files(formats: str | None, style: PageStyle | None) -> FigureFiles:
    """The files that `--format` and `--style` ask for; `UsageError` for an unknown format."""
    named = listed(formats) or ([FigureFormat.PDF] if style is not None else [])
    for name in named:
        if name not in list(FigureFormat):
            near = did_you_mean(name, list(FigureFormat))
            raise UsageError(f"--format: {name!r} is not a format of figures{near} Formats: {', '.join(FigureFormat)}")
    return FigureFiles(tuple(FigureFormat(name) for name in dict.fromkeys(named)), style or PageStyle.SCREEN)


def tell_files(written: Sequence[Path], *, quiet: bool = False) -> None:
    """Prints the figures that were written for a document, if there are any."""
    if written and not quiet:
        typer.echo("\n".join(f"figure  {path}" for path in written))


def listed(names: str | None) -> list[str]:
    """The names between the commas of an option."""
    return [name.strip() for name in (names or "").split(",") if name.strip()]


def print_json(document: Any) -> None:
    """Prints a JSON document on stdout."""
    from headgate.files.store import json_text

    typer.echo(json_text(document), nl=False)


@contextmanager
def reading(file: Path) -> Iterator[None]:
    """Raises `UsageError` if the file cannot be read."""
    try:
        yield
    except OSError as error:
        if isinstance(error, FileNotFoundError) and file.parent.is_dir():
            names = [each.name for each in file.parent.iterdir() if each.suffix == file.suffix]
            names += shipped.names() if not file.suffix else []
            raise UsageError(f"there is no file {file}{did_you_mean(file.name, names)}") from None
        if isinstance(error, IsADirectoryError):
            raise UsageError(f"{file} is a folder: give a file") from None
        raise UsageError(f"cannot read {file}: {error.strerror}") from None


def watcher(as_json: bool, title: str = "") -> Watcher:
    """The progress bar of a command; silent if the command prints JSON."""
    if as_json:
        from headgate.execution.runner import Watcher

        return Watcher()
    from headgate.terminal.progress import Bar

    return Bar(title)
