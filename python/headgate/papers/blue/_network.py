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
#: Pairs of a left and a right node. Every pair has the same number of connections.
PAIRS = SIDE * SIDE
#: Delays of the links between a side's nodes and the bottleneck, where the paper does not state equal delays.
LEAVES = ("1ms", "5ms", "10ms", "15ms", "20ms")
#: The same delays in the experiments of section IV, which states that they are equal.
EVEN = ("10ms",) * SIDE
#: A flow's own link to its node: fast and without delay.
ACCESS: AccessKeys = {"rate": "1Gbit/s", "delay": "0s"}


def connection(v: ScenarioValues) -> TcpPart:
    """The TCP flows of one pair of nodes, without their number, start and traffic."""
    common = tcp(profile="ns2", access=ACCESS, recovery=v.recovery, ecn=True, packet="1000B", window=v.window)
    return common.replace(send_jitter="200us")


def network(
    v: ScenarioValues,
    flow: TcpPart,
    buffer: str,
    leaves: tuple[str, ...] = LEAVES,
    others: Iterable[FlowsPart] = (),
    delay: str = "10ms",
    **top: Unpack[TopKeys],
) -> Network:
    """Five nodes on each side of a bottleneck of 45 Mbit/s.

    Each pair of a left and a right node has the TCP flows of `flow`. `others` are further flows. `delay` is the
    bottleneck's.
    """
    left, right = ([f"n{number}" for number in range(first, first + SIDE)] for first in (0, SIDE))
    leaf = link(rate="100Mbit/s", limit="1000p", qdisc="droptail")
    return Network(
        links=[
            link("A", "B", name="A-B", rate="45Mbit/s", delay=delay, limit=buffer),
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
        "recovery",
        "reno",
        "the paper says only TCP; in ns of 1999, Reno had ECN. It repairs one loss per window",
        ("newreno", "sack"),
    ),
    OpenParameter(
        "window", 100, "the paper states no receiver's window; ns-2's default of 20 packets would limit flows", (20,)
    ),
    OpenParameter("TCP send_jitter", "200us", "about a packet's time at 45 Mbit/s, against lockstep"),
    OpenParameter("pairs", PAIRS, "all pairs of nodes have the same number; the paper draws pairs at random"),
    OpenParameter(
        "leaf links", "100 Mbit/s, 1000 packets", "our text has no figure 4; these links are never the bottleneck"
    ),
)
#: The open parameter of experiments with different delays on a side.
DELAYS = OpenParameter(
    "leaf delays",
    "1, 5, 10, 15, 20 ms",
    "our text has no figure 4; with the bottleneck they make round-trip times of 20 to 80 ms more than its own",
)
#: Whether RED marks above maxth.
ABOVE = OpenParameter(
    "above_maxth",
    "on",
    'section III-B: above maxth "the RED queue marks every packet". But section I says dropped or marked, and many '
    "implementations of RED drop there (off)",
    ("off",),
)
