"""The command `headgate link`."""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from typing import Annotated, Any, NoReturn

import typer

from headgate.console import console, explained
from headgate.errors import UsageError


def _both(metavar: str, help: str) -> Any:
    return typer.Option(metavar=metavar, help=help)


def _one(metavar: str, what: str) -> Any:
    return typer.Option(metavar=metavar, help=f"The same, {what}.")


UP = "from COMMAND's host to the far one"
DOWN = "back to COMMAND's host"


@explained
def link(
    command: Annotated[list[str] | None, typer.Argument(metavar="COMMAND...", help="What to run.")] = None,
    rate: Annotated[str | None, _both("RATE", "How fast it sends, such as 10Mbit/s.")] = None,
    trace: Annotated[str | None, _both("FILE", "When it can send 1500 bytes each, as mahimahi's traces say.")] = None,
    delay: Annotated[str | None, _both("TIME", "Propagation delay, such as 16ms (default 0ms).")] = None,
    limit: Annotated[str | None, _both("LIMIT", "Room in the queue, such as 100p or 64KiB (default 1000p).")] = None,
    qdisc: Annotated[str | None, _both("SPEC", "The discipline, such as sfb:bins=46 (default droptail).")] = None,
    loss: Annotated[str | None, _both("P", "Probability that a packet is lost on the way, 0 to 1.")] = None,
    overhead: Annotated[int, _both("BYTES", "Bytes that each packet costs the link beside its own.")] = 0,
    up_rate: Annotated[str | None, _one("RATE", UP)] = None,
    up_trace: Annotated[str | None, _one("FILE", UP)] = None,
    up_delay: Annotated[str | None, _one("TIME", UP)] = None,
    up_limit: Annotated[str | None, _one("LIMIT", UP)] = None,
    up_qdisc: Annotated[str | None, _one("SPEC", UP)] = None,
    up_loss: Annotated[str | None, _one("P", UP)] = None,
    up_overhead: Annotated[int | None, _one("BYTES", UP)] = None,
    down_rate: Annotated[str | None, _one("RATE", DOWN)] = None,
    down_trace: Annotated[str | None, _one("FILE", DOWN)] = None,
    down_delay: Annotated[str | None, _one("TIME", DOWN)] = None,
    down_limit: Annotated[str | None, _one("LIMIT", DOWN)] = None,
    down_qdisc: Annotated[str | None, _one("SPEC", DOWN)] = None,
    down_loss: Annotated[str | None, _one("P", DOWN)] = None,
    down_overhead: Annotated[int | None, _one("BYTES", DOWN)] = None,
    server: Annotated[
        str | None, typer.Option(metavar="CMD", help="What to run in the far host meanwhile, such as 'iperf3 -s'.")
    ] = None,
    cc: Annotated[
        str | None, typer.Option(metavar="NAME", help="TCP's congestion control in both hosts, such as reno.")
    ] = None,
    tcp_ecn: Annotated[bool, typer.Option("--tcp-ecn", help="Both hosts ask for ECN.")] = False,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The seed of all chance.")] = 1,
    check: Annotated[
        bool, typer.Option("--check", help="Check how true links are on this machine, and leave; it takes 15 s.")
    ] = False,
    view: Annotated[
        bool,
        typer.Option("--view", help="Show the link in the terminal meanwhile, for a COMMAND that leaves it alone."),
    ] = False,
    summary: Annotated[bool, typer.Option("--summary/--no-summary", help="Say on stderr what the link did.")] = True,
) -> None:
    """Run a command behind an emulated link, on real packets (Linux).

    COMMAND gets a host of its own, 100.64.0.1, and a link to another one, 100.64.0.2, where the server runs. Its exit
    code is ours.
    """
    from headgate import _core
    from headgate.live import options, session
    from headgate.live import summary as summaries
    from headgate.live.view import Screen

    if check:
        _check()
    given = {
        f"{way}{key}": value
        for way, values in {
            "": (rate, trace, delay, limit, qdisc, loss),
            "up-": (up_rate, up_trace, up_delay, up_limit, up_qdisc, up_loss),
            "down-": (down_rate, down_trace, down_delay, down_limit, down_qdisc, down_loss),
        }.items()
        for key, value in zip(("rate", "trace", "delay", "limit", "qdisc", "loss"), values, strict=True)
    }
    up, down = (options.scenario(way, given) for way in options.WAYS)
    if not command:
        raise UsageError("what is to run behind the link? As in: headgate link --rate 10Mbit/s -- bash")
    try:
        served = shlex.split(server or "")
    except ValueError as error:
        raise UsageError(f"--server {server}: {error}") from None
    overheads = (overhead if up_overhead is None else up_overhead, overhead if down_overhead is None else down_overhead)
    sysctls = [("ipv4/tcp_ecn", "1" if tcp_ecn else "0")]
    if cc is not None:
        sysctls.append(("ipv4/tcp_congestion_control", cc))
    try:
        _core.prepare()
        made = _core.Link(up, down, overheads=overheads, seed=seed, sysctls=sysctls)
    except OSError as error:
        if cc is not None and "tcp_congestion_control" in str(error):
            raise UsageError(f"--cc {cc}: the kernel has {options.controllers()}") from None
        raise session.LinkError(str(error)) from None
    with Screen() if view else nullcontext() as screen:
        ended = session.run(made, command, served, watch=screen)
    if summary:
        out = console(stderr=True)
        out.print(summaries.table(ended.view, ended.seconds, f"link, {ended.seconds:.1f} s"))
        for warning in summaries.warnings(ended.view):
            out.print(f"note: {warning}")
    raise typer.Exit(ended.code)


def _check() -> NoReturn:
    """Prints what `headgate link --check` finds, and leaves with 1 if something is not as it must be."""
    from headgate import _core
    from headgate.live import check, session

    try:
        _core.prepare()
        table, good = check.run()
    except OSError as error:
        raise session.LinkError(str(error)) from None
    console().print(table)
    raise typer.Exit(0 if good else 1)
