"""Scenarios from Python."""

from pathlib import Path

import pytest

import headgate
from tests.conftest import SMALL


def test_a_scenario_has_the_values_of_its_file():
    scenario = headgate.Scenario.parse(SMALL)
    assert (scenario.name, scenario.duration_s, scenario.warmup_s, scenario.rate_bps) == ("small", 4.0, 1.0, 2e6)
    assert (scenario.seeds, scenario.qdiscs) == ([1, 2], ["droptail", "faba"])
    assert [group[:4] for group in scenario.groups] == [("tcp", "tcp", 3, None), ("cbr", "udp", 1, 2e6)]
    assert [group.role.value for group in scenario.groups] == ["responsive", "unresponsive"]
    assert (scenario.records, scenario.captures) == ([], [])


def test_changes_replace_values_of_the_file(small: Path):
    scenario = headgate.Scenario.load(small, set=["link.rate=3Mbit/s"], qdiscs=["red:maxp=0.1"], seeds=[5, 7])
    assert (scenario.rate_bps, scenario.qdiscs, scenario.seeds) == (3e6, ["red:maxp=0.1"], [5, 7])
    assert headgate.Scenario.load(small, seeds=3).seeds == [1, 2, 3]


def test_the_canonical_form_reads_back_as_itself():
    canonical = headgate.Scenario.parse(SMALL).to_toml()
    assert headgate.Scenario.parse(canonical).to_toml() == canonical


def test_a_scenario_of_one_seed_has_the_canonical_form_of_that_seed_alone():
    scenario = headgate.Scenario.parse(SMALL, seeds=[3, 1, 4])
    alone = headgate.Scenario.parse(SMALL, seeds=[1])
    # Both orders: texts of one scenario share their sections, whichever was asked for first.
    assert scenario.of_seed(1).to_toml() == alone.to_toml()
    assert scenario.to_toml() == headgate.Scenario.parse(SMALL, seeds=[3, 1, 4]).to_toml()
    assert scenario.of_seed(1) == alone
    with pytest.raises(headgate.UsageError, match="small has no seed 2"):
        scenario.of_seed(2)


def test_the_hash_follows_the_meaning_not_the_spelling():
    scenario = headgate.Scenario.parse(SMALL)
    spelled = headgate.Scenario.parse("# a comment\n" + SMALL.replace("4s", "4000ms"))
    assert spelled.config_hash == scenario.config_hash
    assert headgate.Scenario.parse(SMALL, seeds=3).config_hash != scenario.config_hash


def test_sweep_and_expect_do_not_change_the_scenario():
    text = 'expect = ["utilization > 0.9"]\n' + SMALL + '\n[sweep.grid]\nlink.rate = ["1Mbit/s"]\n'
    scenario = headgate.Scenario.parse(text)
    assert scenario == headgate.Scenario.parse(SMALL)
    assert scenario.config_hash == headgate.Scenario.parse(SMALL).config_hash
    assert "expect" not in scenario.to_toml()
    assert "sweep" not in scenario.to_toml()


def test_a_bad_scenario_raises_with_the_place():
    with pytest.raises(headgate.ScenarioError) as raised:
        headgate.Scenario.parse(SMALL.replace("delay = ", "dealy = ", 1), file="some.toml")
    error = raised.value
    assert isinstance(error, ValueError)
    assert (error.file, error.line, error.column) == ("some.toml", 10, 1)
    assert "dealy" in error.message
    assert error.message in str(error)
    assert "known keys" in error.help
    assert error.change is None


def test_a_bad_change_is_named():
    with pytest.raises(headgate.ScenarioError) as raised:
        headgate.Scenario.parse(SMALL, file="some.toml", set=["link.dealy=3ms"])
    assert (raised.value.change, raised.value.line) == ("--set link.dealy=3ms", None)


def test_bytes_that_are_no_text_are_refused_with_their_line():
    with pytest.raises(headgate.ScenarioError, match="not UTF-8") as raised:
        headgate.Scenario.parse(b'name = "x"\nabout = "\xff"\n', file="some.toml")
    assert (raised.value.file, raised.value.line) == ("some.toml", 2)


def test_a_file_that_is_missing_is_an_os_error():
    with pytest.raises(FileNotFoundError):
        headgate.Scenario.load("nowhere.toml")


def test_disciplines_explain_themselves():
    names = [discipline.name for discipline in headgate.disciplines()]
    assert names == sorted(names)
    assert {"droptail", "red", "fred", "choke", "blue", "sfb", "faba"} <= set(names)
    for discipline in headgate.disciplines():
        assert discipline.summary
        assert discipline.citation
        assert "limit" in [parameter.name for parameter in discipline.parameters]
        assert all(parameter.doc and parameter.kind and parameter.default for parameter in discipline.parameters)
        defining = {"paper", "rfc", "linux"} if discipline.group == "modern" else {"paper"}
        assert discipline.presets[0].name in defining


def test_a_discipline_that_does_not_exist_suggests_one_that_does():
    with pytest.raises(LookupError, match="did you mean `faba`"):
        headgate.discipline("fabba")
