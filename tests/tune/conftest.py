"""A quick search: RED on the network of the small scenario, for three seconds."""

import json
from importlib import resources

import jsonschema
import pytest

from headgate.qdiscs.spec import QdiscSpec
from headgate.scenario import Scenario
from headgate.tuning.goals import Goals
from headgate.tuning.space import space
from headgate.tuning.study import SearchPlan
from tests.conftest import SMALL

#: The schema of each document.
SCHEMAS = {"tune": "tune-2.json", "sensitivity": "sensitivity-1.json"}

CHANGES = ["duration=3s", "seeds=[1]"]


def validate_document(name: str, document: object) -> None:
    """Validates a document against its schema in the package."""
    schema = json.loads(resources.files("headgate").joinpath(f"schema/{SCHEMAS[name]}").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)


def plan_of(qdisc: str, params: list[str], objectives: list[str], bounds: list[str] | None = None) -> SearchPlan:
    scenario = Scenario.parse(SMALL, set=CHANGES, qdiscs=[qdisc])
    base = QdiscSpec.of(scenario.qdiscs[0])
    return SearchPlan(scenario, base, tuple(space(base, params)), Goals.of(objectives, bounds or [], scenario))


@pytest.fixture
def plan() -> SearchPlan:
    return plan_of("red", ["maxp=0.01..0.5", "gentle"], ["p95 queue delay"], ["utilization >= 0.9"])
