"""Fairness of FRED by buffer size."""

from headgate import style
from headgate.experiment.claims import above, below, in_each_case, m, over
from headgate.experiment.declare import Claim, Experiment, OpenParameter, QuickVariant, grid
from headgate.experiment.layers import Line, ReferenceLine
from headgate.experiment.measures import share_of_fair
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.comparison._setting import FAIR_ENOUGH, MEASURES, WITH_UDP, network

#: Buffer sizes in packets. The paper states only 45, above which it finds FRED fair.
BUFFERS = (10, 15, 20, 30, 45, 60, 75, 90, 120, 150)
ENOUGH = 45
TCP_SHARE = m("tcp_fair", "FRED")


EXPERIMENT = Experiment(
    about="Ten TCP flows and one UDP flow share 1 Mbit/s under FRED without its rule of two packets for each "
    "flow. How large must the buffer be for FRED to limit the UDP flow?",
    scenario=lambda v: network(v, "fig6", f"FRED with {v.buffer} packets of buffer.", limit=f"{v.buffer}p"),
    qdiscs={"FRED": "fred:many_flows=off"},
    cases=grid(buffer=BUFFERS),
    measures={**MEASURES, "tcp_fair": share_of_fair(kind="tcp")},
    choices=(OpenParameter("cbr", 2, "the figure's UDP rate is not given; 2 Mbit/s as in table 1", (1, 8)), *WITH_UDP),
    stated_in="section 4.1",
    claims=(
        Claim(
            "FRED works well with buffers of more than 45 packets: TCP has its fair share",
            in_each_case(above(TCP_SHARE, FAIR_ENOUGH), buffer=lambda size: size > ENOUGH),
        ),
        Claim(
            "FRED does not work well with smaller buffers: TCP has less than its fair share",
            in_each_case(below(TCP_SHARE, FAIR_ENOUGH), buffer=lambda size: size <= ENOUGH),
        ),
    ),
    plot=one_panel(
        (
            Line(over("buffer", "tcp", "FRED"), {"marker": "o", "label": "TCP, ten flows together"}, "FRED"),
            Line(over("buffer", "cbr", "FRED"), {"marker": "s", "linestyle": "--", "label": "UDP"}, "FRED"),
            ReferenceLine(ENOUGH, {"color": style.QUIET}, upright=True),
        ),
        AxisScale("Buffer (packets)"),
        AxisScale("Throughput (Mbit/s)", 0, 1.02),
        note="Dotted: 45 packets, above which the paper finds FRED fair. Fair shares: TCP 0.91, UDP 0.09 Mbit/s.",
    ),
    quick=QuickVariant(set=("duration=50s",)),
    modern=False,
)
