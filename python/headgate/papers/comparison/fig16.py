"""CHOKe and RED with other numbers of TCP and UDP flows."""

from headgate import style
from headgate.experiment import queues
from headgate.experiment.claims import Condition, along, below, every, falls, in_each_case, m, near, over
from headgate.experiment.declare import Case, Claim, Experiment, OpenParameter, QuickVariant
from headgate.experiment.layers import Line
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.papers.comparison._setting import (
    A_CHOKE,
    MAXP,
    MEASURES,
    RATE_AXIS,
    RATES,
    RATES_ABOVE_LINK,
    RED,
    WHY,
    WITH_UDP,
    at_rates_above_link,
    axis_position,
    network,
)

#: Numbers of TCP and of UDP flows, then the color and marker of each combination.
ONE_TCP, TEN_TCP, FIVE_UDP = {"tcp": 1, "udp": 1}, {"tcp": 10, "udp": 1}, {"tcp": 10, "udp": 5}
#: The reading of the axis in which UDP flows together have its rate.
TOGETHER = "of all flows"
FLOWS = (ONE_TCP, TEN_TCP, FIVE_UDP)
LOOKS = ((style.FAIR, "D"), (style.TCP, "o"), (style.UNRESPONSIVE, "s"))


def _cases(rates: tuple[float, ...]) -> tuple[Case, ...]:
    return tuple({**flows, "cbr": rate} for flows in FLOWS for rate in rates)


def _less(measure: str, more: Case, fewer: Case) -> Condition:
    """Whether a UDP measure under CHOKe is less with `more` flows than with `fewer`, at each rate above the link's."""
    return at_rates_above_link(below(m(measure, "CHOKe"), m(measure, "CHOKe", **fewer)), **more)


def _no_difference(first: Case, second: Case) -> Condition:
    """Whether RED's UDP throughput differs by at most 10 % between two numbers of flows, at each rate."""
    ratio = m("cbr_all", "RED", **second) / m("cbr_all", "RED", **first)
    return in_each_case(near(ratio, 1, within=0.1), **first)


def _panel(title: str, label: str, y: str, what: str) -> PlotPanel:
    lines = tuple(
        Line(
            over("cbr", y, label, **flows),
            {"label": f"{flows['tcp']} TCP, {flows['udp']} UDP", "color": color, "marker": marker},
            at=axis_position,
        )
        for flows, (color, marker) in zip(FLOWS, LOOKS, strict=True)
    )
    return PlotPanel(lines, RATE_AXIS, AxisScale(what, 0), f"{title} {label}")


EXPERIMENT = Experiment(
    about="One or ten TCP flows and one or five UDP flows share 1 Mbit/s under A-CHOKe, then under RED. How "
    "does UDP's throughput depend on their numbers?",
    scenario=lambda v: network(
        v,
        "fig16",
        f"{v.tcp} TCP and {v.udp} UDP flows.",
        tcp_flows=v.tcp,
        cbr_flows=v.udp,
        cbr=f"{v.cbr / (v.udp if v.udp_rate == TOGETHER else 1):g}Mbit/s",
        events="all",
    ),
    qdiscs={"CHOKe": A_CHOKE, "RED": RED},
    cases=_cases(RATES),
    measures={
        "cbr_all": MEASURES["cbr"],
        "cbr_each": lambda run: MEASURES["cbr"](run) / len(run.flows("flow", "cbr")),
        "cbr_queue": queues.packets("cbr"),
    },
    choices=(
        OpenParameter(
            "udp_rate",
            "of each flow",
            "the paper changes only the number of UDP flows, so five send five times the rate of one. But then UDP's "
            "throughput under RED depends on their number at low rates. With the rate of all flows it does not",
            (TOGETHER,),
        ),
        *WITH_UDP,
        MAXP,
    ),
    stated_in="section 4.4, figure 16a",
    claims=(
        Claim(
            "With more TCP flows, (10, 1) after (1, 1), UDP gets less under CHOKe, at every rate above the link's",
            _less("cbr_all", TEN_TCP, ONE_TCP),
        ),
        Claim(
            "With more TCP flows UDP also has less of CHOKe's queue",
            _less("cbr_queue", TEN_TCP, ONE_TCP),
            place="section 4.4, figure 16b",
        ),
        Claim(
            "With more UDP flows, (10, 5) after (10, 1), UDP flows together get less under CHOKe as well",
            _less("cbr_all", FIVE_UDP, TEN_TCP),
            WHY["fig16 meets itself"],
        ),
        Claim(
            "With more UDP flows, (10, 5) after (10, 1), each UDP flow gets less under CHOKe",
            _less("cbr_each", FIVE_UDP, TEN_TCP),
        ),
        Claim(
            "UDP gets less under CHOKe as its rate goes from 2 to 8 Mbit/s, with any of these numbers of flows",
            every(
                falls(along({rate: m("cbr_all", "CHOKe", **flows, cbr=rate) for rate in RATES_ABOVE_LINK}))
                for flows in FLOWS
            ),
        ),
        Claim(
            "RED's UDP throughput has no distinct difference (10 %) with 1 and 10 TCP flows, at any rate",
            _no_difference(ONE_TCP, TEN_TCP),
            WHY["fig16 TCP flows"],
            place="section 4.4, figure 16c",
        ),
        Claim(
            "RED's UDP throughput has no distinct difference (10 %) with 1 and 5 UDP flows, at any rate",
            _no_difference(TEN_TCP, FIVE_UDP),
            WHY["fig16 UDP flows"],
            place="section 4.4, figure 16c",
        ),
    ),
    plot=Plot(
        [
            _panel("(a)", "CHOKe", "cbr_all", "UDP throughput (Mbit/s)"),
            _panel("(b)", "CHOKe", "cbr_queue", "UDP queue size (packets)"),
            _panel("(c)", "RED", "cbr_all", "UDP throughput (Mbit/s)"),
            _panel("(d)", "RED", "cbr_queue", "UDP queue size (packets)"),
        ],
        "UDP flows together; the axis is the rate of each. Mean over seeds with its 95 % interval.",
        "apart",
        2.8,
        legend=0,
    ),
    quick=QuickVariant(set=("duration=50s",), cases=_cases((0.4, 2, 4, 8))),
    modern=False,
)
