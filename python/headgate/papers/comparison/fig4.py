"""Share of link and queue of an unresponsive flow, by its rate."""

from headgate.experiment import queues
from headgate.experiment.claims import above, along, below, between, every, falls, in_each_case, m
from headgate.experiment.declare import Basis, Claim, HeadlineMeasure, QuickVariant, ScenarioValues, for_each, grid
from headgate.experiment.layers import Lines
from headgate.experiment.measures import share_of_fair, throughput
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.papers.comparison._setting import (
    DROPS,
    FAIR_ENOUGH,
    MAXP,
    MEASURES,
    QDISCS,
    RATE_AXIS,
    RATES_ABOVE_LINK,
    WHY,
    WITH_UDP,
    at_rates_above_link,
    axis_position,
    by_rate,
    network,
)
from headgate.scenario.network import Dumbbell

OTHERS = tuple(label for label in QDISCS if label != "DropTail")
#: Disciplines that are less fair than FRED and SFB in figure 4-2.
UNFAIREST = ("DropTail", "RED", "BLUE", "CHOKe")


def scenario(v: ScenarioValues, name: str = "fig4") -> Dumbbell:
    """Ten TCP flows and a UDP flow with the case's rate. All events of the queue are recorded."""
    return network(v, name, f"Ten TCP flows and an unresponsive flow of {v.cbr} Mbit/s.", events="all")


EXPERIMENT = by_rate(
    place="figures 4-1 and 4-2",
    about="Ten TCP flows and one UDP flow of 0.1 to 8 Mbit/s share 1 Mbit/s and 150 packets of buffer. Which "
    "of six disciplines limit the UDP flow?",
    scenario=scenario,
    qdiscs=QDISCS,
    choices=(*WITH_UDP, MAXP, DROPS),
    measures={
        **MEASURES,
        "cbr_share": throughput("cbr") / throughput(),
        "tcp_fair": share_of_fair(kind="tcp"),
        "cbr_queue": queues.packets("cbr"),
    },
    stated_in="section 3.4, figure 4-1",
    claims=(
        *for_each(
            QDISCS,
            "{} provides high link utilization: more than 90 % at every rate",
            lambda label: in_each_case(above(m("total", label), 0.90)),
            place="section 3.4",
            # Any full link meets it.
            basis=Basis.ILLUSTRATION,
        ),
        Claim(
            "All flows together get about 90 to 96 % of the link, with every discipline",
            every(in_each_case(between(m("total", label), 0.90, 0.96)) for label in QDISCS),
            place="section 3.4",
            # The unit was chosen by such totals. In it, any full link has 95.4 %.
            basis=Basis.ILLUSTRATION,
        ),
        *for_each(
            OTHERS,
            "UDP's throughput is higher with DropTail than with {}, at every rate above the link's",
            lambda label: at_rates_above_link(above(m("cbr", "DropTail"), m("cbr", label))),
            dict.fromkeys(("RED", "BLUE"), WHY["fig4 either way"]),
        ),
        *for_each(
            ("RED", "BLUE"),
            "With {}, UDP dominates the link at every rate above the link's",
            lambda label: at_rates_above_link(above(m("cbr_share", label), 0.5)),
        ),
        *for_each(
            ("FRED", "SFB", "CHOKe"),
            "With {}, TCP achieves its fair share at every rate above the link's (0.92 of it, as FRED in table 1)",
            lambda label: at_rates_above_link(above(m("tcp_fair", label), FAIR_ENOUGH)),
            {"SFB": WHY["fig4 SFB"], "CHOKe": WHY["fig4 CHOKe"]},
        ),
        Claim(
            "With CHOKe, UDP throughput decreases as its rate goes from 2 to 8 Mbit/s",
            falls(along({rate: m("cbr", "CHOKe", cbr=rate) for rate in RATES_ABOVE_LINK})),
        ),
        *for_each(
            OTHERS,
            "UDP holds more of the queue with DropTail than with {}, at every rate above the link's",
            lambda label: at_rates_above_link(above(m("cbr_queue", "DropTail"), m("cbr_queue", label))),
            place="section 3.4, figure 4-2",
        ),
        Claim(
            "BLUE uses much less buffer than RED: UDP holds less than half as many packets, at every rate "
            "above the link's",
            at_rates_above_link(below(m("cbr_queue", "BLUE"), m("cbr_queue", "RED"), times=0.5)),
            WHY["fig4 swings"],
            place="section 3.4, figure 4-2",
        ),
        *for_each(
            ("FRED", "SFB"),
            "{} is among the fairest: UDP holds less of the queue than with DropTail, RED, BLUE and CHOKe, "
            "above the link's rate",
            lambda label: every(
                at_rates_above_link(below(m("cbr_queue", label), m("cbr_queue", other))) for other in UNFAIREST
            ),
            place="section 3.4, figure 4-2",
        ),
    ),
    plot=Plot(
        [
            PlotPanel((Lines(y, "cbr", at=axis_position),), RATE_AXIS, AxisScale(what, 0), title)
            for y, what, title in (
                ("cbr", "UDP throughput (Mbit/s)", "Figure 4-1"),
                ("cbr_queue", "UDP queue size (packets)", "Figure 4-2"),
            )
        ],
        "Mean over seeds with its 95 % interval. The link has 1 Mbit/s; a fair share is 0.09 Mbit/s.",
        "apart",
        legend=1,
    ),
    headline=HeadlineMeasure("cbr", "Throughput of a UDP flow that sends 4 Mbit/s over 1 Mbit/s, Mbit/s", {"cbr": 4}),
    quick=QuickVariant(set=("duration=50s",), cases=grid(cbr=(0.1, 0.4, 1, 2, 4, 8))),
)
