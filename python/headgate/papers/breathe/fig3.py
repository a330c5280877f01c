"""breathe/fig3: how the rates of a thousand TCP flows are distributed under each discipline."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from headgate import style
from headgate.analysis.judge import above, at_most, near
from headgate.experiment.declare import Claim, Experiment, Headline, Published, Quick
from headgate.papers import axes
from headgate.papers.breathe import _common as common
from headgate.papers.measures import part_between

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found

PLACE = "section 4, figure 3"
#: The ends of the ranges that are drawn, in kbit/s; the last is open.
RANGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


def _narrower(other: str) -> Claim:
    return Claim(
        f"More TCP flows are near the fair rate (0.6 to 1.2 kbit/s) under BREATHe than under {other}",
        PLACE,
        lambda found: above(found("near_fair", "BREATHe"), found("near_fair", other)),
        common.LIMITS,
    )


def _plot(found: Found) -> Figure:
    drawn = axes.one()
    known = axes.looks(found.labels)
    places = np.arange(len(RANGES))
    for label in (each for each in found.labels if each in common.DRAWN or each not in common.QDISCS):
        rates = np.concatenate([run.flows("goodput_bps", kind="tcp") for run in found.runs(label)]) / 1e3
        part = np.histogram(rates, bins=[*RANGES, np.inf])[0] / len(rates)
        look = known[label]
        drawn.plot(places, part * 100, "o", ms=4, color=look.colour, linestyle=look.dashes, label=label)
    fair = np.interp(common.FAIR_BPS / 1e3, RANGES, places) - 0.5
    drawn.axvline(fair, color=style.FAIR, linestyle=":", linewidth=1.2, label="fair rate")
    names = [f"{low:g}-{high:g}" for low, high in itertools.pairwise(RANGES)]
    drawn.set_xticks(places, [*names, f"above {RANGES[-1]:g}"])
    drawn.set_ylim(bottom=0)
    drawn.set_xlabel("Throughput of a TCP flow (kbit/s)")
    drawn.set_ylabel("TCP flows (%)")
    return axes.finish(drawn.figure, EXPERIMENT.title, "All seeds together.", drawn)  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="How the rates of a thousand TCP flows are distributed",
    place="figure 3",
    about="The runs of figure 2. A TCP flow's fair rate is 0.97 kbit/s, 121 packets of 1000 bytes in 1000 s. Rates are "
    "what each flow got over the whole run; a flow is stopped that got nothing.",
    scenario=common.SCENARIO,
    qdiscs=common.QDISCS,
    measures={
        "near_fair": part_between(600, 1200, kind="tcp"),
        "below_most": part_between(400, 1200, kind="tcp"),
        "stopped": part_between(0, 0, kind="tcp"),
    },
    published=(
        Published("near_fair", "section 4", {"BREATHe": (70.0,)}, unit="% of flows", scale=100.0),
        Published("stopped", "section 1", {"BREATHe": (0.3,)}, unit="% of flows", scale=100.0),
    ),
    choices=common.CHOICES,
    claims=(
        Claim(
            "Under BREATHe 70 % of the TCP flows get 0.6 to 1.2 kbit/s (within a tenth)",
            PLACE,
            lambda found: near(found("near_fair", "BREATHe"), 0.7, within=0.1),
            common.LIMITS,
        ),
        Claim(
            "Under BREATHe most TCP flows get 0.4 to 1.2 kbit/s",
            "section 1",
            lambda found: above(found("below_most", "BREATHe"), 0.5),
            common.LIMITS,
        ),
        Claim(
            "Under BREATHe 0.3 % of the TCP flows are stopped (no more than rounds to that)",
            "section 1",
            lambda found: at_most(found("stopped", "BREATHe"), 0.0035),
        ),
        *(_narrower(other) for other in ("CHOKe-1", "CHOKe-10", "AFD")),
    ),
    plot=_plot,
    headline=Headline("near_fair", "part of TCP flows with 0.6 to 1.2 kbit/s"),
    # Shorter runs are ruled by the start of a thousand flows.
    quick=Quick(),
)
