"""The tests have the numbers of RFC 7928, as far as arithmetic can check them."""

import tomllib
from typing import Any

import pytest

from headgate.evaluate import network, section, web
from headgate.evaluate.catalogue import SECTIONS
from headgate.evaluate.sections import stability

TESTS = [test for each in SECTIONS for test in each.tests]


def scenario(
    test: section.GuidelineTest, case: section.SectionCase, *, ecn: bool = False, quick: bool = False
) -> dict[str, Any]:
    return tomllib.loads(test.scenario_of(case, "faba", ecn=ecn, quick=quick, seeds=1).to_toml())


def named(name: str) -> section.GuidelineTest:
    return next(test for test in TESTS if test.name == name)


def ms(written: str) -> float:
    """A time of the canonical form in milliseconds."""
    for unit, scale in (("ns", 1e-6), ("us", 1e-3), ("ms", 1.0), ("s", 1e3)):
        if written.endswith(unit) and written.removesuffix(unit).replace(".", "").isdigit():
            return float(written.removesuffix(unit)) * scale
    raise ValueError(written)


def round_trip_ms(parsed: dict[str, Any], group: dict[str, Any]) -> float:
    sides = ms(group["sender"]["delay"]) + ms(group["receiver"]["delay"])
    return 2 * (ms(parsed["link"]["delay"]) + sides)


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)
def test_every_case_is_a_scenario_with_and_without_ecn(test: section.GuidelineTest):
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
    assert network.buffer_packets() == 84


def the_case(test: section.GuidelineTest, title: str = "") -> section.SectionCase:
    return next(case for case in test.cases if case.title == title)


def of(name: str, title: str = "") -> dict[str, Any]:
    return scenario(named(name), the_case(named(name), title))


