"""The concluding table: utilization and fairness, with one unresponsive flow and with many."""

from headgate.experiment.claims import above, below, every, in_each_case, m
from headgate.experiment.declare import Basis, Claim, Experiment, OpenParameter, QuickVariant, for_each, grid
from headgate.experiment.layers import Lines
from headgate.experiment.measures import drop_rate, jain, share_of_fair
from headgate.experiment.plots import AxisScale, Plot, PlotPanel
from headgate.papers.comparison._setting import DROPS, MAXP, MEASURES, QDISCS, WITH_UDP, network

#: Disciplines that the table calls fair and unfair. It has no DropTail.
FAIR, UNFAIR = ("FRED", "SFB", "CHOKe"), ("RED", "BLUE")
#: Numbers of UDP flows: one as in section 3, five as in figures 12 and 16, and a large number.
NUMBERS = (1, 5, 20)
ONE, MANY = {"udp": NUMBERS[0]}, {"udp": NUMBERS[-1]}


EXPERIMENT = Experiment(
    place="section 5",
    about="Ten TCP flows share 1 Mbit/s with one, five and twenty UDP flows. The table's other columns are words, not "
    "measurements: space, state for each flow, and ease of configuration.",
    scenario=lambda v: network(v, "conclusion", f"Ten TCP flows and {v.udp} UDP flows.", cbr_flows=v.udp),
    qdiscs={label: QDISCS[label] for label in ("RED", "FRED", "BLUE", "SFB", "CHOKe")},
    cases=grid(udp=NUMBERS),
    measures={
        **MEASURES,
        "jain": jain(),
        "tcp_fair": share_of_fair(kind="tcp"),
        "udp_drop_rate": drop_rate("cbr"),
        "tcp_drop_rate": drop_rate(kind="tcp"),
    },
    choices=(
        OpenParameter("cbr", 2, "the rate of each UDP flow is not given; the text needs one above the link's", (4, 8)),
        OpenParameter("many", "20 flows", "the text has no number; 20 are twice the TCP flows"),
        *WITH_UDP,
        MAXP,
        DROPS,
    ),
    stated_in="section 5, concluding table",
    claims=(
        *for_each(
            (*UNFAIR, *FAIR),
            "{}'s link utilization is good: more than 90 %",
            lambda label: in_each_case(above(m("total", label), 0.90)),
            # Any full link meets it.
            basis=Basis.ILLUSTRATION,
        ),
        *for_each(
            FAIR,
            "{} is fair, RED and BLUE are unfair: its Jain's index is above theirs beside one UDP flow",
            lambda label: every(above(m("jain", label, **ONE), m("jain", other, **ONE)) for other in UNFAIR),
        ),
        Claim(
            "SFB needs to be reconfigured for many UDP flows: TCP has less of its fair share with many than with one",
            below(m("tcp_fair", "SFB", **MANY), m("tcp_fair", "SFB", **ONE)),
        ),
        Claim(
            "CHOKe penalizes any number of UDP flows: it drops more of their packets than of TCP's",
            in_each_case(above(m("udp_drop_rate", "CHOKe"), m("tcp_drop_rate", "CHOKe"))),
        ),
    ),
    plot=Plot(
        [
            PlotPanel((Lines(y, "udp"),), AxisScale("UDP flows"), AxisScale(what, 0), title)
            for y, what, title in (
                ("jain", "Jain's index", "Fairness of all flows"),
                ("tcp_fair", "TCP's part of its fair share", "Protection of TCP"),
            )
        ],
        "Each UDP flow sends 2 Mbit/s. Mean over seeds with its 95 % interval.",
        "apart",
        legend=0,
    ),
    quick=QuickVariant(set=("duration=50s",)),
)
