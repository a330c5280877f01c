"""BLUE under a UDP flow of forty times the link's rate."""

import numpy as np

from headgate.experiment import queues
from headgate.experiment.claims import above, at_most, below, m
from headgate.experiment.declare import Basis, Claim, Experiment, OpenParameter, PublishedNumbers, QuickVariant
from headgate.experiment.measures import link, over_intervals
from headgate.papers.comparison._many import many_flows, queue_over_time
from headgate.papers.comparison._setting import BLUE, MEASURES, WHY, WITH_UDP

#: The time in seconds at which the UDP flow joins and the buffer overflows, and the time by which the queue is empty
#: again (section 4.2).
JOINS, EMPTY = 40.0, 48.0


EXPERIMENT = Experiment(
    about="At 40 s a UDP flow of 40 Mbit/s joins 49 TCP flows on 1 Mbit/s and a buffer of 300 KB under BLUE.",
    scenario=lambda v: many_flows(
        v, "fig8", "A UDP flow of 40 Mbit/s joins under BLUE.", "300p", udp=True, cbr_start=v.joins, warmup="40s"
    ),
    qdiscs={"BLUE": BLUE},
    # Ten seeds do not decide: their interval around 0.013 contains the bound of 0.015 Mbit/s.
    seeds=60,
    measures={
        **MEASURES,
        "probability": over_intervals("gauge:probability", np.max, JOINS, EMPTY),
        "overflows": link("dropped_overflow"),
        "emptied": queues.emptied_after(JOINS),
    },
    published=(
        PublishedNumbers("tcp", "section 4.2", {"BLUE": (0.01,)}, unit="Mbit/s"),
        PublishedNumbers("cbr", "section 4.2", {"BLUE": (0.93,)}, unit="Mbit/s"),
        PublishedNumbers("total", "section 4.2", {"BLUE": (0.94,)}, unit="Mbit/s"),
    ),
    choices=(
        OpenParameter(
            "joins", "40s", "when the UDP flow joins is not given; the text has the buffer overflow at 40 s", ("0s",)
        ),
        *WITH_UDP,
    ),
    stated_in="section 4.2",
    claims=(
        Claim(
            "The 49 TCP flows take 0.01 Mbit/s (no more than rounds to that) once the UDP flow has joined",
            below(m("tcp", "BLUE"), 0.015),
            basis=Basis.PAPER,
        ),
        Claim("The UDP flow takes 0.93 Mbit/s or more", above(m("cbr", "BLUE"), 0.925), basis=Basis.PAPER),
        Claim(
            "The buffer overflows",
            above(m("overflows", "BLUE"), 0),
            place="section 4.2, figure 8",
            basis=Basis.ILLUSTRATION,
        ),
        Claim("BLUE's probability reaches 1 (0.99 or more)", above(m("probability", "BLUE"), 0.99), WHY["fig8 rests"]),
        Claim(
            "The queue then drains to nothing within 8 s",
            at_most(m("emptied", "BLUE"), EMPTY - JOINS),
            WHY["fig8 drains"],
            place="section 4.2, figure 8",
            # The buffer overflows at 40 s, and "the queue length at t=48s is 0".
            basis=Basis.PAPER,
        ),
    ),
    plot=queue_over_time("cbr"),
    quick=QuickVariant(set=("duration=60s",)),
    modern=False,
)
