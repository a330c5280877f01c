"""Drop rate of RED and BLUE by buffer size."""

import itertools

from headgate.experiment.claims import above, below, every, in_each_case, m, mean, some
from headgate.experiment.declare import Basis, Claim, HeadlineMeasure, QuickVariant, for_each
from headgate.experiment.plots import Plot
from headgate.papers.blue._loss import BLUES, CERTAINTY, FAMILIES, REDS, SHORT, cases, experiment, panel
from headgate.papers.blue._network import WHY

#: The least drop rate that can be seen in a figure whose axis reaches 10 % and more.
NOTHING = 0.001
#: The paper's "double-digit loss rates".
DOUBLE_DIGITS = 0.1
CERTAIN = WHY["fig5 certain"]
#: Every configuration of BLUE with every configuration of RED.
PAIRS = tuple(itertools.product(BLUES, REDS))

EXPERIMENT = experiment(
    about="1000 or 4000 connections send for 2 s and pause for 3 s on average over a link of 45 Mbit/s. All "
    "have ECN, and keep a cwnd of one however often they are marked. How many packets are dropped from "
    "100 s to 200 s?",
    cases=cases(timeouts=False),
    stated_in="section III-B",
    claims=(
        *for_each(
            FAMILIES,
            "{} keeps utilization above 99.9 % in all experiments",
            lambda family: every(in_each_case(above(m("utilization", each), 0.999)) for each in FAMILIES[family]),
            WHY["fig5 swings"],
            basis=Basis.PAPER,
        ),
        Claim(
            "BLUE drops nothing (below 0.1 %, too little for the figure) at 1000 connections, at any buffer",
            every(in_each_case(below(m("loss", blue), NOTHING), connections=1000) for blue in BLUES),
            WHY["fig5 fits"],
            place="section III-B, figure 5(a)",
        ),
        Claim(
            "RED drops 10 % and more at 1000 connections with a small buffer, 100 KB",
            every(above(m("loss", red, connections=1000, buffer=100), DOUBLE_DIGITS) for red in REDS),
            CERTAIN,
            place="section III-B, figure 5(a)",
            basis=Basis.PAPER,
        ),
        Claim(
            "RED's drop rate has a dip around 80 ms of buffer, at 1000 connections",
            some(
                every(
                    below(m("loss", red, connections=1000, buffer=450), m("loss", red, connections=1000, buffer=size))
                    for size in (200, 1000)
                )
                for red in REDS
            ),
            CERTAIN,
            place="section III-B, figure 5(a)",
        ),
        Claim(
            "BLUE drops less than RED at 4000 connections (mean over the buffers)",
            every(
                below(mean("loss", blue, connections=4000), mean("loss", red, connections=4000)) for blue, red in PAIRS
            ),
            WHY["fig5 4000"],
            place="section III-B, figure 5(b)",
        ),
        Claim(
            "RED with 1000 KB drops more than BLUE with 100 KB, at 4000 connections",
            every(
                above(m("loss", red, connections=4000, buffer=1000), m("loss", blue, connections=4000, buffer=100))
                for blue, red in PAIRS
            ),
            WHY["fig5 4000"],
            place="section III-B, figure 5(b)",
        ),
        Claim(
            "BLUE marks with probability 1 throughout, at 4000 connections",
            every(in_each_case(above(m("least_pm", blue), CERTAINTY), connections=4000) for blue in BLUES),
            basis=Basis.PAPER,
        ),
    ),
    plot=Plot(
        [panel("loss", f"{number} connections", y="Drop rate (%)", connections=number) for number in (1000, 4000)],
        note="R1 to R4 and B1 to B4: the configurations of tables I and II. Bands: the 95 % interval over seeds.",
        height=3.6,
        legend=1,
    ),
    headline=HeadlineMeasure(
        "loss", "drop rate at 1000 connections, 100 KB, %", {"connections": 1000, "buffer": 100}, 100
    ),
    quick=QuickVariant(set=SHORT, cases=cases(False, (1000, 100), (1000, 1000), (4000, 100))),
)
