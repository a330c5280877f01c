"""The queue under RED and BLUE while connections are added, with ECN timeouts."""

from headgate.experiment.claims import above, below, every, m, some
from headgate.experiment.declare import Claim, HeadlineMeasure
from headgate.papers.blue._network import WHY
from headgate.papers.blue._steps import LOADS, OFTEN, QUEUES, TIMEOUTS, experiment

#: Loss that a plot of the queue shows as sustained: one packet in a hundred.
SUSTAINED = 0.01

EXPERIMENT = experiment(
    about="As figure 6, but a sender whose window is one waits for its timer when it is told of a mark.",
    cases=TIMEOUTS,
    claims=(
        Claim(
            "RED leaves the link underutilised (a twentieth of the time, at every load)",
            every(above(m(f"idle_{load}", "RED"), OFTEN) for load in LOADS),
            place="section III-D",
        ),
        Claim(
            "RED avoids packet loss (1 %) at every load",
            every(below(m(f"loss_{load}", "RED"), SUSTAINED) for load in LOADS),
            WHY["fig9 late"],
            place="section III-D, figure 9(a)",
        ),
        Claim(
            "RED loses a small amount all the same",
            some(above(m(f"loss_{load}", "RED"), 0.0) for load in LOADS),
            place="section III-D, figure 9(a)",
        ),
        Claim(
            "BLUE avoids sustained packet loss (1 %) at every load",
            every(below(m(f"loss_{load}", "BLUE"), SUSTAINED) for load in LOADS),
            place="section III-D, figure 9(b)",
        ),
        Claim(
            "BLUE achieves high utilization (less is a twentieth of the time at most, at every load)",
            every(below(m(f"idle_{load}", "BLUE"), OFTEN) for load in LOADS),
            place="section III-D, figure 9(b)",
        ),
    ),
    plot=QUEUES,
    headline=HeadlineMeasure("loss_1000", "loss at 1000 connections, %", scale=100),
)
