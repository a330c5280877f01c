"""Claims of the BREATHe paper that hold clearly, from a shortened run."""

from dataclasses import replace
from pathlib import Path

from headgate.analysis.judge import Verdict
from headgate.execution.runner import Watcher
from headgate.experiment.running import RunOptions, run
from headgate.papers import catalogue
from tests.papers.exact import by_sign


def test_breathe_protects_tcp_where_red_and_plain_choke_do_not(tmp_path: Path):
    figure2, figure3 = (catalogue.experiment(f"breathe/fig{number}") for number in (2, 3))
    # Both figures show the same runs.
    assert figure2.scenario == figure3.scenario
    assert figure2.qdiscs == figure3.qdiscs
    both = replace(figure2, measures={**figure2.measures, **figure3.measures})
    shortened = replace(both, quick=replace(both.quick, set=("duration=100s",)))
    results = by_sign(run(shortened, tmp_path, RunOptions(quick=True, threads=2), Watcher()).results)
    judged = {claim.text: claim.judge(results).verdict.value for claim in (*figure2.claims, *figure3.claims)}
    clear = (
        "Under DropTail TCP gets nearly nothing (less than 5 % of the fair rate)",
        "Under RED TCP gets nearly nothing (less than 5 % of the fair rate)",
        "CHOKe with one candidate protects TCP less than with ten",
        "BREATHe bounds every constant flow to r_limit",
        "BREATHe protects TCP more than CHOKe-1 does",
        "BREATHe protects TCP more than SFQ does",
        "More TCP flows are near the fair rate (0.6 to 1.2 kbit/s) under BREATHe than under CHOKe-1",
    )
    assert {claim: judged[claim] for claim in clear} == dict.fromkeys(clear, Verdict.HOLDS.value)
