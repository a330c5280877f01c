"""Whose packets are in the queue, over time."""

from headgate import style
from headgate.experiment import queues
from headgate.experiment.claims import above, at_most, every, m, near
from headgate.experiment.declare import Basis, Claim, Experiment, HeadlineMeasure, OpenParameter, for_each
from headgate.experiment.layers import RunLine, average_queue
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.papers.comparison._setting import DROPS, MAXP, MEASURES, QDISCS, WITH_UDP
from headgate.papers.comparison.fig4 import scenario

#: Disciplines that do not limit the unresponsive flow, and disciplines that do.
PERMISSIVE, PROTECTIVE = ("DropTail", "RED", "BLUE"), ("FRED", "SFB", "CHOKe")


def _panel(label: str) -> PlotPanel:
    return PlotPanel(
        (
            RunLine(average_queue(), label, look={"color": style.FAIR, "linewidth": 1.4, "label": "total"}),
            RunLine(average_queue("cbr"), label, look={"color": style.UNRESPONSIVE, "label": "UDP"}),
            RunLine(average_queue(kind="tcp"), label, look={"color": style.TCP, "linestyle": "--", "label": "TCP"}),
        ),
        AxisScale("Time (s)"),
        AxisScale("Average queue (packets)", 0, 155),
        label,
    )


EXPERIMENT = Experiment(
    about="Ten TCP flows and one UDP flow that is faster than the link. How many packets of each are queued, "
    "as an exponentially weighted average?",
    scenario=lambda v: scenario(v, name="fig5"),
    qdiscs=QDISCS,
    measures={
        **MEASURES,
        "queue": queues.packets(),
        "cbr_share": queues.share("cbr"),
        "cbr_most": queues.greatest_average("cbr"),
    },
    choices=(
        OpenParameter("cbr", 2, "the figure's UDP rate is not given; the text needs one above the link's", (1, 4, 8)),
        *WITH_UDP,
        MAXP,
        DROPS,
    ),
    stated_in="section 3.4, figure 5",
    claims=(
        *for_each(
            PERMISSIVE,
            "With {}, most of the packets in the queue are UDP's",
            lambda label: above(m("cbr_share", label), 0.5),
            # "Most" is more than half.
            basis=Basis.PAPER,
        ),
        *for_each(
            PROTECTIVE,
            "TCP's throughput is higher with {} than with DropTail, RED and BLUE",
            lambda label: every(above(m("tcp", label), m("tcp", other)) for other in PERMISSIVE),
        ),
        Claim(
            "With DropTail, the queue is at the buffer's size, 150 packets, at most times (its mean within 5 %)",
            near(m("queue", "DropTail"), 150, within=0.05),
            place="section 3.4, figure 5a",
        ),
        Claim(
            "With RED, the queue is kept at maxth, 100 packets (within 5 %)",
            near(m("queue", "RED"), 100, within=0.05),
            place="section 3.4, figure 5b",
        ),
        Claim(
            "With CHOKe, the queue is kept around minth, 50 packets (within 20 %)",
            near(m("queue", "CHOKe"), 50, within=0.2),
            place="section 3.4, figure 5f",
        ),
        Claim(
            "FRED limits UDP's queue to 10 packets",
            at_most(m("cbr_most", "FRED"), 10),
            place="section 4.1, figure 5c",
            basis=Basis.PAPER,
        ),
    ),
    plot=Plot(_panel, "Averages over arrivals with weight 0.002, as in the paper; one seed.", legend=2),
    headline=HeadlineMeasure("queue", "Packets in the queue beside a UDP flow of 2 Mbit/s over 1 Mbit/s"),
)
