"""Goodput of each TCP flow when SFB changes its hash functions every 2 s."""

from headgate.experiment.claims import above, below, m
from headgate.experiment.declare import Basis, Claim, HeadlineMeasure, PublishedNumbers, grid
from headgate.papers.blue._network import WHY
from headgate.papers.blue._unresponsive import MEASURES, SFB, SHARES, each_flow, experiment

MOVING, DOUBLE, FIXED = "moving hash", "double buffered moving hash", "fixed hash (figure 18)"

EXPERIMENT = experiment(
    about="As figure 18, but bins and hash functions change every 2 s, without and with a second set of bins "
    "trained in advance.",
    qdiscs={
        MOVING: SFB.replace("rehash=0s", "rehash=2s,double_buffer=off"),
        DOUBLE: SFB.replace("rehash=0s", "rehash=2s"),
        FIXED: SFB,
    },
    cases=grid(unresponsive=(8,), rate=(5,)),
    measures={**MEASURES, **SHARES},
    published=(PublishedNumbers("unresponsive_rate", "section IV-D", {MOVING: (3.85,)}, unit="Mbit/s"),),
    claims=(
        Claim(
            "With moving hash functions no TCP flow is shut out (none gets less than a tenth of its share)",
            below(m("starved", MOVING), 1 / 400),
            WHY["leak"],
            place="section IV-D, figure 19(a)",
        ),
        Claim(
            "With moving hash functions unresponsive flows get more than with fixed ones: they are on parole "
            "after each change",
            above(m("unresponsive_rate", MOVING), m("unresponsive_rate", FIXED)),
            place="section IV-D, figure 19(a)",
        ),
        Claim(
            "With moving hash functions unresponsive flows get more than their fair share of the link",
            above(m("unresponsive_rate", MOVING), 8 * 45 / 408),
            place="section IV-D, figure 19(a)",
            # The fair share is a quantity of the scenario: each of 408 flows has the same part of 45 Mbit/s.
            basis=Basis.PAPER,
        ),
        Claim(
            "With double buffering unresponsive flows get less than without",
            below(m("unresponsive_rate", DOUBLE), m("unresponsive_rate", MOVING)),
            place="section IV-D, figure 19(b)",
        ),
        Claim(
            "With double buffering TCP has a very high level of protection (95 % of the flows within a half of "
            "their share)",
            above(m("near_fair", DOUBLE), 0.95),
            WHY["leak"],
            place="section IV-D, figure 19(b)",
        ),
        Claim(
            "With double buffering no TCP flow is shut out (none gets less than a tenth of its share)",
            below(m("starved", DOUBLE), 1 / 400),
            WHY["leak"],
            place="section IV-D, figure 19(b)",
        ),
    ),
    plot=each_flow(MOVING, DOUBLE),
    headline=HeadlineMeasure("unresponsive_rate", "throughput of eight unresponsive flows, Mbit/s"),
)
