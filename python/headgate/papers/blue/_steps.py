"""Common to figures 6 to 10: 200 more connections every 20 s, under R2 and B4."""

from functools import partial

import numpy as np
from matplotlib.axes import Axes

from headgate.experiment.declare import Experiment, OpenParameter, ScenarioValues
from headgate.experiment.layers import RunLine, series
from headgate.experiment.measures import RunMeasure, over_intervals
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.experiment.results import ExperimentResults
from headgate.papers.blue._network import CHOICES, DELAYS, PAIRS, connection, network
from headgate.scenario.network import Network

#: Connections in each stretch of 20 s.
LOADS = (200, 400, 600, 800, 1000)
STEP_S = 20
#: A probability that varies by less, as a standard deviation, is steady.
STEADY = 0.05
#: An underutilized link: a twentieth of the time.
OFTEN = 0.05

QDISCS = {"RED": "red:preset=R2", "BLUE": "blue:preset=B4"}
TIMEOUTS = ({"ecn_timeout": True},)

#: Open parameters of these experiments.
OPEN = (
    *CHOICES,
    DELAYS,
    OpenParameter(
        "buffer",
        "350KB",
        "the paper does not say; the middle of 258 to 458 KB. There buffer and path (342 packets in 61 ms) "
        "hold one packet of each of 600 connections but not of 800, as in the text",
        ("200KB", "500KB"),
    ),
    OpenParameter("duration", "100s", "the text speaks of 60 s; the fifth step, to 1000 connections, is the last here"),
)


def scenario(v: ScenarioValues) -> Network:
    """Connections that send without end, 200 more every 20 s."""
    return network(
        v,
        connection(v).replace(
            start={"flows": 200 // PAIRS, "every": f"{STEP_S}s", "within": "1s"}, ecn_timeout=v.ecn_timeout
        ),
        v.buffer,
        name="blue-steps",
        about="200 more connections every 20 s on 45 Mbit/s, all with ECN.",
        duration="100s",
        record={"interval": "100ms"},
    )


#: In the second half of the stretch with each load: drop rate, share of the time in which the link was not always busy,
#: standard deviations of queue and probability.
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
#: The axes of figures 6 to 10.
PROBABILITY = AxisScale("Marking probability", 0, 1.05)
QUEUES = both("queue_bytes", AxisScale("Queue (KB)"), 1e-3)

experiment = partial(
    Experiment,
    scenario=scenario,
    qdiscs=QDISCS,
    cases=({"ecn_timeout": False},),
    measures=MEASURES,
    choices=OPEN,
)
