"""faba/fig6: how many tokens a departure distributes in the long run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.analysis.judge import at_most, near
from headgate.experiment.declare import Choice, Claim, Experiment, Quick
from headgate.papers import axes
from headgate.papers.faba import _common as common
from headgate.papers.faba import _tokens as tokens

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found


def _plot(found: Found) -> Figure:
    drawn = axes.one()
    for run in found.runs("FABA"):
        drawn.plot(*tokens.so_far(run), color=axes.looks(found.labels)["FABA"].colour, linewidth=1.0)
    drawn.set_ylim(0, 2)
    drawn.set_xlabel("Time (s)")
    drawn.set_ylabel("Tokens distributed per departure so far")
    return axes.finish(drawn.figure, EXPERIMENT.title, "FABA, a line for each seed.")  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="Tokens that FABA distributes for each departure, in the long run",
    place="figure 6",
    about="FABA looks at sigma/Q + 1 buckets for each departure. All that it has looked at over all that has departed, "
    "as time goes by.",
    scenario=common.MIX + '\n[record]\ninterval = "10ms"\n',
    qdiscs={"FABA": "faba"},
    measures={"amortised": tokens.amortised},
    choices=(
        common.MIX_BUFFER,
        *common.MIX_CHOICES,
        Choice("scenario", "figure 9", "the captions of figures 6 to 8 are lost; here 6 and 7 have section 5's mix"),
    ),
    claims=(
        Claim(
            "In the long run a departure costs O(1): a token, give or take a tenth",
            "section 5.2, figure 6",
            lambda found: near(found("amortised", "FABA"), 1.0, within=0.1),
        ),
        Claim(
            "Tokens distributed are no more than packets departed in the long run",
            "section 5.2",
            lambda found: at_most(found("amortised", "FABA"), 1.0),
            "What a deleted bucket held, and what a bucket held above its height when it was next looked at, goes back "
            "to sigma and is distributed again: the paper's argument counts departures alone. The draws counted here "
            "are those that grab tokens too.",
        ),
    ),
    plot=_plot,
    modern=False,
    quick=Quick(set=("duration=40s",)),
)
