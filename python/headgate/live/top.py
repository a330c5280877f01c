"""`headgate top`: the flows of a running link or gateway, with a verdict on each."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headgate import _core
from headgate.errors import HeadgateError, UsageError
from headgate.execution import top_socket
from headgate.live.directions import DIRECTIONS

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

#: Longest description of a link or gateway in the heading.
LONGEST = 60

#: Rows of the table for each direction.
MOST = 12

HEADS = ("flow", "Mbit/s", "share", "drops", "marks", "verdict", "measured")

#: Names of IP protocols (IANA's protocol numbers).
PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp", 33: "dccp", 58: "icmp6", 132: "sctp"}

STYLES = {"unresponsive": "red", "monitored": "yellow", "responsive": "green"}


class NotRunningError(UsageError):
    """No running link or gateway matches."""


class TopError(HeadgateError):
    """Running links and gateways cannot be asked."""


def find(which: str | None) -> dict[str, Any]:
    """The document of the link or gateway with this name or process; without `which`, of the only one.

    Raises `NotRunningError` if there is none, `UsageError` if there are several, and `TopError` if the system gives no
    socket.
    """
    try:
        documents = [document for _, document in top_socket.running()]
    except OSError as error:
        raise TopError(str(_core.refused("ViewSocket", error.errno or 0))) from None
    if which is not None:
        documents = [each for each in documents if which in (each["name"], str(each["pid"]))]
    if len(documents) == 1:
        return documents[0]
    if documents:
        listed = "\n".join(f"  {each['pid']}  {each['name']}  {each['what']}" for each in documents)
        raise UsageError(f"several are running; choose one with headgate top PID:\n{listed}")
    raise NotRunningError(
        "no link or gateway of this user is running" + ("" if which is None else f" with the name or process {which}")
    )


def page(document: Mapping[str, Any]) -> Group:
    """The heading with name and age, and the table of flows."""
    from rich.console import Group
    from rich.text import Text

    what = document["what"] if len(document["what"]) <= LONGEST else f"{document['what'][:LONGEST]}..."
    return Group(Text(f"{document['name']} {what}, {document['view']['at_s']:.0f} s"), table(document))


def table(document: Mapping[str, Any]) -> Table:
    """The flows of both directions, the largest first."""
    from rich.table import Column, Table

    texts = ("flow", "verdict", "measured")
    heads = (Column(head, justify="left" if head in texts else "right") for head in HEADS)
    drawn = Table("", *heads, box=None, pad_edge=False)
    for direction in DIRECTIONS:
        flows = [flow for flow in document["view"][direction]["flows"] if flow["sent_bps"] > 0 or flow["dropped"]]
        total = sum(flow["sent_bps"] for flow in flows)
        for flow in flows[:MOST]:
            drawn.add_row(direction, *row(flow, total), style=STYLES.get(flow["verdict"]))
    return drawn


def row(flow: Mapping[str, Any], total: float) -> list[str]:
    """A flow's cells; `total` is the rate of all flows of its direction."""
    share = f"{100 * flow['sent_bps'] / total:.0f} %" if total else "-"
    rate = f"{flow['sent_bps'] / 1e6:.3f}"
    return [name(flow), rate, share, str(flow["dropped"]), str(flow["marked"]), flow["verdict"], flow["basis"]]


def name(flow: Mapping[str, Any]) -> str:
    """`tcp 10.0.0.1:5000 > 10.0.0.2:80`, as far as the packet has these fields."""
    if flow["source"] is None:
        return f"not IP ({flow['flow']})"
    protocol = PROTOCOLS.get(flow["protocol"], str(flow["protocol"]))
    ends = (_end(flow[end], flow[f"{end}_port"]) for end in ("source", "destination"))
    return f"{protocol} {' > '.join(ends)}"


def _end(address: str, port: int) -> str:
    if not port:
        return address
    return f"[{address}]:{port}" if ipaddress.ip_address(address).version == 6 else f"{address}:{port}"
