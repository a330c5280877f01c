"""How the rates of a thousand TCP flows are distributed."""

import itertools

import numpy as np
from matplotlib.axes import Axes

from headgate.experiment.claims import above, at_most, m, near
from headgate.experiment.declare import Basis, Claim, HeadlineMeasure, PublishedNumbers, for_each
from headgate.experiment.layers import ReferenceLine, looks
from headgate.experiment.measures import share_of_flows_between
from headgate.experiment.plots import AxisScale, one_panel
from headgate.experiment.results import ExperimentResults
from headgate.papers.breathe._setting import FAIR_BPS, FAIR_LOOK, NOT_DRAWN, WHY, experiment

#: The lower ends of the ranges of goodput in the figure, in kbit/s. The last range has no upper end.
RANGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
NAMES = [*(f"{low:g}-{high:g}" for low, high in itertools.pairwise(RANGES)), f"above {RANGES[-1]:g}"]


def _distributions(axes: Axes, results: ExperimentResults) -> None:
    for label, look in looks(results.labels).items():
        if label not in NOT_DRAWN:
            rates = np.concatenate([run.flows("goodput_bps", kind="tcp") for run in results.runs(label)]) / 1e3
            part = np.histogram(rates, bins=[*RANGES, np.inf])[0] / len(rates)
            axes.plot(part * 100, "o", ms=4, color=look.color, linestyle=look.dashes, label=label)


EXPERIMENT = experiment(
    about="The runs of figure 2. A TCP flow's fair rate is 0.97 kbit/s, 121 packets of 1000 bytes in 1000 s. "
    "Rates are means over the whole run. A flow is stopped if nothing of it was delivered.",
    measures={
        "near_fair": share_of_flows_between(600, 1200, kind="tcp"),
        "below_most": share_of_flows_between(400, 1200, kind="tcp"),
        "stopped": share_of_flows_between(0, 0, kind="tcp"),
    },
    published=(
        PublishedNumbers("near_fair", "section 4", {"BREATHe": (70.0,)}, unit="% of flows", scale=100.0),
        PublishedNumbers("stopped", "section 1", {"BREATHe": (0.3,)}, unit="% of flows", scale=100.0),
    ),
    stated_in="section 4, figure 3",
    claims=(
        Claim(
            "Under BREATHe 70 % of the TCP flows get 0.6 to 1.2 kbit/s (within a tenth)",
            near(m("near_fair", "BREATHe"), 0.7, within=0.1),
            WHY["limits"],
        ),
        Claim(
            "Under BREATHe most TCP flows get 0.4 to 1.2 kbit/s",
            above(m("below_most", "BREATHe"), 0.5),
            place="section 1",
            # "Most" is more than half.
            basis=Basis.PAPER,
        ),
        Claim(
            "Under BREATHe 0.3 % of the TCP flows are stopped (no more than rounds to that)",
            at_most(m("stopped", "BREATHe"), 0.0035),
            place="section 1",
            basis=Basis.PAPER,
        ),
        *for_each(
            ("CHOKe-1", "CHOKe-10", "AFD"),
            "More TCP flows are near the fair rate (0.6 to 1.2 kbit/s) under BREATHe than under {}",
            lambda other: above(m("near_fair", "BREATHe"), m("near_fair", other)),
            WHY["limits"],
        ),
    ),
    plot=one_panel(
        (
            _distributions,
            ReferenceLine(float(np.interp(FAIR_BPS / 1e3, RANGES, range(len(RANGES)))) - 0.5, FAIR_LOOK, upright=True),
        ),
        AxisScale("Goodput of a TCP flow (kbit/s)", ticks=dict(enumerate(NAMES))),
        AxisScale("TCP flows (%)", 0),
        note="All seeds together.",
    ),
    headline=HeadlineMeasure("near_fair", "share of TCP flows with 0.6 to 1.2 kbit/s"),
)
