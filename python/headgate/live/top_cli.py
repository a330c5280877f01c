"""The command `headgate top`."""

import json
import time
from contextlib import nullcontext, suppress
from typing import Annotated

import typer

from headgate.errors import require_linux
from headgate.terminal import stopping
from headgate.terminal.console import console, with_error_messages


@with_error_messages
def top(
    which: Annotated[
        str | None,
        typer.Argument(metavar="[PID|NAME]", help="Name or process of the link or gateway (default: the only one)."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Print one table and exit.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of the table.")] = False,
    interval: Annotated[float, typer.Option(min=0.1, max=60, metavar="SECONDS", help="Seconds between updates.")] = 1.0,
) -> None:
    """Show the flows using a running link or gateway (Linux).

    Shows rate, share, drops and marks of each flow. The verdict says whether a flow is responsive, and why. Ctrl-C
    exits.
    """
    require_linux()
    from headgate.live import top as tops

    document = tops.find(which)
    if as_json:
        typer.echo(json.dumps(document, indent=1, allow_nan=False))
        return
    out = console()
    if once:
        out.print(tops.page(document))
        return
    from rich.live import Live

    process = str(document["pid"])
    showing = Live(console=out, auto_refresh=False, screen=True) if out.is_terminal else nullcontext()
    with showing as live, stopping.taking(), suppress(tops.NotRunningError):
        while True:
            if live is None:
                out.print(tops.page(document))
            else:
                live.update(tops.page(document), refresh=True)
            time.sleep(interval)
            document = tops.find(process)
