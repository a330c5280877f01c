"""What figures 5 and 11 share: loss by the size of the buffer, with connections that come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headgate.experiment.declare import Case, Choice
from headgate.papers import axes
from headgate.papers.blue._network import CHOICES, DELAYS, LEAVES, connections, network
from headgate.papers.measures import link, loss_rate, over_intervals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

    from headgate.experiment.found import Found

REDS = ("R1", "R2", "R3", "R4")
BLUES = ("B1", "B2", "B3", "B4")
#: The configurations of tables I and II.
QDISCS = {**{name: f"red:preset={name}" for name in REDS}, **{name: f"blue:preset={name}" for name in BLUES}}

#: Connections, and the buffers in KB that are tried with them: 17.8, 35.6, 80 and 178 ms at 45 Mbit/s.
BUFFERS = {1000: (100, 200, 450, 1000), 4000: (100, 450, 1000)}
MEASURES = {
    "loss": loss_rate(),
    "utilisation": link("utilisation"),
    "least_pm": over_intervals("gauge:probability", np.min),
}
#: A quarter of the time, for a shortened run.
SHORT = ("duration=40s", "warmup=20s")

SCENARIO = """
name = "blue-loss"
about = "$connections connections with Pareto on and off times over 45 Mbit/s, all with ECN."
duration = "200s"
warmup = "100s"
qdiscs = ["blue"]

[record]
interval = "1s"
""" + network(
    "${buffer}KB",
    LEAVES,
    """flows = $each_pair
start = "0s..1s"
ecn_timeout = $ecn_timeout
traffic = "pareto:preset=blue,shape=$shape"
""",
)

#: What the paper leaves open.
OPEN = (
    *CHOICES,
    DELAYS,
    Choice("shape", 1.5, "the paper states no shape of its Pareto distributions; 1.5 is ns-2's", (1.2, 1.9)),
    Choice("buffers", "100, 200, 450, 1000 KB", "the text names the ends and the dip at 80 ms, which is 450 KB"),
)


def cases(timeouts: bool, *only: tuple[int, int]) -> tuple[Case, ...]:
    """All cases without or with ECN timeouts, or those of some numbers of connections and sizes of buffer."""
    wanted = only or tuple((number, buffer) for number, sizes in BUFFERS.items() for buffer in sizes)
    return tuple(connections(n, buffer=buffer, ecn_timeout=str(timeouts).lower()) for n, buffer in wanted)


def ran(found: Found, number: int | None = None, **more: Any) -> Iterator[dict[str, Any]]:
    """The cases that were run, as what to ask `found` for."""
    for case in found.cases:
        if number in (None, case["connections"]) and more.items() <= case.items():
            yield {name: case[name] for name in ("connections", "buffer", "ecn_timeout")}


def draw(panel: Axes, found: Found, measure: str, **case: Any) -> None:
    """A measure in per cent against the buffer in milliseconds."""
    x = {buffer: buffer * 8 / 45 for buffer in found.axis("buffer")}
    axes.curves(panel, found, measure, "buffer", x=x, scale=100, **case)
    panel.set_xlabel("Buffer (ms at 45 Mbit/s)")
