"""RED's average queue and marking probability while connections are added."""

import numpy as np

from headgate.experiment.claims import above, m
from headgate.experiment.declare import Claim, OpenParameter
from headgate.experiment.measures import over_intervals
from headgate.experiment.plots import AxisScale, Plot
from headgate.papers.blue._steps import MEASURES, NOTE, OPEN, experiment, panel

EXPERIMENT = experiment(
    about="The runs of figure 6: RED's marking probability follows the queue.",
    measures={
        **MEASURES,
        "average_variation": over_intervals("gauge:average", lambda queue: float(np.std(queue) / np.mean(queue)), 10),
    },
    choices=(
        *OPEN,
        OpenParameter(
            "probability",
            "pb",
            "figure 7(b) has pb / (1 - count pb); our gauge is pb, without the spacing of marks by count",
        ),
    ),
    claims=(
        Claim(
            "RED's average queue fluctuates considerably (a standard deviation of a fifth of its mean)",
            above(m("average_variation", "RED"), 0.2),
            place="section III-C, figure 7(a)",
        ),
        Claim(
            "RED's marking probability fluctuates more than BLUE's (standard deviation, the mean over the steps)",
            above(m("p_sd", "RED"), m("p_sd", "BLUE")),
            place="section III-C, figures 7(b) and 8",
        ),
    ),
    plot=Plot(
        [
            panel("RED", "gauge:average", AxisScale("Average queue (packets of 1 KB)"), "(a) Average queue"),
            panel("RED", "gauge:probability", AxisScale("Probability", 0, 1.05), "(b) Marking probability"),
        ],
        NOTE,
        "apart",
    ),
    modern=False,
)
