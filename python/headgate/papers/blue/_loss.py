"""Common to figures 5 and 11: drop rate by buffer size, with connections that send and pause in turn."""

from functools import partial

import numpy as np

from headgate.experiment.declare import Case, Experiment, OpenParameter, ScenarioValues
from headgate.experiment.layers import Lines
from headgate.experiment.measures import drop_rate, link, over_intervals
from headgate.experiment.plots import AxisScale, PlotPanel
from headgate.papers.blue._network import ABOVE, CHOICES, DELAYS, connection, connections, network
from headgate.scenario.network import Network

#: The configurations of tables I and II. A sentence about RED or BLUE is a claim about all of them.
REDS = ("R1", "R2", "R3", "R4")
BLUES = ("B1", "B2", "B3", "B4")
FAMILIES = {"RED": REDS, "BLUE": BLUES}
QDISCS = {
    **{name: f"red:preset={name},mark_above_maxth=$above_maxth" for name in REDS},
    **{name: f"blue:preset={name}" for name in BLUES},
}

#: Buffer sizes in KB by number of connections. At 45 Mbit/s they are 17.8, 35.6, 80 and 178 ms.
BUFFERS = {1000: (100, 200, 450, 1000), 4000: (100, 450, 1000)}
MEASURES = {
    "loss": drop_rate(),
    "utilization": link("utilization"),
    "least_pm": over_intervals("gauge:probability", np.min),
}
#: A probability above this is 1: the smallest step from it, B1's and B2's d2, is 0.00025.
CERTAINTY = 1 - 0.0001
#: Changes for a shortened run: a fifth of the duration.
SHORT = ("duration=40s", "warmup=20s")

#: Open parameters of these experiments.
OPEN = (
    *CHOICES,
    DELAYS,
    ABOVE,
    OpenParameter(
        "delay",
        "20ms",
        "of the bottleneck; not stated. Two results of the paper bound it. At 1000 connections, 400 of them active, "
        "BLUE loses nothing with 100 KB: buffer and path must hold more than 400 packets. At 4000, 1600 of them "
        "active, BLUE marks every packet even with 1000 KB: the path holds less than 600. It holds 342 with 10 ms, "
        "which leaves no room for chance, 455 with 20 ms and 568 with 30 ms",
        ("10ms", "30ms"),
    ),
    OpenParameter("shape", 1.5, "the paper states no shape of its Pareto distributions; 1.5 is ns-2's", (1.2, 1.9)),
    OpenParameter(
        "buffers",
        "100, 200, 450, 1000 KB",
        "the text names the smallest and the largest buffer, and a dip at 80 ms, which is 450 KB",
    ),
)


def scenario(v: ScenarioValues) -> Network:
    """Connections that send and pause for Pareto-distributed times."""
    flow = connection(v).replace(flows=v.each_pair, start="0s..1s", ecn_timeout=v.ecn_timeout)
    return network(
        v,
        flow.replace(traffic=f"pareto:preset=blue,shape={v.shape}"),
        f"{v.buffer}KB",
        delay=v.delay,
        name="blue-loss",
        about=f"{v.connections} connections with Pareto on and off times over 45 Mbit/s, all with ECN.",
        duration="200s",
        warmup="100s",
        record={"interval": "1s"},
    )


def cases(timeouts: bool, *only: tuple[int, int]) -> tuple[Case, ...]:
    """The cases with or without ECN timeouts. `only` restricts them to some pairs of connections and buffer size."""
    pairs = only or tuple((number, buffer) for number, sizes in BUFFERS.items() for buffer in sizes)
    return tuple(connections(n, buffer=buffer, ecn_timeout=timeouts) for n, buffer in pairs)


def panel(measure: str, title: str, x: str = "Buffer (ms at 45 Mbit/s)", y: str = "", **case: object) -> PlotPanel:
    """A panel of a measure in percent against the buffer in milliseconds."""
    return PlotPanel(
        (Lines(measure, "buffer", case, scale=100, at=lambda kilobytes: kilobytes * 8 / 45),),
        AxisScale(x),
        AxisScale(y),
        title,
    )


experiment = partial(Experiment, scenario=scenario, qdiscs=QDISCS, measures=MEASURES, choices=OPEN)
