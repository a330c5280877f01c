"""blue/fig9: the queue over time while connections are added, with ECN timeouts."""

from __future__ import annotations

from functools import partial

from headgate.analysis.judge import Judgement, above, below, every, some
from headgate.experiment.declare import Claim, Experiment, Headline
from headgate.experiment.found import Found
from headgate.papers.blue._steps import LOADS, MEASURES, OPEN, QDISCS, QUICK, SCENARIO, TIMEOUTS, queues

#: Loss that a plot of the queue shows as sustained: one packet in a hundred.
SUSTAINED = 0.01
#: An underutilised link: a twentieth of the time.
OFTEN = 0.05


def _little_loss(found: Found) -> Judgement:
    return every(below(found(f"loss_{load}", "RED"), SUSTAINED) for load in LOADS)


def _some_loss(found: Found) -> Judgement:
    return some(above(found(f"loss_{load}", "RED"), 0.0) for load in LOADS)


def _underused(found: Found) -> Judgement:
    return every(above(found(f"idle_{load}", "RED"), OFTEN) for load in LOADS)


def _spared(found: Found) -> Judgement:
    return every(below(found(f"loss_{load}", "BLUE"), SUSTAINED) for load in LOADS)


def _busy(found: Found) -> Judgement:
    return every(below(found(f"idle_{load}", "BLUE"), OFTEN) for load in LOADS)


LATE = (
    "Its swings overshoot the fifth of the buffer above maxth before marks take effect: 3 % at 400 connections, 9 % at "
    "1000. The paper's loss is small, with a buffer and round trips that its text does not give."
)
TITLE = "The queue under RED and BLUE while connections are added, with ECN timeouts"

EXPERIMENT = Experiment(
    title=TITLE,
    place="figure 9",
    about="As figure 6, but a sender whose window is one waits for its timer when it is told of a mark.",
    scenario=SCENARIO,
    qdiscs=QDISCS,
    cases=TIMEOUTS,
    measures=MEASURES,
    choices=OPEN,
    claims=(
        Claim(
            "RED leaves the link underutilised (a twentieth of the time, at every load)", "section III-D", _underused
        ),
        Claim("RED avoids packet loss (1 %) at every load", "section III-D, figure 9(a)", _little_loss, LATE),
        Claim("RED loses a small amount all the same", "section III-D, figure 9(a)", _some_loss),
        Claim("BLUE avoids sustained packet loss (1 %) at every load", "section III-D, figure 9(b)", _spared),
        Claim(
            "BLUE achieves high utilisation (less is a twentieth of the time at most, at every load)",
            "section III-D, figure 9(b)",
            _busy,
        ),
    ),
    plot=partial(queues, title=TITLE),
    headline=Headline("loss_1000", "loss at 1000 connections, %", scale=100),
    quick=QUICK,
)
