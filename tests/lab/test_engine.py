"""The lab's engine as WebAssembly, in node: its results are those of the command line, to the last bit.

`make lab` builds the engine.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import headgate
from tests import needs

ROOT = Path(__file__).parents[2]
PKG = ROOT / "build/lab/pkg"
MODULE = PKG / "headgate_web_bg.wasm"


pytestmark = needs.marks("lab", "node")


def in_node(scenario: headgate.Scenario | str, qdiscs: list[str], seed: int) -> list[Any]:
    """The engine's answer for each discipline."""
    toml = scenario if isinstance(scenario, str) else scenario.to_toml()
    job = {"pkg": str(PKG), "toml": toml, "qdiscs": qdiscs, "seed": seed}
    done = subprocess.run(
        ["node", str(Path(__file__).with_name("run_engine.mjs"))],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def agree(scenario: headgate.Scenario, seed: int) -> None:
    """Every number of the engine's rows is that of the tables of a plain run."""
    result = headgate.run(scenario, seeds=[seed])
    flows, links = result.flows.to_pylist(), [row for row in result.links.to_pylist() if row["compared"]]
    qdiscs = [str(qdisc) for qdisc in scenario.qdiscs]
    for qdisc, found in zip(qdiscs, in_node(scenario, qdiscs, seed), strict=True):
        assert "error" not in found, (qdisc, found)
        expected = [row for row in flows if row["qdisc"] == qdisc]
        assert len(found["flows"]) == len(expected) > 0
        for lab, table in zip(found["flows"], expected, strict=True):
            assert lab == {name: table[name] for name in lab}, (qdisc, table["flow"])
        [table] = [row for row in links if row["qdisc"] == qdisc]
        assert found["link"] == {name: table[name] for name in found["link"]}, qdisc
        assert {"goodput_bps", "fair_share_bps", "retransmits", "queue_delay_ms_mean"} <= found["flows"][0].keys()
        assert {"utilization", "dropped", "marked", "queue_delay_ms_p95"} <= found["link"].keys()


@pytest.mark.parametrize("name", ["protect", "ecn", "mixed-rtt"])
def test_every_discipline_has_the_result_of_the_command_line(name: str):
    every = [discipline.name for discipline in headgate.disciplines()]
    agree(headgate.Scenario.load(name, qdiscs=every), seed=1)


@pytest.mark.parametrize("name", ["protect", "ecn", "mixed-rtt"])
def test_the_settings_of_the_scenarios_disciplines_are_those_of_the_command_line(name: str):
    agree(headgate.Scenario.load(name, set=["duration=12s", "warmup=4s"]), seed=2)


def test_bad_input_is_an_error_with_its_message_and_the_engine_goes_on():
    toml = headgate.Scenario.load("protect", set=["duration=12s", "warmup=4s"]).to_toml()
    unknown, bad_key, good = in_node(toml, ["rde", "red:maxpp=1", "red"], seed=1)
    assert "did you mean `red`" in unknown["error"]
    assert "maxp" in bad_key["error"]
    assert len(good["flows"]) == 10
    [too_large] = in_node(toml.replace("flows = 9", "flows = 5000"), ["red"], seed=1)
    assert "at most 500 flows" in too_large["error"]
