"""faba/fig13: how alike FTP clients are served, by their number."""

from __future__ import annotations

from headgate.papers.experiment import Choice
from headgate.papers.faba import _clients as clients

#: Where FABA is not the fairest.
FEW = (
    "With 100 clients all are between 0.97 and 1 and FABA is behind; from 400 on it is the fairest. Open: the "
    "receiver's window. With 20 packets FABA is ahead with 100 clients too (0.998 to FRED's 0.996; one seed, 50 s)."
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
