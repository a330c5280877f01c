"""comparison/fig4: what a flow that does not slow down takes of the link and of the queue, by its rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.analysis.judge import above, below, between, every, falls
from headgate.experiment import queues
from headgate.experiment.declare import Claim, Experiment, Headline, Quick, grid
from headgate.papers import axes
from headgate.papers.comparison._setting import (
    BEYOND,
    FAIR_ENOUGH,
    MAXP,
    MEASURES,
    PLACES,
    QDISCS,
    RATES,
    SHARED,
    Judge,
    rate_axis,
    scenario,
)
from headgate.papers.measures import share_of_fair
from headgate.plot.panels import figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.analysis.judge import Judgement
    from headgate.experiment.found import Found


def _busy(label: str) -> Judge:
    return lambda found: every(above(found("total", label, cbr=rate), 0.90) for rate in found.axis("cbr"))


def _all_totals(found: Found) -> Judgement:
    return every(between(found("total", label, cbr=rate), 0.90, 0.96) for label in QDISCS for rate in found.axis("cbr"))


def _more(measure: str, label: str, *others: str) -> Judge:
    """At every rate above the link's, `label` has more than each of `others`."""
    return lambda found: every(
        above(found(measure, label, cbr=rate), found(measure, other, cbr=rate)) for other in others for rate in BEYOND
    )


def _dominates(label: str) -> Judge:
    return lambda found: every(above(found("cbr_share", label, cbr=rate), 0.5) for rate in BEYOND)


def _fair(label: str) -> Judge:
    return lambda found: every(above(found("tcp_fair", label, cbr=rate), FAIR_ENOUGH) for rate in found.axis("cbr"))


def _fairest(label: str) -> Judge:
    others = [other for other in QDISCS if other not in ("FRED", "SFB")]
    return lambda found: every(
        below(found("cbr_queue", label, cbr=rate), found("cbr_queue", other, cbr=rate))
        for other in others
        for rate in BEYOND
    )


def _half(found: Found) -> Judgement:
    return every(
        below(found("cbr_queue", "BLUE", cbr=rate), found("cbr_queue", "RED", cbr=rate), times=0.5) for rate in BEYOND
    )


def _plot(found: Found) -> Figure:
    taken, held = axes.apart(("Figure 4-1", "Figure 4-2"))
    axes.curves(taken, found, "cbr", "cbr", x=PLACES)
    axes.curves(held, found, "cbr_queue", "cbr", x=PLACES)
    rate_axis(taken, "UDP throughput (Mbit/s)")
    rate_axis(held, "UDP queue size (packets)")
    note = "Mean over seeds with its 95 % interval. The link has 1 Mbit/s; a fair share is 0.09 Mbit/s."
    return axes.finish(figure_of(taken), EXPERIMENT.title, note, held)


OTHERS = tuple(label for label in QDISCS if label != "DropTail")

#: Why TCP has less than its fair share.
UNFAIR = {
    "SFB": "At 0.4 Mbit/s UDP takes 0.18 Mbit/s. A Boxtime of 0.05 s lets unresponsive flows have 0.16, where a fair "
    "share is 0.09, and more passes by chance while a bin of theirs is empty.",
    "CHOKe": "From 0.4 to 2 Mbit/s UDP takes 0.18 to 0.25 Mbit/s. CHOKe bounds it, by 1/(1 + e) = 0.27 of the link "
    "(Tang, Wang and Low 2004), and does not make it fair.",
}

EXPERIMENT = Experiment(
    title="What a flow that does not slow down takes of the link and of the queue, by its rate",
    place="figures 4-1 and 4-2",
    about="Ten TCP flows and one UDP flow of 0.1 to 8 Mbit/s share 1 Mbit/s and 150 packets of buffer. Which of six "
    "disciplines keep the UDP flow from taking the link?",
    scenario=scenario("fig4", "Ten TCP flows and one of $cbr Mbit/s that does not slow down.", events="all"),
    qdiscs=QDISCS,
    cases=grid(cbr=RATES),
    measures={
        **MEASURES,
        "cbr_share": lambda run: MEASURES["cbr"](run) * 1e6 / (MEASURES["total"](run) * run.rate_bps),
        "tcp_fair": share_of_fair(kind="tcp"),
        "cbr_queue": queues.packets("cbr"),
    },
    choices=(*SHARED, MAXP),
    claims=(
        *(
            Claim(f"{label} provides high link utilisation: more than 90 % at every rate", "section 3.4", _busy(label))
            for label in QDISCS
        ),
        Claim(
            "All flows together get about 90 to 96 % of the link, with every discipline",
            "section 3.4",
            _all_totals,
            "The link is never idle here for long, and throughput counts whole packets of 1000 bytes. ns-2 sends a TCP "
            "packet of 1000 bytes as 1040: where the 40 do not count, TCP alone cannot exceed 96.2 %.",
        ),
        *(
            Claim(
                f"DropTail yields more UDP throughput than {label}, at every rate above the link's",
                "section 3.4, figure 4-1",
                _more("cbr", "DropTail", label),
                "At 4 and 8 Mbit/s UDP has more than 98 % of the link either way." if label in ("RED", "BLUE") else "",
            )
            for label in OTHERS
        ),
        *(
            Claim(
                f"With {label}, UDP dominates the link at every rate above the link's",
                "section 3.4, figure 4-1",
                _dominates(label),
            )
            for label in ("RED", "BLUE")
        ),
        *(
            Claim(
                f"With {label}, TCP achieves its fair share at every rate (0.88 of it, as FRED in the paper's table 1)",
                "section 3.4, figure 4-1",
                _fair(label),
                UNFAIR.get(label, ""),
            )
            for label in ("FRED", "SFB", "CHOKe")
        ),
        Claim(
            "With CHOKe, UDP throughput decreases as its rate goes from 2 to 8 Mbit/s",
            "section 3.4, figure 4-1",
            lambda found: falls([found("cbr", "CHOKe", cbr=rate) for rate in BEYOND]),
        ),
        *(
            Claim(
                f"UDP holds more of the queue with DropTail than with {label}, at every rate above the link's",
                "section 3.4, figure 4-2",
                _more("cbr_queue", "DropTail", label),
            )
            for label in OTHERS
        ),
        Claim(
            "BLUE uses much less buffer than RED: UDP holds less than half as much, at every rate above the link's",
            "section 3.4, figure 4-2",
            _half,
            "BLUE's queue swings between empty and full (figure 5); UDP holds 0.63 to 0.65 of what it holds in RED.",
        ),
        *(
            Claim(
                f"{label} is among the fairest: UDP holds less of the queue than with DropTail, RED, BLUE and CHOKe, "
                "at every rate above the link's",
                "section 3.4, figure 4-2",
                _fairest(label),
            )
            for label in ("FRED", "SFB")
        ),
    ),
    plot=_plot,
    headline=Headline("cbr", "Throughput of a UDP flow that sends 4 Mbit/s over 1 Mbit/s, Mbit/s", {"cbr": 4}),
    quick=Quick(seeds=1, set=("duration=50s",), cases=grid(cbr=(0.1, 0.4, 1, 2, 4, 8))),
)
