"""blue/fig8: BLUE's marking probability while connections are added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.analysis.judge import above, below, every
from headgate.experiment.declare import Claim, Experiment
from headgate.papers import axes
from headgate.papers.blue._steps import CASES, LOADS, MEASURES, NOTE, OPEN, QDISCS, QUICK, SCENARIO, over_time

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.analysis.judge import Judgement
    from headgate.experiment.found import Found

#: A probability that varies by less, as a standard deviation, is steady.
STEADY = 0.05


def _steady(found: Found) -> Judgement:
    return every(below(found(f"p_sd_{load}", "BLUE"), STEADY) for load in LOADS)


def _certain(found: Found) -> Judgement:
    return every(above(found(f"p_{load}", "BLUE"), 0.99) for load in (800, 1000))


def _plot(found: Found) -> Figure:
    drawn = axes.one(3.6)
    over_time(drawn, found, "BLUE", "gauge:probability")
    drawn.set_ylim(0, 1.05)
    drawn.set_ylabel("Marking probability")
    return axes.finish(drawn.figure, EXPERIMENT.title, NOTE)  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="BLUE's marking probability while connections are added",
    place="figure 8",
    about="The runs of figure 6: BLUE's probability finds the load and stays there.",
    scenario=SCENARIO,
    qdiscs=QDISCS,
    cases=CASES,
    measures=MEASURES,
    choices=OPEN,
    claims=(
        Claim(
            "BLUE's marking probability remains steady (a standard deviation below 0.05 in 10 s, at every load)",
            "section III-C, figure 8",
            _steady,
        ),
        Claim("BLUE marks every packet from 800 connections on", "section III-C, figure 8", _certain),
    ),
    plot=_plot,
    quick=QUICK,
    modern=False,
)