def groups(parsed: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {group["name"]: group for kind in ("tcp", "udp") for group in parsed.get(kind, [])}


#: The weights of figure 4, or the smaller weight that a section gives one of its scenarios.
FIGURE_4 = {
    "4.4": {"could"},
    "5.1.1": {"must", "may"}, "5.1.2": {"must"}, "5.2": {"must", ""}, "5.3": {"must"}, "5.4": {"may"},
    "6.1": {"must"}, "6.2": {"must"}, "7.2": {"must"},
    "8.2.2-4": {"could"}, "8.2.5": {"must"}, "8.2.6": {"must"},
    "9.1": {"recommended"}, "9.2": {"may"}, "10.2": {"may"},
}  # fmt: skip


def test_every_scenario_of_figure_4_is_there_with_its_weight():
    weights: dict[str, set[str]] = {}
    for test in TESTS:
        weights.setdefault(test.place, set()).add(test.weight)
    assert weights == FIGURE_4


def test_half_of_the_flows_of_mild_congestion_have_packets_of_500_bytes():
    by_name = groups(of("4-4"))
    sizes = {group["packet"]: group["flows"] for group in by_name.values()}
    assert sizes == {"500B": stability.MILD / 2, "1.5KB": stability.MILD / 2}


def test_one_tcp_flow_competes_with_an_unresponsive_flow_of_more_than_half_the_link():
    tcp, udp = groups(of("5-3-beside")).values()
    assert (tcp["flows"], tcp["recovery"], udp["flows"]) == (1, "sack", 1)
    assert 5 < float(udp["rate"].removesuffix("Mbit/s")) <= 10
    (alone,) = groups(of("5-3-alone")).values()
    assert float(alone["rate"].removesuffix("Mbit/s")) > 10


def test_ledbat_has_the_parameters_that_section_5_4_recommends():
    by_name = groups(of("5-4", "target 5 ms, gain 10"))
    assert {name: group["flows"] for name, group in by_name.items()} == {"newreno": 1, "ledbat": 1}
    assert (by_name["ledbat"]["target"], by_name["ledbat"]["gain"]) == ("5ms", 10)


@pytest.mark.parametrize("rtt", [5, 20, 50, 100, 200, 560])
def test_the_two_flows_of_section_6_have_their_round_trips(rtt: int):
    parsed = of("6-2-equal" if rtt == 100 else "6-2", f"RTT {rtt} ms")
    assert [round_trip_ms(parsed, group) for group in parsed["tcp"]] == pytest.approx([100, rtt])
    assert [group["flows"] for group in parsed["tcp"]] == [1, 1]


@pytest.mark.parametrize(
    ("name", "title", "has"),
    [
        ("7-2-web", "case I, no bulk transfer", {"web", "cbr"}),
        ("7-2-web", "case II, bulk transfer", {"web", "cbr", "bulk"}),
        ("7-2-video", "case III, no bulk transfer", {"web", "cbr", "video"}),
        ("7-2-video", "case IV, bulk transfer", {"web", "cbr", "video", "bulk"}),
    ],
)
def test_the_cases_of_figure_2_have_its_traffic(name: str, title: str, has: set[str]):
    by_name = groups(of(name, title))
    assert set(by_name) == has
    pages = by_name["web"]
    # Six connections with windows of 10 load at least 50 objects of at least 1 KB.
    assert pages["start"]["flows"] == web.CONNECTIONS == 6
    assert pages["initial_window"] == 10
    assert web.CONNECTIONS * web.OBJECTS >= 50
    assert f"objects={web.OBJECTS}" in pages["traffic"]
    assert "size=14KB" in pages["traffic"]


def flows_at(parsed: dict[str, Any], seconds: float) -> int:
    """The number of flows at a time. Flows start in the first second of their phase."""
    flows_between = 0
    for group in parsed["tcp"]:
        begin = ms(str(group["start"]).split("..", maxsplit=1)[0]) / 1000
        end = float("inf") if group["stop"] == "off" else ms(group["stop"]) / 1000
        flows_between += group["flows"] if begin < seconds < end else 0
    return flows_between


@pytest.mark.parametrize("quick", [False, True])
def test_load_is_mild_medium_and_heavy_and_mild_again(quick: bool):
    test = named("8-2-5")
    times = test.quick if quick else test.times
    parsed, seconds = scenario(test, test.cases[0], quick=quick), times.further["phase"]
    middles = [times.warmup + (phase + 0.5) * seconds for phase in range(6)]
    assert [flows_at(parsed, time) for time in middles] == [stability.MILD, stability.MEDIUM, stability.HEAVY] * 2
    assert times.duration == times.warmup + 6 * seconds
    assert flows_at(parsed, times.warmup / 2) == stability.MILD


def test_the_mix_is_the_example_of_section_9_1():
    by_name = groups(of("9-1"))
    counts = {name: group["flows"] for name, group in by_name.items() if name != "web"}
    assert counts == {"call": 1, "call-back": 1, "cbr": 1, "film": 1, "bulk": 5}
    assert by_name["call"]["route"] == by_name["call-back"]["route"][::-1]
    assert (by_name["web"]["start"]["flows"], by_name["web"]["start"]["every"]) == (6, "2s")


@pytest.mark.parametrize(
    ("name", "title", "rate", "qdisc", "flows"),
    [
        ("9-2", "symmetric", "10Mbit/s", "compared", 6),
        # 0.036 of 16.7 packets on the way and a buffer of 17.
        ("9-2", "asymmetric", "2Mbit/s", "compared", 1),
        ("9-2-one", "asymmetric, one way", "2Mbit/s", "droptail", 1),
    ],
)
def test_both_directions_have_mild_congestion_and_the_slower_one_may_have_no_aqm(
    name: str, title: str, rate: str, qdisc: str, flows: int
):
    parsed = of(name, title)
    assert parsed["link"]["reverse"]["rate"] == rate
    assert parsed["link"]["reverse"]["qdisc"] in (qdisc, {"name": qdisc})
    assert {name: group["flows"] for name, group in groups(parsed).items()} == {"down": 6, "up": flows}


def test_senders_a_cross_both_links_of_figure_3_and_b_the_second():
    parsed = of("10-2", "the same at both")
    links = {link["name"]: link for link in parsed["link"]}
    by_name = groups(parsed)
    assert (by_name["A"]["route"], by_name["B"]["route"]) == (["L", "M", "R"], ["M", "R"])
    assert by_name["A"]["flows"] == by_name["B"]["flows"] == stability.MILD / 2
    # Less than A's fair share of the second link, so both links can be congested.
    assert links["first"]["rate"] == "4Mbit/s"
    assert links["second"]["rate"] == "10Mbit/s"
    half = {link["name"]: link for link in of("10-2", "half the room at the first")["link"]}
    assert (links["first"]["limit"], half["first"]["limit"], half["second"]["limit"]) == ("34p", "17p", "84p")


def test_capacity_goes_from_100_to_10_mbit_and_back():
    for name, seconds in (("8-2-6-slow", "20s"), ("8-2-6-fast", "100ms")):
        parsed = scenario(named(name), named(name).cases[0])
        link = parsed["link"]
        assert link["rate"] == "100Mbit/s"
        assert link["schedule"] == [{"at": seconds, "rate": "10Mbit/s"}]
