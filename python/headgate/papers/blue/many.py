"""SFB beside more and more unresponsive flows."""

from headgate.experiment.claims import above, falls, m, over, rises
from headgate.experiment.declare import Claim, HeadlineMeasure, grid
from headgate.experiment.layers import Lines
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.papers.blue._network import WHY
from headgate.papers.blue._unresponsive import MEASURES, SFB, SHARES, experiment

LABEL = "SFB"
#: Numbers of unresponsive flows, up to the number of bins in a level (N).
FLOWS = (2, 8, 23)

EXPERIMENT = experiment(
    place="section IV-C",
    about="Beside 400 TCP flows, 2 to 23 unresponsive flows of 5 Mbit/s: as many as a level of SFB has bins.",
    qdiscs={LABEL: SFB},
    cases=grid(unresponsive=FLOWS, rate=(5,)),
    measures={**MEASURES, **SHARES},
    stated_in="section IV-C",
    claims=(
        Claim(
            "The number of misclassified TCP flows rises as the unresponsive flows approach N",
            rises(over("unresponsive", "starved", LABEL, rate=5)),
        ),
        Claim(
            "The throughput of TCP falls as the unresponsive flows approach N",
            falls(over("unresponsive", "tcp_rate", LABEL, rate=5)),
        ),
        Claim(
            "SFB's protection deteriorates quickly: with N unresponsive flows three times as many TCP flows are "
            "misclassified as with 8",
            above(
                m("starved", LABEL, unresponsive=FLOWS[-1], rate=5),
                m("starved", LABEL, unresponsive=8, rate=5),
                times=3,
            ),
            WHY["many TCP bins"],
        ),
    ),
    plot=Plot(
        [
            PlotPanel(
                (Lines(y, "unresponsive", scale=scale),), AxisScale("Unresponsive flows"), AxisScale(name, 0), title
            )
            for y, scale, name, title in (
                ("starved", 100, "Flows (%)", "TCP flows that starve"),
                ("tcp_rate", 1, "Throughput (Mbit/s)", "All TCP flows"),
            )
        ],
        "Bands: the 95 % interval over seeds. A flow starves with less than a tenth of its fair share.",
    ),
    headline=HeadlineMeasure(
        "starved", "TCP flows that starve beside 23 unresponsive ones, %", {"unresponsive": 23, "rate": 5}, 100
    ),
)
