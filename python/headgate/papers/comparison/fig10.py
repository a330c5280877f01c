"""A UDP flow of forty times the link's rate among 49 TCP flows under SFB."""

from headgate.experiment import queues
from headgate.experiment.claims import above, at_most, below, between, m
from headgate.experiment.declare import Basis, Claim, Experiment, HeadlineMeasure, OpenParameter, PublishedNumbers
from headgate.papers.comparison._many import many_flows, queue_over_time
from headgate.papers.comparison._setting import DROPS, MEASURES, SFB, WHY, WITH_UDP

EXPERIMENT = Experiment(
    about="49 TCP flows and a UDP flow of 40 Mbit/s share 1 Mbit/s and a buffer of 150 KB under SFB.",
    scenario=lambda v: many_flows(v, "fig10", "49 TCP flows and one of 40 Mbit/s under SFB.", "150p", udp=True),
    qdiscs={"SFB": f"{SFB},boxtime=$boxtime"},
    seeds=10,
    measures={**MEASURES, "cbr_queue": queues.packets("cbr"), "cbr_most": queues.greatest_average("cbr")},
    published=(
        PublishedNumbers("cbr", "section 4.3", {"SFB": (0.026,)}, unit="Mbit/s"),
        PublishedNumbers("tcp", "section 4.3", {"SFB": (0.925,)}, unit="Mbit/s"),
        PublishedNumbers("cbr_queue", "section 4.3", {"SFB": (4.5,)}, unit="KB"),
    ),
    choices=(
        OpenParameter(
            "boxtime",
            "300ms",
            "the figure's Boxtime is not given. UDP's 0.026 Mbit/s are a packet each 0.29 s. Section 3.3.3 has 0.05 s",
            ("50ms", "100ms", "250ms"),
        ),
        *WITH_UDP,
        DROPS,
    ),
    stated_in="section 4.3",
    claims=(
        Claim(
            "The UDP flow gets only 0.026 Mbit/s (at most 0.03), as Boxtime implies",
            below(m("cbr", "SFB"), 0.03),
            # Boxtime was chosen by this number.
            basis=Basis.ILLUSTRATION,
        ),
        Claim(
            "The 49 TCP flows still get 0.925 Mbit/s or more",
            above(m("tcp", "SFB"), 0.9245),
            # The rest of a full link, once UDP has what Boxtime admits.
            basis=Basis.ILLUSTRATION,
        ),
        Claim(
            "The UDP flow holds 4 to 5 KB of the queue",
            between(m("cbr_queue", "SFB"), 4, 5),
            WHY["fig10 Little"],
            place="section 4.3, figure 10",
            basis=Basis.PAPER,
        ),
        Claim(
            "UDP's queue is always that small: the average never exceeds 5 KB",
            at_most(m("cbr_most", "SFB"), 5),
            place="section 4.3, figure 10",
            basis=Basis.PAPER,
        ),
    ),
    plot=queue_over_time("tcp", "cbr"),
    headline=HeadlineMeasure(
        "cbr", "Throughput of a UDP flow that sends 40 Mbit/s over 1 Mbit/s among 49 TCP flows, Mbit/s"
    ),
)
