"""red-pd/fig3: few flows send most of the bytes and packets of a skew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate import style
from headgate.analysis.judge import near
from headgate.experiment.declare import Claim, Experiment, Published, Quick, grid
from headgate.papers import axes
from headgate.papers.red_pd import _skew as skew
from headgate.papers.red_pd._trace import FRACTIONS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found


def _plot(found: Found) -> Figure:
    drawn = axes.one()
    for measure, colour, marker in (("bytes", style.TCP, "o"), ("packets", style.UNRESPONSIVE, "s")):
        skew.draw(drawn, found, measure, "the trace", color=colour, marker=marker, label=measure)
    drawn.legend(loc="lower right")
    return axes.finish(drawn.figure, EXPERIMENT.title, f"Crosses: the paper's text. {skew.origin(found)}")  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="Few flows send most of the bytes and packets of a trace",
    place="figure 3",
    about="The part of the bytes and of the packets of a trace that its largest flows have. The paper's trace is an "
    "hour of the year 2000; any capture can be named with --trace, else traces are generated with the published skew.",
    compute=skew.whole,
    qdiscs={"the trace": "whole"},
    cases=grid(flows=FRACTIONS),
    published=(
        Published("bytes", "section 3", {"the trace": (80,)}, axis="flows", at=(0.01,), unit="%", scale=100.0),
        Published("packets", "section 3", {"the trace": (64,)}, axis="flows", at=(0.01,), unit="%", scale=100.0),
    ),
    choices=(skew.TRACE, skew.AXES),
    claims=(
        Claim(
            "1 % of the flows account for about 80 % of the bytes (within 10 %; in generated traces by construction)",
            "section 3, figure 3",
            lambda found: near(found("bytes", "the trace", flows=0.01), 0.80, within=0.1),
        ),
        Claim(
            "... and for 64 % of the packets (within 10 %; in generated traces by construction)",
            "section 3, figure 3",
            lambda found: near(found("packets", "the trace", flows=0.01), 0.64, within=0.1),
        ),
    ),
    plot=_plot,
    quick=Quick(seeds=1),
    modern=False,
)
