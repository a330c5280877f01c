"""blue/fig11: loss and utilisation by the size of the buffer, with ECN timeouts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from headgate.papers import axes
from headgate.papers.blue._loss import BLUES, BUFFERS, MEASURES, OPEN, QDISCS, REDS, SCENARIO, SHORT, cases, draw, ran
from headgate.papers.experiment import Claim, Experiment, Headline, Quick
from headgate.papers.judge import above, below, every

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.papers.found import Found
    from headgate.papers.judge import Judgement

#: The paper's "low" loss and "high" utilisation, which it gives no numbers for.
LOW, HIGH = 0.01, 0.95

SLOW = (
    "In a shortened run, with 4000 connections and 100 KB: B2 needs 40 s of overflows to go from 0 to 1 (0.0025 each "
    "100 ms), which is all of its time; what B3 loses there, 4 %, was not looked into."
)
FEWER = (
    "Not with 4000 connections and 100 KB, where every RED overloads the link and loses 5 to 18 %: it is never idle "
    "for long, while a BLUE that loses 1 % leaves 1 % of it unused (shortened run)."
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
            Claim(f"{each} keeps loss low (1 %) in all experiments", "section III-D", partial(_low, each), SLOW)
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
            "highest of them "
            "at every buffer",
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
