"""Fairness among HTTP clients, by their number."""

from headgate.experiment.claims import above, m
from headgate.experiment.declare import Claim, OpenParameter
from headgate.papers.faba._clients import experiment
from headgate.papers.faba._setting import WHY

EXPERIMENT = experiment(
    "HTTP",
    OpenParameter("traffic", "http", "stated (section 5.5): transfers of 5 s, one after the other"),
    "Each client sends for 5 s on a connection, then begins the next. Jain's index of the clients' goodputs in 100 s.",
    more=(
        Claim(
            "With FABA the index is close to 1 (above 0.9) with 1000 clients",
            above(m("fairness", "FABA", clients=1000), 0.9),
            WHY["fig12 not close"],
            place="section 5.5, figure 12",
        ),
    ),
    CHOKe="fig12 CHOKe",
    FRED="fig12 FRED",
)
