"""Fairness among FTP clients, by their number."""

from headgate.experiment.declare import OpenParameter
from headgate.papers.faba._clients import experiment

EXPERIMENT = experiment(
    "FTP",
    OpenParameter("traffic", "ftp", "stated (section 5.5): one transfer without end"),
    "Each client sends from the first second to the end. Jain's index of the clients' goodputs in 100 s.",
    RED="fig13 few",
    CHOKe="fig13 few",
    FRED="fig13 few",
)
