"""Marking probabilities while connections are added, with ECN timeouts."""

import numpy as np

from headgate.experiment.claims import above, along, below, every, m, rises
from headgate.experiment.declare import Basis, Claim
from headgate.experiment.measures import over_intervals
from headgate.papers.blue._steps import LOADS, MEASURES, PROBABILITY, STEADY, WITH_TIMEOUTS, both, experiment

#: Below this a probability is 0; RED's is exactly 0 below minth and 1 above maxth.
EXACT = 0.0001

EXPERIMENT = experiment(
    about="The runs of figure 9: RED's probability (pb, before marks are spaced) and BLUE's over time.",
    cases=WITH_TIMEOUTS,
    measures={
        **MEASURES,
        "p_least": over_intervals("gauge:probability", np.min, 10),
        "p_most": over_intervals("gauge:probability", np.max, 10),
    },
    claims=(
        Claim(
            "BLUE's marking is steady (a standard deviation below 0.05 in 10 s, at every load)",
            every(below(m(f"p_sd_{load}", "BLUE"), STEADY) for load in LOADS),
            place="section III-D",
        ),
        Claim(
            "BLUE's marking rate changes with the load: it rises",
            rises(along({load: m(f"p_{load}", "BLUE") for load in LOADS})),
            place="section III-D, figure 10(b)",
        ),
        Claim(
            "RED's marking probability fluctuates from 0 to 1",
            every((below(m("p_least", "RED"), EXACT), above(m("p_most", "RED"), 1 - EXACT))),
            place="section III-D, figure 10(a)",
            basis=Basis.PAPER,
        ),
    ),
    plot=both("gauge:probability", PROBABILITY),
    modern=False,
)
