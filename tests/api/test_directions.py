"""Flows of both directions of a link are accounted, compared and drawn apart."""

import pyarrow.compute as pc
import pytest

import headgate
from headgate import plot
from headgate.analysis import data
from headgate.analysis.metrics import grammar
from headgate.analysis.metrics.catalogue import MEASURES
from headgate.analysis.metrics.views import FlowsView
from headgate.analysis.runs import Run
from headgate.analysis.summary import by_traffic, traffic
from headgate.analysis.verdict import verdict
from headgate.evaluate.periods import goodput_over_periods
from headgate.experiment.measures import goodput, throughput
from headgate.export import flent
from headgate.report.drawing import drawing
from headgate.scenario import RunKey
from headgate.sweeps.measures import TableOfRuns
from headgate.sweeps.measures import measures as sweep_measures
from headgate.terminal.columns import columns, rows
from headgate.units import Units
from headgate.why.facts import facts
from tests.conftest import Command

#: A home of 20 and 2 Mbit/s. The downloads of the far server suffer at a long queue, but calls suffer more.
TWO_WAYS = """\
name = "two-ways"
duration = "20s"
warmup = "4s"
seeds = 5
qdiscs = ["droptail", "fq_codel"]

[link]
rate = "2Mbit/s"
delay = "10ms"
limit = "100p"
reverse = { rate = "20Mbit/s", limit = "60p", qdisc = "compared" }

[[tcp]]
name = "uploads"
flows = 2
start = "0s..1s"

[[tcp]]
name = "near"
flows = 6
from = "right"
to = "left"
start = "0s..1s"

[[tcp]]
name = "far"
flows = 3
from = "right"
to = "left"
sender = { rate = "100Mbit/s", delay = "80ms" }
start = "0s..1s"

[[udp]]
name = "call"
rate = "100kbit/s"
packet = "250B"
jitter = 0.1
"""
#: The reverse queue is DropTail's, whatever discipline is tried.
OWN_QUEUE = TWO_WAYS.replace(', qdisc = "compared"', "")
#: The call comes from the other side.
CALLED = TWO_WAYS.replace('rate = "100kbit/s"', 'rate = "100kbit/s"\nfrom = "right"\nto = "left"')


@pytest.fixture(scope="module")
def result() -> headgate.Result:
    return headgate.run(headgate.Scenario.parse(TWO_WAYS))


@pytest.mark.parametrize("text", [TWO_WAYS, OWN_QUEUE, CALLED])
def test_no_traffic_has_more_than_the_rate_of_its_direction(text: str):
    result = headgate.run(headgate.Scenario.parse(text, set=["seeds=1"]))
    parts = {part.name: part for part in traffic(result.scenario)}
    assert {(part.direction, part.rate_bps) for part in parts.values()} == {("forward", 2e6), ("reverse", 20e6)}
    for of_qdisc in by_traffic(result):
        for direction in ("forward", "reverse"):
            mine = [of_qdisc[name] for name, part in parts.items() if part.direction == direction]
            rate = next(part.rate_bps for part in parts.values() if part.direction == direction)
            assert 0 < sum(part["throughput_bps"]["mean"] for part in mine) <= rate * 1.001
    every = sum(part["flows"] for part in by_traffic(result)[0].values())
    assert every == sum(group.flows for group in result.scenario.groups)


def test_the_line_above_the_table_and_its_columns_name_each_direction(command: Command, tmp_path):
    file = tmp_path / "two-ways.toml"
    file.write_text(TWO_WAYS)
    out = " ".join(command("run", file, "--seeds", "1", "--set", "duration=6s").stdout.split())
    assert (
        "two-ways: 2 TCP flows and 1 UDP flow (1 of 100 kbit/s) forward on 2 Mbit/s, 9 TCP flows reverse on 20" in out
    )


def test_the_headline_is_the_calls_delay_and_not_the_division_of_downloads(result: headgate.Result):
    assert verdict(result).startswith(
        "FQ-CoDel delays “call” least: 95 % of its packets have a queueing delay at bottleneck forward "
    )


def test_a_call_of_the_reverse_direction_has_the_delay_of_the_reverse_queue():
    result = headgate.run(headgate.Scenario.parse(CALLED))
    droptail, _ = result.summary()
    forward, reverse = (link["figures"]["queue_delay_ms"]["p95"]["mean"] for link in droptail["links"])
    call = droptail["groups"][-1]["queue_delay_ms"]["p95"]["mean"]
    # 60 packets of 1500 bytes take 36 ms at 20 Mbit/s, 100 take 600 ms at 2.
    assert call == pytest.approx(reverse, rel=0.2)
    assert call < forward
    assert any("call" in column.title for column in columns(result.scenario, rows(result)))


