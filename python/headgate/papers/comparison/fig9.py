"""The queue that SFB keeps under 49 TCP flows."""

from headgate.experiment import queues
from headgate.experiment.claims import above, m
from headgate.experiment.declare import Basis, Claim, Experiment, PublishedNumbers
from headgate.papers.comparison._many import many_flows, queue_over_time
from headgate.papers.comparison._setting import DROPS, MEASURES, SFB, TCP_ALONE

EXPERIMENT = Experiment(
    about="49 TCP flows with windows of 300 KB share 1 Mbit/s and a buffer of 150 KB under SFB.",
    scenario=lambda v: many_flows(v, "fig9", "49 TCP flows under SFB.", "150p", udp=False),
    qdiscs={"SFB": SFB},
    measures={"tcp": MEASURES["tcp"], "total": MEASURES["total"], "queue": queues.packets()},
    published=(PublishedNumbers("tcp", "section 4.3", {"SFB": (0.94,)}, unit="Mbit/s"),),
    choices=(*TCP_ALONE, DROPS),
    stated_in="section 4.3",
    claims=(
        Claim(
            "The 49 TCP flows get 0.94 Mbit/s or more, as on any full link",
            above(m("tcp", "SFB"), 0.935),
            basis=Basis.ILLUSTRATION,
        ),
    ),
    plot=queue_over_time(),
)
