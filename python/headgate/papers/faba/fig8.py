"""Tokens that FABA distributes for each departure when flows come and go."""

from headgate.experiment.declare import OpenParameter, QuickVariant
from headgate.papers.faba._setting import CLIENT_BUFFER, CLIENT_CHOICES, clients
from headgate.papers.faba._tokens import interval_experiment

EXPERIMENT = interval_experiment(
    about="As figure 7, with a hundred HTTP clients of figure 12. Their connections last 5 s each, so FABA "
    "makes and deletes buckets all the time.",
    scenario=lambda v: clients(v, interval="10ms"),
    choices=(
        OpenParameter(
            "traffic",
            "http",
            "our text has no captions of figures 6 to 8; here figure 8 has many flows that start and end",
        ),
        OpenParameter("clients", 100, "not stated in our text", (20, 400)),
        CLIENT_BUFFER,
        *CLIENT_CHOICES,
    ),
    stated_in="section 5.2, figure 8",
    quick=QuickVariant(seeds=2, set=("duration=40s",)),
)
