"""faba/fig8: how many tokens a departure distributes where flows come and go."""

from __future__ import annotations

from headgate.experiment.declare import Choice, Experiment, Quick
from headgate.papers.faba import _clients as clients
from headgate.papers.faba import _common as common
from headgate.papers.faba import _tokens as tokens

TITLE = "Tokens that FABA distributes for each departure where flows come and go"

EXPERIMENT = Experiment(
    title=TITLE,
    place="figure 8",
    about="As figure 7, with a hundred HTTP clients of figure 12: their connections last 5 s each, and buckets are "
    "made and deleted all the time.",
    scenario=clients.SCENARIO + '\n[record]\ninterval = "10ms"\n',
    qdiscs={"FABA": "faba"},
    measures=tokens.MOMENTS,
    choices=(
        Choice("traffic", "http", "the captions of figures 6 to 8 are lost; here 8 has many flows that come and go"),
        Choice("clients", 100, "as above", (20, 400)),
        common.OPEN_BUFFER,
        *clients.CHOICES,
    ),
    claims=tokens.claims("figure 8"),
    plot=tokens.plot(TITLE),
    modern=False,
    quick=Quick(seeds=2, set=("duration=40s",)),
)
