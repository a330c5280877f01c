"""faba/fig12: how alike HTTP clients are served, by their number."""

from __future__ import annotations

from headgate.papers.experiment import Choice, Claim
from headgate.papers.faba import _clients as clients
from headgate.papers.judge import above

EXPERIMENT = clients.experiment(
    "HTTP",
    "figure 12",
    Choice("traffic", "http", "stated (section 5.5): transfers of 5 s, one after the other"),
    "Each client sends for 5 s on a connection, then begins the next. Jain's index of what the clients got in 100 s.",
    (
        Claim(
            "With FABA the index is close to 1 (above 0.9) with 1000 clients",
            "section 5.5, figure 12",
            lambda found: above(found("fairness", "FABA", clients=1000), 0.9),
        ),
    ),
)
