"""Goodput of each TCP flow beside an unresponsive flow of 45 Mbit/s."""

from headgate.experiment.claims import above, below, m
from headgate.experiment.declare import Basis, Claim, HeadlineMeasure, grid
from headgate.papers.blue._network import WHY
from headgate.papers.blue._unresponsive import MEASURES, OPEN_REDS, QDISCS, SHARES, each_flow, experiment

#: Well below the unresponsive flow's rate, in Mbit/s: a tenth.
LIMITED = 4.5

EXPERIMENT = experiment(
    about="The runs of table III with the unresponsive flow at 45 Mbit/s: 400 TCP flows, one by one.",
    qdiscs=QDISCS,
    cases=grid(unresponsive=(1,), rate=(45,)),
    measures={**MEASURES, **SHARES},
    choices=OPEN_REDS,
    stated_in="section IV-B",
    claims=(
        Claim(
            "SFB allows each TCP flow close to its fair share (95 % of the flows within a half of it)",
            above(m("near_fair", "SFB"), 0.95),
            WHY["leak"],
            place="section IV-B, figure 16(a)",
        ),
        Claim(
            "SFB protects all TCP flows: none gets less than a tenth of its share",
            below(m("starved", "SFB"), 1 / 400),
            WHY["leak"],
        ),
        Claim(
            "SFB limits the unresponsive flow to well below its sending rate (a tenth)",
            below(m("unresponsive_rate", "SFB"), LIMITED),
            place="section IV-B, figure 16(a)",
        ),
        Claim(
            "Under RED the throughput of TCP suffers considerably (half of the link is gone)",
            below(m("tcp_rate", "RED"), 22.5),
            place="section IV-B, figure 16(b)",
        ),
        Claim(
            "SFRED limits the unresponsive flow (a tenth of its rate)",
            below(m("unresponsive_rate", "SFRED"), LIMITED),
            place="section IV-B, figure 16(c)",
        ),
        Claim(
            "SFRED drops a significant amount of TCP's packets (ten times SFB's)",
            above(m("loss_tcp", "SFRED"), m("loss_tcp", "SFB"), times=10),
            WHY["overfull"],
            place="section IV-B, figure 16(c)",
        ),
        Claim(
            "SFQ with RED limits the unresponsive flow (a tenth of its rate)",
            below(m("unresponsive_rate", "SFQ+RED"), LIMITED),
            place="section IV-B, figure 16(d)",
        ),
        Claim(
            "SFQ with RED is less fair among TCP flows than SFB (Jain's index)",
            below(m("jain", "SFQ+RED"), m("jain", "SFB")),
            WHY["fig16 one in 46"],
            place="section IV-B, figure 16(d)",
        ),
        Claim(
            "Under SFQ with RED a few TCP flows grab a disproportionate amount (twice their share)",
            above(m("grabbing", "SFQ+RED"), 0.0),
            place="section IV-B, figure 16(d)",
            # Above 0 for a single flow in a single seed.
            basis=Basis.ILLUSTRATION,
        ),
        Claim(
            "Under SFQ with RED flows in the unresponsive flow's queue, one in 46, get almost nothing (a tenth "
            "of a share)",
            # One of the 46 queues holds the unresponsive flow.
            above(m("starved", "SFQ+RED"), 0.5 / 46),
        ),
    ),
    plot=each_flow(*QDISCS),
    headline=HeadlineMeasure("near_fair", "TCP flows within a half of their fair share, %", scale=100),
)
