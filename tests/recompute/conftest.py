"""Each scenario's run, and the journeys of its packets."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import headgate
from tests.recompute import network, scenarios
from tests.recompute.journeys import Journeys


class Recorded:
    """A run's tables as Headgate wrote them, and its packets as the captures hold them."""

    def __init__(self, name: str, folder: Path) -> None:
        self.result = headgate.run(headgate.Scenario.parse(scenarios.ALL[name]), out=folder, report=False)
        (self.run,) = self.result.scenario.runs
        self.network = network.read(scenarios.ALL[name])
        names = {link for link, _ in self.network.directions}
        files = {next(link for link in names if file.stem.endswith(f"-{link}")): file for file in self.result.captures}
        assert files.keys() == names
        self.journeys = Journeys(self.network, files)

    def table(self, name: str) -> list[dict[str, Any]]:
        """The rows of a printed table."""
        rows: list[dict[str, Any]] = self.result.run(name, self.run).to_pylist()
        return rows


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Runs a scenario by its name, once."""
    return cache(lambda name: Recorded(name, tmp_path_factory.mktemp(name)))
