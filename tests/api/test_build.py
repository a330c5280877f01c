"""Scenarios in code equal those in files, and their errors name the wrong argument."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import headgate
from headgate import Dumbbell, Network, Scenario, class_, link, qdisc, tcp, traffic, udp
from headgate.build import keys
from tests.conftest import SMALL

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))

WIRE: dict[str, Any] = {"rate": "10Mbit/s", "delay": "10ms", "limit": "100p"}


def test_the_small_scenario_in_code_is_the_one_in_the_file():
    access: keys.AccessKeys = {"rate": 100e6, "delay": 0.001}
    built = Dumbbell(
        name="small",
        about="Three TCP flows and an unresponsive flow.",
        duration=4,
        warmup="1s",
        seeds=2,
        rate=2e6,
        delay=0.005,
        limit=50,
        flows=[udp("2Mbit/s", name="cbr", packet=500, access=access), tcp(3, packet="500B", access=access)],
        qdiscs=["droptail", qdisc("faba")],
    )
    assert built == Scenario.parse(SMALL)
    assert hash(built) == hash(Scenario.parse(SMALL))
    assert built != built.changed(seeds=3)


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_a_file_becomes_objects_and_a_file_again(file: Path):
    scenario = Scenario.load(file)
    assert scenario.replace() == scenario
    assert scenario.replace().to_toml() == scenario.to_toml()


def test_parts_of_one_scenario_make_another():
    scenario = Dumbbell(**WIRE, flows=[tcp(4, cc="reno"), udp("1Mbit/s")], qdiscs=["red"])
    other = scenario.replace(flows=[scenario.flows[0].replace(cc="cubic"), scenario.flows[1]], duration=5)
    assert other.flows[0].section["cc"] == "cubic"
    assert (other.duration_s, other.flows[1]) == (5.0, scenario.flows[1])
    assert other.links == scenario.links


def test_a_network_has_its_routes_and_classes():
    network = Network(
        links=[link("A", "B", **WIRE), link("B", "C", **WIRE, reverse={"rate": 1e6, "qdisc": qdisc("codel")})],
        flows=[tcp(from_="A", to="C", dscp="EF"), tcp(route=["B", "A"], traffic=traffic("ftp", size="1MB", wait=2))],
        classes=[class_("voice", dscp=["EF", 44], weight=3)],
        qdiscs=["drr"],
        record={"interval": 0.5, "events": "drops"},
    )
    document = tomllib.loads(network.to_toml())
    assert [group["route"] for group in document["tcp"]] == [["A", "B", "C"], ["B", "A"]]
    assert document["link"][1]["reverse"]["rate"] == "1Mbit/s"
    assert (document["class"][0]["weight"], document["record"]["interval"]) == (3.0, "500ms")


def test_rtt_is_the_round_trip_time_without_queues():
    # 32 ms round trip, less 10 ms each way on the link, leaves 12 ms for four crossings of an access link.
    group = Dumbbell(**WIRE, flows=tcp(9, rtt="32ms"), qdiscs=["red"]).flows[0]
    assert [group.section[side]["delay"] for side in ("sender", "receiver")] == ["3ms", "3ms"]


def test_numbers_have_the_unit_of_their_parameter():
    assert (
        str(qdisc("sfb", bins=23, boxtime=0.05, limit=100, ecn=True)) == "sfb:bins=23,boxtime=0.05s,limit=100p,ecn=on"
    )
    assert str(qdisc("red", minth="25%", maxp=1e-5)) == "red:minth=25%,maxp=0.00001"
    nested = qdisc("prio", children=["droptail", qdisc("tbf", rate=1e6, child=qdisc("red", maxp=0.1))])
    assert str(nested) == "prio:children=[droptail; tbf:rate=1000000bit/s,child=[red:maxp=0.1]]"
    Dumbbell(**WIRE, flows=tcp(), qdiscs=[nested])


@pytest.mark.parametrize(("section", "table"), [
    ("[[tcp]]", keys.TcpKeys), ("[[udp]]", keys.UdpKeys), ("[link]", keys.LinkKeys),
    ("[link.reverse]", keys.DirectionKeys), ("[[class]]", keys.ClassKeys), ("[classify]", keys.ClassifyKeys),
    ("[record]", keys.RecordKeys), ("access", keys.AccessKeys),
])  # fmt: skip
def test_keywords_are_the_keys_of_files(section: str, table: type):
    text = "[[tcp]]\naccess = { nothing = 1 }" if section == "access" else f"{section}\nnothing = 1"
    with pytest.raises(headgate.ScenarioError, match="unknown key `nothing`") as raised:
        Scenario.parse(text)
    known = raised.value.help.removeprefix("known keys: ").split(", ")
    assert sorted(known) == sorted(name.removesuffix("_") for name in table.__annotations__)


def test_keywords_at_the_top_are_the_keys_at_the_top():
    with pytest.raises(headgate.ScenarioError) as raised:
        Scenario.parse("nothing = 1")
    known = set(raised.value.help.removeprefix("known keys: ").split(", "))
    others = {"link", "tcp", "udp", "class", "qdiscs"}  # objects in code, given one by one
    of_files = {"sweep", "expect"}  # keys for the commands sweep and check
    assert known - set(keys.TopKeys.__annotations__) == others | of_files


#: For calls that a type checker would not let pass.
untyped: Any = headgate


@pytest.mark.parametrize(("wrong", "expected"), [
    (lambda: untyped.tcp(9, acess={}), r"tcp\(\) has no keyword 'acess'; did you mean 'access'\?"),
    (lambda: untyped.tcp(access={"dely": 1}), r"tcp\(\): access has no keyword 'dely'; did you mean 'delay'\?"),
    (lambda: untyped.link("A", "B", buffer=100), r"link\(\) has no keyword 'buffer'; did you mean 'limit'\?"),
    (lambda: tcp(stop=float("nan")), r"tcp\(\): stop=nan: expected a finite number"),
    (lambda: tcp(9, flows=3), "flows is given twice: 9 and 3"),
    (lambda: untyped.udp(object()), r"udp\(\): rate: expected a text, a number"),
    (lambda: qdisc("fabba"), "did you mean `faba`"),
    (lambda: qdisc("red", maxpp=1), "red has no parameter 'maxpp'; did you mean 'maxp'"),
    (lambda: traffic("webb"), "no source is called 'webb'; did you mean 'web'"),
    (lambda: qdisc("red", limit=2.5), "limit=2.5: expected a whole number of packets"),
    (lambda: untyped.Dumbbell(dealy=1, flows=tcp(), qdiscs=["red"]), r"Dumbbell\(\) has no keyword 'dealy'; did you"),
])  # fmt: skip
def test_an_unknown_keyword_is_refused_with_the_nearest_one(wrong, expected: str):
    with pytest.raises(headgate.UsageError, match=expected):
        wrong()


def test_an_old_keyword_is_read_with_a_warning():
    expected = r"tcp\(\): 'overhead' is called 'send_jitter' now"
    new = tcp(3, send_jitter="1ms")
    with pytest.warns(FutureWarning, match=expected):
        assert untyped.tcp(3, overhead=0.001)["send_jitter"] == "0.001s"
    with pytest.warns(FutureWarning, match=expected):
        assert tcp(3, send_jitter="2ms").replace(overhead="1ms") == new
    with pytest.warns(FutureWarning, match=expected):
        assert type(new).of({"flows": 3, "overhead": "1ms"}) == new
    with pytest.raises(headgate.UsageError, match=f"{expected}, which is given too"):
        untyped.tcp(overhead="1ms", send_jitter="1ms")


def test_an_old_parameter_of_a_discipline_is_read_with_a_warning():
    expected = "red_penalty: 'places' is called 'max_penalized' now"
    with pytest.warns(FutureWarning, match=expected):
        assert str(qdisc("red_penalty", places=7)) == "red_penalty:max_penalized=7"
    with pytest.raises(headgate.UsageError, match=f"{expected}, which is given too"):
        qdisc("red_penalty", places=7, max_penalized=8)


@pytest.mark.parametrize(("changed", "argument", "expected"), [
    ({"rate": "10Mbyte"}, "rate", "`rate`: expected a rate with its unit"),
    ({"rate": None}, "rate", "`rate` is missing"),
    ({"limit": 0}, "limit", "`limit`: "),
    ({"reverse": {"loss": 2.0}}, "reverse.loss", "`reverse.loss`: "),
    ({"flows": [udp("1Mbit/s"), tcp(cc="renoo")]}, "flows[1].cc", "did you mean `reno`"),
    ({"flows": [tcp(), udp("1Mbit/s"), udp(-1)]}, "flows[2].rate", "must not be negative"),
    ({"qdiscs": ["red", "fabba"]}, "qdiscs[1]", "did you mean `faba`"),
    ({"qdiscs": [qdisc("red", maxp=7)]}, "qdiscs[0]", "maxp"),
    ({"classes": [class_("a", weight=0)]}, "classes[0].weight", "`classes[0].weight`: "),
    ({"trace": "nowhere.up", "rate": None}, "trace", "cannot read \"nowhere.up\": No such file"),
])  # fmt: skip
def test_the_error_of_a_bad_value_names_its_argument(changed: dict[str, Any], argument: str, expected: str):
    with pytest.raises(headgate.ScenarioError) as raised:
        Dumbbell(**{**WIRE, "flows": tcp(), "qdiscs": ["red"], **changed})
    error = raised.value
    assert (error.argument, error.line, error.file) == (argument, None, "Dumbbell(...)")
    assert expected in error.message
    assert f"Dumbbell(...): {argument}" in str(error)


def test_texts_of_any_kind_come_through():
    about = 'quotes " and \\ and \t\n and ü 漢'
    assert Dumbbell(**WIRE, about=about, flows=tcp(), qdiscs=["red"]).about == about
