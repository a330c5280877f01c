"""The command `headgate top`."""

import json
import time
from contextlib import nullcontext
from typing import Annotated

import typer

from headgate.terminal.console import console, explained


@explained
def top(
    which: Annotated[
        str | None,
        typer.Argument(metavar="[PID|NAME]", help="Which one: link or gateway, or a process."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Show it once, and leave.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what there is to see as one JSON document.")] = False,
    interval: Annotated[float, typer.Option(min=0.1, max=60, metavar="SECONDS", help="How often to look.")] = 1.0,
) -> None:
    """Show who holds a link or gateway that runs, and who slows down (Linux).

    The verdict on a flow says what it rests on; Ctrl-C leaves.
    """
    from headgate.live import top as tops

    found = tops.find(which)
    if as_json:
        typer.echo(json.dumps(found, indent=1, allow_nan=False))
        return
    out = console()
    if once:
        out.print(tops.page(found))
        return
    from rich.live import Live

    process = str(found["pid"])
    with Live(console=out, auto_refresh=False, screen=True) if out.is_terminal else nullcontext() as live:
        try:
            while True:
                if live is None:
                    out.print(tops.page(found))
                else:
                    live.update(tops.page(found), refresh=True)
                time.sleep(interval)
                found = tops.find(process)
        except (KeyboardInterrupt, tops.NotRunningError):
            return
