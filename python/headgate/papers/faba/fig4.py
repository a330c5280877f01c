"""faba/fig4: what a flow that does not slow down gets, by where FABA's buckets begin to drop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate import style
from headgate.analysis.judge import Judgement, above, average, below, every
from headgate.experiment.declare import Claim, Experiment, Headline, Quick
from headgate.papers import axes
from headgate.papers.faba import _common as common
from headgate.papers.measures import goodput, in_unit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.figure import Figure

    from headgate.analysis.judge import Quantity
    from headgate.experiment.declare import Case
    from headgate.experiment.found import Found


def _cases(steps: Iterable[int]) -> tuple[Case, ...]:
    """The paper's steps of 0.005 in lambda2."""
    return tuple({"lambda2": step / 200, "lambda1": step / 100} for step in steps)


def _mean(found: Found, measure: str, low: float, high: float) -> Quantity:
    """The mean of a measure over lambda2 from `low` to `high`."""
    at, quantities = found.over("lambda2", measure, "FABA")
    return average(quantity for each, quantity in zip(at, quantities, strict=True) if low <= each <= high)


def _lowest(found: Found) -> Judgement:
    bands = ((0.005, 0.095), (0.1, 0.195), (0.305, 0.4), (0.405, 0.5))
    return every(below(_mean(found, "cbr", 0.2, 0.3), _mean(found, "cbr", *band)) for band in bands)


def _plot(found: Found) -> Figure:
    drawn = axes.one()
    axes.curves(drawn, found, "cbr", "lambda2")
    drawn.axhline(1.0, color=style.FAIR, linestyle=":", linewidth=1.0)
    drawn.set_xlim(0, 0.5)
    drawn.set_ylim(bottom=0)
    drawn.set_xlabel("λ2 (λ1 is twice that)")
    drawn.set_ylabel("Bandwidth of the CBR flow (Mbit/s)")
    note = "FABA, with the 95 % interval over seeds. Dotted: the flow's fair share."
    return axes.finish(drawn.figure, EXPERIMENT.title, note)  # type: ignore[arg-type]


EXPERIMENT = Experiment(
    title="What a flow that does not slow down gets, by where FABA's buckets begin to drop",
    place="figure 4",
    about="Nine TCP flows share 10 Mbit/s with a constant flow of 5 Mbit/s. lambda2 is the part of a bucket's "
    "height below which drops become likely, lambda1 = 2 lambda2 that above which there are none. As in "
    "the paper there are 100 steps of 0.005.",
    scenario=common.MIX,
    qdiscs={"FABA": "faba:lambda1=$lambda1,lambda2=$lambda2"},
    cases=_cases(range(1, 101)),
    measures={"cbr": in_unit(goodput(kind="udp"), 1e-6), "tcp": in_unit(goodput(kind="tcp"), 1e-6)},
    choices=(common.OPEN_BUFFER, *common.MIX_CHOICES),
    claims=(
        Claim(
            "The CBR flow gets least for lambda2 from 0.2 to 0.3 (less than in any other tenth)",
            "section 5.1, figure 4",
            _lowest,
        ),
        Claim(
            "Near lambda2 = 0.5 the CBR flow gets more than between",
            "section 5.1, figure 4",
            lambda found: above(_mean(found, "cbr", 0.48, 0.5), _mean(found, "cbr", 0.2, 0.3)),
        ),
        Claim(
            "Near lambda2 = 0 the CBR flow gets more than between",
            "section 5.1, figure 4",
            lambda found: above(_mean(found, "cbr", 0.005, 0.03), _mean(found, "cbr", 0.2, 0.3)),
            "Open: the buffer. With 780 packets a bucket of 78 tokens takes a burst at any lambda2, and the curve is "
            "flat up to 0.4.",
        ),
        Claim(
            "Near lambda2 = 0.5 TCP gets less than between",
            "section 5.1",
            lambda found: below(_mean(found, "tcp", 0.48, 0.5), _mean(found, "tcp", 0.2, 0.3)),
        ),
        Claim(
            "Near lambda2 = 0 TCP gets less than between",
            "section 5.1",
            lambda found: below(_mean(found, "tcp", 0.005, 0.03), _mean(found, "tcp", 0.2, 0.3)),
        ),
    ),
    plot=_plot,
    headline=Headline("cbr", "CBR flow at lambda2 0.25, Mbit/s (fair: 1)", {"lambda2": 0.25}),
    modern=False,
    quick=Quick(seeds=2, set=("duration=60s",), cases=_cases((1, 2, 4, 6, *range(10, 95, 5), 96, 98, 99, 100))),
)
