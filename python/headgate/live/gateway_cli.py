"""The command `headgate gateway`."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from headgate.errors import require_linux
from headgate.live.directions import OptionTexts, directed
from headgate.terminal.console import console, with_error_messages
from headgate.terminal.printable import printable


@with_error_messages
@directed
def gateway(
    *,
    in_: Annotated[str | None, typer.Option("--in", metavar="IFACE", help="The near interface, such as eth1.")] = None,
    out: Annotated[str | None, typer.Option(metavar="IFACE", help="The far interface, such as eth0.")] = None,
    given: OptionTexts,
    class_: Annotated[
        list[str] | None,
        typer.Option("--class", metavar="SPEC", help="A class, such as voice:dscp=ef,weight=3. Repeatable."),
    ] = None,
    flow: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="The key that identifies a flow, such as source (default 5-tuple)."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A TOML file with the same keys; SIGHUP reloads it. Options override it."),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Serve Prometheus metrics at HOST:PORT; a port alone, such as 9100, serves this machine.",
        ),
    ] = None,
    offloads_off: Annotated[
        bool | None, typer.Option("--offloads-off", help="Switch off the offloads of both interfaces; they stay off.")
    ] = None,
    send: Annotated[
        str | None,
        typer.Option(
            metavar="HOW", help="How frames are sent: packet, xdp or auto (default auto: xdp on veth, else packet)."
        ),
    ] = None,
    cpus: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Keep the forwarding thread to processor N, or with N,M have a thread for each direction.",
        ),
    ] = None,
    busy_poll: Annotated[
        bool | None,
        typer.Option("--busy-poll", help="Never sleep while no frame arrives: less delay, one processor a thread."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="The seed of all random numbers (default 1).")
    ] = None,
    fail: Annotated[
        str | None,
        typer.Option(
            metavar="HOW", help="When the gateway ends: closed (default), or open: a kernel bridge passes packets."
        ),
    ] = None,
    no_sandbox: Annotated[
        bool | None,
        typer.Option("--no-sandbox", help="Keep all rights of the process while it forwards, for debugging."),
    ] = None,
    view: Annotated[bool, typer.Option("--view", help="Show the gateway in the terminal.")] = False,
) -> None:
    """Forward packets between two interfaces (Linux).

    Each direction has a discipline of its own. Needs root, and gives up root's rights once it forwards. Both interfaces
    must be up and have no IP address. The gateway runs until SIGINT or SIGTERM and then prints a summary.

    Options from --rate to --overhead apply to both directions. Each also exists for one: --forward-rate is from --in to
    --out, --reverse-rate back. A direction without a rate forwards packets without delay.
    """
    require_linux()
    from headgate.execution.top_socket import ViewSocket
    from headgate.live import fail_open, gateway_settings, notify, summary
    from headgate.live import gateway as gateways
    from headgate.live.confinement import kept_paths
    from headgate.live.exporter import Exporter
    from headgate.live.losses import LossWatch
    from headgate.live.view import screen

    given_options: dict[str, Any] = {**given, "in": in_, "out": out, "class": class_, "flow": flow}
    given_options |= {"metrics": metrics, "offloads-off": offloads_off, "send": send, "seed": seed, "fail": fail}
    given_options |= {"cpus": cpus, "busy-poll": busy_poll, "no-sandbox": no_sandbox}

    def load() -> gateway_settings.GatewaySettings:
        return gateway_settings.load(given_options, config)

    out_ = console(stderr=True)

    def report(text: str) -> None:
        out_.print(printable(text), markup=False, soft_wrap=True)

    with ExitStack() as stack:
        signals = stack.enter_context(gateways.BlockedSignals())
        settings = load()
        sandbox = not settings.no_sandbox
        interfaces = gateways.claim(settings)
        keeper = stack.enter_context(fail_open.prepared(settings.fail, interfaces, report, confine=sandbox))
        exporter = None if settings.metrics is None else Exporter(settings.metrics)
        top_socket = stack.enter_context(ViewSocket("gateway", " - ".join(settings.interfaces)))
        files = (*settings.traces, *(() if config is None else (config,)))
        kept = kept_paths(files, top_socket.folder) if sandbox else None
        opened = gateways.open_gateway(settings, interfaces, kept)
        keeper.allow()
        for note in opened.notes:
            report(f"note: {note}")
        report(f"forwarding between {' and '.join(settings.interfaces)}")
        if exporter is not None:
            stack.enter_context(exporter.serve(opened.view))
        top_socket.serve(opened.view)
        notify.notify(READY=1)
        reload = gateways.reloading(opened, settings, interfaces, None if config is None else load, report)
        changed = gateways.InterfaceWatch(opened.changes, report)
        watches: list[gateways.Watch] = [LossWatch(report), changed, keeper, notify.Heartbeat()]
        if view:
            watches.append(stack.enter_context(screen()))
        ended = gateways.run(opened, signals, reload, watches)
    out_.print(summary.table(ended.view, ended.seconds, f"gateway, {ended.seconds:.1f} s"))
    for line in summary.reason_lines(ended.view):
        out_.print(line)
    for warning in summary.warnings(ended.view):
        report(f"note: {warning}")
    if ended.error is not None:
        raise ended.error
