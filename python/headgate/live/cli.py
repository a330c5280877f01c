"""The command `headgate link`."""

import os
import shlex
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from headgate.errors import UsageError, require_linux
from headgate.live.directions import DIRECTIONS, OptionTexts, directed
from headgate.terminal.console import console, with_error_messages


@with_error_messages
@directed
def link(
    command: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND...", help="The command to run, behind `--`.")
    ] = None,
    *,
    given: OptionTexts,
    server: Annotated[
        str | None, typer.Option(metavar="CMD", help="A server to run in the far host, such as 'iperf3 -s'.")
    ] = None,
    outside: Annotated[
        bool,
        typer.Option("--outside", help="Use this machine's own network as the far end; needs root."),
    ] = False,
    as_root: Annotated[
        bool,
        typer.Option("--as-root", help="Under sudo, run COMMAND and the server as root, not as the user of sudo."),
    ] = False,
    cc: Annotated[
        str | None, typer.Option(metavar="NAME", help="Congestion control of TCP in both hosts, such as reno.")
    ] = None,
    tcp_ecn: Annotated[bool, typer.Option("--tcp-ecn", help="Enable ECN for TCP in both hosts.")] = False,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The seed of all random numbers.")] = 1,
    log: Annotated[
        Path | None,
        typer.Option("--log", metavar="DIR", help="Write captures and measurements over time to this new folder."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Measure how accurate links are on this machine, and exit (15 s).")
    ] = False,
    soak: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="With --check: load links this long and account for every packet."),
    ] = None,
    view: Annotated[
        bool,
        typer.Option("--view", help="Show the link in the terminal while COMMAND runs; COMMAND must not use it."),
    ] = False,
    summary: Annotated[
        bool, typer.Option("--summary/--no-summary", help="Print a summary of the link on stderr.")
    ] = True,
) -> None:
    """Run a command behind an emulated link (Linux).

    COMMAND runs in a network namespace, the near host 100.64.0.1. The link leads to the far host 100.64.0.2, where the
    server runs. Under sudo, both run as the user who called it. headgate exits with COMMAND's exit code.

    Options from --rate to --overhead apply to both directions. Each also exists for one: --forward-rate is from COMMAND
    to the far host, --reverse-rate back.
    """
    require_linux()
    from headgate import _core
    from headgate.execution import memory
    from headgate.execution.top_socket import ViewSocket
    from headgate.live import options, session
    from headgate.live import summary as summaries
    from headgate.live.invoker import invoker
    from headgate.live.log import LinkLog
    from headgate.live.losses import LossWatch
    from headgate.live.view import screen

    if check:
        _check(soak)
    if soak is not None:
        raise UsageError("--soak needs --check: headgate link --check --soak 10min")
    forward, reverse = (options.scenario(direction, given) for direction in DIRECTIONS)
    memory.check_lanes({"forward": forward, "reverse": reverse})
    if not command:
        raise UsageError(
            "no command to run behind the link: write one behind --, as in headgate link --rate 10Mbit/s -- bash"
        )
    served = _words(server, outside=outside)
    user = None if as_root else invoker(os.environ)
    sysctls = [("ipv4/tcp_ecn", "1" if tcp_ecn else "0")]
    if cc is not None:
        sysctls.append(("ipv4/tcp_congestion_control", cc))
    with LinkLog(log) as keeper:
        try:
            _core.prepare()
            made = _core.Link(forward, reverse, seed=seed, sysctls=sysctls, outside=outside, log=log)
        except (_core.LiveError, ValueError) as error:
            raise session.not_made(error, cc) from None
        given_options = {"command": command, **options.by_direction(given), "server": served, "seed": seed}
        keeper.begin(made, {**given_options, "outside": outside, "cc": cc, "tcp_ecn": tcp_ecn})
        if outside and (own := session.own_resolvers()):
            typer.echo(
                f"note: COMMAND cannot resolve names: {own} is a resolver on this machine (docs/guide/live.md)",
                err=True,
            )
        losses = LossWatch(lambda warning: typer.echo(warning, err=True))
        with ViewSocket("link", shlex.join(command)) as top_socket, screen() if view else nullcontext() as show:
            top_socket.serve(made.view)
            watches = (losses,) if show is None else (losses, show)
            ended = session.run(made, command, served, user=user, watches=watches, tick=keeper.tick)
        notes = keeper.end(ended)
    if summary:
        out = console(stderr=True)
        out.print(summaries.table(ended.view, ended.seconds, f"link, {ended.seconds:.1f} s"))
        for line in summaries.reason_lines(ended.view):
            out.print(line)
        for note in (*summaries.warnings(ended.view), *notes):
            out.print(f"note: {note}")
    raise typer.Exit(ended.code)


def _words(server: str | None, *, outside: bool) -> list[str]:
    """The server's command as words; empty without one."""
    if outside and server is not None:
        raise UsageError(
            "--server cannot be used with --outside: the far host is this machine, so start the server yourself"
        )
    try:
        return shlex.split(server or "")
    except ValueError as error:
        raise UsageError(f"--server {server}: {error}") from None


def _check(soak: str | None) -> NoReturn:
    """Prints the measurements of `headgate link --check`. Exits with 1 if one misses its bound."""
    from headgate import _core
    from headgate.live import check, session
    from headgate.live import soak as soaking

    lasting = None if soak is None else soaking.seconds(soak)
    try:
        _core.prepare()
        table, good = check.run() if lasting is None else soaking.run(lasting, lambda line: typer.echo(line, err=True))
    except (_core.LiveError, ValueError) as error:
        raise session.not_made(error, None) from None
    console().print(table)
    raise typer.Exit(0 if good else 1)
