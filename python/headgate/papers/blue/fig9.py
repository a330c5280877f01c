"""The queue under RED and BLUE while connections are added, with ECN timeouts."""

from headgate.experiment.claims import above, below, every, m, some
from headgate.experiment.declare import Basis, Claim, HeadlineMeasure
from headgate.papers.blue._network import WHY
from headgate.papers.blue._steps import LOADS, QUEUES, UNDERUTILIZED, WITH_TIMEOUTS, experiment

#: The drop rate from which drops count as sustained: one packet in a hundred. The paper gives no number.
SUSTAINED = 0.01

EXPERIMENT = experiment(
    about="As figure 6, but a sender with a cwnd of one waits for its timer when a mark is echoed.",
    cases=WITH_TIMEOUTS,
    claims=(
        Claim(
            "RED leaves the link underutilized (a twentieth of the time, at every load)",
            every(above(m(f"idle_{load}", "RED"), UNDERUTILIZED) for load in LOADS),
            place="section III-D",
        ),
        Claim(
            "RED avoids drops (1 %) at every load",
            every(below(m(f"loss_{load}", "RED"), SUSTAINED) for load in LOADS),
            WHY["fig9 late"],
            place="section III-D, figure 9(a)",
        ),
        Claim(
            "RED drops a small amount all the same",
            some(above(m(f"loss_{load}", "RED"), 0.0) for load in LOADS),
            place="section III-D, figure 9(a)",
            basis=Basis.ILLUSTRATION,
        ),
        Claim(
            "BLUE avoids sustained drops (1 %) at every load",
            every(below(m(f"loss_{load}", "BLUE"), SUSTAINED) for load in LOADS),
            place="section III-D, figure 9(b)",
        ),
        Claim(
            "BLUE achieves high utilization (the link is not always busy in at most a twentieth of the time, "
            "at every load)",
            every(below(m(f"idle_{load}", "BLUE"), UNDERUTILIZED) for load in LOADS),
            WHY["fig9 recovery"],
            place="section III-D, figure 9(b)",
        ),
    ),
    plot=QUEUES,
    headline=HeadlineMeasure("loss_1000", "drop rate at 1000 connections, %", scale=100),
)
