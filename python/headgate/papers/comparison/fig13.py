"""comparison/fig13: what M-CHOKe leaves a UDP flow, by the number of candidates."""

from headgate.papers.comparison._candidates import experiment
from headgate.papers.comparison._setting import CHOKE

EXPERIMENT = experiment(
    13, "M-CHOKe", "cand_num", {f"cand_num {number}": f"{CHOKE},candidates={number}" for number in (1, 2, 4, 8)}
)
