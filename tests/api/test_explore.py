"""Widgets of notebooks, without a browser: a value is set, and the shown result is read."""

from pathlib import Path

import pytest

import headgate
from headgate.scenario import Scenario
from tests.conftest import SMALL

ipywidgets = pytest.importorskip("ipywidgets")


def test_a_slider_changes_a_key_and_finished_runs_are_reused(tmp_path: Path):
    keys = {"link.rate": ["2Mbit/s", "4Mbit/s"], "duration": ["2s", "3s"]}
    rate, duration, shown = headgate.explore(
        Scenario.parse(SMALL), keys, set=["warmup=500ms"], seeds=1, qdiscs=["droptail", "red"], out=tmp_path
    ).children
    slow = shown.value
    assert "<table>" in slow
    assert len(list(tmp_path.iterdir())) == 1
    rate.value = "4Mbit/s"
    assert shown.value != slow
    duration.value = "3s"
    assert len(list(tmp_path.iterdir())) == 3
    began = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("flows.parquet")}
    duration.value, rate.value = "2s", "2Mbit/s"
    assert shown.value == slow
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("flows.parquet")} == began


def test_an_error_is_shown_in_place_of_the_result_and_the_next_value_works(tmp_path: Path):
    keys = {"link.rate": ["2Mbit/s", "<b>"]}
    rate, shown = headgate.explore(
        Scenario.parse(SMALL), keys, set=["duration=2s", "warmup=500ms"], seeds=1, qdiscs=["red"], out=tmp_path
    ).children
    rate.value = "<b>"
    assert shown.value.startswith("<pre>")
    assert "link.rate" in shown.value
    assert "<b>" not in shown.value
    rate.value = "2Mbit/s"
    assert "<table>" in shown.value


def test_a_key_without_values_is_refused():
    with pytest.raises(headgate.UsageError, match="at least one key"):
        headgate.explore(SMALL, {"link.rate": []})
