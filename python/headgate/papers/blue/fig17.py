"""blue/fig17: the probability that SFB takes a responsive flow for an unresponsive one (equation 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.analysis.judge import at_most, below, every
from headgate.experiment.declare import Choice, Claim, Experiment, grid
from headgate.papers import axes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from headgate.analysis.judge import Judgement
    from headgate.experiment.declare import Work
    from headgate.experiment.found import Found

#: Bins of all levels together.
BINS = 900
#: Levels by the name of their curve; the disciplines are named for the colours alone.
LEVELS = {f"{levels} level{'s' if levels > 1 else ''}": levels for levels in (1, 2, 3, 5, 10)}
FLOWS = (1, 2, 5, 10, 20, 50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)


def misclassified(levels: int, bins: int, unresponsive: int) -> float:
    """Equation 1: the probability that all of a flow's bins, one of `bins` in each level, hold an unresponsive flow."""
    return float((1 - (1 - 1 / bins) ** unresponsive) ** levels)


def _compute(work: Work) -> Mapping[str, float]:
    levels = LEVELS[work.label]
    return {"misclassified": misclassified(levels, BINS // levels, work.case["unresponsive"])}


def _few(found: Found) -> Judgement:
    return every(
        at_most(found("misclassified", label, unresponsive=flows), 0.01)
        for label in list(LEVELS)[1:]
        for flows in FLOWS
        if flows <= BINS // 20
    )


def _many(found: Found) -> Judgement:
    return every(
        below(found("misclassified", "1 level", unresponsive=flows), found("misclassified", label, unresponsive=flows))
        for label in list(LEVELS)[1:]
        for flows in FLOWS
        if flows > BINS / 2
    )


def _plot(found: Found) -> Figure:
    drawn = axes.one()
    axes.curves(drawn, found, "misclassified", "unresponsive")
    drawn.set_xlabel("Unresponsive flows")
    drawn.set_ylabel("Probability of misclassification")
    return axes.finish(drawn.figure, EXPERIMENT.title, "Equation (1), with 900 bins in all.", drawn)  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="The probability that SFB misclassifies a flow, by the number of unresponsive flows",
    place="figure 17",
    about="900 bins in one level or more: how likely is it that all bins of a responsive flow are polluted?",
    qdiscs={label: f"sfb:levels={levels},bins={BINS // levels}" for label, levels in LEVELS.items()},
    compute=_compute,
    cases=grid(unresponsive=FLOWS),
    seeds=1,
    choices=(
        Choice("levels", tuple(LEVELS.values()), "the text says that their number is varied; the figure is lost"),
    ),
    claims=(
        Claim(
            "With few unresponsive flows (a twentieth of the bins) several levels keep misclassification very "
            "low (1 %)",
            "section IV-C, figure 17",
            _few,
        ),
        Claim(
            "Past half the number of bins, one level gives the smallest probability", "section IV-C, figure 17", _many
        ),
    ),
    plot=_plot,
    modern=False,
)
