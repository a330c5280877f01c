"""Shares of TCP and a UDP flow under FRED, by the link's rate."""

from headgate.experiment.claims import above, at_most, every, in_each_case, m, over
from headgate.experiment.declare import (
    Claim,
    Experiment,
    HeadlineMeasure,
    OpenParameter,
    PublishedNumbers,
    QuickVariant,
    grid,
)
from headgate.experiment.layers import Line, PublishedMarks
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.papers.comparison._setting import DURATION, JITTER, MEASURES, RECOVERY, SEND_JITTER, WHY, network

#: The link's rates in Mbit/s.
LINKS = (0.5, 1, 2, 4, 8, 10, 20)
#: The bottleneck's delay in the other figures, and the delay that the table implies. At 20 Mbit/s a fifth of the link
#: is unused, so TCP is limited by its windows: ten windows of 50 packets of 8000 bits per round-trip time. They are
#: 13.94 Mbit/s if that time is 287 ms. The access links cause 20 ms of it, sending a packet 0.5 ms.
CHOSEN, IMPLIED = "10ms", "133ms"
DELAYS = {CHOSEN: "round-trip time 40 ms", IMPLIED: "round-trip time 287 ms"}
#: In the paper's table, TCP's share falls from 83 % at 0.5 Mbit/s to 72 % at 8 Mbit/s. The text calls that "not very
#: much".
STEADY = 0.11
#: The part of its 2 Mbit/s that the paper calls the UDP flow's full share: 1.85 Mbit/s, on a link of 10 Mbit/s.
FULL = 1.85 / 2


def _place(rate: float) -> float:
    return float(LINKS.index(rate))


def _panel(delay: str) -> PlotPanel:
    looks = {
        "tcp_share": {"label": "TCP, ten flows together", "marker": "o", "linestyle": "-"},
        "cbr_share": {"label": "UDP", "marker": "s", "linestyle": "--"},
    }
    layers = tuple(
        layer
        for y, look in looks.items()
        for layer in (
            Line(over("link", y, "FRED", delay=delay), look, "FRED", scale=100, at=_place),
            PublishedMarks(y, {"delay": delay}, scale=100, at=_place),
        )
    )
    x = AxisScale("Bottleneck bandwidth (Mbit/s)", ticks={place: str(rate) for place, rate in enumerate(LINKS)})
    return PlotPanel(layers, x, AxisScale("Share of the bottleneck (%)", 0, 100), DELAYS[delay])


def _published(measure: str, unit: str, scale: float, *numbers: float) -> list[PublishedNumbers]:
    """The table's numbers, to be compared with ours at each round-trip time."""
    return [
        PublishedNumbers(measure, "table 1", {"FRED": numbers}, "link", LINKS, {"delay": delay}, unit, scale)
        for delay in DELAYS
    ]


EXPERIMENT = Experiment(
    about="Ten TCP flows and a UDP flow of 2 Mbit/s share a link of 0.5 to 20 Mbit/s under FRED. There are runs with "
    "the round-trip time of the other figures, and with the one that the table implies. How do the flows share the "
    "link?",
    scenario=lambda v: network(v, "table1", f"FRED on {v.link} Mbit/s.", rate=f"{v.link}Mbit/s"),
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
        OpenParameter(
            "round trip",
            "40 ms and 287 ms",
            "the paper gives none; 40 ms is our choice for its other figures. The table implies 287 ms: at 20 "
            "Mbit/s the link is not full, so TCP's 13.94 Mbit/s are ten windows of 50 packets per round-trip "
            "time",
        ),
        OpenParameter(
            "cbr", 2, "the UDP rate is not given; UDP gets 1.86 Mbit/s on the link of 20 Mbit/s", (1.86, 2.5, 4)
        ),
        DURATION,
        JITTER,
        SEND_JITTER,
        RECOVERY,
    ),
    stated_in="section 4.1, table 1",
    claims=tuple(
        claim
        for delay, words in DELAYS.items()
        for claim in (
            Claim(
                f"TCP's share changes little from 0.5 to 8 Mbit/s: it falls by the paper's 11 points at most ({words})",
                in_each_case(
                    at_most(m("tcp_share", "FRED", link=LINKS[0]) - m("tcp_share", "FRED"), STEADY),
                    delay=delay,
                    link=lambda rate: LINKS[0] < rate <= 8,
                ),
                WHY["table1 headers"],
            ),
            Claim(
                f"When the bandwidth is large enough (10, 20 Mbit/s), UDP gets its full share (92.5 %; {words})",
                every(above(m("cbr_part", "FRED", link=rate, delay=delay), FULL) for rate in (10, 20)),
                WHY["table1 full"],
            ),
        )
    ),
    plot=Plot(
        [_panel(delay) for delay in DELAYS],
        "Lines: here, with the 95 % interval over seeds. Crosses: the paper's table 1. The UDP flow sends 2 Mbit/s.",
        height=3.4,
        legend=1,
    ),
    headline=HeadlineMeasure(
        "cbr", "Throughput of a UDP flow that sends 2 Mbit/s over 4 Mbit/s, Mbit/s", {"link": 4, "delay": CHOSEN}
    ),
    quick=QuickVariant(set=("duration=50s",)),
)
