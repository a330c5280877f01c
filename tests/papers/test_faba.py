"""Claims of the FABA paper that hold clearly, from shortened runs."""

from dataclasses import replace
from pathlib import Path

from headgate.analysis.judge import Verdict
from headgate.execution.runner import Watcher
from headgate.experiment.declare import Case, Claim
from headgate.experiment.results import ExperimentResults, NotRunError
from headgate.experiment.running import RunOptions, run
from headgate.papers import catalogue
from tests.papers.exact import by_sign


def verdicts(name: str, out: Path, cases: tuple[Case, ...]) -> dict[str, str]:
    """The verdict on each claim of an experiment, from a shortened run of these cases."""
    whole = catalogue.experiment(name)
    shortened = replace(whole, quick=replace(whole.quick, cases=cases), cases=cases)
    results = by_sign(run(shortened, out, RunOptions(quick=True, threads=2), Watcher()).results)
    return {claim.text: verdict for claim in whole.claims if (verdict := _verdict(claim, results)) is not None}


def _verdict(claim: Claim, results: ExperimentResults) -> str | None:
    """The verdict; None if a case of the claim was not run."""
    try:
        return claim.judge(results).verdict.value
    except NotRunError:
        return None


def test_faba_protects_tcp_at_small_and_large_buffers(tmp_path: Path):
    judged = verdicts("faba/table1", tmp_path, ({"buffer": 78}, {"buffer": 780}))
    clear = (
        "FABA gives TCP more than RED does, at every buffer",
        "FABA gives TCP more than CHOKe does, at every buffer",
        "With more buffer, TCP gets more under FRED",
        "With more buffer, TCP gets more under SFED",
        "With more buffer, TCP gets more under FABA",
    )
    assert {claim: judged[claim] for claim in clear} == dict.fromkeys(clear, Verdict.HOLDS.value)


def test_aggregates_and_hierarchies_get_their_shares(tmp_path: Path):
    judged = verdicts("faba/fig17", tmp_path, ({"constant": 4}, {"constant": 20}))
    judged |= verdicts("faba/fig19", tmp_path, ({},))
    assert len(judged) == 5
    assert set(judged.values()) == {Verdict.HOLDS.value}
