"""The queue under RED and BLUE while connections are added."""

from headgate.experiment.claims import above, below, every, m
from headgate.experiment.declare import Basis, Claim, HeadlineMeasure
from headgate.papers.blue._network import WHY
from headgate.papers.blue._steps import LOADS, QUEUES, UNDERUTILIZED, experiment

#: The drop rate from which drops count as sustained: one packet in a thousand. The paper gives no number.
SUSTAINED = 0.001
#: The loads below 800 connections, from which on BLUE drops packets, by the paper.
FEW = (200, 400, 600)

EXPERIMENT = experiment(
    about="200 connections send without end, and 200 more join every 20 s. What is the queue under R2 and B4? "
    "Numbers are of the second half of each 20 s.",
    claims=(
        Claim(
            "RED drops packets continually (0.1 % and more at every load)",
            every(above(m(f"loss_{load}", "RED"), SUSTAINED) for load in LOADS),
            WHY["fig6 room"],
            place="section III-C, figure 6(a)",
        ),
        Claim(
            "RED leaves the link underutilized at lower loads (a twentieth of the time, up to 400 connections)",
            every(above(m(f"idle_{load}", "RED"), UNDERUTILIZED) for load in FEW[:2]),
            place="section III-C, figure 6(a)",
        ),
        Claim(
            "BLUE's queue is more stable than RED's (standard deviation, the mean over the steps)",
            below(m("queue_sd", "BLUE"), m("queue_sd", "RED")),
            place="section III-C, figure 6(b)",
        ),
        Claim(
            "BLUE does not leave the link underutilized continually (a twentieth of the time, at any load)",
            every(below(m(f"idle_{load}", "BLUE"), UNDERUTILIZED) for load in LOADS),
            place="section III-C",
        ),
        Claim(
            "BLUE has no sustained drops (0.1 %) below 800 connections",
            every(below(m(f"loss_{load}", "BLUE"), SUSTAINED) for load in FEW),
            place="section III-C, figure 6(b)",
            # The buffer was chosen by this claim and the next.
            basis=Basis.ILLUSTRATION,
        ),
        Claim(
            "BLUE has significant drops (0.1 %) from 800 connections on",
            every(above(m(f"loss_{load}", "BLUE"), SUSTAINED) for load in (800, 1000)),
            place="section III-C, figure 6(b)",
            basis=Basis.ILLUSTRATION,
        ),
    ),
    plot=QUEUES,
    headline=HeadlineMeasure("loss_600", "drop rate at 600 connections, %", scale=100),
)
