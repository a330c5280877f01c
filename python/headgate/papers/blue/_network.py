"""The simulated network of the paper (figure 4), and its open parameters."""

from collections.abc import Iterable
from typing import Unpack

from headgate.build.keys import AccessKeys, TopKeys
from headgate.build.parts import FlowsPart, TcpPart, link, tcp
from headgate.experiment import findings
from headgate.experiment.declare import Case, OpenParameter, ScenarioValues
from headgate.scenario.network import Network

#: Why our runs differ from the paper.
WHY = findings.read(__package__)

#: Nodes on each side of the bottleneck.
SIDE = 5
#: Pairs of a node on the left and one on the right: every pair has as many connections as any other.
PAIRS = SIDE * SIDE
#: Delays of the leaves on either side, where the paper does not say that all are alike.
LEAVES = ("1ms", "5ms", "10ms", "15ms", "20ms")
#: Delays of the leaves in the experiments of section IV.
EVEN = ("10ms",) * SIDE
#: The links that connect a flow to its node.
ACCESS: AccessKeys = {"rate": "1Gbit/s", "delay": "0s"}


def connection(v: ScenarioValues) -> TcpPart:
    """Settings of the TCP flows of every pair of nodes."""
    common = tcp(profile="ns2", access=ACCESS, recovery=v.recovery, ecn=True, packet="1000B", window=v.window)
    return common.replace(send_jitter="200us")


def network(
    v: ScenarioValues,
    flow: TcpPart,
    buffer: str,
    leaves: tuple[str, ...] = LEAVES,
    others: Iterable[FlowsPart] = (),
    **top: Unpack[TopKeys],
) -> Network:
    """Five nodes on either side of 45 Mbit/s, such TCP flows from each on the left to each on the right, and others."""
    left, right = ([f"n{number}" for number in range(first, first + SIDE)] for first in (0, SIDE))
    leaf = link(rate="100Mbit/s", limit="1000p", qdisc="droptail")
    return Network(
        links=[
            link("A", "B", name="A-B", rate="45Mbit/s", delay="10ms", limit=buffer),
            *(leaf.replace(from_=node, to="A", delay=delay) for node, delay in zip(left, leaves, strict=True)),
            *(leaf.replace(from_="B", to=node, delay=delay) for node, delay in zip(right, leaves, strict=True)),
        ],
        flows=[*others, *(flow.replace(name=f"{a}-{b}", from_=a, to=b) for a in left for b in right)],
        qdiscs=v.qdiscs,
        **top,
    )


def connections(number: int, **more: object) -> Case:
    """A case with this number of connections, spread evenly over the pairs of nodes."""
    return {"connections": number, "each_pair": number // PAIRS, **more}


#: Open parameters of all simulations.
CHOICES = (
    OpenParameter(
        "recovery", "reno", "the paper says TCP; ns of 1999 had ECN in its Reno, one loss a window", ("newreno", "sack")
    ),
    OpenParameter(
        "window", 100, "the paper states no receiver's window: ns-2's 20 packets would hold flows back", (20,)
    ),
    OpenParameter("TCP send_jitter", "200us", "about a packet's time at 45 Mbit/s, against lockstep"),
    OpenParameter("pairs", PAIRS, "connections are spread evenly over the pairs of nodes, where the paper draws pairs"),
    OpenParameter("leaf links", "100 Mbit/s, 1000 packets", "figure 4 is lost; they are never the bottleneck"),
)
#: Where leaves differ.
DELAYS = OpenParameter(
    "delays",
    "bottleneck 10 ms, leaves 1, 5, 10, 15, 20 ms",
    "figure 4 is lost; round-trip times are 24 to 100 ms, 61 on average",
)
