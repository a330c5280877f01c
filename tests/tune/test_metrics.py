"""Metrics and bounds by name."""

from pathlib import Path

import numpy as np
import pytest

import headgate
from headgate.analysis.judge import Quantity, Verdict
from headgate.analysis.metrics import MEASURES, Metric, bound, metric
from headgate.analysis.metrics.catalogue import FLOWS, JAIN, owner
from headgate.analysis.metrics.views import FlowsView
from headgate.analysis.summary import summarize, taken
from headgate.errors import UsageError
from headgate.units import Units

FABA = 1


@pytest.mark.parametrize(
    ("written", "nearest"),
    [
        ("p95 queue delay", "p95 queue delay"),
        ("queue_delay_p95", "p95 queue delay"),
        ("Queue-Delay", "mean queue delay"),
        ("p99_queue_delay_cbr", "p99 queue delay cbr"),
        ("goodput of tcp", "goodput tcp"),
        ("share_of_fair cbr", "share cbr"),
        ("goodput_bps", "goodput"),
        ("drop_rate udp", "drop rate udp"),
        ("jain", "jain"),
    ],
)
def test_words_of_a_metric_have_any_order_and_may_be_joined(written: str, nearest: str, in_memory: headgate.Result):
    assert str(metric(written, in_memory.scenario)) == nearest


def test_a_metric_has_the_document_s_figures(in_memory: headgate.Result):
    entry, qdisc = summarize(in_memory)[FABA], in_memory.scenario.qdiscs[FABA]
    expected = {
        "utilization": entry["bottleneck"]["utilization"],
        "p95 queue delay": entry["bottleneck"]["queue_delay_ms"]["p95"],
        "p95 queue delay cbr": entry["groups"][1]["queue_delay_ms"]["p95"],
        "goodput tcp": entry["groups"][0]["goodput_bps"],
        "share cbr": entry["groups"][1]["share_of_fair"],
        "drop rate udp": entry["groups"][1]["drop_rate"],
        "jain": entry["jain"],
    }
    for written, figure in expected.items():
        assert list(metric(written, in_memory.scenario).of(in_memory, qdisc).per_seed) == figure["per_seed"], written


def test_every_measure_can_be_asked_for(in_memory: headgate.Result):
    qdisc = in_memory.scenario.qdiscs[FABA]
    for measure in MEASURES:
        assert len(metric(measure.name, in_memory.scenario).of(in_memory, qdisc).per_seed) == 2, measure.name


def test_groups_together_are_all_their_packets(in_memory: headgate.Result):
    scenario, qdisc = in_memory.scenario, in_memory.scenario.qdiscs[FABA]
    parts = [taken((*FLOWS, JAIN), FlowsView(in_memory, qdisc, [group])) for group in scenario.groups]
    whole = taken((*FLOWS, JAIN), FlowsView(in_memory, qdisc, scenario.groups))
    for key in ("goodput_bps", "retransmits"):
        each = [part[key]["per_seed"] for part in parts]
        assert whole[key]["per_seed"] == pytest.approx(np.sum(each, axis=0)), key
    ways = [part["one_way_delay_ms"] for part in parts]
    assert whole["one_way_delay_ms"]["max"]["per_seed"] == np.max([way["max"]["per_seed"] for way in ways], 0).tolist()
    assert whole["one_way_delay_ms"]["min"]["per_seed"] == np.min([way["min"]["per_seed"] for way in ways], 0).tolist()
    # Jain's index by hand, over the flows of one group: equal fair shares cancel.
    tcp = in_memory.flows.to_pandas().query("qdisc == @qdisc and seed == 1 and kind == 'tcp'")["goodput_bps"]
    assert parts[0]["jain"]["per_seed"][0] == pytest.approx(tcp.sum() ** 2 / (len(tcp) * (tcp**2).sum()))


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        ("p95 queu delay", "did you mean 'queue delay'"),
        ("p99 queue delya", "is not a metric; did you mean 'queue delay'"),
        ("goodput tpc", "no group is called 'tpc'; did you mean 'tcp'"),
        ("queue length nobody", "no group is called 'nobody'. Groups: "),
        ("frobnicate", "Metrics: utilization, ambient drop rate,"),
        ("goodput cbrr", "no group is called 'cbrr'; did you mean 'cbr'"),
        ("p90 queue delay", "queue delay has no p90; it has min, mean, p50, p95, p99, max"),
        ("p95 goodput", "goodput has no p95"),
        ("utilization tcp", "utilization is measured for the link"),
        ("", "is not a metric"),
    ],
)
def test_an_unknown_metric_is_refused_with_the_nearest(written: str, wrong: str, in_memory: headgate.Result):
    with pytest.raises(UsageError, match=wrong):
        metric(written, in_memory.scenario)


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        ("utilization", "is not a bound"),
        ("drop rate = 1%", "is not a bound"),
        ("queue delay < 20", 'expected a time with its unit, such as "20ms"'),
        ("drop rate < 20ms", "expected a share"),
        ("drop rte < 1%", "did you mean 'drop rate'"),
    ],
)
def test_an_invalid_bound_is_refused(written: str, wrong: str, in_memory: headgate.Result):
    with pytest.raises(UsageError, match=wrong):
        bound(written, in_memory.scenario)


