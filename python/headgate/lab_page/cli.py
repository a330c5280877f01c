"""The command `headgate lab`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headgate.terminal import stopping
from headgate.terminal.console import console, with_error_messages
from headgate.terminal.options import reading


@with_error_messages
def lab(
    scenario: Annotated[
        str, typer.Argument(metavar="[SCENARIO]", help="A file or the name of a scenario.")
    ] = "protect",
    qdiscs: Annotated[
        list[str] | None,
        typer.Option("--qdisc", metavar="SPEC", help="One or two disciplines (default: droptail, faba)."),
    ] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario (repeatable).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="The seed of the run.")] = 1,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Serve on this port (default: a free one).")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Watch a queue decide, packet by packet, in a browser.

    The page has the whole simulator, and is served on this machine only. Ctrl-C ends the server.
    """
    from headgate.lab_page import page, server

    with reading(Path(scenario)):
        start = page.fragment(scenario, qdiscs or (), seed=seed, changes=changes or ())
    with server.server(page.page(), port) as serving:
        address = f"http://127.0.0.1:{serving.server_port}/#{start}"
        console().print(address, markup=False, highlight=False, soft_wrap=True)
        if browser:
            import webbrowser

            webbrowser.open(address)
        console(stderr=True).print("Ctrl-C ends the server", markup=False, highlight=False)
        with stopping.taking():
            serving.serve_forever()
