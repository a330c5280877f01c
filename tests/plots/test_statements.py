"""The statements on three cases with 2, 5 and 20 seeds say what the seeds allow, and no more.

The cases are shortened: a call beside downloads, an access link whose traffic is all responsive, and the mix of
`scenarios/mix.toml`.
"""

import math
from pathlib import Path

import numpy as np
import pytest

import headgate
from headgate.analysis import findings, verdict
from headgate.analysis.significance import ALPHA
from headgate.analysis.spread import student_t

SCENARIOS = Path(__file__).parents[2] / "scenarios"
LINK = 'duration = "6s"\nwarmup = "2s"\nlink = { rate = "10Mbit/s", delay = "10ms", limit = "200p" }\n'
CALL = f"""
name = "call"
qdiscs = ["droptail", "codel", "fq_codel"]
{LINK}
tcp = [{{ name = "downloads", flows = 4, start = "0s..1s" }}]
udp = [{{ name = "call", traffic = "voip", packet = "200B" }}]
"""
ACCESS = f"""
name = "access"
qdiscs = ["droptail", "red", "fq"]
{LINK}
tcp = [{{ name = "near", flows = 3, start = "0s..1s" }},
       {{ name = "far", flows = 3, start = "0s..1s", access = {{ delay = "40ms" }} }}]
"""
CASES = {
    "call beside downloads": lambda seeds: headgate.Scenario.parse(CALL, seeds=seeds),
    "access link": lambda seeds: headgate.Scenario.parse(ACCESS, seeds=seeds),
    "mix": lambda seeds: headgate.Scenario.load(
        SCENARIOS / "mix.toml", set=["duration=8s", "warmup=3s"], qdiscs=["droptail", "codel", "fq_codel"], seeds=seeds
    ),
}


@pytest.mark.parametrize("seeds", [5, 20])
@pytest.mark.parametrize("case", CASES)
def test_a_statement_is_what_the_seeds_allow(case: str, seeds: int, capsys: pytest.CaptureFixture[str]):
    result = headgate.run(CASES[case](seeds))
    compared = findings.of(result)
    text = verdict.of(result, compared)
    with capsys.disabled():
        print(f"\n{case}, {seeds} seeds: {text}")
    tests = sum(math.comb(len(finding.values), 2) for finding in compared.findings)
    if compared.shown is None:
        assert text.startswith(("No difference shown with", "The disciplines do not differ noticeably"))
        # Bonferroni's bound is above Holm's: what it shows, Holm shows too.
        assert not any(
            _t(finding, one, other) > student_t(seeds - 1, 1 - ALPHA / tests)
            and abs(np.mean(_differences(finding, one, other))) > finding.least
            for finding in compared.findings
            for one in finding.values
            for other in finding.values
            if one < other
        )
        return
    best, *rest = [each.label for each in compared.leaders(compared.shown)]
    assert text.startswith(best) or f"{best} " in text
    assert bool(rest) == ("No difference from" in text or "no difference from" in text)
    for other in set(compared.shown.values) - {best, *rest}:
        # Alone, without a correction, each difference that the statement makes is shown at least at 5 %.
        assert np.mean(_differences(compared.shown, other, best)) > 0
        assert _t(compared.shown, other, best) > student_t(seeds - 1)


def test_fewer_than_five_seeds_allow_no_statement():
    assert verdict.verdict(headgate.run(CASES["access link"](4))).endswith(
        ". 4 seeds show no difference: at least 5 are needed"
    )


def _differences(finding: findings.Finding, one: str, other: str) -> np.ndarray:
    """The values with discipline `one` less those with `other`, seed by seed."""
    both = (np.array(finding.values[label], dtype=float) for label in (one, other))
    differences = next(both) - next(both)
    finite: np.ndarray = differences[np.isfinite(differences)]
    return finite


def _t(finding: findings.Finding, one: str, other: str) -> float:
    """Student's t of the differences, computed apart from the code under test."""
    differences = _differences(finding, one, other)
    error = differences.std(ddof=1) / math.sqrt(len(differences))
    return float(abs(differences.mean()) / error) if error else math.inf
