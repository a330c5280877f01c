"""A quick scenario with a sweep."""

from pathlib import Path

import pytest

import headgate
from tests.conftest import SMALL

SWEPT = (
    SMALL.replace('duration = "4s"', 'duration = "2s"').replace('"faba"', '"red:minth=5p,maxth=9p"')
    + """
[sweep.grid]
link.rate = ["1Mbit/s", "2Mbit/s"]
qdisc.red.maxp = [0.02, 0.2]
"""
)
#: DropTail has no `maxp`: two rates for it and four combinations for RED, two seeds each.
RUNS = 2 * (2 + 4)


@pytest.fixture
def swept(tmp_path: Path) -> Path:
    """The scenario as a file."""
    file = tmp_path / "swept.toml"
    file.write_text(SWEPT)
    return file


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> headgate.Sweep:
    """Its dataset in a folder, which no test may change."""
    folder = tmp_path_factory.mktemp("sweeps")
    (folder / "swept.toml").write_text(SWEPT)
    return headgate.sweep(folder / "swept.toml", out=folder)
