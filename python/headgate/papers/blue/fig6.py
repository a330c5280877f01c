"""blue/fig6: the queue over time while connections are added."""

from __future__ import annotations

from functools import partial

from headgate.analysis.judge import Judgement, above, below, every
from headgate.experiment.declare import Claim, Experiment, Headline
from headgate.experiment.found import Found
from headgate.papers.blue._steps import CASES, LOADS, MEASURES, OPEN, QDISCS, QUICK, SCENARIO, queues

#: Loss that a plot of the queue shows as sustained: one packet in a thousand.
SUSTAINED = 0.001
#: An underutilised link: a twentieth of the time.
OFTEN = 0.05
#: Loads below that from which on BLUE loses.
FEW = (200, 400, 600)


def _continual(found: Found) -> Judgement:
    return every(above(found(f"loss_{load}", "RED"), SUSTAINED) for load in LOADS)


def _underused(found: Found) -> Judgement:
    return every(above(found(f"idle_{load}", "RED"), OFTEN) for load in FEW[:2])


def _steadier(found: Found) -> Judgement:
    return every(below(found(f"queue_sd_{load}", "BLUE"), found(f"queue_sd_{load}", "RED")) for load in LOADS)


def _spared(found: Found) -> Judgement:
    return every(below(found(f"loss_{load}", "BLUE"), SUSTAINED) for load in FEW)


def _busy(found: Found) -> Judgement:
    return every(below(found(f"idle_{load}", "BLUE"), OFTEN) for load in LOADS)


def _overwhelmed(found: Found) -> Judgement:
    return every(above(found(f"loss_{load}", "BLUE"), SUSTAINED) for load in (800, 1000))


ROOM = (
    "Up to 600 connections the fifth of the buffer above maxth, where every packet is marked, takes all bursts: "
    "RED swings without loss. Loss begins where windows of one packet no longer fit, at 800, for BLUE as well."
)
STANDS = (
    "At 600 connections RED's average stays just below maxth and nearly all packets are marked: the special "
    "operating point of section III-B, where its queue stands still. From 800 on both queues are full."
)
TITLE = "The queue under RED and BLUE while connections are added"

EXPERIMENT = Experiment(
    title=TITLE,
    place="figure 6",
    about="200 connections that send without end, and 200 more each 20 s. What is the queue under R2 and B4? "
    "Figures are of "
    "the second half of each 20 s.",
    scenario=SCENARIO,
    qdiscs=QDISCS,
    cases=CASES,
    measures=MEASURES,
    choices=OPEN,
    claims=(
        Claim("RED loses continually (0.1 % and more at every load)", "section III-C, figure 6(a)", _continual, ROOM),
        Claim(
            "RED leaves the link underutilised at lower loads (a twentieth of the time, up to 400 connections)",
            "section III-C, figure 6(a)",
            _underused,
            "Not at 400 connections: windows of one packet, 400 of them, more than fill the path of 342 packets.",
        ),
        Claim("BLUE's queue varies less than RED's, at every load", "section III-C, figure 6(b)", _steadier, STANDS),
        Claim(
            "BLUE does not leave the link underutilised continually (a twentieth of the time, at any load)",
            "section III-C",
            _busy,
        ),
        Claim("BLUE sustains no loss (0.1 %) below 800 connections", "section III-C, figure 6(b)", _spared),
        Claim("BLUE loses significantly (0.1 %) from 800 connections on", "section III-C, figure 6(b)", _overwhelmed),
    ),
    plot=partial(queues, title=TITLE),
    headline=Headline("loss_600", "loss at 600 connections, %", scale=100),
    quick=QUICK,
)
