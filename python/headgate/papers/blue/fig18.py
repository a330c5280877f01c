"""Goodput of each TCP flow beside eight unresponsive flows of 5 Mbit/s."""

from headgate.experiment.claims import below, m, near
from headgate.experiment.declare import Claim, HeadlineMeasure, PublishedNumbers, grid
from headgate.experiment.measures import gauge
from headgate.papers.blue._network import WHY
from headgate.papers.blue._unresponsive import MEASURES, SFB, SHARES, each_flow, experiment
from headgate.papers.blue.fig17 import misclassified

TWO, ONE = "SFB, 2 levels of 23 bins", "SFB, 1 level of 46 bins"
#: Tolerance for random bins. Eight unresponsive flows pollute 6.9 of 23 bins (standard deviation 0.85), or 7.4 of 46
#: (0.70). The bins of the 400 TCP flows are random too. The number of misclassified flows therefore has a standard
#: deviation of about a quarter of its mean with two levels, and of a seventh with one.
CHANCE = 0.25
#: The rate limit of unresponsive flows, in Mbit/s.
LIMIT = 0.16

EXPERIMENT = experiment(
    about="Eight unresponsive flows pollute about a quarter of the bins in each level. How many of the 400 TCP "
    "flows have polluted bins only, and starve?",
    qdiscs={TWO: SFB, ONE: f"{SFB},levels=1,bins=46,bin_size=auto"},
    cases=grid(unresponsive=(8,), rate=(5,)),
    # Which bins are polluted is chance. Five seeds leave an interval of a quarter.
    seeds=20,
    measures={**MEASURES, **SHARES, "polluted": gauge("polluted_bins")},
    published=(
        PublishedNumbers(
            "starved",
            "section IV-C, by equation (1)",
            {TWO: (8.96,), ONE: (16.12,)},
            unit="% of the TCP flows",
            scale=100,
        ),
    ),
    stated_in="section IV-C",
    claims=(
        Claim(
            "With two levels of 23 bins the number of misclassified TCP flows matches equation (1) closely: 8.96 % "
            "(within a quarter)",
            near(m("starved", TWO), misclassified(2, 23, 8), within=CHANCE),
            WHY["fig18 between"],
            place="section IV-C, figure 18",
        ),
        Claim(
            "With one level of 46 bins 16.12 % are misclassified, as equation (1) says (within a quarter)",
            near(m("starved", ONE), misclassified(1, 46, 8), within=CHANCE),
        ),
        Claim(
            "SFB limits the eight unresponsive flows together to 0.16 Mbit/s (within a quarter)",
            near(m("unresponsive_rate", TWO), LIMIT, within=0.25),
            WHY["leak"],
            place="section IV-B",
        ),
        Claim(
            "Two levels misclassify fewer flows than one with as many bins",
            below(m("starved", TWO), m("starved", ONE)),
            WHY["fig18 between"],
        ),
    ),
    plot=each_flow(TWO, ONE),
    headline=HeadlineMeasure("starved", "TCP flows with less than a tenth of their share, %", scale=100),
)
