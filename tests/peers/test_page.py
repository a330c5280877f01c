"""docs/peer_tables.py writes the comparison's tables: tests with synthetic figures."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from headgate.analysis.spread import estimate
from peers.causes import CAUSES
from peers.judge import Figure, Speed
from peers.show import Comparison

DOCS = Path(__file__).parents[2] / "docs"
COMPARISON = Comparison(
    [
        Figure("droptail", "drop rate", "%", estimate([1.0, 1.0]), estimate([1.0, 1.0])),
        Figure("droptail", "mean queue", "packets", estimate([12.0, 12.0]), estimate([8.0, 13.0])),
        Figure("codel", "drop rate", "%", estimate([2.0, 2.0]), estimate([1.0, 1.0])),
    ],
    [Speed("droptail", 300e3, 200e3), Speed("codel", 150e3, 10e3)],
)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(DOCS))
    return runpy.run_path(str(DOCS / "peer_tables.py"))


def test_the_score_counts_figures_by_verdict(script: dict[str, Any]):
    assert "3 figures. 1 are within 5 %, 1 more lie within the peer's own seeds: 66.7 % agree. 1 differ.\n" in (
        script["score"](COMPARISON)
    )


def test_a_gap_has_its_cause_and_an_unknown_one_stops_the_script(
    script: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(CAUSES, ("codel", "drop rate"), "a cause")
    assert script["gaps"](COMPARISON.figures).endswith("| codel | drop rate | 2 ± 0 | 1 ± 0 | +100.0 % | a cause |\n")
    monkeypatch.delitem(CAUSES, ("codel", "drop rate"))
    with pytest.raises(KeyError, match="codel"):
        script["gaps"](COMPARISON.figures)


def test_tables_have_a_row_for_each_figure_and_case(script: dict[str, Any]):
    rows = script["figures"](COMPARISON.figures).splitlines()[2:]
    assert rows[0] == "| droptail | ns-2 | drop rate, % | 1 ± 0 | 1 ± 0 | none | within 5 % |"
    assert rows[1].startswith("|  |  | mean queue, packets | 12 ± 0 | 10.5 ± ")
    assert rows[1].endswith("| +14.3 % | within its seeds |")
    assert rows[2].endswith("| +100.0 % | **differs** |")
    assert script["speed"](COMPARISON).splitlines()[2:] == [
        "| droptail | ns-2 | 300 | 200 | 1.5 |",
        "| codel | ns-3 | 150 | 10 | 15 |",
    ]


def test_a_machine_without_results_leaves_the_page_as_it_is(
    script: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    page = (DOCS / "reference" / "peers.md").read_text()
    script["main"](tmp_path)
    assert "peers.md stays as it is" in capsys.readouterr().out
    assert (DOCS / "reference" / "peers.md").read_text() == page
