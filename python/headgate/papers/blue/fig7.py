"""blue/fig7: RED's average queue and marking probability while connections are added."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headgate.analysis.judge import above, every
from headgate.experiment.declare import Choice, Claim, Experiment
from headgate.papers import axes
from headgate.papers.blue._steps import CASES, LOADS, MEASURES, NOTE, OPEN, QDISCS, QUICK, SCENARIO, over_time
from headgate.papers.measures import over_intervals

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.analysis.judge import Judgement
    from headgate.analysis.runs import Array
    from headgate.experiment.found import Found


def _variation(values: Array) -> float:
    """The standard deviation over the mean."""
    return float(np.std(values) / np.mean(values))


def _average_moves(found: Found) -> Judgement:
    return above(found("average_variation", "RED"), 0.2)


def _probability_moves(found: Found) -> Judgement:
    return every(above(found(f"p_sd_{load}", "RED"), found(f"p_sd_{load}", "BLUE")) for load in LOADS)


def _plot(found: Found) -> Figure:
    drawn = axes.apart(["(a) Average queue", "(b) Marking probability"])
    over_time(drawn[0], found, "RED", "gauge:average")
    over_time(drawn[1], found, "RED", "gauge:probability")
    drawn[0].set_ylabel("Average queue (packets of 1 KB)")
    drawn[1].set_ylabel("Probability")
    drawn[1].set_ylim(0, 1.05)
    return axes.finish(drawn[0].figure, EXPERIMENT.title, NOTE)  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="RED's average queue and marking probability while connections are added",
    place="figure 7",
    about="The runs of figure 6: what RED marks with follows the queue.",
    scenario=SCENARIO,
    qdiscs=QDISCS,
    cases=CASES,
    measures={
        **MEASURES,
        "average_variation": over_intervals("gauge:average", _variation, 10),
    },
    choices=(
        *OPEN,
        Choice("probability", "pb", "figure 7(b) has pb / (1 - count pb); the gauge is pb, before signals are spaced"),
    ),
    claims=(
        Claim(
            "RED's average queue fluctuates considerably (a standard deviation of a fifth of its mean)",
            "section III-C, figure 7(a)",
            _average_moves,
        ),
        Claim(
            "RED's marking probability fluctuates more than BLUE's, at every load",
            "section III-C, figures 7(b) and 8",
            _probability_moves,
            "From 600 connections on RED marks nearly every packet too, and its probability stands still.",
        ),
    ),
    plot=_plot,
    quick=QUICK,
    modern=False,
)