@pytest.mark.parametrize(
    ("written", "per_seed", "verdict"),
    [
        # Two seeds, 18 and 20 ms: 19 +- 12.706 x sqrt(2) / sqrt(2) = 12.7 ms.
        ("queue delay < 40ms", (18.0, 20.0), Verdict.HOLDS),
        ("queue delay < 20ms", (18.0, 20.0), Verdict.INCONCLUSIVE),
        ("queue delay < 5ms", (18.0, 20.0), Verdict.DIFFERS),
        ("queue delay < 20ms", (20.0,), Verdict.DIFFERS),
        ("queue delay <= 20ms", (20.0,), Verdict.HOLDS),
        ("utilization >= 95%", (0.95,), Verdict.HOLDS),
        ("utilization > 95%", (0.95,), Verdict.DIFFERS),
        ("utilization >= 95%", (0.94, 0.94), Verdict.DIFFERS),
        ("completion < 1s", (float("nan"),), Verdict.INCONCLUSIVE),
    ],
)
def test_a_bound_is_judged_by_the_interval(
    written: str, per_seed: tuple[float, ...], verdict: Verdict, in_memory: headgate.Result
):
    assert bound(written, in_memory.scenario).judge(Quantity(per_seed)).verdict is verdict


def test_a_strict_bound_is_missed_where_it_is_met(in_memory: headgate.Result):
    for sign, missed in (("<", True), ("<=", False), (">", True), (">=", False)):
        assert (bound(f"timeouts {sign} 1", in_memory.scenario).excess(1.0) > 0) is missed


def test_a_bound_prints_as_it_can_be_read(in_memory: headgate.Result):
    for written in ("p99 queue delay < 20 ms", "goodput tcp > 1.5 Mbit/s", "utilization >= 0.95"):
        assert str(bound(written, in_memory.scenario)) == written


@pytest.mark.parametrize(
    ("units", "text", "value"),
    [
        (Units.TIME, "1.5s", 1500.0),
        (Units.TIME, "1e3 us", 1.0),
        (Units.RATE, "10mbit", 1e7),
        (Units.SHARE, "95%", 0.95),
        (Units.PACKETS, "50p", 50.0),
    ],
)
def test_values_are_read_with_their_units(units: Units, text: str, value: float):
    assert units.read(text) == pytest.approx(value)


def test_a_measured_value_has_half_its_interval_and_its_unit():
    rate = Metric(next(each for each in MEASURES if each.name == "goodput"), None, "tcp")
    assert rate.show(Quantity((8e6,))) == "8.00 Mbit/s"
    # Half of 8 and 10 Mbit/s: 12.706 x sqrt(2) / sqrt(2).
    assert rate.show(Quantity((8e6, 10e6))) == "9 ± 13 Mbit/s"


def test_the_reference_has_every_metric():
    owners = {"link": "the link", "all": "all flows", "flows": "flows", "both": "the link, or flows"}
    page = (Path(__file__).parents[2] / "docs/reference/metrics.md").read_text()
    for each in MEASURES:
        unit = "0 to 1" if each.units is Units.SHARE else each.units.value.name
        better = "lower" if each.lower else "higher"
        cells = [f"`{each.name}`", unit, owners[owner(each)], ", ".join(each.parts), better, each.meaning]
        assert f"| {' | '.join(cells)} |\n" in page, each.name
