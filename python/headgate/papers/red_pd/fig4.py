"""red-pd/fig4: few flows send most also within seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.analysis.judge import near
from headgate.experiment.declare import Claim, Experiment, Published, Quick, grid
from headgate.papers import axes
from headgate.papers.red_pd import _skew as skew
from headgate.papers.red_pd._trace import FRACTIONS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found


def _plot(found: Found) -> Figure:
    panels = axes.panels(["Bytes", "Packets"], 3.6)
    for drawn, measure in zip(panels, ("bytes", "packets"), strict=True):
        skew.draw_windows(drawn, found, measure)
    panels[0].legend(loc="lower right")
    note = (
        f"Means over windows, in which flows are those that sent in it. Cross: the paper's text. {skew.origin(found)}"
    )
    return axes.finish(panels[0].figure, EXPERIMENT.title, note)  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="Few flows send most of the bytes and packets within seconds, too",
    place="figure 4",
    about="As figure 3, in windows of 1 s to 60 s: how much of what was sent in one is of the largest flows in it.",
    compute=skew.in_windows,
    qdiscs={label: f"window of {label}" for label in skew.WINDOWS_BY_LABEL},
    cases=grid(flows=FRACTIONS),
    published=(Published("bytes", "section 3", {"5 s": (50,)}, axis="flows", at=(0.01,), unit="%", scale=100.0),),
    choices=(skew.TRACE, skew.AXES, skew.LENGTHS),
    claims=(
        Claim(
            "In 5 s, 1 % of the flows send close to 50 % of the bytes (within 10 %; generated traces are made so)",
            "section 3, figure 4",
            lambda found: near(found("bytes", "5 s", flows=0.01), 0.50, within=0.1),
        ),
        *(
            Claim(
                f"Bytes are skewed in windows of {label} too: 10 % of the flows send more than half of them",
                "section 3, figure 4",
                skew.most_of(label),
            )
            for label in skew.WINDOWS_BY_LABEL
        ),
    ),
    plot=_plot,
    quick=Quick(seeds=1),
    modern=False,
)
