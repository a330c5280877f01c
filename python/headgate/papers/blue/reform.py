"""SFB and an unresponsive flow that reforms, and later does not."""

import numpy as np

from headgate.experiment.claims import above, below, m
from headgate.experiment.declare import Claim, HeadlineMeasure, QuickVariant, ScenarioValues, grid
from headgate.experiment.layers import RunLine, series
from headgate.experiment.measures import RunMeasure, over_intervals
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.papers.blue._network import WHY
from headgate.papers.blue._unresponsive import SFB, experiment, scenario
from headgate.scenario.network import Network

MOVING = "moving hash"
#: The flow's rate from REFORM to RELAPSE, in Mbit/s: below its fair share of 0.11.
FRIENDLY = 0.1
#: Times of the changes, and the end, in seconds. In each part the rate counts from one change of the bins (2 s) on.
REFORM, RELAPSE, END, SETTLED = 20, 40, 60, 4


def _scenario(v: ScenarioValues) -> Network:
    schedule = f"{REFORM}s {FRIENDLY}Mbit/s; {RELAPSE}s {v.rate}Mbit/s"
    return scenario(v, schedule, duration=f"{END}s", record={"interval": "1s"})


def _rate(since: int, until: int) -> RunMeasure:
    return over_intervals("goodput_bps", np.mean, since + SETTLED, until, "unresponsive") * 1e-6


EXPERIMENT = experiment(
    scenario=_scenario,
    place="section IV-D",
    about=f"Beside 400 TCP flows, a flow sends 5 Mbit/s, from {REFORM} s on {FRIENDLY} Mbit/s, and from {RELAPSE} s on "
    "5 Mbit/s again. Bins and hash functions change every 2 s.",
    qdiscs={MOVING: SFB.replace("rehash=0s", "rehash=2s")},
    cases=grid(unresponsive=(1,), rate=(5,)),
    measures={"bad": _rate(0, REFORM), "reformed": _rate(REFORM, RELAPSE), "relapsed": _rate(RELAPSE, END)},
    stated_in="section IV-D",
    claims=(
        Claim(
            "The reformed flow is readmitted: it gets nine tenths of what it sends",
            above(m("reformed", MOVING), 0.9 * FRIENDLY),
            WHY["reform shares"],
        ),
        Claim(
            "When it resumes its high rate it is limited again (a fifth of its rate)",
            below(m("relapsed", MOVING), 1.0),
        ),
    ),
    plot=Plot(
        [
            PlotPanel(
                (RunLine(series("goodput_bps", "unresponsive"), MOVING, scale=1e-6),),
                AxisScale("Time (s)"),
                AxisScale("Throughput (Mbit/s)"),
                "The reforming flow",
            )
        ],
        "The first seed.",
    ),
    headline=HeadlineMeasure("reformed", "throughput of the reformed flow, Mbit/s"),
    quick=QuickVariant(),
)
