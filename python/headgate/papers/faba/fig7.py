"""faba/fig7: how many tokens a departure distributes, moment by moment."""

from __future__ import annotations

from headgate.experiment.declare import Choice, Experiment, Quick
from headgate.papers.faba import _common as common
from headgate.papers.faba import _tokens as tokens

TITLE = "Tokens that FABA distributes for each departure, moment by moment"

EXPERIMENT = Experiment(
    title=TITLE,
    place="figure 7",
    about="As figure 6, each point the mean over 10 ms, some 24 departures.",
    scenario=common.MIX + '\n[record]\ninterval = "10ms"\n',
    qdiscs={"FABA": "faba"},
    measures=tokens.MOMENTS,
    choices=(
        common.MIX_BUFFER,
        *common.MIX_CHOICES,
        Choice("scenario", "figure 9", "the captions of figures 6 to 8 are lost; here 6 and 7 have section 5's mix"),
    ),
    claims=tokens.claims("figure 7"),
    plot=tokens.plot(TITLE),
    modern=False,
    quick=Quick(set=("duration=40s",)),
)
