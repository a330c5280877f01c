"""The simulated network of the paper (figure 4), and what it leaves open of it."""

from __future__ import annotations

from headgate.experiment.declare import Case, Choice

#: Nodes on each side of the bottleneck.
SIDE = 5
#: Pairs of a node on the left and one on the right: every pair has as many connections as any other.
PAIRS = SIDE * SIDE

_LINK = """
[[link]]
from = "{0}"
to = "{1}"
rate = "100Mbit/s"
delay = "{2}"
limit = "1000p"
qdisc = "droptail"
"""

_TCP = """
[[tcp]]
name = "{0}-{1}"
profile = "ns2"
from = "{0}"
to = "{1}"
access = {{ rate = "1Gbit/s", delay = "0s" }}
cc = "$cc"
ecn = true
packet = "1000B"
window = $window
overhead = "200us"
"""

#: Delays of the leaves on either side, where the paper does not say that all are alike.
LEAVES = ("1ms", "5ms", "10ms", "15ms", "20ms")
#: Delays of the leaves in the experiments of section IV.
EVEN = ("10ms",) * SIDE


def network(buffer: str, leaves: tuple[str, ...], tcp: str) -> str:
    """Links and TCP flows; `tcp` is what all groups have beside their ways.

    The templates hold `$cc` and `$window`; `buffer` and `tcp` may hold more.
    """
    left, right = nodes()
    core = f'\n[[link]]\nname = "A-B"\nfrom = "A"\nto = "B"\nrate = "45Mbit/s"\ndelay = "10ms"\nlimit = "{buffer}"\n'
    ways = [_LINK.format(node, "A", delay) for node, delay in zip(left, leaves, strict=True)]
    ways += [_LINK.format("B", node, delay) for node, delay in zip(right, leaves, strict=True)]
    return core + "".join(ways) + "".join(_TCP.format(a, b) + tcp for a in left for b in right)


def nodes() -> tuple[list[str], list[str]]:
    """The nodes on the left and on the right."""
    return [f"n{number}" for number in range(SIDE)], [f"n{number}" for number in range(SIDE, 2 * SIDE)]


def connections(number: int, **more: object) -> Case:
    """A case with so many connections, and as many of them for each pair of nodes."""
    return {"connections": number, "each_pair": number // PAIRS, **more}


#: What the paper leaves open in all of its simulations.
CHOICES = (
    Choice("cc", "reno", "the paper says TCP; ns of 1999 had ECN in its Reno, one loss a window", ("newreno", "sack")),
    Choice("window", 100, "the paper states no receiver's window: ns-2's 20 packets would hold flows back", (20,)),
    Choice("TCP overhead", "200us", "about a packet's time at 45 Mbit/s, so that flows do not fall into step"),
    Choice("pairs", PAIRS, "connections are spread evenly over the pairs of nodes, where the paper draws pairs"),
    Choice("leaf links", "100 Mbit/s, 1000 packets", "figure 4 is lost; they are never the bottleneck"),
)
#: Where leaves differ.
DELAYS = Choice(
    "delays",
    "bottleneck 10 ms, leaves 1, 5, 10, 15, 20 ms",
    "figure 4 is lost; round trips are 24 to 100 ms, 61 in the mean",
)
