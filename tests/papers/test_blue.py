"""Claims on BLUE and SFB that hold clearly, from runs shorter than `--quick`; and equation (1), by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from headgate.analysis.judge import Verdict
from headgate.execution.runner import Watcher
from headgate.experiment.declare import Case, QuickVariant
from headgate.experiment.results import ExperimentResults
from headgate.experiment.running import RunOptions, run
from headgate.papers import catalogue
from headgate.papers.blue._loss import BLUES, REDS
from headgate.papers.blue.fig17 import misclassified
from tests.papers.exact import by_sign


def shortened(name: str, out: Path, *settings: str, cases: tuple[Case, ...] | None = None) -> ExperimentResults:
    """Results of one seed of an experiment, with changed settings and some of its cases."""
    experiment = replace(catalogue.experiment(name), quick=QuickVariant(1, settings, cases))
    return by_sign(run(experiment, out, RunOptions(quick=True, threads=1), Watcher()).results)


def verdicts(results: ExperimentResults, words: str) -> set[Verdict]:
    """The verdicts on the claims that contain the words."""
    judged = {claim.judge(results).verdict for claim in results.experiment.claims if words in claim.text}
    assert judged, f"nothing is claimed about {words!r}"
    return judged


def test_red_lets_an_unresponsive_flow_through_and_the_others_limit_it(tmp_path: Path):
    results = shortened("blue/fig16", tmp_path, "duration=30s")
    for words in (
        "SFB limits the unresponsive flow",
        "Under RED the throughput of TCP suffers",
        "SFRED limits the unresponsive flow",
        "SFQ with RED limits the unresponsive flow",
    ):
        assert verdicts(results, words) == {Verdict.HOLDS}, words
    # 46 queues share the link of 45 Mbit/s, and the flow has one of them: 45/46 Mbit/s.
    assert results("unresponsive_rate", "SFQ+RED").mean == pytest.approx(45 / 46, rel=0.03)


def test_blue_drops_packets_only_where_windows_of_one_packet_exceed_the_link(tmp_path: Path):
    results = shortened("blue/fig6", tmp_path)
    for words in ("BLUE does not leave the link underutilized", "BLUE has no sustained", "BLUE has significant drops"):
        assert verdicts(results, words) == {Verdict.HOLDS}, words
    # At 200 connections RED's probability oscillates between 0 and 1; BLUE's is constant.
    assert results("p_sd_200", "BLUE").mean < 0.01 < 0.1 < results("p_sd_200", "RED").mean


def test_a_new_hash_function_of_sfq_reorders_packets_and_one_of_sfb_does_not(tmp_path: Path):
    results = shortened("blue/rehash", tmp_path, "duration=26s")
    for words in ("Changing SFQ's hash function", "SFB's hash functions", "Mapping flows"):
        assert verdicts(results, words) == {Verdict.HOLDS}, words


def test_a_list_of_200_packets_holds_at_most_one_packet_of_a_flow_with_half_a_percent_of_the_link(tmp_path: Path):
    results = shortened("blue/sred", tmp_path, "duration=12s", "warmup=5s", cases=({"zombies": 100},))
    assert results("needed", "SRED", zombies=100).mean > 200
    # The flow's intervals are uniform from 0 to twice their mean. Of windows of w means, (1 - w/2)^2 have no packet.
    # From 430 intervals the standard error is 4 %; the tolerance is four of them.
    window = 100 / results("needed", "SRED", zombies=100).mean
    assert results("absent", "SRED", zombies=100).mean == pytest.approx((1 - window / 2) ** 2, rel=0.16)


def test_a_claim_of_figure_5_is_about_all_configurations_of_red_or_blue():
    # Section III-B writes of "RED" and "BLUE". Tables I and II have four configurations of each.
    for claim in catalogue.experiment("blue/fig5").claims:
        for configurations in (REDS, BLUES):
            assert claim.judge.labels.intersection(configurations) in (set(), set(configurations)), claim.text


def test_equation_1_gives_the_papers_numbers():
    assert misclassified(2, 23, 8) == pytest.approx(0.0896, abs=5e-5)
    assert misclassified(1, 46, 8) == pytest.approx(0.1612, abs=5e-5)


def test_every_claim_on_equation_1_holds(tmp_path: Path):
    results = shortened("blue/fig17", tmp_path)
    assert {claim.judge(results).verdict for claim in results.experiment.claims} == {Verdict.HOLDS}
