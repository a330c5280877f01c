"""faba/fig13: how alike FTP clients are served, by their number."""

from __future__ import annotations

from headgate.experiment.declare import Choice
from headgate.papers.faba import _clients as clients

#: Where FABA is not the fairest.
FEW = (
    "With 100 clients all are between 0.97 and 1 and FABA is behind; from 400 on it is the fairest. Open: the "
    "receiver's window. With 20 or 78 packets FABA is the fairest for every number (shortened runs)."
)

EXPERIMENT = clients.experiment(
    "FTP",
    "figure 13",
    Choice("traffic", "ftp", "stated (section 5.5): one transfer without end"),
    "Each client sends from the first second to the end. Jain's index of what the clients got in 100 s.",
    RED=FEW,
    CHOKe=FEW,
    FRED=FEW,
)
