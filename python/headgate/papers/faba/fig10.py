"""faba/fig10: what a flow that does not slow down gets over time, under each discipline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate import style
from headgate.analysis.judge import above, below
from headgate.experiment.declare import Claim, Experiment, Headline, Quick
from headgate.papers import axes
from headgate.papers.faba import _common as common
from headgate.papers.measures import goodput, in_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found

PLACE = "section 5.3, figure 10"


def _less(other: str, finding: str = "") -> Claim:
    return Claim(
        f"The CBR flow gets less under FABA than under {other}",
        PLACE,
        lambda found: below(found("cbr", "FABA"), found("cbr", other)),
        finding,
    )


def _at_least(label: str) -> Claim:
    return Claim(
        f"The CBR flow gets at least its fair share under {label}",
        PLACE,
        lambda found: above(found("cbr", label), 1.0),
    )


def _plot(found: Found) -> Figure:
    drawn = axes.one()
    known = axes.looks(found.labels)
    for label in found.labels:
        time, rate = found.runs(label)[0].series("goodput_bps", "cbr")
        drawn.plot(time, rate * 1e-6, color=known[label].colour, linestyle=known[label].dashes, label=label)
    drawn.axhline(1.0, color=style.FAIR, linestyle=":", linewidth=1.0)
    drawn.set_ylim(bottom=0)
    drawn.set_xlabel("Time (s)")
    drawn.set_ylabel("Bandwidth of the CBR flow (Mbit/s)")
    note = "Means over 1 s, seed 1. Dotted: the flow's fair share."
    return axes.finish(drawn.figure, EXPERIMENT.title, note, drawn)  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="What a flow that does not slow down gets over time",
    place="figure 10",
    about="Nine TCP flows share 10 Mbit/s with a constant flow of 5 Mbit/s; the buffer is 780 packets. The constant "
    "flow's fair share is 1 Mbit/s. Figure 10's curves are lost in the text we have: the disciplines are those of "
    "section 5.",
    scenario=common.MIX + '\n[record]\ninterval = "1s"\n',
    qdiscs={**common.OTHERS, "FABA": "faba"},
    measures={"cbr": in_unit(goodput(kind="udp"), 1e-6)},
    choices=(common.MIX_BUFFER, common.CHOKE_MINTH, *common.MIX_CHOICES),
    claims=(
        _less("RED"),
        _less("CHOKe"),
        _less(
            "FRED",
            "Both are at 1.18 Mbit/s. FRED's strikes are forgotten when the queue holds nothing more of a flow, which "
            "with this buffer never happens to the CBR flow: it is held to the average queue per flow for good. "
            "Open: with SACK, and with timeouts of at least 1 s, FABA is ahead (shortened runs).",
        ),
        Claim(
            "Under FABA the CBR flow gets not much more than its fair share (less than half as much again)",
            PLACE,
            lambda found: below(found("cbr", "FABA"), 1.5),
        ),
        *(_at_least(label) for label in (*common.OTHERS, "FABA")),
    ),
    plot=_plot,
    headline=Headline("cbr", "CBR flow, Mbit/s (fair: 1)"),
    quick=Quick(seeds=2),
)
