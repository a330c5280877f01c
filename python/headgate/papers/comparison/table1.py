"""comparison/table1: what FRED gives TCP and a UDP flow, by the link's rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.papers import axes
from headgate.papers.comparison._setting import MEASURES, SHARED, scenario
from headgate.papers.experiment import Choice, Claim, Experiment, Headline, Published, Quick, grid
from headgate.papers.judge import above, at_most, every
from headgate.plot.panels import figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.papers.found import Found
    from headgate.papers.judge import Judgement

#: The link's rates in Mbit/s.
LINKS = (0.5, 1, 2, 4, 8, 10, 20)
#: By how much the paper's own shares of TCP differ from 0.5 to 8 Mbit/s, which it calls not very much: 83 % and 72 %.
STEADY = 0.11
#: The part of its 2 Mbit/s that the paper calls the UDP flow's full share: 1.85 at 10 Mbit/s.
FULL = 1.85 / 2


def _steady(found: Found) -> Judgement:
    first, *others = [rate for rate in found.axis("link") if rate <= 8]
    shares = [found("tcp_share", "FRED", link=rate) for rate in others]
    return every(at_most(found("tcp_share", "FRED", link=first) - share, STEADY) for share in shares)


def _full(found: Found) -> Judgement:
    sent = float(EXPERIMENT.choices[0].value)
    return every(above(found("cbr", "FRED", link=rate), FULL * sent) for rate in (10, 20))


def _plot(found: Found) -> Figure:
    places = {rate: float(place) for place, rate in enumerate(LINKS)}
    drawn = axes.one()
    for measure, label, mark in (("tcp_share", "TCP, ten flows together", "o"), ("cbr_share", "UDP", "s")):
        line = {"label": label, "marker": mark, "linestyle": "-" if mark == "o" else "--"}
        axes.curves(drawn, found, measure, "link", x=places, scale=100, line=line)
        axes.published(drawn, found, measure, x=places, scale=100)
    drawn.set_xticks(list(places.values()), [str(rate) for rate in places])
    drawn.set_ylim(0, 100)
    drawn.set_xlabel("Bottleneck bandwidth (Mbit/s)")
    drawn.set_ylabel("Share of the bottleneck (%)")
    note = "Lines: here, with the 95 % interval over seeds. Crosses: the paper's table 1. The UDP flow sends 2 Mbit/s."
    return axes.finish(figure_of(drawn), EXPERIMENT.title, note, drawn)


def _published(measure: str, unit: str, scale: float, *numbers: float) -> Published:
    return Published(measure, "table 1", {"FRED": numbers}, axis="link", at=LINKS, unit=unit, scale=scale)


EXPERIMENT = Experiment(
    title="What FRED gives TCP and a UDP flow, by the link's rate",
    place="table 1",
    about="Ten TCP flows and a UDP flow of 2 Mbit/s under FRED on 0.5 to 20 Mbit/s. How do they share?",
    scenario=scenario("table1", "FRED on $link Mbit/s.", rate="${link}Mbit/s"),
    qdiscs={"FRED": "fred"},
    cases=grid(link=LINKS),
    measures={
        **MEASURES,
        "tcp_share": lambda run: MEASURES["tcp"](run) * 1e6 / run.rate_bps,
        "cbr_share": lambda run: MEASURES["cbr"](run) * 1e6 / run.rate_bps,
    },
    published=(
        _published("tcp", "Mbit/s", 1.0, 0.42, 0.80, 1.61, 3.14, 5.73, 7.41, 13.94),
        _published("cbr", "Mbit/s", 1.0, 0.06, 0.15, 0.29, 0.66, 1.82, 1.85, 1.86),
        _published("tcp_share", "%", 100.0, 83, 80, 81, 78, 72, 74, 70),
        _published("cbr_share", "%", 100.0, 12, 15, 14, 17, 23, 19, 9),
    ),
    choices=(
        Choice("cbr", 2, "the UDP rate is not given; it got 1.86 Mbit/s where there was enough for it", (1.9, 2.5, 4)),
        *SHARED,
    ),
    claims=(
        Claim(
            "TCP's share changes little from 0.5 to 8 Mbit/s: it falls by no more than the paper's own 11 points",
            "section 4.1, table 1",
            _steady,
        ),
        Claim(
            "When the bandwidth is large enough (10 and 20 Mbit/s), UDP gets its full share (the paper's 92.5 % of it)",
            "section 4.1, table 1",
            _full,
        ),
    ),
    plot=_plot,
    headline=Headline("cbr", "Throughput of a UDP flow that sends 2 Mbit/s over 4 Mbit/s, Mbit/s", {"link": 4}),
    quick=Quick(seeds=1, set=("duration=50s",)),
)
