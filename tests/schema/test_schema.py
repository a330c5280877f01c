"""The JSON document keeps the form that scripts rely on."""

import copy
import json
from importlib import resources

import jsonschema
import pytest

import headgate
from tests.conftest import SMALL, Command


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(resources.files("headgate").joinpath("schema/run-2.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_command_prints_one_document_of_the_schema(validator, command: Command, small):
    done = command("run", small, "--json", "--no-report")
    assert done.returncode == 0
    assert done.stderr == ""
    document = json.loads(done.stdout)
    validator.validate(document)
    assert (document["schema"], document["scenario"], document["version"]) == (2, "small", headgate.__version__)
    assert [entry["qdisc"] for entry in document["results"]] == ["droptail", "faba"]
    assert document["config_hash"] == headgate.Scenario.parse(SMALL).config_hash


@pytest.mark.parametrize(
    "changes",
    [
        ["udp=[]"],
        ["tcp=[]"],
        ["warmup=3999ms", "tcp.start=3999ms"],
        ["tcp.ecn=true", "qdiscs=['red:minth=2p,maxth=5p']"],
    ],
    ids=["no UDP", "no TCP", "hardly any time", "marks"],
)
def test_every_kind_of_scenario_gives_a_document_of_the_schema(validator, changes: list[str]):
    document = headgate.run(headgate.Scenario.parse(SMALL, set=changes, seeds=1)).document()
    validator.validate(document)
    json.dumps(document, allow_nan=False)


def test_the_schema_has_no_room_for_more_or_less(validator, in_memory: headgate.Result):
    document = in_memory.document()
    for broken in ("surplus", "missing", "not a figure"):
        changed = copy.deepcopy(document)
        if broken == "surplus":
            changed["results"][0]["bottleneck"]["surplus"] = 1
        elif broken == "missing":
            del changed["results"][0]["groups"][0]["timeouts"]
        else:
            changed["results"][0]["jain"] = 1.0
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(changed)


def test_counts_in_the_document_are_those_of_the_tables(in_memory: headgate.Result):
    links = in_memory.links.to_pandas().query("direction == 'forward'")
    for entry in in_memory.document()["results"]:
        mine = links[links["qdisc"] == entry["qdisc"]]
        for name in ("arrived", "sent", "dropped", "marked"):
            assert entry["bottleneck"][name]["per_seed"] == mine[name].tolist()
        assert entry["bottleneck"]["queue_delay_ms"]["p99"]["per_seed"] == mine["queue_delay_ms_p99"].tolist()
