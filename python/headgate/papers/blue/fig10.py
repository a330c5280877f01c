"""blue/fig10: marking probabilities while connections are added, with ECN timeouts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headgate.analysis.judge import above, below, every, rises
from headgate.experiment.declare import Claim, Experiment
from headgate.papers import axes
from headgate.papers.blue._steps import LOADS, MEASURES, NOTE, OPEN, QDISCS, QUICK, SCENARIO, TIMEOUTS, over_time
from headgate.papers.measures import over_intervals

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.analysis.judge import Judgement
    from headgate.experiment.found import Found

#: A probability that varies by less, as a standard deviation, is steady.
STEADY = 0.05


def _steady(found: Found) -> Judgement:
    return every(below(found(f"p_sd_{load}", "BLUE"), STEADY) for load in LOADS)


def _follows(found: Found) -> Judgement:
    return rises([found(f"p_{load}", "BLUE") for load in LOADS])


def _all_the_way(found: Found) -> Judgement:
    return every((below(found("p_least", "RED"), 0.02), above(found("p_most", "RED"), 0.98)))


def _plot(found: Found) -> Figure:
    drawn = axes.panels(["RED (R2)", "BLUE (B4)"], 3.4)
    for panel, label in zip(drawn, QDISCS, strict=True):
        over_time(panel, found, label, "gauge:probability")
    drawn[0].set_ylabel("Marking probability")
    drawn[0].set_ylim(0, 1.05)
    return axes.finish(drawn[0].figure, EXPERIMENT.title, NOTE)  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="Marking probabilities while connections are added, with ECN timeouts",
    place="figure 10",
    about="The runs of figure 9: RED's probability (pb, before signals are spaced) and BLUE's over time.",
    scenario=SCENARIO,
    qdiscs=QDISCS,
    cases=TIMEOUTS,
    measures={
        **MEASURES,
        "p_least": over_intervals("gauge:probability", np.min, 10),
        "p_most": over_intervals("gauge:probability", np.max, 10),
    },
    choices=OPEN,
    claims=(
        Claim(
            "BLUE's marking is steady (a standard deviation below 0.05 in 10 s, at every load)",
            "section III-D",
            _steady,
        ),
        Claim("BLUE's marking rate changes with the load: it rises", "section III-D, figure 10(b)", _follows),
        Claim("RED's marking probability fluctuates from 0 to 1", "section III-D, figure 10(a)", _all_the_way),
    ),
    plot=_plot,
    quick=QUICK,
    modern=False,
)
