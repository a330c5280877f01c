"""comparison/fig16: CHOKe and RED with other numbers of TCP and UDP flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate import style
from headgate.analysis.judge import below, every, falls, near
from headgate.experiment import queues
from headgate.experiment.declare import Case, Choice, Claim, Experiment, Quick
from headgate.papers import axes
from headgate.papers.comparison._setting import (
    A_CHOKE,
    BEYOND,
    MAXP,
    MEASURES,
    PLACES,
    RATES,
    RED,
    SHARED,
    Judge,
    rate_axis,
    scenario,
)
from headgate.plot.panels import figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.analysis.judge import Quantity
    from headgate.experiment.found import Found

#: Numbers of TCP and of UDP flows.
FLOWS = ((1, 1), (10, 1), (10, 5))
COLOURS = (style.FAIR, style.TCP, style.UNRESPONSIVE)


def _cases(rates: tuple[float, ...]) -> tuple[Case, ...]:
    return tuple({"tcp": tcp, "udp": udp, "cbr": rate} for tcp, udp in FLOWS for rate in rates)


def _less(measure: str, more: tuple[int, int], fewer: tuple[int, int]) -> Judge:
    """CHOKe leaves UDP less with `more` flows than with `fewer`, at every rate above the link's."""
    return lambda found: every(
        below(
            found(measure, "CHOKe", tcp=more[0], udp=more[1], cbr=rate),
            found(measure, "CHOKe", tcp=fewer[0], udp=fewer[1], cbr=rate),
        )
        for rate in BEYOND
    )


def _falls(tcp: int, udp: int) -> Judge:
    return lambda found: falls([found("cbr_all", "CHOKe", tcp=tcp, udp=udp, cbr=rate) for rate in BEYOND])


def _no_difference(first: tuple[int, int], second: tuple[int, int]) -> Judge:
    """RED's UDP throughputs are within 10 % of each other, at every rate."""

    def ratio(found: Found, rate: float) -> Quantity:
        one = found("cbr_all", "RED", tcp=first[0], udp=first[1], cbr=rate)
        return found("cbr_all", "RED", tcp=second[0], udp=second[1], cbr=rate) / one

    return lambda found: every(near(ratio(found, rate), 1, within=0.1) for rate in found.axis("cbr"))


def _plot(found: Found) -> Figure:
    drawn = axes.apart(["(a) CHOKe", "(b) CHOKe", "(c) RED", "(d) RED"], height=2.8)
    for panel, (label, measure, quantity) in zip(
        drawn,
        (
            ("CHOKe", "cbr_all", "UDP throughput (Mbit/s)"),
            ("CHOKe", "cbr_queue", "UDP queue size (packets)"),
            ("RED", "cbr_all", "UDP throughput (Mbit/s)"),
            ("RED", "cbr_queue", "UDP queue size (packets)"),
        ),
        strict=True,
    ):
        for (tcp, udp), colour, mark in zip(FLOWS, COLOURS, ("D", "o", "s"), strict=True):
            line = {"label": f"{tcp} TCP, {udp} UDP", "color": colour, "marker": mark, "linestyle": "-"}
            axes.curves(panel, found, measure, "cbr", labels=[label], x=PLACES, line=line, tcp=tcp, udp=udp)
        rate_axis(panel, quantity)
    note = "UDP flows together; the axis is the rate of each. Mean over seeds with its 95 % interval."
    return axes.finish(figure_of(drawn[0]), EXPERIMENT.title, note, drawn[0])


EXPERIMENT = Experiment(
    title="CHOKe and RED with other numbers of TCP and UDP flows",
    place="figure 16",
    about="One or ten TCP flows and one or five UDP flows share 1 Mbit/s under A-CHOKe, then under RED. How does "
    "what UDP gets depend on their numbers?",
    scenario=scenario("fig16", "$tcp TCP and $udp UDP flows.", tcp_flows="$tcp", cbr_flows="$udp", events="all"),
    qdiscs={"CHOKe": A_CHOKE, "RED": RED},
    cases=_cases(RATES),
    measures={
        "cbr_all": MEASURES["cbr"],
        "cbr_each": lambda run: MEASURES["cbr"](run) / len(run.flows("flow", "cbr")),
        "cbr_queue": queues.packets("cbr"),
    },
    choices=(
        Choice(
            "UDP rate",
            "that of each flow",
            "the paper changes the number of UDP flows and nothing else; of five flows together it is five times that",
        ),
        *SHARED,
        MAXP,
    ),
    claims=(
        Claim(
            "With more TCP flows, (10, 1) after (1, 1), CHOKe leaves UDP less, at every rate above the link's",
            "section 4.4, figure 16a",
            _less("cbr_all", (10, 1), (1, 1)),
        ),
        Claim(
            "It also leaves UDP less of the queue",
            "section 4.4, figure 16b",
            _less("cbr_queue", (10, 1), (1, 1)),
        ),
        Claim(
            "With more UDP flows, (10, 5) after (10, 1), CHOKe leaves UDP flows together less as well",
            "section 4.4, figure 16a",
            _less("cbr_all", (10, 5), (10, 1)),
            "Each of five flows meets itself a fifth as often, so together they hold more of the queue and get more. "
            "Each of them gets less.",
        ),
        Claim(
            "With more UDP flows, (10, 5) after (10, 1), CHOKe leaves each of them less",
            "section 4.4, figure 16a",
            _less("cbr_each", (10, 5), (10, 1)),
        ),
        *(
            Claim(
                f"CHOKe leaves UDP less as its rate goes from 2 to 8 Mbit/s, with {tcp} TCP and {udp} UDP",
                "section 4.4, figure 16a",
                _falls(tcp, udp),
            )
            for tcp, udp in FLOWS
        ),
        Claim(
            "RED's UDP throughput has no distinct difference (10 %) with 1 and 10 TCP flows, at any rate",
            "section 4.4, figure 16c",
            _no_difference((1, 1), (10, 1)),
            "At 0.8 and 1 Mbit/s UDP gets 0.79 and 0.95 beside one TCP flow, and 0.71 and 0.83 beside ten. Beyond, it "
            "holds.",
        ),
        Claim(
            "RED's UDP throughput has no distinct difference (10 %) with 1 and 5 UDP flows, at any rate",
            "section 4.4, figure 16c",
            _no_difference((10, 1), (10, 5)),
            "Up to 1 Mbit/s each, five flows offer five times as much, and get up to that. Above that it holds.",
        ),
    ),
    plot=_plot,
    quick=Quick(seeds=1, set=("duration=50s",), cases=_cases((0.4, 2, 4, 8))),
    modern=False,
)
