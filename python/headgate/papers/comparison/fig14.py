"""Throughput of a UDP flow under A-CHOKe, by interval_num."""

from headgate.papers.comparison._candidates import experiment
from headgate.papers.comparison._setting import CHOKE, WHY

EXPERIMENT = experiment(
    14,
    "A-CHOKe",
    "interval_num",
    {f"interval_num {number}": f"{CHOKE},adaptive={number}" for number in (1, 5, 10, 20)},
    WHY["fig14 first region"],
)
