"""Results as pandas, polars and xarray objects, several scenarios in one call, and figures on the caller's axes."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

import headgate
from headgate import plot
from tests.conftest import SMALL, files


def test_intervals_are_a_dataset_over_time_discipline_and_seed(in_memory: headgate.Result):
    whole = in_memory.to_xarray()
    assert dict(whole.sizes) == {"qdisc": 2, "seed": 2, "link": 1, "group": 2, "time_s": 40}
    assert whole["goodput_bps"].dims == ("qdisc", "seed", "group", "time_s")
    assert whole["queue_packets"].dims == ("qdisc", "seed", "link", "time_s")
    rows = in_memory.to_pandas("intervals")
    one = rows.query("qdisc == 'faba' and seed == 2 and metric == 'goodput_bps' and group == 'cbr'")
    chosen = whole["goodput_bps"].sel(qdisc="faba", seed=2, group="cbr")
    assert np.array_equal(chosen, one["value"])
    assert np.array_equal(whole["time_s"], one["time_s"])


def test_tables_are_found_by_name_and_unknown_names_refused(in_memory: headgate.Result):
    assert in_memory.to_pandas().shape == (16, in_memory.flows.num_columns)
    assert in_memory.to_polars("links").shape == in_memory.links.shape
    with pytest.raises(headgate.UsageError, match="no table is called 'flow'; did you mean 'flows'"):
        in_memory.to_pandas("flow")
    with pytest.raises(headgate.UsageError, match="has no events"):
        in_memory.to_polars("events")


def test_the_error_of_a_missing_library_says_how_to_install_it(
    in_memory: headgate.Result, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(headgate.UsageError, match=r'needs xarray: pip install "headgate-aqm\[xarray\]"'):
        in_memory.to_xarray()


def test_several_scenarios_run_together_and_come_back_in_order(in_folder: headgate.Result, tmp_path: Path):
    scenario = headgate.Scenario.parse(SMALL)
    short = scenario.replace(name="short", duration="2s", seeds=1)
    first, second, again = headgate.run([short, scenario, short])
    assert (first.scenario, second.scenario, again) == (short, scenario, first)
    assert second.flows.equals(in_folder.flows)
    kept = headgate.run([short, scenario], out=tmp_path, report=False)
    assert files(kept[1].path) == files(in_folder.path)
    assert kept[0].flows.equals(first.flows)
    assert headgate.run([]) == []


def test_figures_are_drawn_on_the_axes_they_are_given(in_memory: headgate.Result):
    figure, axes = plt.subplots(1, 5)
    drawn = [
        *plot.queue(in_memory, "faba", ax=axes[0]),
        *plot.goodput(in_memory, "faba", ax=axes[1]),
        plot.tradeoff(in_memory, ax=axes[2]),
        plot.delay_cdf(in_memory, ax=axes[3]),
        *plot.gauges(in_memory, "faba", gauge="flows", ax=axes[4]),
    ]
    assert drawn == list(axes)
    assert all(each.has_data() for each in axes)
    with pytest.raises(ValueError, match="one gauge of one discipline"):
        plot.gauges(in_memory, ax=axes[4])
    plt.close(figure)
