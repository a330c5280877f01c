"""Fairness by its unit: flow, host, group or class."""

import pytest

import headgate
from headgate.analysis.metrics import grammar
from headgate.analysis.metrics.rows import FlowRows
from headgate.analysis.verdict import verdict
from headgate.plot import overview
from headgate.scenario.fair import FairUnit
from headgate.sweeps.measures import TableOfRuns, measures
from tests.conftest import Command

#: Hosts with one and with five downloads. FQ-CoDel serves flows alike, CAKE hosts.
HOME = """\
name = "home"
duration = "8s"
warmup = "3s"
seeds = 5
qdiscs = ["fq_codel", "cake:bandwidth=9500kbit/s"]

[link]
rate = "10Mbit/s"
delay = "10ms"
limit = "200p"

[[tcp]]
name = "one"
start = "0s..500ms"
destination = "192.168.1.2/32"

[[tcp]]
name = "five"
flows = 5
start = "0s..500ms"
destination = "192.168.1.3/32"
"""


def home(*changes: str) -> headgate.Scenario:
    return headgate.Scenario.parse(HOME, set=changes)


@pytest.fixture(scope="module")
def undeclared() -> headgate.Result:
    return headgate.run(home())


@pytest.fixture(scope="module")
def by_host() -> headgate.Result:
    return headgate.run(home("fair=host"))


def of_hosts(result: headgate.Result, qdisc: str) -> list[tuple[float, float]]:
    """Jain's index and misallocated goodput of each seed, from the table: two hosts deserve half of the link each."""
    flows = result.flows.to_pandas().query(f"qdisc == '{qdisc}'")
    numbers = []
    for _, run in flows.groupby("seed"):
        share = run["fair_share_bps"].sum() / 2
        got = [run.query(f"group == '{name}'")["goodput_bps"].sum() / share for name in ("one", "five")]
        jain = sum(got) ** 2 / (2 * sum(each**2 for each in got))
        numbers.append((jain, share * sum(abs(each - 1) for each in got)))
    return numbers


def test_measures_are_over_hosts_if_the_scenario_says_so(by_host: headgate.Result):
    for entry in by_host.summary():
        (fairness,) = entry["fairness"]
        assert (fairness["unit"], fairness["units"]) == ("host", 2)
        assert entry["jain"] == fairness["jain"]
        computed = of_hosts(by_host, entry["qdisc"])
        assert fairness["jain"]["per_seed"] == pytest.approx([jain for jain, _ in computed])
        assert fairness["misallocated_bps"]["per_seed"] == pytest.approx([amount for _, amount in computed], rel=1e-6)
        one, five = entry["groups"]
        assert one["fair_share_bps"]["mean"] == pytest.approx(five["fair_share_bps"]["mean"], rel=1e-9)
        assert one["share_of_fair"]["mean"] == pytest.approx(
            one["goodput_bps"]["mean"] / one["fair_share_bps"]["mean"], rel=1e-3
        )
    fq_codel, cake = by_host.summary()
    assert fq_codel["jain"]["mean"] < 0.8
    assert cake["jain"]["mean"] > 0.9


def test_the_verdict_is_on_the_unit_of_the_scenario(by_host: headgate.Result):
    assert verdict(by_host).startswith("CAKE divides the link among hosts most fairly: ")
    assert "“five” gets 1.4 times as much of its fair share as “one”" in verdict(by_host)


def test_without_a_unit_both_are_shown_if_hosts_have_different_numbers_of_flows(undeclared: headgate.Result):
    for entry in undeclared.summary():
        of_flows, by_hosts = entry["fairness"]
        assert [(each["unit"], each["units"]) for each in (of_flows, by_hosts)] == [("flow", 6), ("host", 2)]
        assert entry["jain"] == of_flows["jain"]
        computed = of_hosts(undeclared, entry["qdisc"])
        assert by_hosts["jain"]["per_seed"] == pytest.approx([jain for jain, _ in computed])
    by_flow, by_host = verdict(undeclared).split(". By host: ")
    assert by_flow.startswith("By flow: FQ-CoDel divides the link most fairly: ")
    assert by_host.startswith("CAKE divides the link among hosts most fairly: ")


@pytest.mark.parametrize("change", ["five.flows=1", "five.destination=own"])
def test_hosts_with_equal_numbers_of_flows_are_not_shown_beside_flows(change: str):
    if change == "five.destination=own":
        scenario = headgate.Scenario.parse("\n".join(line for line in HOME.split("\n") if "destination" not in line))
    else:
        scenario = home(change)
    assert [unit.name for unit in scenario.fair_units] == ["flow"]


def test_the_table_and_the_overview_name_the_unit(command: Command, tmp_path, undeclared, by_host):
    file = tmp_path / "home.toml"
    file.write_text(HOME)
    out = command("run", file, "--seeds", "1", "--set", "duration=4s").stdout
    assert out.count("Jain's") == 2
    assert "by flow" in out
    assert "by host" in out
    assert "by flow" not in command("run", file, "--seeds", "1", "--set", "duration=4s", "--set", "fair=host").stdout
    titles = [[axes.get_title(loc="left") for axes in overview(each).axes] for each in (undeclared, by_host)]
    assert [sum("all hosts equal" in title for title in each) for each in titles] == [1, 1]
    assert [sum("all flows equal" in title for title in each) for each in titles] == [1, 0]


def test_goals_and_bounds_are_over_the_unit(by_host: headgate.Result):
    for name in ("jain", "misallocated"):
        metric = grammar.metric(name, by_host.scenario)
        computed = of_hosts(by_host, "fq_codel")
        expected = [jain if name == "jain" else amount for jain, amount in computed]
        assert list(metric.of(by_host, "fq_codel").per_seed) == pytest.approx(expected, rel=1e-6)


