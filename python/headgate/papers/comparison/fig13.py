"""Throughput of a UDP flow under M-CHOKe, by cand_num."""

from headgate.papers.comparison._candidates import experiment
from headgate.papers.comparison._setting import CHOKE

EXPERIMENT = experiment(
    13, "M-CHOKe", "cand_num", {f"cand_num {number}": f"{CHOKE},candidates={number}" for number in (1, 2, 4, 8)}
)
