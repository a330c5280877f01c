"""Goodput of the unresponsive flow, by the level at which FABA's buckets begin to drop."""

from collections.abc import Iterable

from headgate.analysis.judge import average
from headgate.experiment.claims import Term, above, below, every
from headgate.experiment.declare import Case, Claim, Experiment, HeadlineMeasure, QuickVariant
from headgate.experiment.layers import Lines, ReferenceLine
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.faba._setting import GOODPUTS, MIX_CHOICES, SAME_BUFFER, WHY, mix


def _cases(steps: Iterable[int]) -> tuple[Case, ...]:
    """The cases of some steps of lambda2. A step is 0.005, as in the paper."""
    return tuple({"lambda2": step / 200, "lambda1": step / 100} for step in steps)


def _mean(measure: str, low: float, high: float) -> Term:
    """The mean of a measure over lambda2 from `low` to `high`."""
    return Term(
        lambda results, _: average(
            quantity
            for at, quantity in zip(*results.over("lambda2", measure, "FABA"), strict=True)
            if low <= at <= high
        ),
        frozenset({"FABA"}),
    )


#: The range of lambda2 in which the CBR flow gets least, by the paper.
BETWEEN = (0.2, 0.3)

EXPERIMENT = Experiment(
    about="Nine TCP flows share 10 Mbit/s with a constant flow of 5 Mbit/s. lambda2 and lambda1 = 2 lambda2 "
    "are levels, as shares of a bucket's height. Below lambda2 drops become likely; above lambda1 there "
    "are none. As in the paper there are 100 steps of 0.005.",
    scenario=mix,
    qdiscs={"FABA": "faba:lambda1=$lambda1,lambda2=$lambda2"},
    cases=_cases(range(1, 101)),
    measures=GOODPUTS,
    choices=(SAME_BUFFER, *MIX_CHOICES),
    stated_in="section 5.1, figure 4",
    claims=(
        Claim(
            "The CBR flow gets least with lambda2 from 0.2 to 0.3 (less than in any other tenth)",
            every(
                below(_mean("cbr", *BETWEEN), _mean("cbr", *band))
                for band in ((0.005, 0.095), (0.1, 0.195), (0.305, 0.4), (0.405, 0.5))
            ),
            WHY["fig4 flat"],
        ),
        Claim(
            "Near lambda2 = 0.5 the CBR flow gets more than from 0.2 to 0.3",
            above(_mean("cbr", 0.48, 0.5), _mean("cbr", *BETWEEN)),
        ),
        Claim(
            "Near lambda2 = 0 the CBR flow gets more than from 0.2 to 0.3",
            above(_mean("cbr", 0.005, 0.03), _mean("cbr", *BETWEEN)),
        ),
        Claim(
            "Near lambda2 = 0.5 TCP gets less than from 0.2 to 0.3",
            below(_mean("tcp", 0.48, 0.5), _mean("tcp", *BETWEEN)),
            place="section 5.1",
        ),
        Claim(
            "Near lambda2 = 0 TCP gets less than from 0.2 to 0.3",
            below(_mean("tcp", 0.005, 0.03), _mean("tcp", *BETWEEN)),
            place="section 5.1",
        ),
    ),
    plot=one_panel(
        (Lines("cbr", "lambda2"), ReferenceLine(1.0)),
        AxisScale("λ2 (λ1 is twice that)", 0, 0.5),
        AxisScale("Goodput of the CBR flow (Mbit/s)", 0),
        note="FABA, with the 95 % interval over seeds. Dotted: the flow's fair share.",
        legend=None,
    ),
    headline=HeadlineMeasure("cbr", "CBR flow at lambda2 0.25, Mbit/s (fair: 1)", {"lambda2": 0.25}),
    modern=False,
    quick=QuickVariant(seeds=2, set=("duration=60s",), cases=_cases((1, 2, 4, 6, *range(10, 95, 5), 96, 98, 99, 100))),
)
