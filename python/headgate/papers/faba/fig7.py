"""faba/fig7: how many tokens a departure distributes, moment by moment."""

from functools import partial

from headgate.experiment.declare import Experiment, Quick
from headgate.papers.faba._setting import FABA, MIX_BUFFER, MIX_CHOICES, mix
from headgate.papers.faba._tokens import MOMENTS, PLOT, claims
from headgate.papers.faba.fig6 import LOST

EXPERIMENT = Experiment(
    title="Tokens that FABA distributes for each departure, moment by moment",
    place="figure 7",
    about="As figure 6, each point the mean over 10 ms, some 24 departures.",
    scenario=partial(mix, interval="10ms"),
    qdiscs=FABA,
    measures=MOMENTS,
    choices=(MIX_BUFFER, *MIX_CHOICES, LOST),
    claims=claims("figure 7"),
    plot=PLOT,
    modern=False,
    quick=Quick(set=("duration=40s",)),
)
