"""The tests of RFC 7928 are what the guidelines say, as far as arithmetic can tell."""

import tomllib

import pytest

from headgate.evaluate import network, section, stability
from headgate.evaluate.catalogue import SECTIONS

TESTS = [test for each in SECTIONS for test in each.tests]


def scenario(test: section.Test, case: section.Case, *, ecn: bool = False, quick: bool = False) -> dict:
    return tomllib.loads(test.scenario_of(case, "faba", ecn=ecn, quick=quick, seeds=1).to_toml())


def named(name: str) -> section.Test:
    return next(test for test in TESTS if test.name == name)


def ms(written: str) -> float:
    """A time of the canonical form in milliseconds."""
    for unit, scale in (("ns", 1e-6), ("us", 1e-3), ("ms", 1.0), ("s", 1e3)):
        if written.endswith(unit) and written.removesuffix(unit).replace(".", "").isdigit():
            return float(written.removesuffix(unit)) * scale
    raise ValueError(written)


def round_trip_ms(parsed: dict, group: dict) -> float:
    sides = ms(group["sender"]["delay"]) + ms(group["receiver"]["delay"])
    return 2 * (ms(parsed["link"]["delay"]) + sides)


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
def test_every_case_is_a_scenario_with_and_without_ecn(test: section.Test):
    for case in test.cases:
        for quick in (False, True):
            parsed = [scenario(test, case, ecn=ecn, quick=quick) for ecn in (False, True)]
            assert (parsed[0] != parsed[1]) == test.ecn


def test_numbers_of_flows_are_those_of_section_8_2_1():
    """0.036, 0.081 and 0.114 of bandwidth-delay product and buffer, for losses of 0.1, 0.5 and 1 %."""
    packets = 10e6 * 0.1 / 8 / 1500 + 84
    wanted = [round(part * packets) for part in (0.0363, 0.0811, 0.1147)]
    assert [stability.MILD, stability.MEDIUM, stability.HEAVY] == wanted == [6, 14, 19]


def test_the_reference_round_trip_is_100_ms_and_the_buffer_holds_as_much():
    parsed = scenario(named("8-2-steady"), named("8-2-steady").cases[0])
    assert round_trip_ms(parsed, parsed["tcp"][0]) == pytest.approx(100)
    assert network.room() == 84


@pytest.mark.parametrize("rtt", [5, 20, 50, 200, 560])
def test_the_categories_of_section_6_have_their_round_trips(rtt: int):
    test = named("6-2")
    case = next(case for case in test.cases if case.title == f"RTT {rtt} ms")
    parsed = scenario(test, case)
    assert [round_trip_ms(parsed, group) for group in parsed["tcp"]] == pytest.approx([100, rtt])


def test_capacity_goes_from_100_to_10_mbit_and_back():
    for name, seconds in (("8-2-6-slow", "20s"), ("8-2-6-fast", "100ms")):
        parsed = scenario(named(name), named(name).cases[0])
        link = parsed["link"]
        assert link["rate"] == "100Mbit/s"
        assert link["schedule"] == [{"at": seconds, "rate": "10Mbit/s"}]
