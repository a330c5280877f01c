"""docs/scale.py: the scenarios are valid, and the table's arithmetic."""

import runpy
from pathlib import Path
from typing import Any

import pytest

import headgate

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(DOCS))
    return runpy.run_path(str(DOCS / "scale.py"))


def test_every_scenario_is_valid_and_has_the_stated_flows(script: dict[str, Any]):
    for run in (*script["RUNS"], script["SMALL"]):
        headgate.Scenario.parse(run.scenario)
    assert [run.flows for run in script["RUNS"]] == [1_000_000, 100_000, 40, 1000, 4000]
    assert script["RUNS"][3].scenario.count("[[tcp]]") == 1000
    assert script["RUNS"][3].scenario.count("[[link]]") == 1000


def test_a_row_has_the_time_of_a_packet_the_memory_of_a_flow_and_a_day_of_runs(script: dict[str, Any]):
    million, _, few, *_ = script["RUNS"]
    measured = [
        script["Measured"](million, 20_000_000, 10.0, 900_000_000),
        script["Measured"](few, 10_000_000, 4.0, 50_000_000),
    ]
    rows = script["rows"](measured).splitlines()[2:]
    assert rows == [
        "| a million TCP flows on 100 Gbit/s | 2 s | 20.0 million | 10.0 s | 500 ns | 900 MB | 900 bytes | "
        "8 640 000 runs |",
        "| 40 TCP flows on 100 Gbit/s | 2 s | 10.0 million | 4.0 s | 400 ns | 50 MB |  | 21 600 000 runs |",
    ]
