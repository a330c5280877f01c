"""The command `headgate tc`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from headgate import guarded
from headgate.errors import UsageError
from headgate.terminal.console import with_error_messages

if TYPE_CHECKING:
    from headgate.qdiscs.spec import QdiscSpec
    from headgate.qdiscs.tc import TcLink

#: A network of one link, in which a discipline's settings are checked.
_SCENARIO = """\
name = "tc"
about = "A link for tc."
duration = "1s"
qdiscs = ["droptail"]
[link]
rate = "{rate}"
delay = "1ms"
limit = "1000p"
[[udp]]
rate = "1Mbit/s"
packet = "{packet}"
"""


@with_error_messages
def tc(
    spec: Annotated[
        str, typer.Argument(metavar="[SPEC]", help="A discipline, such as fq_codel or pie:target=5ms.")
    ] = "",
    read: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Read a line of `tc qdisc show` or a command of tc; - reads standard input."),
    ] = None,
    rate: Annotated[str, typer.Option(metavar="RATE", help="The link's rate, for RED and TBF.")] = "10Mbit/s",
    packet: Annotated[
        str, typer.Option(metavar="BYTES", help="The size of a packet, for qdiscs that count bytes.")
    ] = "1000B",
    dev: Annotated[str, typer.Option(metavar="DEVICE", help="The network device.")] = "DEV",
) -> None:
    """Print a discipline as a command of tc, or read one back.

    Lines that begin with # say what tc cannot express, or what Headgate cannot.
    """
    if (read is None) == (not spec):
        raise UsageError("give a discipline, such as `headgate tc fq_codel`, or --read with a line of `tc qdisc show`")
    if read is None:
        _print_command(spec, rate, packet, dev)
    else:
        _print_disciplines(guarded.standard_input(guarded.SETTINGS) if read == "-" else read)


def _print_command(spec: str, rate: str, packet: str, dev: str) -> None:
    from headgate.qdiscs import tc, tc_read
    from headgate.qdiscs.kernel import missing
    from headgate.qdiscs.spec import QdiscSpec

    written = QdiscSpec.of(spec)
    link = _link(written, rate, packet)
    if written.discipline.name not in tc.KINDS:
        name = written.discipline.name
        raise UsageError(missing(spec, name, "has no command of tc", tc_read.OTHERS.get(name, "")))
    command = tc.command_on(written, link)
    for note in command.notes:
        typer.echo(f"# {note}")
    typer.echo(command.line.replace(" dev DEV ", f" dev {dev} ", 1))


def _link(spec: QdiscSpec, rate: str, packet: str) -> TcLink:
    """The link, after a check of rate, packet size and all settings."""
    from headgate._core import ScenarioError
    from headgate.qdiscs import tc
    from headgate.scenario import Scenario

    try:
        scenario = Scenario.parse(_SCENARIO.format(rate=rate, packet=packet), qdiscs=[str(spec)])
    except ScenarioError as error:
        raise UsageError(error.message) from None
    size = tc.OCTETS.number(packet)
    return tc.TcLink(scenario.rate_bps, spec.value("limit"), max(1, round(size)))


def _print_disciplines(text: str) -> None:
    from headgate.qdiscs import tc_read

    found = list(tc_read.read(text))
    if not found:
        raise UsageError("no qdisc of a discipline was found: expected the output of `tc qdisc show dev DEVICE`")
    for each in found:
        for note in each.notes:
            typer.echo(f"# {note}")
        typer.echo(each.spec)
