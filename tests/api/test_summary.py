"""Summaries that are computed from the tables."""

import math

import pyarrow.compute as pc
import pytest

import headgate
from headgate.analysis.spread import Estimate, estimate, student_t
from headgate.analysis.summary import by_traffic
from tests.conftest import SMALL


@pytest.mark.parametrize(
    ("freedom", "t"),
    # NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, column 0.975.
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (29, 2.045), (100, 1.984)],
)
def test_student_t_agrees_with_the_printed_table(freedom: int, t: float):
    assert student_t(freedom) == pytest.approx(t, abs=5e-4)


def test_an_interval_is_t_times_the_standard_error():
    # Mean 3, standard deviation sqrt(2.5), 5 values: half = 2.776 x sqrt(2.5 / 5).
    interval = estimate([1, 2, 3, 4, 5])
    assert interval["mean"] == 3
    assert interval["high"] - 3 == pytest.approx(2.776 * math.sqrt(0.5), rel=1e-3)
    assert interval["low"] == pytest.approx(6 - interval["high"])


def test_unmeasured_values_are_none_and_left_out_of_means():
    nothing: Estimate = {"mean": None, "low": None, "high": None, "per_seed": [None, None]}
    assert estimate([None, math.nan]) == nothing
    assert estimate([None, 7.0]) == {"mean": 7.0, "low": None, "high": None, "per_seed": [None, 7.0]}


def test_groups_are_sums_over_their_flows(in_memory: headgate.Result):
    flows = in_memory.flows.to_pandas().query("qdisc == 'faba' and seed == 2")
    tcp, cbr = in_memory.summary()[1]["groups"]
    for group, mine in ((tcp, flows.query("group == 'tcp'")), (cbr, flows.query("group == 'cbr'"))):
        assert group["goodput_bps"]["per_seed"][1] == pytest.approx(mine["goodput_bps"].sum())
        assert group["fair_share_bps"]["mean"] == pytest.approx(mine["fair_share_bps"].sum())
        share = mine["goodput_bps"].sum() / mine["fair_share_bps"].sum()
        assert group["share_of_fair"]["per_seed"][1] == pytest.approx(share)
        assert group["drop_rate"]["per_seed"][1] == pytest.approx(mine["dropped"].sum() / mine["arrived"].sum())
        assert [flow["per_seed"][1] for flow in group["goodput_bps_per_flow"]] == mine["goodput_bps"].tolist()
    assert tcp["cwnd_mean"]["per_seed"][1] == pytest.approx(flows.query("kind == 'tcp'")["cwnd_mean"].mean())
    assert cbr["cwnd_mean"]["mean"] is None


def test_jain_is_one_when_all_get_their_share_and_lower_when_not(in_memory: headgate.Result):
    droptail, faba = in_memory.summary()
    flows = in_memory.flows.to_pandas().query("qdisc == 'droptail' and seed == 1")
    x = flows["goodput_bps"] / flows["fair_share_bps"]
    assert droptail["jain"]["per_seed"][0] == pytest.approx(x.sum() ** 2 / (4 * (x**2).sum()))
    assert droptail["jain"]["mean"] < faba["jain"]["mean"] <= 1


def test_drops_by_reason_add_up(in_memory: headgate.Result):
    for entry in in_memory.summary():
        by_reason = sum(estimate["mean"] for group in entry["groups"] for estimate in group["drops"].values())
        assert by_reason == pytest.approx(entry["bottleneck"]["dropped"]["mean"])


def test_groups_of_one_kind_are_taken_together():
    split = SMALL.replace("flows = 3", 'name = "two"\nflows = 2', 1)
    split += '\n[[tcp]]\nname = "one"\npacket = "500B"\naccess = { rate = "100Mbit/s", delay = "1ms" }\n'
    result = headgate.run(headgate.Scenario.parse(split, seeds=1), qdiscs=["faba"])
    assert [group["name"] for group in result.summary()[0]["groups"]] == ["two", "one", "cbr"]
    tcp = by_traffic(result)[0]["tcp"]
    mine = result.flows.filter(pc.equal(result.flows["kind"], "tcp"))
    assert tcp["flows"] == 3
    assert tcp["goodput_bps"]["mean"] == pytest.approx(pc.sum(mine["goodput_bps"]).as_py())


def test_cost_is_packets_over_processor_time(in_memory: headgate.Result):
    for entry in in_memory.summary():
        forward = in_memory.links.to_pandas().query("direction == 'forward' and qdisc == @entry['qdisc']")
        cpu = entry["cpu_s"]["per_seed"]
        assert all(seconds > 0 for seconds in cpu)
        per_second = [n / s for n, s in zip(forward["packets"], cpu, strict=True)]
        assert entry["packets_per_cpu_s"]["per_seed"] == pytest.approx(per_second)
