"""blue/fig11: loss and utilisation by the size of the buffer, with ECN timeouts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from headgate.analysis.judge import above, below, every
from headgate.experiment.declare import Claim, Experiment, Headline, Quick
from headgate.papers import axes
from headgate.papers.blue._loss import BLUES, BUFFERS, MEASURES, OPEN, QDISCS, REDS, SCENARIO, SHORT, cases, draw, ran

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.analysis.judge import Judgement
    from headgate.experiment.found import Found

#: The paper's "low" loss and "high" utilisation, which it gives no numbers for.
LOW, HIGH = 0.01, 0.95

FULL = (
    "At 4000 connections and 100 KB, where every BLUE marks all: 1600 connections that send a packet a timeout, "
    "0.2 s at least, are still more than the link carries. Everywhere else 0.1 % at most (seed 1)."
)
SWINGS = (
    "At 4000 connections every RED does: 25 % becomes 8 to 18 at 100 KB. At 1000, R1 and R2, and R4 at 100 KB, mark "
    "all without timeouts and lose little; with them they swing, R2 with a loss of up to 11 %. With 1000 KB none "
    "loses either way (seed 1)."
)
FEWER = (
    "So it is at 1000 connections up to 200 KB: R1 92 and 95 %, R2 69 and 75, R3 75 and 80, R4 78 and 83, every BLUE "
    "98.9 and more. At 4000 connections nearly every queue is never empty, whatever it marks (seed 1)."
)


def _low(label: str, found: Found) -> Judgement:
    return every(below(found("loss", label, **case), LOW) for case in ran(found, ecn_timeout="true"))


def _high(label: str, found: Found) -> Judgement:
    return every(above(found("utilisation", label, **case), HIGH) for case in ran(found, ecn_timeout="true"))


def _helps(label: str, found: Found) -> Judgement:
    return every(
        below(found("loss", label, **case), found("loss", label, **{**case, "ecn_timeout": "false"}))
        for case in ran(found, ecn_timeout="true")
        if found.has(label, **{**case, "ecn_timeout": "false"})
    )


def _suffers(label: str, found: Found) -> Judgement:
    return every(
        below(found("utilisation", label, **case), found("utilisation", blue, **case))
        for case in ran(found, ecn_timeout="true")
        for blue in BLUES
    )


def _nearest(found: Found) -> Judgement:
    return every(
        above(found("utilisation", "R1", **case), found("utilisation", other, **case))
        for case in ran(found, ecn_timeout="true")
        for other in REDS[1:]
    )


def _plot(found: Found) -> Figure:
    names = [f"{what}, {number} connections" for what in ("Loss", "Utilisation") for number in BUFFERS]
    drawn = axes.apart(names, 2.9)
    for panel, measure, number in zip(
        drawn, ("loss", "loss", "utilisation", "utilisation"), list(BUFFERS) * 2, strict=True
    ):
        draw(panel, found, measure, connections=number, ecn_timeout="true")
    for panel in drawn[:2]:
        panel.set_xlabel("")
    drawn[0].set_ylabel("Loss (%)")
    drawn[2].set_ylabel("Utilisation (%)")
    return axes.finish(drawn[0].figure, EXPERIMENT.title, "Bands: the 95 % interval over seeds.", drawn[2])  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="Loss and utilisation of RED and BLUE by the size of the buffer, with ECN timeouts",
    place="figure 11",
    about="As figure 5, whose runs stand beside, but a sender whose window is one waits for its timer when it "
    "is told of a "
    "mark.",
    scenario=SCENARIO,
    qdiscs=QDISCS,
    cases=(*cases(timeouts=True), *cases(timeouts=False)),
    measures=MEASURES,
    choices=OPEN,
    claims=(
        *(
            Claim(f"{each} keeps loss low (1 %) in all experiments", "section III-D", partial(_low, each), FULL)
            for each in BLUES
        ),
        *(
            Claim(f"{each} keeps utilisation high (95 %) in all experiments", "section III-D", partial(_high, each))
            for each in BLUES
        ),
        *(
            Claim(
                f"{each} loses less with ECN timeouts than without",
                "section III-D, figures 5 and 11",
                partial(_helps, each),
                SWINGS,
            )
            for each in REDS
        ),
        *(
            Claim(
                f"{each} uses less of the link than every BLUE, at every buffer",
                "section III-D",
                partial(_suffers, each),
                FEWER,
            )
            for each in REDS[1:]
        ),
        Claim(
            "R1, with an extremely small wq, comes nearest to BLUE among the REDs: its utilisation is the "
            "highest of them at every buffer",
            "section III-D",
            _nearest,
            FEWER,
        ),
    ),
    plot=_plot,
    headline=Headline(
        "utilisation",
        "utilisation at 4000 connections, 100 KB, %",
        {"connections": 4000, "buffer": 100, "ecn_timeout": "true"},
        100,
    ),
    quick=Quick(set=SHORT, cases=(*cases(True, (1000, 100), (4000, 100)), *cases(False, (4000, 100)))),
)
