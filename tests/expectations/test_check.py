"""Expectations: their verdicts, the exit code, the JUnit file and the JSON document."""

import json
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree as Xml

import jsonschema
import pytest

import headgate
from headgate.errors import UsageError
from headgate.expectations import lines, verdicts
from tests.conftest import SMALL, Command

# A link of 2 Mbit/s with 50 packets of 500 bytes: a full queue takes 50 * 4000 / 2e6 s = 100 ms to send, and three
# TCP flows beside one that alone fills the link keep it full under DropTail.
FULL_MS = 100


def expecting(*expected: str, text: str = SMALL) -> str:
    return text.replace("seeds = 2\n", f"seeds = 2\nexpect = {json.dumps(expected)}\n", 1)


def results(*expected: str, result: headgate.Result) -> list[verdicts.CheckedExpectation]:
    return list(verdicts.judged(lines.read(expected, result.scenario), result))


def test_a_line_holds_for_all_disciplines_and_a_named_one_for_its_own(in_memory: headgate.Result):
    scenario = in_memory.scenario
    both, one, exact = lines.read(["jain > 0.1", "faba: jain > 0.1", f"{scenario.qdiscs[0]}: jain > 0.1"], scenario)
    assert (list(both.qdiscs), list(one.qdiscs), list(exact.qdiscs)) == (
        ["droptail", "faba"],
        ["faba"],
        ["droptail"],
    )


def test_settings_with_colons_name_their_discipline():
    scenario = headgate.Scenario.parse(SMALL, qdiscs=["red:maxp=0.1", "red:maxp=0.2", "faba"])
    assert [list(each.qdiscs) for each in lines.read(["red: jain > 0", "red:maxp=0.2: jain > 0"], scenario)] == [
        ["red:maxp=0.1", "red:maxp=0.2"],
        ["red:maxp=0.2"],
    ]


def test_a_value_within_its_bound_holds_and_one_beyond_fails(in_memory: headgate.Result):
    within, beyond = results(
        f"droptail: max queue delay < {2 * FULL_MS}ms",
        f"droptail: max queue delay < {FULL_MS // 2}ms",
        result=in_memory,
    )
    assert (within.holds, beyond.holds) == (True, False)
    assert str(beyond).startswith("fails: max queue delay < 50 ms under droptail: ")
    assert str(beyond).endswith("(2 seeds)")


def test_a_bound_within_the_interval_is_inconclusive_and_does_not_hold(in_memory: headgate.Result):
    (measured,) = (each.measured for each in results("faba: goodput cbr > 1bit/s", result=in_memory))
    assert measured.half > 0
    (outcome,) = results(f"faba: goodput cbr < {measured.mean:.0f}bit/s", result=in_memory)
    assert not outcome.holds
    assert str(outcome).startswith("inconclusive: ")


def test_an_expectation_on_an_unmeasured_value_does_not_hold(in_memory: headgate.Result):
    (outcome,) = results("faba: p95 completion tcp < 1s", result=in_memory)
    assert not outcome.holds
    assert str(outcome).endswith("nothing was measured")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("utilizatoin > 0.5", "did you mean 'utilization'"),
        ("jain", "is not a bound"),
        ("fabba: jain > 0.5", "did you mean 'faba'"),
        ("faba: jain > 5ms", "expect 'faba: jain > 5ms'"),
        (
            "cbr: share > 0.9",
            "'cbr' is a group of flows, and a discipline stands before the colon; write 'share cbr > 0.9'",
        ),
    ],
)
def test_a_line_that_cannot_be_judged_ends_it_before_anything_runs(
    small: Path, command: Command, line: str, message: str
):
    done = command("check", str(small), "--expect", line, "--out", str(small.parent / "out"))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert not (small.parent / "out").exists()


def test_a_check_without_expectations_is_an_error_that_says_how_to_add_them(small: Path, command: Command):
    done = command("check", str(small))
    assert done.returncode == 2
    assert 'expect = ["p99 queue delay < 20ms"]' in done.stderr


def test_expectations_change_no_run():
    plain, expecting_it = headgate.Scenario.parse(SMALL), headgate.Scenario.parse(expecting("jain > 0.9"))
    assert plain.config_hash == expecting_it.config_hash
    with pytest.raises(headgate.ScenarioError, match="expect"):
        headgate.Scenario.parse(SMALL.replace("seeds = 2\n", "seeds = 2\nexpect = [5]\n", 1))
    with pytest.raises(UsageError, match="there is no expectation to check"):
        lines.read(lines.of_file(SMALL), plain)


def test_the_command_ends_with_one_if_an_expectation_fails_and_writes_junit(small: Path, command: Command):
    small.write_text(expecting("utilization > 0.5", "droptail: p99 queue delay < 1ms"))
    out, junit = str(small.parent / "out"), small.parent / "junit.xml"
    done = command("check", str(small), "--out", out, "--junit", str(junit))
    assert done.returncode == 1
    assert "2 of 3 expectations hold" in done.stdout
    suite = Xml.parse(junit).getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    failed = [case.get("classname") for case in suite if case.find("failure") is not None]
    assert failed == ["small.droptail"]

    done = command("check", str(small), "--out", out, "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    schema = json.loads(resources.files("headgate").joinpath("schema/check-2.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)
    assert [each["verdict"] for each in document["expectations"]] == ["holds", "holds", "fails"]

    small.write_text(expecting("utilization > 0.5"))
    assert command("check", str(small), "--out", out).returncode == 0
