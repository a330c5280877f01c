"""The commands `demo` and `new`: from an installation to a scenario of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headgate.errors import UsageError
from headgate.terminal.console import console, with_error_messages

DEMO = "protect"


@with_error_messages
def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Write the result folder below DIR.")] = Path("results"),
) -> None:
    """Compare seven disciplines beside an unresponsive flow.

    The same as `headgate run protect`. `headgate new protect` writes the scenario to change it.
    """
    from headgate.commands import run

    run(Path(DEMO), out=out)


@with_error_messages
def new(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A scenario that comes with Headgate (default: list them).")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--as", metavar="FILE", help="Write this file (default: NAME.toml).")
    ] = None,
) -> None:
    """Write a scenario that comes with Headgate to a file of yours.

    An existing file is never overwritten.
    """
    from headgate import guarded, shipped
    from headgate.errors import ResultError, did_you_mean

    if name is None:
        _print_all()
        return
    if name not in shipped.names():
        raise UsageError(f"no scenario is called {name}{did_you_mean(name, shipped.names())}")
    target = file or Path(f"{name}.toml")
    text, made = guarded.read_text(shipped.FOLDER / f"{name}.toml", guarded.SCENARIO), False
    try:
        with target.open("x", encoding="utf-8") as written:
            made = True
            written.write(text)
    except FileExistsError:
        raise UsageError(f"{target} exists: give another file with --as") from None
    except OSError as error:
        if made:
            target.unlink()  # a part of it is no scenario
        raise ResultError(f"cannot write {target}: {error.strerror}") from None
    console(stderr=True).print(f"wrote {target}; `headgate run {target}` runs it", markup=False, highlight=False)


def _print_all() -> None:
    from rich.table import Table

    from headgate import shipped

    table = Table("scenario", "question", box=None, pad_edge=False)
    for name in shipped.names():
        table.add_row(name, shipped.about(name))
    console().print(table)
