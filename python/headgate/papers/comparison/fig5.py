"""comparison/fig5: whose packets are in the queue, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate import style
from headgate.analysis.judge import above, at_most, every, near
from headgate.experiment import queues
from headgate.experiment.declare import Choice, Claim, Experiment, Headline, Quick
from headgate.papers import axes
from headgate.papers.comparison._setting import MAXP, MEASURES, QDISCS, SHARED, Judge, scenario
from headgate.plot.panels import columns, figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found

#: Those that do not hold the flow that does not slow down, and those that do.
YIELD, HOLD = ("DropTail", "RED", "BLUE"), ("FRED", "SFB", "CHOKe")


def _mostly_cbr(label: str) -> Judge:
    return lambda found: above(found("cbr_share", label), 0.5)


def _more_for_tcp(label: str) -> Judge:
    return lambda found: every(above(found("tcp", label), found("tcp", other)) for other in YIELD)


def _stays(label: str, packets: float, within: float) -> Judge:
    return lambda found: near(found("queue", label), packets, within=within)


def _plot(found: Found) -> Figure:
    drawn = axes.panels(list(found.labels))
    for panel, label in zip(drawn, found.labels, strict=True):
        axes.average_over_time(panel, found, label, color=style.FAIR, linewidth=1.4, label="total")
        axes.average_over_time(panel, found, label, group="cbr", color=style.UNRESPONSIVE, label="UDP")
        axes.average_over_time(panel, found, label, kind="tcp", color=style.TCP, linestyle="--", label="TCP")
        panel.set_ylim(0, 155)
    across = columns(len(drawn))
    for panel in drawn[-across:]:
        panel.set_xlabel("Time (s)")
    for panel in drawn[::across]:
        panel.set_ylabel("Average queue (packets)")
    note = "Averages over arrivals with weight 0.002, as in the paper; one seed."
    return axes.finish(figure_of(drawn[0]), EXPERIMENT.title, note, drawn[2])


EXPERIMENT = Experiment(
    title="Whose packets are in the queue, over time",
    place="figure 5",
    about="Ten TCP flows and one UDP flow faster than the link: how much of the queue is whose, as an exponentially "
    "weighted average?",
    scenario=scenario("fig5", "Ten TCP flows and one of $cbr Mbit/s that does not slow down.", events="all"),
    qdiscs=QDISCS,
    measures={
        **MEASURES,
        "queue": queues.packets(),
        "cbr_share": queues.share("cbr"),
        "cbr_most": queues.greatest_average("cbr"),
    },
    choices=(
        Choice("cbr", 2, "the figure's UDP rate is not given; the text needs one above the link's", (1, 4, 8)),
        *SHARED,
        MAXP,
    ),
    claims=(
        *(
            Claim(
                f"With {label}, most of the packets in the queue are UDP's", "section 3.4, figure 5", _mostly_cbr(label)
            )
            for label in YIELD
        ),
        *(
            Claim(
                f"{label} allows TCP a higher throughput than DropTail, RED and BLUE do",
                "section 3.4, figure 5",
                _more_for_tcp(label),
            )
            for label in HOLD
        ),
        Claim(
            "With DropTail, the queue is at the buffer's size, 150 packets, at most times (its mean within 5 %)",
            "section 3.4, figure 5a",
            _stays("DropTail", 150, 0.05),
        ),
        Claim(
            "With RED, the queue is kept at maxth, 100 packets (within 5 %)",
            "section 3.4, figure 5b",
            _stays("RED", 100, 0.05),
        ),
        Claim(
            "With CHOKe, the queue is kept around minth, 50 packets (within 20 %)",
            "section 3.4, figure 5f",
            _stays("CHOKe", 50, 0.2),
        ),
        Claim(
            "FRED limits UDP's queue to 10 packets",
            "section 4.1, figure 5c",
            lambda found: at_most(found("cbr_most", "FRED"), 10),
        ),
    ),
    plot=_plot,
    headline=Headline("queue", "Packets in the queue beside a UDP flow of 2 Mbit/s over 1 Mbit/s"),
    quick=Quick(seeds=1),
)
