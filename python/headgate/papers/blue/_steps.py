"""Common to figures 6 to 10: 200 more connections every 20 s, under R2 and B4."""

from functools import partial

import numpy as np
from matplotlib.axes import Axes

from headgate.experiment.declare import Experiment, OpenParameter, ScenarioValues
from headgate.experiment.layers import RunLine, series
from headgate.experiment.measures import RunMeasure, average, over_intervals
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.experiment.results import ExperimentResults
from headgate.papers.blue._network import ABOVE, CHOICES, DELAYS, PAIRS, connection, network
from headgate.scenario.network import Network

#: Number of connections in each step of 20 s.
LOADS = (200, 400, 600, 800, 1000)
STEP_S = 20
#: A marking probability with a smaller standard deviation than this counts as steady.
STEADY = 0.05
#: A link counts as underutilized if it is not always busy in more than this share of the intervals.
UNDERUTILIZED = 0.05

QDISCS = {"RED": "red:preset=R2,mark_above_maxth=$above_maxth", "BLUE": "blue:preset=B4"}
WITH_TIMEOUTS = ({"ecn_timeout": True},)

#: Open parameters of these experiments.
OPEN = (
    *CHOICES,
    DELAYS,
    ABOVE,
    OpenParameter(
        "delay_and_buffer",
        "20ms 250KB",
        "the bottleneck's; not stated. The delay is that of figure 5. By the text BLUE's drops begin at 800 "
        "connections: buffer and path hold one packet of each of 600 connections, but not of 800. With 20 ms the path "
        "holds 455 packets, and 250 KB are the middle of 145 to 345",
        ("10ms 350KB", "20ms 350KB", "30ms 150KB"),
    ),
    OpenParameter("duration", "100s", "the text mentions 60 s; here a fifth and last step has 1000 connections"),
)


def scenario(v: ScenarioValues) -> Network:
    """Connections that send without end, 200 more every 20 s."""
    delay, buffer = v.delay_and_buffer.split()
    return network(
        v,
        connection(v).replace(
            start={"flows": 200 // PAIRS, "every": f"{STEP_S}s", "within": "1s"}, ecn_timeout=v.ecn_timeout
        ),
        buffer,
        delay=delay,
        name="blue-steps",
        about="200 more connections every 20 s on 45 Mbit/s, all with ECN.",
        duration="100s",
        record={"interval": "100ms"},
    )


#: Measures of the second half of each step, by its number of connections. `idle` is the share of intervals of 100 ms in
#: which the link was not always busy, `_sd` a standard deviation.
MEASURES: dict[str, RunMeasure] = {
    f"{name}_{load}": over_intervals(metric, take, (number + 0.5) * STEP_S, (number + 1) * STEP_S)
    for number, load in enumerate(LOADS)
    for name, metric, take in (
        ("loss", "ambient_drop_rate", np.mean),
        ("idle", "utilization", lambda busy: float((busy < 0.99).mean())),
        ("queue_sd", "queue_packets", np.std),
        ("p", "gauge:probability", np.mean),
        ("p_sd", "gauge:probability", np.std),
    )
}
#: Means over the steps.
MEASURES |= {name: average(*(MEASURES[f"{name}_{load}"] for load in LOADS)) for name in ("queue_sd", "p_sd")}


def panel(label: str, metric: str, y: AxisScale, title: str = "", scale: float = 1.0) -> PlotPanel:
    """A metric of the first seed over time, with marks where connections are added."""
    return PlotPanel(
        (RunLine(series(metric), label, scale=scale, look={"linewidth": 0.7}), _loads), AxisScale("Time (s)"), y, title
    )


def _loads(axes: Axes, _: ExperimentResults) -> None:
    for number, load in enumerate(LOADS):
        axes.axvline(number * STEP_S, color="#BBBBBB", linewidth=0.8, zorder=0)
        axes.annotate(str(load), (number * STEP_S + 1, 1.0), xycoords=("data", "axes fraction"), va="top", fontsize=8)


def both(metric: str, y: AxisScale, scale: float = 1.0) -> Plot:
    """A metric over time under both disciplines."""
    names = {"RED": "RED (R2)", "BLUE": "BLUE (B4)"}
    return Plot([panel(label, metric, y, names[label], scale) for label in QDISCS], NOTE, height=3.4)


NOTE = "The first seed; means of 100 ms for queues, values each 100 ms else. At the top: connections."
#: The axis of figures 8 and 10.
PROBABILITY = AxisScale("Marking probability", 0, 1.05)
#: Figures 6 and 9.
QUEUES = both("queue_bytes", AxisScale("Queue (KB)"), 1e-3)

experiment = partial(
    Experiment,
    scenario=scenario,
    qdiscs=QDISCS,
    cases=({"ecn_timeout": False},),
    measures=MEASURES,
    choices=OPEN,
)