def test_both_queues_are_drawn_with_their_own_senders_and_rates():
    for text in (TWO_WAYS, OWN_QUEUE):
        drawn = drawing(headgate.run(headgate.Scenario.parse(text, set=["seeds=1", "duration=6s"])))
        words = [" ".join(line.text for line in link.lines).replace("\N{NO-BREAK SPACE}", " ") for link in drawn.links]
        assert ["Link: 2 Mbit/s" in words[0], "Link: 20 Mbit/s" in words[1]] == [True, True]
        assert ["Its discipline is DropTail." in each for each in words] == [False, text == OWN_QUEUE]
        forward, reverse = drawn.links
        to = {group.lines[0].text: group.queue for group in drawn.groups}
        names = {name: next(queue for line, queue in to.items() if name in line) for name in ("uploads", "far", "call")}
        assert names == {"uploads": forward.y, "far": reverse.y, "call": forward.y}
        colors = {group.lines[0].text: group.color for group in drawn.groups}
        far = next(color for line, color in colors.items() if "far" in line)
        assert far not in {color for _, color in forward.packets}
        assert far in {color for _, color in reverse.packets}
        assert len(drawn.receivers) == 2


def test_the_overview_has_a_panel_for_each_direction(result: headgate.Result):
    labels = [axes.get_xlabel() for axes in plot.overview(result).axes]
    assert labels[:2] == ["Goodput forward (Mbit/s)", "Goodput reverse (Mbit/s)"]
    ends = [axes.get_xlim()[1] for axes in plot.overview(result).axes[:2]]
    assert ends == pytest.approx([2 * 1.06, 20 * 1.06], rel=0.01)


def test_dots_of_goodput_against_delay_are_of_the_flows_in_the_bottlenecks_direction(result: headgate.Result):
    axes = plot.tradeoff(result)
    assert axes.get_ylabel() == "Goodput of all flows forward (Mbit/s)"
    dots = data.delay_goodput(result, "fq_codel", 1e6)
    assert 0 < dots[:, 1].max() <= 2


def test_a_chain_of_links_and_a_single_direction_are_one_way():
    for name in ("chain", "access"):
        assert [way.direction for way in headgate.Scenario.load(name).ways] == [""]


def rates_of_all(result: headgate.Result) -> dict[str, list[float]]:
    """Every rate of several groups together that Headgate computes, by its name: a value for each seed."""
    scenario, qdisc = result.scenario, "fq_codel"
    by_name = [each for each in MEASURES if each.units is Units.RATE and each.name and each.name != "misallocated"]
    found = {
        f"{each.name} {owner}".strip(): list(
            grammar.metric(f"{each.name} {owner}".strip(), scenario).of(result, qdisc).per_seed
        )
        for each in by_name
        for owner in ("", "tcp")
    }
    runs = Run.of_qdisc(result, qdisc, qdisc, {})
    measures = {"run goodput": goodput(), "run throughput": throughput(), "run TCP": goodput(kind="tcp")}
    measures["periods"] = goodput_over_periods(1.0) * 1e6
    found |= {name: [measure(run) for run in runs] for name, measure in measures.items()}
    seeds = [scenario.of_seed(seed) for seed in scenario.seeds]
    links, flows = (
        TableOfRuns(rows, [rows.num_rows // len(seeds)] * len(seeds))
        for rows in (table.filter(pc.equal(table["qdisc"], qdisc)) for table in (result.links, result.flows))
    )
    found["sweep"] = [float(each["goodput_bps"] or 0) for each in sweep_measures(seeds, links, flows)]
    view = FlowsView(result, qdisc, scenario.groups)
    found["over time"] = [float(window.mean()) for window in view.windows("goodput_bps")]
    return found


@pytest.mark.parametrize("text", [TWO_WAYS, TWO_WAYS.replace("20Mbit/s", "1Mbit/s")])
def test_rates_of_opposite_directions_are_never_added(text: str):
    """With 2 and 1 Mbit/s, the bottleneck may be either direction."""
    result = headgate.run(headgate.Scenario.parse(text, set=["seeds=2", "duration=10s"]))
    rate = result.scenario.rate_bps
    for name, values in rates_of_all(result).items():
        assert all(0.5 * rate < value <= rate * 1.001 for value in values), (name, values)


def test_a_flow_is_compared_with_other_groups_of_its_direction(result: headgate.Result):
    (upload, *_, call) = range(2 + 6 + 3 + 1)
    found = facts(result, RunKey(1, "fq_codel", 1), upload).beside
    assert found.flows == 1
    assert found.goodput_bps == pytest.approx(facts(result, RunKey(1, "fq_codel", 1), call).mine.goodput_bps)


def test_flent_gets_the_sum_of_each_direction(result: headgate.Result):
    for run in result.scenario.runs:
        series = flent.document(result, run)["results"]
        for name, rate in (("TCP upload sum", 2.0), ("TCP download sum", 20.0)):
            known = [each for each in series[name] if each is not None]
            assert 0.5 * rate < sum(known) / len(known) <= rate, name
        assert "TCP download::2" in series
        assert "UDP upload::call" in series
