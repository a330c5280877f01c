"""comparison/table1: what FRED gives TCP and a UDP flow, by the link's rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.analysis.judge import above, at_most, every
from headgate.experiment.declare import Choice, Claim, Experiment, Headline, Published, Quick, grid
from headgate.papers import axes
from headgate.papers.comparison._setting import CC, DURATION, JITTER, MEASURES, OVERHEAD, Judge, scenario
from headgate.plot.panels import figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.analysis.judge import Judgement
    from headgate.experiment.found import Found

#: The link's rates in Mbit/s.
LINKS = (0.5, 1, 2, 4, 8, 10, 20)
#: The bottleneck's delay as in the other figures, and the one that the table implies: at 20 Mbit/s a fifth of the link
#: is unused, so TCP has all that its windows allow. 10 windows of 50 packets of 8000 bits a round trip are 13.94 Mbit/s
#: at 287 ms, of which the access links have 20 ms and sending a packet 0.5 ms.
CHOSEN, IMPLIED = "10ms", "133ms"
DELAYS = {CHOSEN: "round trip 40 ms", IMPLIED: "round trip 287 ms"}
#: By how much the paper's own shares of TCP differ from 0.5 to 8 Mbit/s, which it calls not very much: 83 % and 72 %.
STEADY = 0.11
#: The part of its 2 Mbit/s that the paper calls the UDP flow's full share: 1.85 at 10 Mbit/s.
FULL = 1.85 / 2


def _steady(delay: str) -> Judge:
    def judge(found: Found) -> Judgement:
        first, *others = [rate for rate in found.axis("link") if rate <= 8]
        of_first = found("tcp_share", "FRED", link=first, delay=delay)
        return every(at_most(of_first - found("tcp_share", "FRED", link=rate, delay=delay), STEADY) for rate in others)

    return judge


def _full(delay: str) -> Judge:
    return lambda found: every(above(found("cbr_part", "FRED", link=rate, delay=delay), FULL) for rate in (10, 20))


def _plot(found: Found) -> Figure:
    places = {rate: float(place) for place, rate in enumerate(LINKS)}
    drawn = axes.panels(list(DELAYS.values()), height=3.4)
    for panel, delay in zip(drawn, DELAYS, strict=True):
        for measure, label, mark, dashes in (
            ("tcp_share", "TCP, ten flows together", "o", "-"),
            ("cbr_share", "UDP", "s", "--"),
        ):
            line = {"label": label, "marker": mark, "linestyle": dashes}
            axes.curves(panel, found, measure, "link", labels=["FRED"], x=places, scale=100, line=line, delay=delay)
            axes.published(panel, found, measure, x=places, scale=100, delay=delay)
        panel.set_xticks(list(places.values()), [str(rate) for rate in places])
        panel.set_ylim(0, 100)
        panel.set_xlabel("Bottleneck bandwidth (Mbit/s)")
    drawn[0].set_ylabel("Share of the bottleneck (%)")
    note = "Lines: here, with the 95 % interval over seeds. Crosses: the paper's table 1. The UDP flow sends 2 Mbit/s."
    return axes.finish(figure_of(drawn[0]), EXPERIMENT.title, note, drawn[-1])


def _published(measure: str, unit: str, scale: float, *numbers: float) -> list[Published]:
    """The table's numbers beside those at both round-trip times."""
    return [
        Published(measure, "table 1", {"FRED": numbers}, "link", LINKS, {"delay": delay}, unit, scale)
        for delay in DELAYS
    ]


EXPERIMENT = Experiment(
    title="What FRED gives TCP and a UDP flow, by the link's rate",
    place="table 1",
    about="Ten TCP flows and a UDP flow of 2 Mbit/s under FRED on 0.5 to 20 Mbit/s, with the round trip of the other "
    "figures and with the one that the table implies. How do they share?",
    scenario=scenario("table1", "FRED on $link Mbit/s.", rate="${link}Mbit/s"),
    qdiscs={"FRED": "fred"},
    cases=grid(delay=tuple(DELAYS), link=LINKS),
    measures={
        **MEASURES,
        "tcp_share": lambda run: MEASURES["tcp"](run) * 1e6 / run.rate_bps,
        "cbr_share": lambda run: MEASURES["cbr"](run) * 1e6 / run.rate_bps,
        "cbr_part": lambda run: 1 - float(run.flows("dropped", "cbr").sum() / run.flows("arrived", "cbr").sum()),
    },
    published=(
        *_published("tcp", "Mbit/s", 1.0, 0.42, 0.80, 1.61, 3.14, 5.73, 7.41, 13.94),
        *_published("cbr", "Mbit/s", 1.0, 0.06, 0.15, 0.29, 0.66, 1.82, 1.85, 1.86),
        *_published("tcp_share", "%", 100.0, 83, 80, 81, 78, 72, 74, 70),
        *_published("cbr_share", "%", 100.0, 12, 15, 14, 17, 23, 19, 9),
    ),
    choices=(
        Choice(
            "round trip",
            "40 ms and 287 ms",
            "the paper gives none; 40 ms is our choice for its other figures. The table implies 287 ms: at 20 Mbit/s "
            "the link is not full, so TCP's 13.94 Mbit/s are ten windows of 50 packets each round trip",
        ),
        Choice("cbr", 2, "the UDP rate is not given; it got 1.86 Mbit/s where there was enough for it", (1.86, 2.5, 4)),
        DURATION,
        JITTER,
        OVERHEAD,
        CC,
    ),
    claims=tuple(
        claim
        for delay, words in DELAYS.items()
        for claim in (
            Claim(
                f"TCP's share changes little from 0.5 to 8 Mbit/s: it falls by the paper's 11 points at most ({words})",
                "section 4.1, table 1",
                _steady(delay),
                "TCP begins at 89 % in place of 83 % and ends at the same 72 % at 8 Mbit/s. If its packets carry 40 "
                "bytes of headers that are not counted, as in ns-2, it begins at 83 % as there, and ends at 70 %.",
            ),
            Claim(
                f"When the bandwidth is large enough (10, 20 Mbit/s), UDP gets its full share (92.5 %; {words})",
                "section 4.1, table 1",
                _full(delay),
                "At 40 ms ten TCP flows fill 10 Mbit/s, so FRED still drops UDP's packets; at 287 ms they do not.",
            ),
        )
    ),
    plot=_plot,
    headline=Headline(
        "cbr", "Throughput of a UDP flow that sends 2 Mbit/s over 4 Mbit/s, Mbit/s", {"link": 4, "delay": CHOSEN}
    ),
    quick=Quick(seeds=1, set=("duration=50s",)),
)
