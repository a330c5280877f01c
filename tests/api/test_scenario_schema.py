"""The JSON Schema of scenario files accepts the files that Headgate reads."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/reference/scenario.schema.json").read_text())
SMALL = {
    "name": "small",
    "duration": "10s",
    "qdiscs": ["droptail"],
    "link": {"rate": "10Mbit/s", "delay": "10ms", "limit": "100p"},
}


def schema_errors(document: object) -> str:
    """The violations of the schema as text; empty for a valid document."""
    errors = jsonschema.Draft202012Validator(SCHEMA).iter_errors(document)
    return "; ".join(error.message for error in errors)


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda file: file.name)
def test_every_file_that_ships_is_valid(file: Path):
    assert schema_errors(tomllib.loads(file.read_text())) == ""


def test_a_link_has_the_ranges_and_defaults_of_its_direction():
    link = SMALL["link"]
    assert isinstance(link, dict)
    assert schema_errors(SMALL | {"tcp": [{}], "link": link | {"reverse": {"rate": "1Mbit/s"}}}) == ""
    assert schema_errors(SMALL | {"tcp": [{}], "link": link | {"loss": 0.5, "reverse": {"loss": 0.99}}}) == ""
    assert schema_errors(SMALL | {"tcp": [{}], "link": link | {"loss": 1}}) != ""
    assert schema_errors(SMALL | {"tcp": [{}], "link": link | {"reverse": {"reorder": 1.5}}}) != ""


@pytest.mark.parametrize("group", [
    {"abc": 3}, {"abc": "on"}, {"windw": 9}, {"cc": "illinois"}, {"gain": 0}, {"min_rto": 1},
    {"access": {"dely": "1ms"}},
])  # fmt: skip
def test_keys_that_a_group_cannot_have_are_marked_in_the_json_schema(group: dict[str, object]):
    assert schema_errors(SMALL | {"tcp": [{}]}) == ""
    assert schema_errors(SMALL | {"tcp": [group]}) != ""
