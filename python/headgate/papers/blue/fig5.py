"""blue/fig5: loss by the size of the buffer, with 1000 and 4000 connections."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from headgate.analysis.judge import above, below, every, some
from headgate.experiment.declare import Claim, Experiment, Headline, Quick
from headgate.papers import axes
from headgate.papers.blue._loss import BLUES, MEASURES, OPEN, QDISCS, REDS, SCENARIO, SHORT, cases, draw, ran

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.analysis.judge import Judgement
    from headgate.experiment.found import Found

#: Below this part a figure whose axis reaches double digits shows nothing.
NOTHING = 0.001

SWINGS = (
    "Its average is fast and swings at 1000 connections and small buffers: 98.2 % under R3, 99.89 % under R4 at 100 KB "
    "(seed 1)."
)
FITS = (
    "Of 1000 connections 400 are on in the mean, and windows of one packet fit into 100 KB and the path, 442 packets, "
    "but not always: 0.43 % is lost at 100 KB and nothing from 200 KB on (seed 1)."
)
CERTAIN = (
    "Where windows of one packet do not fit, RED's average stays above maxth and it marks every packet, as BLUE does: "
    "the special operating point of section III-B. Both then lose what does not fit. Only R3 and R4, at 1000 "
    "connections and up to 200 KB, fall out of it (9.0 and 6.9 %, seed 1). Where RED does follows from round trips, "
    "and figure 4 is lost."
)


def _busy(label: str, found: Found) -> Judgement:
    return every(above(found("utilisation", label, **case), 0.999) for case in ran(found))


def _lossless(label: str, found: Found) -> Judgement:
    return every(below(found("loss", label, **case), NOTHING) for case in ran(found, 1000))


def _double_digits(label: str, found: Found) -> Judgement:
    return above(found("loss", label, connections=1000, buffer=100), 0.1)


def _dip(found: Found) -> Judgement:
    return some(
        every(
            below(
                found("loss", label, connections=1000, buffer=450), found("loss", label, connections=1000, buffer=size)
            )
            for size in (200, 1000)
        )
        for label in REDS
    )


def _better(label: str, found: Found) -> Judgement:
    return every(
        below(found("loss", label, **case), found("loss", red, **case)) for case in ran(found, 4000) for red in REDS
    )


def _no_match(label: str, found: Found) -> Judgement:
    large = found("loss", label, connections=4000, buffer=1000)
    return every(above(large, found("loss", blue, connections=4000, buffer=100)) for blue in BLUES)


def _certain(label: str, found: Found) -> Judgement:
    return every(above(found("least_pm", label, **case), 0.999) for case in ran(found, 4000))


def _plot(found: Found) -> Figure:
    drawn = axes.panels(["1000 connections", "4000 connections"], 3.6)
    for panel, number in zip(drawn, (1000, 4000), strict=True):
        draw(panel, found, "loss", connections=number)
    drawn[0].set_ylabel("Loss (%)")
    note = "R1 to R4 and B1 to B4: the configurations of tables I and II. Bands: the 95 % interval over seeds."
    return axes.finish(drawn[0].figure, EXPERIMENT.title, note, drawn[1])  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="Loss of RED and BLUE by the size of the buffer",
    place="figure 5",
    about="1000 or 4000 connections send for 2 s and pause for 3 s in the mean over a link of 45 Mbit/s; all "
    "have ECN, and "
    "go on at a window of one however often they are marked. How much is lost, after 100 s, in 100 s?",
    scenario=SCENARIO,
    qdiscs=QDISCS,
    cases=cases(timeouts=False),
    measures=MEASURES,
    choices=OPEN,
    claims=(
        *(
            Claim(
                f"{each} keeps the link over 99.9 % utilised in all experiments",
                "section III-B",
                partial(_busy, each),
                SWINGS,
            )
            for each in QDISCS
        ),
        *(
            Claim(
                f"{each} loses nothing (nothing that the figure could show: below 0.1 %) at 1000 connections, "
                "at any buffer",
                "section III-B, figure 5(a)",
                partial(_lossless, each),
                FITS,
            )
            for each in BLUES
        ),
        *(
            Claim(
                f"{each} loses 10 % and more at 1000 connections where the buffer is small, 100 KB",
                "section III-B, figure 5(a)",
                partial(_double_digits, each),
                CERTAIN,
            )
            for each in REDS
        ),
        Claim(
            "RED's loss has a dip around 80 ms of buffer, at 1000 connections",
            "section III-B, figure 5(a)",
            _dip,
            CERTAIN,
        ),
        *(
            Claim(
                f"{each} loses less than every RED at 4000 connections, at every buffer",
                "section III-B, figure 5(b)",
                partial(_better, each),
                CERTAIN,
            )
            for each in BLUES
        ),
        *(
            Claim(
                f"{each} with 1000 KB loses more than any BLUE with 100 KB, at 4000 connections",
                "section III-B, figure 5(b)",
                partial(_no_match, each),
                CERTAIN,
            )
            for each in REDS
        ),
        *(
            Claim(
                f"{each} marks with probability 1 throughout, at 4000 connections",
                "section III-B",
                partial(_certain, each),
            )
            for each in BLUES
        ),
    ),
    plot=_plot,
    headline=Headline("loss", "loss at 1000 connections, 100 KB, %", {"connections": 1000, "buffer": 100}, 100),
    quick=Quick(set=SHORT, cases=cases(False, (1000, 100), (1000, 1000), (4000, 100))),
)
