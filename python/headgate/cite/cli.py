"""The command `headgate cite`."""

from typing import Annotated

import typer

from headgate.terminal.console import with_error_messages


@with_error_messages
def cite(
    spec: Annotated[
        str, typer.Argument(metavar="[SPEC]", help="A discipline, such as sfb or sfb:bins=46 (default: only Headgate).")
    ] = "",
) -> None:
    """Print BibTeX of a discipline, its paper and Headgate."""
    from headgate.cite import bibtex

    typer.echo(bibtex(spec), nl=False)
