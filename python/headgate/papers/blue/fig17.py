"""The probability that SFB misclassifies a flow, by the number of unresponsive flows."""

from collections.abc import Mapping

from headgate.counting import counted
from headgate.experiment.claims import at_most, below, every, in_each_case, m
from headgate.experiment.declare import Basis, Claim, ComputedRun, Experiment, OpenParameter, grid
from headgate.experiment.layers import Lines
from headgate.experiment.plots import AxisScale, one_panel

#: Number of bins in all levels together.
BINS = 900
#: Number of levels by the label of their curve. No discipline runs here: `qdiscs` only colors the curves.
LEVELS = {counted(levels, "level"): levels for levels in (1, 2, 3, 5, 10)}
ONE, *SEVERAL = LEVELS
FLOWS = (1, 2, 5, 10, 20, 50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)


def misclassified(levels: int, bins: int, unresponsive: int) -> float:
    """Equation 1: the probability that all of a flow's bins, one of `bins` in each level, hold an unresponsive flow."""
    return float((1 - (1 - 1 / bins) ** unresponsive) ** levels)


def _compute(work: ComputedRun) -> Mapping[str, float]:
    levels = LEVELS[work.label]
    return {"misclassified": misclassified(levels, BINS // levels, work.case["unresponsive"])}


EXPERIMENT = Experiment(
    about="900 bins in one level or more: how likely is it that all bins of a responsive flow are polluted?",
    qdiscs={label: f"sfb:levels={levels},bins={BINS // levels}" for label, levels in LEVELS.items()},
    compute=_compute,
    cases=grid(unresponsive=FLOWS),
    seeds=1,
    choices=(
        OpenParameter(
            "levels", tuple(LEVELS.values()), "the text says that their number is varied; it has no figure 17"
        ),
    ),
    stated_in="section IV-C, figure 17",
    claims=(
        Claim(
            "With few unresponsive flows (a twentieth of the bins) several levels keep misclassification very "
            "low (1 %)",
            every(
                in_each_case(at_most(m("misclassified", label), 0.01), unresponsive=lambda flows: flows <= BINS // 20)
                for label in SEVERAL
            ),
            basis=Basis.ILLUSTRATION,
        ),
        Claim(
            "Past half the number of bins, one level gives the smallest probability",
            every(
                in_each_case(
                    below(m("misclassified", ONE), m("misclassified", label)),
                    unresponsive=lambda flows: flows > BINS / 2,
                )
                for label in SEVERAL
            ),
            basis=Basis.ILLUSTRATION,
        ),
    ),
    plot=one_panel(
        (Lines("misclassified", "unresponsive"),),
        AxisScale("Unresponsive flows"),
        AxisScale("Probability of misclassification"),
        note="Equation (1), with 900 bins in all.",
    ),
    modern=False,
)
