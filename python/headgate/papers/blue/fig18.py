"""blue/fig18: what each TCP flow gets beside eight flows that do not slow down."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from headgate.analysis.judge import below, near
from headgate.experiment.declare import Claim, Experiment, Headline, Published, grid
from headgate.papers.blue._shares import SHARES, scatter
from headgate.papers.blue._unresponsive import MEASURES, OPEN, QUICK, SCENARIO, SFB
from headgate.papers.blue.fig17 import misclassified

if TYPE_CHECKING:
    from headgate.analysis.judge import Judgement
    from headgate.experiment.found import Found

TWO, ONE = "SFB, 2 levels of 23 bins", "SFB, 1 level of 46 bins"


def _as_predicted(label: str, levels: int, bins: int, found: Found) -> Judgement:
    # Which bins are polluted is chance. With M balls in N bins the number polluted has a standard deviation of 0.85 of
    # 6.9 (N = 23) and 0.70 of 7.4 (N = 46); with the draw of 400 flows, a run's count has one of about a quarter of it.
    return near(found("starved", label), misclassified(levels, bins, 8), within=0.25)


def _fewer(found: Found) -> Judgement:
    return below(found("starved", TWO), found("starved", ONE))


BETWEEN = (
    "Starved are not only those all of whose bins are polluted: figure 14 drops what finds any bin overfull, and "
    "the unresponsive flows' bins are, since their packets are marked and pass each time a bin falls empty. With "
    "cbr_ecn = false (seed 1) 1.3 % starve: polluted bins then fall empty so often that misclassified flows pass."
)

TITLE = "What each TCP flow gets beside eight flows of 5 Mbit/s that do not slow down"

EXPERIMENT = Experiment(
    title=TITLE,
    place="figure 18",
    about="Eight unresponsive flows pollute about a quarter of the bins in each level: how many of the 400 TCP "
    "flows have no "
    "other bins, and starve?",
    scenario=SCENARIO,
    qdiscs={TWO: SFB, ONE: f"{SFB},levels=1,bins=46,bin_size=auto"},
    cases=grid(unresponsive=(8,), rate=(5,)),
    measures={**MEASURES, **SHARES},
    published=(
        Published(
            "starved",
            "section IV-C, by equation (1)",
            {TWO: (8.96,), ONE: (16.12,)},
            unit="% of the TCP flows",
            scale=100,
        ),
    ),
    choices=OPEN,
    claims=(
        Claim(
            "With two levels of 23 bins the number of misclassified TCP flows matches equation (1) closely: "
            "8.96 % (within a "
            "quarter)",
            "section IV-C, figure 18",
            partial(_as_predicted, TWO, 2, 23),
            BETWEEN,
        ),
        Claim(
            "With one level of 46 bins 16.12 % are misclassified, as equation (1) says (within a quarter)",
            "section IV-C",
            partial(_as_predicted, ONE, 1, 46),
            "Which bins are polluted is chance, and five seeds leave the interval too wide.",
        ),
        Claim("Two levels misclassify fewer flows than one with as many bins", "section IV-C", _fewer, BETWEEN),
    ),
    plot=partial(scatter, title=TITLE, labels=(TWO, ONE)),
    headline=Headline("starved", "TCP flows with less than a tenth of their share, %", scale=100),
    quick=QUICK,
)
