"""Goodput of TCP and unresponsive flows: 1030 flows on 1 Mbit/s."""

import math
import re

from headgate.analysis.runs import Run
from headgate.experiment.claims import above, below, every, m, near
from headgate.experiment.declare import Basis, Claim, HeadlineMeasure, PublishedNumbers, for_each
from headgate.experiment.layers import GroupedBars, ReferenceLine
from headgate.experiment.measures import RunMeasure, goodput
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.breathe._setting import CONSTANT, FAIR_BPS, FAIR_LOOK, NOT_DRAWN, WHY, experiment

#: Ticks of the axis of goodput, in kbit/s.
TICKS = (0.01, 0.1, 1, 10, 100, 1000)
#: The number of flows of each group.
GROUPS = {"tcp": 1000, **{name: flows for name, _, flows in CONSTANT}}

#: Disciplines of figure 2 that BREATHe is compared with.
OTHERS = ("CHOKe-1", "CHOKe-10", "SFQ", "AFD")


def _of_limit(group: str) -> RunMeasure:
    """Goodput of a group's fastest flow over BREATHe's `r_limit`; NaN under other disciplines."""

    def of_limit(run: Run) -> float:
        limit = re.search(r"r_limit=(\d+)kbit/s", run.key.qdisc)
        return float(run.flows("goodput_bps", group).max()) / (float(limit[1]) * 1e3) if limit else math.nan

    return RunMeasure(of_limit)


EXPERIMENT = experiment(
    about="A thousand TCP flows and thirty constant flows share 1 Mbit/s. The constant flows send 10 kbit/s to "
    "10 Mbit/s each, 58 Mbit/s together. Protection is the mean goodput of a TCP flow over the fair rate "
    "of 0.97 kbit/s.",
    measures={
        "protection": goodput(kind="tcp") * (1 / (1000 * FAIR_BPS)),
        # Mean goodput of the flows of a group in kbit/s.
        **{group: goodput(group) * (1e-3 / flows) for group, flows in GROUPS.items()},
        **{f"{group}_of_limit": _of_limit(group) for group, _, _ in CONSTANT},
        "udp": goodput(kind="udp") * (1e-3 / 30),
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
        Claim("Under AFD a UDP flow gets more than a TCP flow, on average", above(m("udp", "AFD"), m("tcp", "AFD"))),
        *for_each(
            OTHERS,
            "BREATHe protects TCP more than {} does",
            lambda other: above(m("protection", "BREATHe"), m("protection", other)),
            WHY["limits"],
        ),
        Claim(
            "BREATHe bounds every constant flow to r_limit",
            # A flow of 10 kbit/s sends no more than our r_limit.
            every(below(m(f"{group}_of_limit", "BREATHe"), 1.0) for group, _, _ in CONSTANT if group != "cbr10k"),
            basis=Basis.PAPER,
        ),
        Claim(
            "BREATHe provides fair bandwidth allocation: no group of constant flows has more than twice the fair rate",
            every(below(m(group, "BREATHe"), 2e-3 * FAIR_BPS) for group, _, _ in CONSTANT),
            WHY["limits"],
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
