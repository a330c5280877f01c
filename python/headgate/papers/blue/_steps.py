"""What figures 6 to 10 share: 200 more connections each 20 s, under R2 and B4."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headgate.experiment.declare import Choice, Quick
from headgate.papers import axes
from headgate.papers.blue._network import CHOICES, DELAYS, LEAVES, PAIRS, network
from headgate.papers.measures import over_intervals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found
    from headgate.papers.measures import Measure

#: Connections in each stretch of 20 s.
LOADS = (200, 400, 600, 800, 1000)
STEP_S = 20

QDISCS = {"RED": "red:preset=R2", "BLUE": "blue:preset=B4"}
CASES = ({"ecn_timeout": "false"},)
TIMEOUTS = ({"ecn_timeout": "true"},)
QUICK = Quick(seeds=1)

SCENARIO = """
name = "blue-steps"
about = "200 more connections each 20 s on 45 Mbit/s, all with ECN."
duration = "100s"
qdiscs = ["blue"]

[record]
interval = "100ms"
""" + network(
    "$buffer",
    LEAVES,
    f"""start = {{ flows = {200 // PAIRS}, every = "{STEP_S}s", within = "1s" }}
ecn_timeout = $ecn_timeout
""",
)

#: What the paper leaves open.
OPEN = (
    *CHOICES,
    DELAYS,
    Choice(
        "buffer",
        "350KB",
        "the paper does not say; the middle of 258 to 458 KB, where windows of one packet fit into buffer and "
        "path (342 "
        "packets in 61 ms) with 600 connections and not with 800, as the text has it",
        ("200KB", "500KB"),
    ),
    Choice("duration", "100s", "the text speaks of 60 s; the fifth step, to 1000 connections, is the last here"),
)


def _idle(utilisation: np.ndarray) -> float:
    """The part of intervals in which the link was not busy all the time."""
    return float((utilisation < 0.99).mean())


def settled(metric: str, take: object, load: int) -> Measure:
    """What `take` makes of a metric in the second half of the stretch with `load` connections."""
    end = (LOADS.index(load) + 1) * STEP_S
    return over_intervals(metric, take, end - STEP_S / 2, end)  # type: ignore[arg-type]


#: For each load: loss, the part of the time with an underutilised link, and how queue and probability vary.
MEASURES: dict[str, Measure] = {
    f"{name}_{load}": settled(metric, take, load)
    for load in LOADS
    for name, metric, take in (
        ("loss", "ambient_drop_rate", np.mean),
        ("idle", "utilisation", _idle),
        ("queue_sd", "queue_packets", np.std),
        ("p", "gauge:probability", np.mean),
        ("p_sd", "gauge:probability", np.std),
    )
}


def over_time(panel: Axes, found: Found, label: str, metric: str, scale: float = 1.0) -> None:
    """A metric of the first seed over time, with marks where connections are added."""
    axes.over_time(
        panel, found, label, metric, scale=scale, color=axes.looks(found.labels)[label].colour, linewidth=0.7
    )
    for number, load in enumerate(LOADS):
        panel.axvline(number * STEP_S, color="#BBBBBB", linewidth=0.8, zorder=0)
        panel.annotate(str(load), (number * STEP_S + 1, 1.0), xycoords=("data", "axes fraction"), va="top", fontsize=8)
    panel.set_xlabel("Time (s)")


def queues(found: Found, title: str) -> Figure:
    """The queue over time under both disciplines."""
    drawn = axes.panels(["RED (R2)", "BLUE (B4)"], 3.4)
    for panel, label in zip(drawn, QDISCS, strict=True):
        over_time(panel, found, label, "queue_bytes", 1e-3)
    drawn[0].set_ylabel("Queue (KB)")
    return axes.finish(drawn[0].figure, title, NOTE)  # type: ignore[arg-type]


NOTE = "The first seed; means of 100 ms for queues, values each 100 ms else. At the top: connections."
