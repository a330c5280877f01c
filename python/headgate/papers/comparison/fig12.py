"""Fairness of SFB among several unresponsive flows."""

from functools import partial

import numpy as np
from matplotlib.axes import Axes

from headgate import style
from headgate.analysis.runs import Run
from headgate.experiment.claims import above, m
from headgate.experiment.declare import Claim, Experiment, OpenParameter
from headgate.experiment.measures import jain
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.experiment.results import ExperimentResults
from headgate.papers.comparison._setting import DROPS, MEASURES, SFB, TCP_ALONE, WHY, network

FIXED, RANDOM = "Boxtime fixed", "Boxtime randomized"


def _fastest_over_others(run: Run) -> float:
    """Throughput of the fastest UDP flow over the mean of the four others."""
    sent = np.sort(run.flows("sent", "cbr"))
    return float(sent[-1] / sent[:-1].mean())


def _each_flow(label: str, axes: Axes, results: ExperimentResults) -> None:
    run = results.runs(label)[0]
    for kind, color, first in (("udp", style.UNRESPONSIVE, 0), ("tcp", style.TCP, 5)):
        rates = run.flows("sent_bytes", kind=kind) * 8e-6 / run.seconds
        axes.bar(np.arange(len(rates)) + first, rates, color=color, label=kind.upper())


EXPERIMENT = Experiment(
    about="Five UDP flows of 4 Mbit/s and ten TCP flows share 1 Mbit/s under SFB. SFB admits one packet of "
    "unresponsive flows per Boxtime. With a fixed Boxtime a flow can fall into lockstep with it.",
    scenario=lambda v: network(
        v,
        "fig12",
        "Five UDP flows of 4 Mbit/s and ten TCP flows under SFB.",
        cbr="4Mbit/s",
        cbr_flows=5,
        cbr_start=v.cbr_start,
    ),
    qdiscs={FIXED: SFB, RANDOM: f"{SFB},randomize_boxtime=on"},
    seeds=20,
    measures={**MEASURES, "udp_jain": jain(kind="udp"), "tcp_jain": jain(kind="tcp"), "first": _fastest_over_others},
    choices=(
        OpenParameter(
            "jitter",
            0,
            "ns-2's CBR has none by default; here jitter would break the lockstep of flows with the Boxtime",
            (0.01, 0.1),
        ),
        OpenParameter(
            "cbr_start",
            "0s..1s",
            "when the UDP flows start is not given. If they start together, flow 0 always meets the end of a Boxtime "
            "first, even if it is random",
            ("0s",),
        ),
        *TCP_ALONE,
        DROPS,
    ),
    claims=(
        Claim(
            "With a fixed Boxtime one UDP flow consumes more than the others (twice their mean)",
            above(m("first", FIXED), 2),
            place="section 4.3, figure 12a",
        ),
        Claim(
            "The fairness among TCP flows is obvious (Jain's index above 0.9)",
            above(m("tcp_jain", FIXED), 0.9),
            WHY["fig12 seeds"],
            place="section 4.3, figure 12a",
        ),
        Claim(
            "With a randomized Boxtime the fairness among UDP flows is improved (Jain's index)",
            above(m("udp_jain", RANDOM), m("udp_jain", FIXED)),
            place="section 4.3, figure 12b",
        ),
    ),
    plot=Plot(
        [
            PlotPanel(
                (partial(_each_flow, label),),
                AxisScale("Flow", ticks=range(15)),
                AxisScale("Throughput (Mbit/s)"),
                f"({letter}) {label}",
            )
            for letter, label in (("a", FIXED), ("b", RANDOM))
        ],
        "Flows 0 to 4 are UDP, 5 to 14 TCP; one seed. The UDP flow with the most differs from seed to seed.",
        height=3.4,
        legend=1,
    ),
    modern=False,
)
