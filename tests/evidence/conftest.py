"""The small scenario with every kind of record."""

import pytest

import headgate
from tests.conftest import SMALL

RECORD = """
[record]
events = "decisions"
flows = ["tcp"]
capture = ["bottleneck"]
"""

#: TCP with ECN, and with headers that have room for options.
TCP = """flows = 3
ecn = true
header = "52B"
ack = "52B"
"""


@pytest.fixture(scope="session")
def scenario() -> headgate.Scenario:
    """RED marks one TCP group and drops the other's packets; three seconds are enough for a timeout."""
    text = SMALL.replace('"droptail", "faba"', '"red:maxp=0.1", "faba"').replace("flows = 3", TCP)
    return headgate.Scenario.parse(text + RECORD)


@pytest.fixture(scope="session")
def recorded(scenario: headgate.Scenario, tmp_path_factory: pytest.TempPathFactory) -> headgate.Result:
    """Its result in a folder."""
    return headgate.run(scenario, out=tmp_path_factory.mktemp("recorded"), report=False)
