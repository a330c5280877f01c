"""red-pd/fig5: flows that send most now send much of what comes next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.analysis.judge import above, every, near
from headgate.experiment.declare import Claim, Experiment, Published, Quick, grid
from headgate.papers import axes
from headgate.papers.red_pd import _skew as skew
from headgate.papers.red_pd._trace import FRACTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from headgate.analysis.judge import Judgement
    from headgate.experiment.found import Found


def _predicts(label: str) -> Callable[[Found], Judgement]:
    """More than half of the share that they have now, at every part of the flows up to a tenth."""
    return lambda found: every(
        above(found("following", label, flows=flows), found("bytes", label, flows=flows), times=0.5)
        for flows in FRACTIONS
        if flows <= 0.1
    )


def _plot(found: Found) -> Figure:
    drawn = axes.one()
    drawn.plot((0, 100), (0, 100), color="0.7", linewidth=1, label="as much as now")
    skew.draw_windows(drawn, found, "following", against="bytes")
    drawn.plot(50, 36, "x", color="black", markersize=8, label="the paper: 1 % of the flows, 5 s")
    drawn.set_xlim(0, 100)
    drawn.set_ylim(0, 100)
    drawn.set_xlabel("Bytes in this window (%)")
    drawn.set_ylabel("Bytes in the next window (%)")
    drawn.legend(loc="upper left")
    note = f"The largest 0.1 % to 50 % of the flows of a window, means over windows. {skew.origin(found)}"
    return axes.finish(drawn.figure, EXPERIMENT.title, note)  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="Who sends much now sends much next",
    place="figure 5",
    about="The part of the bytes of the next window that is of those flows that sent most in this one.",
    compute=skew.in_windows,
    qdiscs={label: f"window of {label}" for label in skew.WINDOWS_BY_LABEL},
    cases=grid(flows=FRACTIONS),
    published=(Published("following", "section 3", {"5 s": (36,)}, axis="flows", at=(0.01,), unit="%", scale=100.0),),
    choices=(skew.TRACE, skew.AXES, skew.LENGTHS),
    claims=(
        Claim(
            "The 1 % of the flows that send most in 5 s send 36 % of the bytes of the next 5 s (within 10 %)",
            "section 3, figure 5",
            lambda found: near(found("following", "5 s", flows=0.01), 0.36, within=0.1),
        ),
        Claim(
            "High-bandwidth flows of 5 s predict those of the next 5 s: the 0.1 % to 10 % of the flows that send most "
            "have more than half of their share again",
            "section 3",
            _predicts("5 s"),
        ),
    ),
    plot=_plot,
    seeds=10,
    quick=Quick(seeds=1),
    modern=False,
)
