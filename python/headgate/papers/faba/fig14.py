"""faba/fig14: how alike Telnet clients are served, by their number."""

from __future__ import annotations

from headgate.experiment.declare import Choice
from headgate.papers.faba import _clients as clients

EXPERIMENT = clients.experiment(
    "Telnet",
    "figure 14",
    Choice("traffic", "telnet:gap=exp(5ms)", "stated (section 5.5); the packets are full ones"),
    "Each client has a packet to send every 5 ms on average, some 100 kB/s. Jain's index of what the clients got in "
    "100 s.",
    FRED="Ahead up to 400 and with 1000 clients; level, and 0.5 % behind, with 600 and 800. Open: the buffer. With "
    "1560 packets FRED is ahead with 1000 clients (0.97 to 0.91), with 195 FABA is (0.62 to 0.38; 20 s, one "
    "seed).",
)
