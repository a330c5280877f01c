"""The effect of each parameter near its value."""

import json
from pathlib import Path

import pytest

from headgate.errors import UsageError
from headgate.scenario import Scenario
from headgate.tuning import sensitivity, sensitivity_show
from headgate.tuning.sensitivity import Sensitivity
from tests.conftest import SMALL, Command
from tests.tune.conftest import validate_document


def vary(qdisc: str, folder: Path, *params: str, objective: str = "p95 queue delay") -> Sensitivity:
    scenario = Scenario.parse(SMALL, set=["duration=3s"], qdiscs=[qdisc])
    return sensitivity.sensitivity(scenario, objective, params=params, out=folder)


def test_each_parameter_goes_from_half_to_twice_its_value(tmp_path: Path):
    varied = vary("red:minth=5p,maxth=20p", tmp_path, "maxp", "minth", objective="goodput")
    texts = {name: [value.text for value in varied.values if value.name == name] for name in ("maxp", "minth")}
    # Equal factors: half, half of the square root of two, ... of 0.02 and of 5.
    assert texts == {
        "maxp": ["0.01", "0.0141", "0.02", "0.0283", "0.04"],
        "minth": ["2.5p", "3.54p", "5p", "7.07p", "10p"],
    }
    chosen = [value for value in varied.values if value.chosen]
    assert [value.text for value in chosen] == ["0.02", "5p"]
    assert all(value.measured == varied.reference for value in chosen)


def test_a_value_that_contradicts_the_other_settings_is_reported(tmp_path: Path):
    varied = vary("red:minth=20%,maxth=30%", tmp_path, "minth", objective="goodput")
    refused = [value for value in varied.values if value.refused]
    assert [value.text for value in refused] == ["40%"]
    assert "minth=40% is invalid: red: minth" in " ".join(sensitivity_show.sentences(varied))
    document = json.loads((varied.folder / "sensitivity.json").read_text())
    validate_document("sensitivity", document)
    assert document["values"][-1]["metrics"] == {}
    assert "minth" in document["values"][-1]["refused"]


def test_ranges_and_lists_are_as_for_tune(tmp_path: Path):
    varied = vary("red", tmp_path, "maxp=0.1..0.5", "gentle", objective="goodput")
    assert [value.text for value in varied.values] == ["0.02", "0.1", "0.2", "0.3", "0.4", "0.5", "off", "on"]


def test_a_parameter_that_does_nothing_moves_nothing(tmp_path: Path):
    """RED's target delay affects thresholds only if they are `auto`, and these are not."""
    varied = vary("red:minth=5p,maxth=20p", tmp_path, "target_delay")
    assert list(sensitivity_show.sentences(varied)) == ["P95 queue delay: depends on none of the parameters."]


def test_the_command_prints_a_table_and_draws_a_figure(command: Command, small: Path):
    words = ["--qdisc", "codel", "--param", "target", "--seeds", 2, "--set", "duration=3s", "--out", "out"]
    done = command("sensitivity", small, "--objective", "p95 queue delay", *words)
    assert done.returncode == 0, done.stderr
    assert "5ms (was)" in done.stdout
    assert "P95 queue delay: depends on" in done.stdout
    (folder,) = Path("out").iterdir()
    assert (folder / "sensitivity.png").is_file()
    again = command("sensitivity", small, "--objective", "p95 queue delay", "--json", *words)
    assert [value["value"] for value in json.loads(again.stdout)["values"]] == [
        "2.5ms", "3.54ms", "5ms", "7.07ms", "10ms",
    ]  # fmt: skip


def test_bad_input_is_refused_before_any_run(tmp_path: Path):
    for params, wrong in ((["mxp"], "did you mean 'maxp'"), (["maxp=0..3"], "maxp cannot be 3")):
        with pytest.raises(UsageError, match=wrong):
            vary("red", tmp_path, *params)
    with pytest.raises(UsageError, match="is not a metric"):
        vary("red", tmp_path, "maxp", objective="speed")
    assert not list(tmp_path.iterdir())
