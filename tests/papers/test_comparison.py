"""Claims on FRED, BLUE, SFB and CHOKe that hold clearly, from runs shorter than `--quick`."""

from dataclasses import replace
from pathlib import Path

import pytest

from headgate.analysis.judge import Verdict
from headgate.execution.runner import Watcher
from headgate.experiment.declare import Case, QuickVariant, grid
from headgate.experiment.results import ExperimentResults
from headgate.experiment.running import RunOptions, run
from headgate.papers import catalogue
from tests.papers.exact import by_sign


def shortened(name: str, out: Path, *cases: Case) -> ExperimentResults:
    """Results of one seed of 50 s, 20 of which are warm-up, in some cases of an experiment."""
    experiment = replace(catalogue.experiment(name), quick=QuickVariant(1, ("duration=50s",), cases or None))
    return by_sign(run(experiment, out, RunOptions(quick=True, threads=1), Watcher()).results)


@pytest.fixture(scope="module")
def queues(tmp_path_factory: pytest.TempPathFactory) -> ExperimentResults:
    return shortened("comparison/fig5", tmp_path_factory.mktemp("papers"))


def test_every_claim_on_queues_by_class_holds(queues: ExperimentResults):
    for claim in queues.experiment.claims:
        assert claim.judge(queues).verdict is Verdict.HOLDS, claim.text


def test_the_six_disciplines_have_the_order_of_the_paper(queues: ExperimentResults):
    def held(label: str) -> float:
        return queues("cbr_share", label).mean

    assert held("DropTail") > 0.95
    assert held("RED") > 0.95
    assert held("FRED") < held("CHOKe") < held("BLUE")


def test_freds_table_is_reproduced_at_its_implied_round_trip_time(tmp_path: Path):
    results = shortened("comparison/table1", tmp_path, *grid(link=(8, 20)))
    assert results("tcp", "FRED", link=20).mean == pytest.approx(13.94, rel=0.02)
    assert results("tcp", "FRED", link=8).mean == pytest.approx(5.73, rel=0.05)
    assert results("cbr_part", "FRED", link=20).mean > 0.99
