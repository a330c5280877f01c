"""Fairness among HTTP clients, by their number."""

from headgate.experiment.declare import OpenParameter, for_each
from headgate.papers.faba._clients import experiment, fairer
from headgate.papers.faba._setting import OTHERS

EXPERIMENT = experiment(
    "HTTP",
    OpenParameter("traffic", "http", "stated (section 5.5): transfers of 5 s, one after the other"),
    "Each client sends for 5 s on a connection, then begins the next. Jain's index of the clients' goodputs in 100 s.",
    more=tuple(
        for_each(
            OTHERS,
            "FABA is fairer than {} with 1000 clients",
            lambda label: fairer(label, clients=1000),
        )
    ),
    FRED="fig12 equal",
)
