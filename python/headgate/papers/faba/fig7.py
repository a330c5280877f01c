"""Tokens that FABA distributes for each departure, in intervals of 10 ms."""

from headgate.experiment.declare import QuickVariant
from headgate.papers.faba._setting import MIX_BUFFER, MIX_CHOICES, mix
from headgate.papers.faba._tokens import interval_experiment
from headgate.papers.faba.fig6 import SCENARIO

EXPERIMENT = interval_experiment(
    about="As figure 6, each point the mean over 10 ms, some 24 departures.",
    scenario=lambda v: mix(v, interval="10ms"),
    choices=(MIX_BUFFER, *MIX_CHOICES, SCENARIO),
    stated_in="section 5.2, figure 7",
    quick=QuickVariant(set=("duration=40s",)),
)
