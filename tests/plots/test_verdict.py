"""The sentence above the overview, and the order of its rows."""

import pytest

from headgate.plot.division import Division, Part, divisions, headline
from headgate.scenario import Group

RATE = 10e6


def two_classes(label, tcp, udp, flows=1):
    parts = [Part("tcp", False, 9, tcp, 8.4e6), Part("cbr", True, flows, udp, 0.93e6)]
    return Division(label, parts, 20.0, 0.9)


def two_groups(label, near, far):
    parts = [Part("near", False, 5, near, 4.65e6), Part("far", False, 5, far, 4.65e6)]
    return Division(label, parts, 20.0, 0.9)


def test_the_title_says_what_the_worst_and_the_best_discipline_let_the_flow_take():
    found = [two_classes("FABA", 8.3e6, 1.1e6), two_classes("DropTail", 4.6e6, 4.88e6)]
    assert headline(found, RATE) == (
        "With DropTail, the flow that does not slow down takes 4.9 of 10 Mbit/s; with FABA 1.1 (its fair share is 0.93)"
    )


def test_several_unresponsive_flows_are_spoken_of_in_the_plural():
    said = headline([two_classes("FABA", 8.3e6, 1.1e6, flows=3)], RATE)
    assert said == "With FABA, the 3 flows that do not slow down take 1.1 of 10 Mbit/s; their fair share is 0.93"


def test_disciplines_that_do_the_same_are_not_set_against_each_other():
    found = [two_classes("BLUE", 4.7e6, 4.81e6), two_classes("RED", 4.6e6, 4.88e6)]
    assert headline(found, RATE).startswith("With every discipline here, the flow that does not slow down takes about")


def test_without_unresponsive_flows_the_title_compares_groups():
    found = [two_groups("FABA", 4.9e6, 4.1e6), two_groups("DropTail", 6.9e6, 2.3e6)]
    assert headline(found, RATE) == (
        "With DropTail, a flow of “near” gets 3.0 times as much as one of “far”; with FABA 1.2 times"
    )


def test_a_group_that_gets_nothing_is_said_to_get_nothing():
    assert headline([two_groups("DropTail", 9e6, 0.0)], RATE) == "With DropTail, “far” gets nothing"


def test_groups_that_are_nearly_even_are_called_even():
    assert "about its fair share" in headline([two_groups("FABA", 4.6e6, 4.5e6)], RATE)


def test_one_group_is_described_by_jains_index():
    division = Division("RED", [Part("tcp", False, 10, 9e6, 9.3e6)], 20.0, 0.987)
    assert headline([division], RATE) == "10 flows share the link: Jain's index 0.987 with RED (1 is even)"


def test_no_data_is_said_in_words(make):
    result = make(idle=True)
    assert headline(divisions(result), RATE) == "No data reached a receiver after the warm-up"


def test_the_fairest_division_comes_first_and_parts_add_up_to_all_goodput(make):
    result = make()
    found = divisions(result)
    unfairness = [division.unfairness_bps for division in found]
    assert unfairness == sorted(unfairness)
    assert found[-1].label == "DropTail"
    seeds = len(result.scenario.seeds)
    total = sum(result.flows.column("goodput_bps").to_pylist()) / seeds
    assert sum(division.goodput_bps for division in found) == pytest.approx(total)


def test_many_groups_are_drawn_as_the_first_five_and_the_rest(make):
    groups = [Group(f"g{number}", "tcp", 1, None) for number in range(9)]
    parts = divisions(make(groups=groups))[0].parts
    assert [part.name for part in parts] == ["g0", "g1", "g2", "g3", "g4", "all other groups"]
    assert parts[-1].flows == 4
