"""What figures 13 and 14 share: what CHOKe leaves a UDP flow, by how many candidates it draws."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from headgate.analysis.judge import above, every, falls
from headgate.experiment.declare import Case, Choice, Claim, Experiment, Quick, grid
from headgate.papers import axes
from headgate.papers.comparison._setting import (
    BEYOND,
    MAXP,
    MEASURES,
    PLACES,
    RATES,
    SHARED,
    Judge,
    rate_axis,
    scenario,
)
from headgate.plot.panels import figure_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from headgate.analysis.judge import Judgement, Quantity
    from headgate.experiment.found import Found


def experiment(number: int, variant: str, what: str, qdiscs: Mapping[str, str], finding: str = "") -> Experiment:
    """The experiment of figure `number`, whose curves are `qdiscs`, from few candidates to many."""
    title = f"What {variant} leaves a UDP flow, by {what}"

    def plot(found: Found) -> Figure:
        drawn = axes.one()
        axes.curves(drawn, found, "cbr", "cbr", x=PLACES)
        rate_axis(drawn, "UDP throughput (Mbit/s)")
        note = "Mean over seeds with its 95 % interval. The link has 1 Mbit/s; a fair share is 0.09 Mbit/s."
        return axes.finish(figure_of(drawn), title, note, drawn)

    return Experiment(
        title=title,
        place=f"figure {number}",
        about=f"Ten TCP flows and one UDP flow share 1 Mbit/s under {variant}. Do more candidates hold it more?",
        scenario=scenario(f"fig{number}", "Ten TCP flows and one of $cbr Mbit/s that does not slow down."),
        qdiscs=qdiscs,
        cases=grid(cbr=RATES),
        seeds=20,
        measures=MEASURES,
        choices=(
            Choice(
                what, ", ".join(label.split()[-1] for label in qdiscs), "the curves' values are lost with the figure"
            ),
            *SHARED,
            MAXP,
        ),
        claims=tuple(_claims(number, what, tuple(qdiscs), finding)),
        plot=plot,
        quick=Quick(seeds=5, set=("duration=50s",), cases=grid(cbr=(0.4, 2, 4, 8))),
    )


def _claims(number: int, what: str, labels: Sequence[str], finding: str) -> list[Claim]:
    place = f"section 4.4, figure {number}"
    first, second = (label.split()[-1] for label in labels[:2])
    more = [
        Claim(f"A larger {what} penalises a UDP flow of {rate} Mbit/s more", place, _falls(labels, rate), finding)
        for rate in BEYOND
    ]
    early = [
        Claim(
            f"The effect on a UDP flow of {rate} Mbit/s is most distinct where {what} goes from {first} to {second}",
            place,
            _most_at_first(labels, rate),
            finding,
        )
        for rate in BEYOND
    ]
    return more + early


def _curve(found: Found, labels: Sequence[str], case: Case) -> list[Quantity]:
    return [found("cbr", label, **case) for label in labels]


def _falls(labels: Sequence[str], rate: float) -> Judge:
    return lambda found: falls(_curve(found, labels, {"cbr": rate}))


def _most_at_first(labels: Sequence[str], rate: float) -> Judge:
    """The first step takes more from the UDP flow than each later one."""

    def judge(found: Found) -> Judgement:
        first, *later = [before - after for before, after in itertools.pairwise(_curve(found, labels, {"cbr": rate}))]
        return every(above(first, step) for step in later)

    return judge
