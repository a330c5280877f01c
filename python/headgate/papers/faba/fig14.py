"""Fairness among Telnet clients, by their number."""

from headgate.experiment.declare import OpenParameter
from headgate.papers.faba._clients import experiment

EXPERIMENT = experiment(
    "Telnet",
    OpenParameter("traffic", "telnet:gap=exp(5ms)", "stated (section 5.5); packets have full size"),
    "Each client has a packet to send every 5 ms on average, some 100 kB/s. Jain's index of the clients' "
    "goodputs in 100 s.",
)
