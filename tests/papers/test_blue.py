"""What clearly holds of BLUE and SFB, in runs that are shorter still than `--quick`; and equation (1), by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from headgate.analysis.judge import Verdict
from headgate.execution.runner import Watcher
from headgate.experiment.declare import Case, QuickVariant
from headgate.experiment.results import ExperimentResults
from headgate.experiment.running import RunOptions, run
from headgate.papers import catalogue
from headgate.papers.blue.fig17 import misclassified


def shortened(name: str, out: Path, *settings: str, cases: tuple[Case, ...] | None = None) -> ExperimentResults:
    """What one seed finds with some settings, in some cases of an experiment."""
    experiment = replace(catalogue.experiment(name), quick=QuickVariant(1, settings, cases))
    return run(experiment, out, RunOptions(quick=True, threads=1), Watcher()).results


def verdicts(found: ExperimentResults, said: str) -> set[Verdict]:
    """The verdicts on the claims with these words."""
    judged = {claim.judge(found).verdict for claim in found.experiment.claims if said in claim.text}
    assert judged, f"nothing is claimed about {said!r}"
    return judged


def test_beside_an_unresponsive_flow_red_serves_it_and_the_others_hold_it_back(tmp_path: Path):
    found = shortened("blue/fig16", tmp_path, "duration=30s")
    for said in (
        "SFB limits the unresponsive flow",
        "Under RED the throughput of TCP suffers",
        "SFRED limits the unresponsive flow",
        "SFQ with RED limits the unresponsive flow",
    ):
        assert verdicts(found, said) == {Verdict.HOLDS}, said
    # Of 414 KB in 46 queues served in turn, the flow gets one queue's turns: 45/46 Mbit/s.
    assert found("unresponsive_rate", "SFQ+RED").mean == pytest.approx(45 / 46, rel=0.03)


def test_blue_finds_the_load_and_drops_only_where_a_cwnd_of_one_packet_each_does_not_fit(tmp_path: Path):
    found = shortened("blue/fig6", tmp_path)
    for said in ("BLUE does not leave the link underutilized", "BLUE has no sustained", "BLUE has significant drops"):
        assert verdicts(found, said) == {Verdict.HOLDS}, said
    # At 200 connections RED swings between marking none and all; BLUE's probability does not move.
    assert found("p_sd_200", "BLUE").mean < 0.01 < 0.1 < found("p_sd_200", "RED").mean


def test_equation_1_gives_the_papers_numbers():
    assert misclassified(2, 23, 8) == pytest.approx(0.0896, abs=5e-5)
    assert misclassified(1, 46, 8) == pytest.approx(0.1612, abs=5e-5)


def test_every_claim_on_equation_1_holds(tmp_path: Path):
    found = shortened("blue/fig17", tmp_path)
    assert {claim.judge(found).verdict for claim in found.experiment.claims} == {Verdict.HOLDS}
