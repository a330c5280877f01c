"""Common to figures 13 and 14: throughput of a UDP flow under variants of CHOKe with more and more candidates."""

import itertools
from collections.abc import Mapping

from headgate.experiment.claims import above, along, every, falls, m
from headgate.experiment.declare import Claim, Experiment, OpenParameter, QuickVariant, grid
from headgate.experiment.layers import Lines
from headgate.experiment.plots import AxisScale, one_panel
from headgate.papers.comparison._setting import (
    MAXP,
    MEASURES,
    RATE_AXIS,
    RATES_ABOVE_LINK,
    WITH_UDP,
    axis_position,
    by_rate,
    network,
)


def experiment(number: int, variant: str, what: str, qdiscs: Mapping[str, str], finding: str = "") -> Experiment:
    """The experiment of figure `number`. It has a curve for each of `qdiscs`, from few candidates to many.

    `what` is the paper's name of the parameter that sets the number of candidates.
    """
    values = [label.split()[-1] for label in qdiscs]
    curves = {rate: [m("cbr", label, cbr=rate) for label in qdiscs] for rate in RATES_ABOVE_LINK}
    steps = {rate: [before - after for before, after in itertools.pairwise(curve)] for rate, curve in curves.items()}

    return by_rate(
        about=f"Ten TCP flows and one UDP flow share 1 Mbit/s under {variant}. Do more candidates limit UDP more?",
        scenario=lambda v: network(v, f"fig{number}", f"Ten TCP flows and an unresponsive flow of {v.cbr} Mbit/s."),
        qdiscs=qdiscs,
        seeds=20,
        measures=MEASURES,
        choices=(
            OpenParameter(what, ", ".join(values), "our text of the paper has no figure, and so no values"),
            *WITH_UDP,
            MAXP,
        ),
        stated_in=f"section 4.4, figure {number}",
        claims=(
            Claim(
                f"A larger {what} penalizes UDP more, at every rate above the link's",
                every(falls(along(dict(zip(qdiscs, curve, strict=True)))) for curve in curves.values()),
                finding,
            ),
            Claim(
                f"The effect is most distinct where {what} goes from {values[0]} to {values[1]}, at every rate above "
                "the link's",
                every(above(first, step) for first, *later in steps.values() for step in later),
                finding,
            ),
        ),
        plot=one_panel(
            (Lines("cbr", "cbr", at=axis_position),),
            RATE_AXIS,
            AxisScale("UDP throughput (Mbit/s)", 0),
            note="Mean over seeds with its 95 % interval. The link has 1 Mbit/s; a fair share is 0.09 Mbit/s.",
        ),
        quick=QuickVariant(seeds=5, set=("duration=50s",), cases=grid(cbr=(0.4, 2, 4, 8))),
    )
