"""Shares of TCP and a UDP flow under FRED, by the link's rate."""

from headgate.experiment.claims import above, at_most, every, in_each_case, m, over
from headgate.experiment.declare import (
    Basis,
    Claim,
    Experiment,
    HeadlineMeasure,
    OpenParameter,
    PublishedNumbers,
    QuickVariant,
    grid,
)
from headgate.experiment.layers import Line, PublishedMarks
from headgate.experiment.measures import throughput, throughput_share
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.papers.comparison._setting import (
    DURATION,
    JITTER,
    MBIT,
    MEASURES,
    RECOVERY,
    SEND_JITTER,
    UNIT,
    WHY,
    network,
)

#: The link's rates in Mbit/s.
LINKS = (0.5, 1, 2, 4, 8, 10, 20)
#: The delay that the table implies. At 20 Mbit/s a fifth of the link is unused, so TCP is limited by its windows: ten
#: windows of 50 packets of 8000 bits per round-trip time. They are 13.94 times 2^20 bit/s if that time is 274 ms. The
#: access links cause 20 ms of it, sending a packet 0.5 ms.
IMPLIED = "126.6ms"
#: Throughput of TCP and UDP together in the table.
SUMS = (0.48, 0.95, 1.90, 3.80, 7.55, 9.26, 15.80)
#: In the paper's table, TCP's share falls from 83 % at 0.5 Mbit/s to 5.73 of 8 Mbit/s. The text calls that "not very
#: much". These numbers are rounded: 83 % is below 83.5 %, and 5.73 is 5.725 at least.
STEADY = 0.835 - 5.725 / 8
#: The part of its 2 Mbit/s that the paper calls the UDP flow's full share: 1.85 times 2^20 bit/s on 10 Mbit/s.
FULL = 1.85 * MBIT / 2e6


def _place(rate: float) -> float:
    return float(LINKS.index(rate))


def _panel() -> PlotPanel:
    looks = {
        "tcp_share": {"label": "TCP, ten flows together", "marker": "o", "linestyle": "-"},
        "cbr_share": {"label": "UDP", "marker": "s", "linestyle": "--"},
    }
    layers = tuple(
        layer
        for y, look in looks.items()
        for layer in (
            Line(over("link", y, "FRED"), look, "FRED", scale=100, at=_place),
            PublishedMarks(y, {}, scale=100, at=_place),
        )
    )
    x = AxisScale("Bottleneck bandwidth (Mbit/s)", ticks={place: str(rate) for place, rate in enumerate(LINKS)})
    return PlotPanel(layers, x, AxisScale("Share of the bottleneck (%)", 0, 100))


def _published(measure: str, unit: str, scale: float, *numbers: float) -> PublishedNumbers:
    return PublishedNumbers(measure, "table 1", {"FRED": numbers}, "link", LINKS, unit=unit, scale=scale)


EXPERIMENT = Experiment(
    about="Ten TCP flows and a UDP flow of 2 Mbit/s share a link of 0.5 to 20 Mbit/s under FRED, with the "
    "round-trip time that the table implies. How do the flows share the link?",
    scenario=lambda v: network(v, "table1", f"FRED on {v.link} Mbit/s.", rate=f"{v.link}Mbit/s"),
    qdiscs={"FRED": "fred"},
    cases=grid(link=LINKS),
    measures={
        **MEASURES,
        "sum": throughput() * (1 / MBIT),
        "sum_decimal": throughput() * 1e-6,
        "tcp_share": throughput_share(kind="tcp") * (1e6 / MBIT),
        "cbr_share": throughput_share("cbr") * (1e6 / MBIT),
        "cbr_part": lambda run: 1 - float(run.flows("dropped", "cbr").sum() / run.flows("arrived", "cbr").sum()),
    },
    published=(
        # The sums of both columns in either unit show which the paper has.
        _published("sum", "2^20 bit/s", 1.0, *SUMS),
        _published("sum_decimal", "10^6 bit/s", 1.0, *SUMS),
        _published("tcp", "Mbit/s", 1.0, 0.42, 0.80, 1.61, 3.14, 5.73, 7.41, 13.94),
        _published("cbr", "Mbit/s", 1.0, 0.06, 0.15, 0.29, 0.66, 1.82, 1.85, 1.86),
        _published("tcp_share", "%", 100.0, 83, 80, 81, 78, 72, 74, 70),
        _published("cbr_share", "%", 100.0, 12, 15, 14, 17, 23, 19, 9),
    ),
    choices=(
        UNIT,
        OpenParameter(
            "delay",
            IMPLIED,
            "the paper gives none. The table implies a round-trip time of 274 ms: at 20 Mbit/s the link is not full, "
            "so TCP's 13.94 Mbit/s are ten windows of 50 packets per round-trip time",
            ("10ms", "133ms"),
        ),
        OpenParameter(
            "cbr",
            2,
            "the UDP rate is not given; UDP gets 1.86 times 2^20 bit/s on the link of 20 Mbit/s",
            (1.95, 2.5, 4),
        ),
        DURATION,
        JITTER,
        SEND_JITTER,
        RECOVERY,
    ),
    stated_in="section 4.1, table 1",
    claims=(
        Claim(
            "TCP's share changes little from 0.5 to 8 Mbit/s: it falls by the paper's 11.9 points at most",
            in_each_case(
                at_most(m("tcp_share", "FRED", link=LINKS[0]) - m("tcp_share", "FRED"), STEADY),
                link=lambda rate: LINKS[0] < rate <= 8,
            ),
            WHY["table1 headers"],
            basis=Basis.PAPER,
        ),
        Claim(
            "When the bandwidth is large enough (10, 20 Mbit/s), UDP gets its full share (97 %, as in the table)",
            every(above(m("cbr_part", "FRED", link=rate), FULL) for rate in (10, 20)),
            basis=Basis.PAPER,
        ),
    ),
    plot=Plot(
        [_panel()],
        "Lines: here, with the 95 % interval over seeds. Crosses: the paper's table 1. The UDP flow sends 2 Mbit/s.",
        height=3.4,
        legend=0,
    ),
    headline=HeadlineMeasure("cbr", "Throughput of a UDP flow that sends 2 Mbit/s over 4 Mbit/s, Mbit/s", {"link": 4}),
    quick=QuickVariant(set=("duration=50s",)),
)
