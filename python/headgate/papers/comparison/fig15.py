"""The queues of TCP and UDP flows in RED and CHOKe, by the UDP flow's rate."""

from headgate import style
from headgate.experiment import queues
from headgate.experiment.claims import Condition, above, below, in_each_case, m, near, over
from headgate.experiment.declare import Basis, Claim, QuickVariant
from headgate.experiment.layers import Line
from headgate.experiment.measures import jain, throughput_share
from headgate.experiment.plots import LAST, AxisScale, Plot, PlotPanel
from headgate.papers.comparison._setting import (
    A_CHOKE,
    MEASURES,
    RATE_AXIS,
    RED,
    WHY,
    at_rates_above_link,
    axis_position,
    by_rate,
)
from headgate.papers.comparison.fig4 import scenario

MINTH, MAXTH = 50, 100


def _similar(measure: str) -> Condition:
    """Whether CHOKe's queue is within a quarter of RED's, at each rate below the link's."""
    return in_each_case(near(m(measure, "CHOKe") / m(measure, "RED"), 1, within=0.25), cbr=lambda rate: rate < 1)


def _panel(label: str) -> PlotPanel:
    looks = {
        "queue": {"label": "total", "color": style.FAIR, "marker": "D"},
        "cbr_queue": {"label": "UDP", "color": style.UNRESPONSIVE, "marker": "s"},
        "tcp_queue": {"label": "TCP", "color": style.TCP, "marker": "o"},
    }
    layers = tuple(Line(over("cbr", y, label), look, at=axis_position) for y, look in looks.items())
    return PlotPanel(layers, RATE_AXIS, AxisScale("Queue size (packets)", 0), label)


EXPERIMENT = by_rate(
    about="Ten TCP flows and one UDP flow share 1 Mbit/s under RED, then under A-CHOKe. Whose packets are queued?",
    scenario=lambda v: scenario(v, name="fig15"),
    qdiscs={"RED": RED, "CHOKe": A_CHOKE},
    measures={
        **MEASURES,
        "queue": queues.packets(),
        "cbr_queue": queues.packets("cbr"),
        "tcp_queue": queues.packets(kind="tcp"),
        "cbr_held": queues.share("cbr"),
        "below_maxth": queues.share_of_time(MAXTH),
        "jain": jain(),
        "tcp_part": throughput_share(kind="tcp"),
    },
    stated_in="section 4.4, figure 15",
    claims=(
        *(
            Claim(
                f"With a UDP rate below the link's, CHOKe and RED perform very similarly: {owner} queue (within 25 %)",
                _similar(measure),
                WHY["fig15 always"],
            )
            for measure, owner in (("cbr_queue", "UDP's"), ("tcp_queue", "TCP's"))
        ),
        Claim(
            "With a UDP rate above the link's, CHOKe keeps the queue around minth, 50 packets (within 20 %)",
            at_rates_above_link(near(m("queue", "CHOKe"), MINTH, within=0.2)),
        ),
        Claim(
            "With a UDP rate above the link's, CHOKe enables TCP to get a high throughput (more than 0.8 of the link)",
            at_rates_above_link(above(m("tcp_part", "CHOKe"), 0.8)),
            place="section 4.4",
        ),
        Claim(
            "RED keeps the queue at or below maxth most of the time, with a UDP rate above the link's",
            at_rates_above_link(above(m("below_maxth", "RED"), 0.5)),
            # "Most" is more than half, as in the next claim.
            basis=Basis.PAPER,
        ),
        Claim(
            "Most of RED's queue is occupied by UDP, with a UDP rate above the link's",
            at_rates_above_link(above(m("cbr_held", "RED"), 0.5)),
            basis=Basis.PAPER,
        ),
        Claim(
            "TCP's throughput is then very low in RED (less than 0.05 of the link)",
            at_rates_above_link(below(m("tcp_part", "RED"), 0.05)),
            place="section 4.4",
        ),
        Claim(
            "CHOKe achieves much better fairness than RED, with a UDP rate above the link's (Jain's index)",
            at_rates_above_link(above(m("jain", "CHOKe"), m("jain", "RED"))),
        ),
    ),
    plot=Plot(
        _panel,
        "Mean over time and seeds with its 95 % interval. minth is 50 packets, maxth 100; the link has 1 Mbit/s.",
        height=3.4,
        legend=LAST,
    ),
    quick=QuickVariant(set=("duration=50s",)),
)
