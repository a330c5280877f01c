"""The rates of docs/explanation/window.md, with fewer results."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

RESULTS = 200


@pytest.fixture(scope="module")
def window_rates() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(Path(__file__).parents[2] / "docs"), *sys.path])
        script = import_module("window_rates")
        short = script.SCENARIO.replace(str(list(script.QDISCS)), '["red"]').replace('"400s"', '"200s"')
        patch.setattr(script, "SCENARIO", short)
        patch.setattr(script, "QDISCS", ("red",))
        patch.setattr(script, "RUNS", 6)
        patch.setattr(script, "SEEDS", (1, 5))
        patch.setattr(script, "LENGTHS", (300,))
        patch.setattr(script, "TIMES", (3, 9))
        yield script


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_steady_windows_are_called_too_short_in_at_most_five_percent(window_rates: Any):
    # Three deviations of a binomial above 5 %.
    most = 100 * (0.05 + 3 * np.sqrt(0.05 * 0.95 / RESULTS))
    found = rows(window_rates.steady(window_rates.simulated(), RESULTS))
    assert [name for name, *_ in found][-1] == "red, simulated: 300 intervals"
    for name, *cells in found:
        shares = [float(cell.split(" ")[0]) for cell in cells]
        assert max(shares) <= most, (name, shares)


def test_large_drifts_are_found(window_rates: Any):
    for name, _one, five in rows(window_rates.drifting(100)):
        if "three deviations" in name and "twentieth" not in name:
            assert int(five) > 90, name
