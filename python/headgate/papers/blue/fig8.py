"""BLUE's marking probability while connections are added."""

from headgate.experiment.claims import above, below, every, m
from headgate.experiment.declare import Basis, Claim
from headgate.experiment.plots import Plot
from headgate.papers.blue._steps import LOADS, NOTE, PROBABILITY, STEADY, experiment, panel

EXPERIMENT = experiment(
    about="The runs of figure 6: BLUE's probability settles for each load.",
    stated_in="section III-C, figure 8",
    claims=(
        Claim(
            "BLUE's marking probability remains steady (a standard deviation below 0.05 in 10 s, at every load)",
            every(below(m(f"p_sd_{load}", "BLUE"), STEADY) for load in LOADS),
        ),
        Claim(
            "BLUE marks every packet from 800 connections on",
            every(above(m(f"p_{load}", "BLUE"), 0.99) for load in (800, 1000)),
            # The buffer of figure 6 implies it.
            basis=Basis.ILLUSTRATION,
        ),
    ),
    plot=Plot(panel("BLUE", "gauge:probability", PROBABILITY), NOTE, height=3.6),
    modern=False,
)
