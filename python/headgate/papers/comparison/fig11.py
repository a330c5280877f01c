"""Effect of SFB's Boxtime on the queues of TCP and UDP flows."""

from headgate import style
from headgate.experiment import queues
from headgate.experiment.claims import above, below, m, near
from headgate.experiment.declare import Claim, Experiment, PublishedNumbers, grid
from headgate.experiment.layers import RunLine, average_queue
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.papers.comparison._many import many_flows
from headgate.papers.comparison._setting import DROPS, MEASURES, SFB, WHY, WITH_UDP

LARGE, SMALL = "500ms", "20ms"


def _panel(boxtime: str, title: str) -> PlotPanel:
    groups = {"tcp": {"color": style.TCP, "label": "TCP"}, "cbr": {"color": style.UNRESPONSIVE, "label": "UDP"}}
    return PlotPanel(
        tuple(RunLine(average_queue(group), "SFB", {"boxtime": boxtime}, look=look) for group, look in groups.items()),
        AxisScale("Time (s)"),
        AxisScale("Average queue (KB)", 0),
        title,
    )


EXPERIMENT = Experiment(
    about="49 TCP flows and a UDP flow of 40 Mbit/s share 1 Mbit/s and a buffer of 150 KB under SFB. SFB "
    "admits one packet of unresponsive flows per Boxtime.",
    scenario=lambda v: many_flows(
        v, "fig11", f"49 TCP flows and one of 40 Mbit/s under SFB, Boxtime {v.boxtime}.", "150p", udp=True
    ),
    qdiscs={"SFB": f"{SFB},boxtime=$boxtime"},
    cases=grid(boxtime=(LARGE, SMALL)),
    measures={**MEASURES, "cbr_queue": queues.packets("cbr"), "tcp_queue": queues.packets("tcp")},
    published=(
        PublishedNumbers(
            "cbr", "section 4.3", {"SFB": (0.013, 0.27)}, axis="boxtime", at=(LARGE, SMALL), unit="Mbit/s"
        ),
        PublishedNumbers(
            "tcp", "section 4.3", {"SFB": (0.926, 0.66)}, axis="boxtime", at=(LARGE, SMALL), unit="Mbit/s"
        ),
    ),
    choices=(*WITH_UDP, DROPS),
    stated_in="section 4.3",
    claims=(
        Claim(
            "With a large Boxtime UDP's average queue is very small (less than a tenth of TCP's)",
            below(m("cbr_queue", "SFB", boxtime=LARGE), m("tcp_queue", "SFB", boxtime=LARGE), times=0.1),
            place="section 4.3, figure 11a",
        ),
        Claim(
            "With a small Boxtime UDP's average queue is quite large (more than five times that with a large one)",
            above(m("cbr_queue", "SFB", boxtime=SMALL), m("cbr_queue", "SFB", boxtime=LARGE), times=5),
            place="section 4.3, figure 11b",
        ),
        Claim(
            "A small Boxtime leads to a higher UDP throughput than a large one",
            above(m("cbr", "SFB", boxtime=SMALL), m("cbr", "SFB", boxtime=LARGE)),
        ),
        Claim(
            "With a small Boxtime TCP gets less than with a large one",
            below(m("tcp", "SFB", boxtime=SMALL), m("tcp", "SFB", boxtime=LARGE)),
        ),
        *(
            Claim(
                f"With a Boxtime of {boxtime}, {who} gets {rate} Mbit/s (within a tenth)",
                near(m(group, "SFB", boxtime=boxtime), rate, within=0.1),
                finding,
            )
            for boxtime, group, who, rate, finding in (
                (LARGE, "cbr", "UDP", 0.013, WHY["fig11 bound"]),
                (SMALL, "cbr", "UDP", 0.27, WHY["fig11 bound"]),
                (SMALL, "tcp", "TCP", 0.66, WHY["fig11 bound"]),
            )
        ),
    ),
    plot=Plot(
        [_panel(LARGE, "(a) Boxtime 0.5 s"), _panel(SMALL, "(b) Boxtime 0.02 s")],
        "Averages over arrivals with weight 0.002, in packets of 1 KB; one seed.",
        height=3.4,
        legend=1,
    ),
    modern=False,
)
