"""Goodput of TCP and unresponsive flows: 1030 flows on 1 Mbit/s."""

from headgate.experiment.claims import above, below, m, near
from headgate.experiment.declare import Claim, HeadlineMeasure, PublishedNumbers, for_each
from headgate.experiment.layers import GroupedBars, ReferenceLine
from headgate.experiment.measures import goodput
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.breathe._setting import CONSTANT, FAIR_BPS, FAIR_LOOK, NOT_DRAWN, WHY, experiment

#: Ticks of the axis of goodput, in kbit/s.
TICKS = (0.01, 0.1, 1, 10, 100, 1000)
#: The number of flows of each group.
GROUPS = {"tcp": 1000, **{name: flows for name, _, flows in CONSTANT}}

EXPERIMENT = experiment(
    about="A thousand TCP flows and thirty constant flows share 1 Mbit/s. The constant flows send 10 kbit/s to "
    "10 Mbit/s each, 58 Mbit/s together. Protection is the mean goodput of a TCP flow over the fair rate "
    "of 0.97 kbit/s.",
    measures={
        "protection": goodput(kind="tcp") * (1 / (1000 * FAIR_BPS)),
        # Mean goodput of the flows of a group in kbit/s.
        **{group: goodput(group) * (1e-3 / flows) for group, flows in GROUPS.items()},
    },
    published=(
        PublishedNumbers(
            "protection",
            "section 4",
            {"SFQ": (0.0,), "CHOKe-10": (50.0,), "AFD": (78.0,)},
            unit="% of the fair rate",
            scale=100.0,
        ),
    ),
    stated_in="section 4, figure 2",
    claims=(
        *for_each(
            ("DropTail", "RED", "SFQ"),
            "Under {} TCP gets nearly nothing (less than 5 % of the fair rate)",
            lambda label: below(m("protection", label), 0.05),
            {"SFQ": WHY["fig2 SFQ"]},
            place="section 4",
        ),
        Claim(
            "CHOKe with one candidate protects TCP less than with ten",
            below(m("protection", "CHOKe-1"), m("protection", "CHOKe-10")),
        ),
        Claim(
            "CHOKe with ten candidates gives TCP half of the fair rate (within a tenth)",
            near(m("protection", "CHOKe-10"), 0.5, within=0.1),
            WHY["fig2 CHOKe"],
        ),
        Claim(
            "AFD gives TCP 78 % of the fair rate (within a tenth)",
            near(m("protection", "AFD"), 0.78, within=0.1),
            WHY["fig2 AFD"],
        ),
        Claim("Under AFD flows of 10 Mbit/s get more than TCP flows", above(m("cbr10m", "AFD"), m("tcp", "AFD"))),
        *for_each(
            ("CHOKe-1", "CHOKe-10", "SFQ", "AFD"),
            "BREATHe protects TCP more than {} does",
            lambda other: above(m("protection", "BREATHe"), m("protection", other)),
            WHY["limits"],
        ),
        *(
            Claim(
                f"BREATHe bounds flows of {rate} (to twice the fair rate at most)",
                below(m(group, "BREATHe"), 2e-3 * FAIR_BPS),
                WHY["limits"],
            )
            for group, rate, _ in CONSTANT
        ),
    ),
    plot=one_panel(
        (
            GroupedBars(
                {"tcp": "1000 TCP", **{name: f"{flows} of {rate}" for name, rate, flows in CONSTANT}},
                leave_out=NOT_DRAWN,
                intervals=False,
            ),
            ReferenceLine(FAIR_BPS / 1e3, FAIR_LOOK),
        ),
        y=AxisScale("Mean goodput of a flow (kbit/s)", TICKS[0], TICKS[-1], {tick: f"{tick:g}" for tick in TICKS}, 10),
        note="Means over seeds. Values below 0.01 kbit/s are not drawn.",
        height=4.6,
    ),
    headline=HeadlineMeasure("protection", "TCP's share of its fair rate"),
)
