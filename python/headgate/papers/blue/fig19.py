"""blue/fig19: what each TCP flow gets where SFB changes its hash functions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from headgate.analysis.judge import above, below
from headgate.experiment.declare import Claim, Experiment, Headline, Published, grid
from headgate.papers.blue._shares import SHARES, scatter
from headgate.papers.blue._unresponsive import LEAK, MBIT, MEASURES, OPEN, QUICK, SCENARIO, SFB

if TYPE_CHECKING:
    from headgate.analysis.judge import Judgement
    from headgate.experiment.found import Found

MOVING, DOUBLE, FIXED = "moving hash", "double buffered moving hash", "fixed hash (figure 18)"


def _none_shut_out(label: str, found: Found) -> Judgement:
    return below(found("starved", label), 1 / 400)


def _parole(found: Found) -> Judgement:
    return above(found("unresponsive_rate", MOVING), found("unresponsive_rate", FIXED))


def _controlled(found: Found) -> Judgement:
    return below(found("unresponsive_rate", DOUBLE), found("unresponsive_rate", MOVING))


def _protected(found: Found) -> Judgement:
    return above(found("near_fair", DOUBLE), 0.95)


TITLE = "What each TCP flow gets where SFB changes its hash functions each 2 s"

EXPERIMENT = Experiment(
    title=TITLE,
    place="figure 19",
    about="As figure 18, but bins and hash functions change each 2 s, without and with a second set of bins "
    "that is kept warm.",
    scenario=SCENARIO,
    qdiscs={
        MOVING: SFB.replace("rehash=0s", "rehash=2s,double_buffer=off"),
        DOUBLE: SFB.replace("rehash=0s", "rehash=2s"),
        FIXED: SFB,
    },
    cases=grid(unresponsive=(8,), rate=(5,)),
    measures={**MEASURES, **SHARES},
    published=(Published("unresponsive_rate", "section IV-D", {MOVING: (3.85,)}, unit=MBIT),),
    choices=OPEN,
    claims=(
        Claim(
            "With moving hash functions no TCP flow is shut out (none gets less than a tenth of its share)",
            "section IV-D, figure 19(a)",
            partial(_none_shut_out, MOVING),
            LEAK,
        ),
        Claim(
            "Moving hash functions let unresponsive flows take more than fixed ones do: they are on parole "
            "after each change",
            "section IV-D, figure 19(a)",
            _parole,
        ),
        Claim(
            "With double buffering unresponsive flows take less than without", "section IV-D, figure 19(b)", _controlled
        ),
        Claim(
            "With double buffering TCP has a very high level of protection (95 % of the flows within a half of "
            "their share)",
            "section IV-D, figure 19(b)",
            _protected,
            LEAK,
        ),
        Claim(
            "With double buffering no TCP flow is shut out (none gets less than a tenth of its share)",
            "section IV-D, figure 19(b)",
            partial(_none_shut_out, DOUBLE),
            LEAK,
        ),
    ),
    plot=partial(scatter, title=TITLE, labels=(MOVING, DOUBLE)),
    headline=Headline("unresponsive_rate", "what eight unresponsive flows take, Mbit/s"),
    quick=QUICK,
)