def test_sweeps_measure_over_the_unit(by_host: headgate.Result):
    runs = [(qdisc, seed) for qdisc in by_host.scenario.qdiscs for seed in by_host.scenario.seeds]
    scenarios = [by_host.scenario.of_seed(seed) for _, seed in runs]
    links, flows = (
        TableOfRuns(table, [table.num_rows // len(runs)] * len(runs)) for table in (by_host.links, by_host.flows)
    )
    computed = [jain for qdisc in by_host.scenario.qdiscs for jain, _ in of_hosts(by_host, qdisc)]
    assert [each["jain"] for each in measures(scenarios, links, flows)] == pytest.approx(computed)


@pytest.mark.parametrize("unit", ["host", None])
def test_shares_by_host_follow_activity(unit: str | None):
    """The five downloads stop in the middle of the window: half of the link for each host, then all for one."""
    changes = ("five.stop=5500ms", "seeds=1", *([f"fair={unit}"] if unit else []))
    result = headgate.run(home(*changes))
    for qdisc in result.scenario.qdiscs:
        (one, *five) = FlowRows(result, qdisc, FairUnit(result.scenario, "host"))["fair_share_bps"][0]
        assert one == pytest.approx(0.75 * 10e6 * 1460 / 1500)
        assert five == pytest.approx([0.05 * 10e6 * 1460 / 1500] * 5)
    fq_codel, cake = (entry["fairness"][-1]["jain"]["mean"] for entry in result.summary())
    assert fq_codel < cake


def test_a_unit_whose_flows_stopped_before_the_window_has_no_share():
    result = headgate.run(home("five.stop=2s", "seeds=1", "fair=host"))
    assert result.flows.column("fair_share_bps").null_count == 2 * 5
    for entry in result.summary():
        one, five = entry["groups"]
        assert one["fair_share_bps"]["mean"] == pytest.approx(10e6 * 1460 / 1500)
        assert five["share_of_fair"]["mean"] is None


#: Hosts with one flow each, which start and stop in the window, and a transfer.
ALONE = [
    f'[[{kind}]]\nname = "g{host}"\ndestination = "192.168.1.{host}"\n{keys}\n'
    for host, (kind, keys) in enumerate(
        [
            ("tcp", ""),
            ("tcp", 'start = "4s"'),
            ("tcp", 'stop = "5500ms"'),
            ("tcp", 'stop = "2s"'),
            ("tcp", 'traffic = "ftp:size=1MB"\nstart = "3500ms"'),
            ("udp", 'rate = "3Mbit/s"\nstop = "7s"'),
        ],
        start=2,
    )
]


@pytest.mark.parametrize("unit", ["host", "group", "class"])
def test_with_one_flow_a_unit_every_result_is_that_by_flow(unit: str):
    classes = "".join(f'[[class]]\nname = "c{host}"\ndestination = "192.168.1.{host}"\n' for host in range(2, 8))
    text = HOME[: HOME.index("[[tcp]]")] + "".join(ALONE) + classes
    by_flow, by_unit = (
        headgate.run(headgate.Scenario.parse(text, set=[f"fair={each}", "seeds=1"])) for each in ("flow", unit)
    )
    for table in ("flows", "fairness", "links"):
        assert getattr(by_flow, table).equals(getattr(by_unit, table)), table
    for one, other in zip(by_flow.summary(), by_unit.summary(), strict=True):
        assert one["fairness"][0] == {**other["fairness"][0], "unit": "flow"} | {
            "misallocated_bps": one["fairness"][0]["misallocated_bps"]
        }


def test_jains_index_over_time_is_over_the_unit(by_host: headgate.Result, undeclared: headgate.Result):
    for result, favors_hosts in ((by_host, True), (undeclared, False)):
        for entry in result.summary():
            *_, (second, short) = [(each["scale_s"], each["mean"]["mean"]) for each in entry["jain_by_scale"][:2]]
            alike = (entry["qdisc"] == "fq_codel") != favors_hosts
            assert second == 1.0
            assert (short > 0.95) == alike, (entry["qdisc"], short)
            # One slot as long as the window has the index of the run.
            assert short <= entry["jain"]["mean"] + 0.02


def test_a_flow_is_held_to_the_share_of_its_unit():
    """The flood sends more than its share among flows, and less than a host's."""
    text = HOME + '[[udp]]\nname = "flood"\nrate = "2Mbit/s"\ndestination = "192.168.1.4/32"\n'
    by_flow, by_host = (
        headgate.run(headgate.Scenario.parse(text, set=[f"fair={unit}", "seeds=1"])).flows.column("response_ms")
        for unit in ("flow", "host")
    )
    assert by_flow[6].as_py() is not None
    assert by_host.null_count == 2 * 7


def test_classes_have_shares_by_weight():
    text = HOME + '[[class]]\nname = "gold"\nweight = 4\ndestination = "192.168.1.2"\n[[class]]\nname = "rest"\n'
    result = headgate.run(headgate.Scenario.parse(text, set=["fair=class", "seeds=1", "duration=4s"]))
    one, five = result.summary()[0]["groups"]
    assert one["fair_share_bps"]["mean"] == pytest.approx(4 * five["fair_share_bps"]["mean"])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("hots", "`fair`: unknown unit of fairness `hots`; did you mean `host`?"),
        ("class", "`fair`: the scenario has no [[class]]: all flows would be one unit"),
    ],
)
def test_a_unit_that_does_not_exist_is_refused(value: str, message: str):
    with pytest.raises(headgate.ScenarioError) as refused:
        home(f"fair={value}")
    assert message in str(refused.value)
