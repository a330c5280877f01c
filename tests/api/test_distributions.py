"""Histograms: their means and quantiles, and their counts beside the tables of a run."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import headgate
from headgate.analysis.data import Cdf, rows
from headgate.analysis.distributions import BinnedValues, by_seed, histogram, quantile
from headgate.prototype.port import Port

PACKAGE = Path(headgate.__file__).parent


def binned_values(values, counts):
    return BinnedValues(np.asarray(values, dtype=float), np.asarray(counts, dtype=float))


def test_quantiles_are_those_of_the_values_one_by_one():
    distribution = binned_values([1, 2, 5, 9], [3, 1, 4, 2])
    every = [1, 1, 1, 2, 5, 5, 5, 5, 9, 9]
    for share in (0.0, 0.29, 0.3, 0.31, 0.5, 0.8, 0.95, 1.0):
        # The index in the sorted list is the share times its length; the last value stands for 1.
        assert distribution.quantile(share) == every[min(int(share * 10), 9)]
    assert distribution.mean() == np.mean(every)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.29, 0.5, 0.57, 0.9, 0.95, 0.99, 1.0])
@pytest.mark.parametrize("length", [1, 2, 3, 10, 20, 99, 100, 101])
def test_a_quantile_has_one_value_wherever_it_is_computed(share: float, length: int):
    # Below 128 the bins of the core's histogram hold one value each.
    drawn = np.random.default_rng(length).integers(0, 128, length)
    values, counts = np.unique(drawn, return_counts=True)
    expected = sorted(drawn)[min(int(share * length), length - 1)]
    assert quantile(drawn.astype(float), share) == expected
    assert binned_values(values, counts).quantile(share) == expected
    assert Cdf(values.astype(float), np.cumsum(counts).astype(float)).quantile(share) == expected
    assert delays_in_the_core(drawn, share) == expected


def delays_in_the_core(nanoseconds, share):
    """The quantile that a port of the core computes of these queueing delays."""
    port = Port("droptail")
    for number, waits in enumerate(nanoseconds):
        port.enqueue(at=number * 1e-6)
        port.dequeue(at=number * 1e-6 + waits * 1e-9)
    return round(port.delay_ms(share) * 1e6)


def test_no_module_has_a_rule_for_quantiles_of_its_own():
    others = re.compile(
        r"np\.(nan)?(quantile|percentile|median)\(|statistics\.(median|quantiles)|pc\.(tdigest|quantile)"
    )
    modules = [path for path in sorted(PACKAGE.rglob("*.py")) if others.search(path.read_text())]
    assert modules == []


def test_nothing_has_no_mean_and_no_quantile():
    assert binned_values([], []).mean() is None
    assert binned_values([], []).quantile(0.5) is None


def test_bins_with_the_same_middle_are_added():
    table = pa.table({"value": [5.0, 1.0, 5.0], "count": pa.array([1, 2, 3], pa.uint64())})
    distribution = histogram(table, "value")
    assert distribution.values.tolist() == [1, 5]
    assert distribution.counts.tolist() == [2, 4]


def test_delays_of_groups_add_up_to_the_packets_that_the_link_sent(in_memory: headgate.Result):
    links = in_memory.links.to_pandas().query("compared")
    delays = in_memory.delays.to_pandas().query("measure == 'queue_delay'")
    sums = delays.groupby(["qdisc", "seed"], observed=True)["count"].sum()
    for row in links.itertuples():
        assert sums[row.qdisc, row.seed] == row.sent


def test_one_way_delay_is_at_least_the_paths_own(in_memory: headgate.Result):
    way = in_memory.delays.to_pandas().query("measure == 'one_way_delay'")
    assert way["link"].isna().all()
    for entry in in_memory.summary():
        for group in entry["groups"]:
            mine = way.query("qdisc == @entry['qdisc'] and group == @group['name']")
            assert group["one_way_delay_ms"]["min"]["per_seed"] == pytest.approx(
                [mine[mine["seed"] == seed]["delay_ms"].min() for seed in entry["seeds"]]
            )
            for low, high in zip(("min", "p50", "p95", "p99"), ("p50", "p95", "p99", "max"), strict=True):
                assert group["one_way_delay_ms"][low]["mean"] <= group["one_way_delay_ms"][high]["mean"]
            spread = zip(
                group["one_way_delay_ms"]["p95"]["per_seed"], group["one_way_delay_ms"]["min"]["per_seed"], strict=True
            )
            assert group["delay_variation_ms"]["p95"]["per_seed"] == pytest.approx([high - low for high, low in spread])


def test_runs_of_losses_hold_every_drop_once(in_memory: headgate.Result):
    flows = in_memory.flows.to_pandas().groupby(["qdisc", "seed"], observed=True)["dropped"].sum()
    for entry in in_memory.summary():
        distributions = by_seed(
            rows(in_memory.losses, qdisc=entry["qdisc"], measure="run_packets"), "value", entry["seeds"]
        )
        # Runs this short are counted exactly.
        assert all(each.values.max() < 128 for each in distributions)
        lost = [(each.values * each.counts).sum() for each in distributions]
        assert lost == [flows[entry["qdisc"], seed] for seed in entry["seeds"]]


def test_jains_index_by_scale_is_in_the_tables_and_the_summary(in_memory: headgate.Result):
    for entry in in_memory.summary():
        assert [scale["scale_s"] for scale in entry["jain_by_scale"]] == [0.1, 1.0, 10.0]
        tenth = entry["jain_by_scale"][0]
        rows = in_memory.fairness.to_pandas().query("qdisc == @entry['qdisc'] and scale_s == 0.1")
        assert tenth["mean"]["per_seed"] == rows["jain_mean"].tolist()
        assert all(0 < low <= mean <= 1 for low, mean in zip(rows["jain_min"], rows["jain_mean"], strict=True))


def test_identified_flows_are_counted(in_memory: headgate.Result):
    summary = in_memory.summary()
    assert all(group["identified"]["mean"] == 0 for group in summary[0]["groups"]), "DropTail knows no flows"
    changes = ["duration=20s", "udp.rate=8Mbit/s"]
    result = headgate.run(headgate.Scenario.parse(in_memory.scenario.to_toml(), set=changes), qdiscs=["red_pd"])
    cbr = result.summary()[0]["groups"][1]
    assert cbr["identified"]["mean"] == 1
    assert 0 < cbr["identified_ms"]["mean"] < 20e3
