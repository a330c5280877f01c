"""The queue that BLUE keeps under 49 TCP flows."""

from headgate.experiment import queues
from headgate.experiment.claims import above, m, near
from headgate.experiment.declare import Basis, Claim, Experiment, HeadlineMeasure, PublishedNumbers
from headgate.papers.comparison._many import many_flows, queue_over_time
from headgate.papers.comparison._setting import BLUE, MEASURES, TCP_ALONE, WHY

EXPERIMENT = Experiment(
    about="49 TCP flows with windows of 300 KB share 1 Mbit/s and a buffer of 300 KB under BLUE.",
    scenario=lambda v: many_flows(v, "fig7", "49 TCP flows under BLUE.", "300p", udp=False),
    qdiscs={"BLUE": BLUE},
    measures={"tcp": MEASURES["tcp"], "total": MEASURES["total"], "queue": queues.packets()},
    published=(
        PublishedNumbers("tcp", "section 4.2", {"BLUE": (0.93,)}, unit="Mbit/s"),
        PublishedNumbers("queue", "section 4.2", {"BLUE": (100,)}, unit="KB"),
    ),
    choices=TCP_ALONE,
    claims=(
        Claim(
            "The queue is kept at about 100 KB, a third of the buffer (its mean within 20 %)",
            near(m("queue", "BLUE"), 100, within=0.2),
            WHY["fig7 seeds"],
            place="section 4.2, figure 7",
        ),
        Claim(
            "TCP achieves 0.93 Mbit/s or more with it, as on any full link",
            above(m("tcp", "BLUE"), 0.925),
            place="section 4.2",
            basis=Basis.ILLUSTRATION,
        ),
    ),
    plot=queue_over_time(),
    headline=HeadlineMeasure("queue", "Packets in the queue under 49 TCP flows, of 300 that fit"),
)
