"""faba/fig13: how alike FTP clients are served, by their number."""

from __future__ import annotations

from headgate.papers.experiment import Choice
from headgate.papers.faba import _clients as clients

EXPERIMENT = clients.experiment(
    "FTP",
    "figure 13",
    Choice("traffic", "ftp", "stated (section 5.5): one transfer without end"),
    "Each client sends from the first second to the end. Jain's index of what the clients got in 100 s.",
)
