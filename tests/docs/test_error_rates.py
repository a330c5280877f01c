"""The rates of false and true claims of docs/explanation/seeds.md, with fewer tables."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headgate

NULLS = 200
RUNS = 60


@pytest.fixture(scope="module")
def error_rates() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(Path(__file__).parents[2] / "docs"), *sys.path])
        script = import_module("error_rates")
        patch.setattr(script, "RUNS", RUNS)
        patch.setattr(script, "KNOWN", 10)
        yield script


@pytest.fixture(scope="module")
def runs(error_rates: Any) -> headgate.Result:
    return headgate.run(headgate.Scenario.parse(error_rates.SCENARIO, seeds=RUNS), report=False)


def test_statements_claim_a_difference_in_at_most_five_percent_of_nulls(error_rates: Any, runs: headgate.Result):
    # Three deviations of a binomial above 5 %.
    most = 0.05 + 3 * np.sqrt(0.05 * 0.95 / NULLS)
    for name, null in error_rates.statements(runs).items():
        rng = np.random.default_rng(5)
        shares = {seeds: error_rates.share_of(null, rng, seeds, NULLS) for seeds in (2, 5, 10)}
        assert shares[2] == 0, name
        assert max(shares.values()) <= most, (name, shares)


def test_most_known_differences_are_shown_by_twenty_seeds(error_rates: Any, runs: headgate.Result):
    lines = error_rates.true_claims(runs).splitlines()
    # `run`, `compare`, `sensitivity` and `evaluate`, each by kind of quantity.
    assert len(lines) == 2 + 4 * len(error_rates.KINDS)
    for line in lines[2:]:
        *_, two, _three, _five, _ten, twenty = (cell.strip() for cell in line.strip("|").split("|"))
        assert (int(two), int(twenty) > 40) == (0, True), line


def test_a_difference_of_the_wrong_sign_is_not_shown(error_rates: Any):
    assert list(error_rates.known_difference("goodput_bps", -1.0, 2.0)) == [(error_rates.MEAN, False)]
    assert list(error_rates.known_difference("goodput_bps", 1.0, 2.0)) == [(error_rates.MEAN, True)]
    assert list(error_rates.known_difference("goodput_bps", 1.0, 0.0)) == []
