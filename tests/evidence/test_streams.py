"""Events with gauges and traces: their columns, and equal contents in a folder, in memory and after a rerun."""

import pyarrow.compute as pc
import pytest

import headgate
from headgate.files import tables
from headgate.rerun import rerun


def test_events_have_gauges_with_drops_and_marks(recorded: headgate.Result):
    events = recorded.events
    base = tables.STREAMED["events"].names
    assert events.column_names[: len(base)] == base
    gauges = {"red": {"gauge:average", "gauge:probability"}, "faba": {"gauge:sigma", "flow:tokens"}}
    for run in recorded.scenario.runs:
        mine = recorded.run("events", run)
        assert gauges[run.qdisc.partition(":")[0]] <= set(mine.column_names)
        assert mine["gauge:average" if "red" in run.qdisc else "gauge:sigma"].null_count == 0
    assert set(events["event"].to_pylist()) == {"dropped", "marked"}


def test_events_without_gauges_have_no_further_columns(scenario: headgate.Scenario):
    plain = headgate.run(scenario, set=["record.events=drops", "record.capture=[]"], seeds=1)
    assert plain.events is not None
    assert plain.events.column_names == tables.STREAMED["events"].names


def test_traces_have_a_row_each_time_a_sender_changed(recorded: headgate.Result):
    traces = recorded.traces
    assert traces.schema.names == tables.STREAMED["traces"].names
    assert pc.unique(traces["flow"]).to_pylist() == [0, 1, 2]
    flows = recorded.flows.filter(pc.equal(recorded.flows["kind"], "tcp")).to_pylist()
    for flow in flows:
        mine = traces.filter(
            pc.and_(pc.equal(traces["qdisc"], flow["qdisc"]), pc.equal(traces["seed"], flow["seed"]))
        ).filter(pc.equal(pc.field("flow"), flow["flow"]))
        warm = mine.filter(pc.less(mine["time_ns"], int(recorded.scenario.warmup_s * 1e9)))
        # The tables count from the warm-up on, the traces from the start.
        for name in ("retransmits", "timeouts"):
            assert pc.max(mine[name]).as_py() - pc.max(warm[name]).as_py() == flow[name]


def test_records_in_memory_equal_those_in_a_folder(recorded: headgate.Result, scenario: headgate.Scenario):
    kept = headgate.run(scenario)
    assert kept.events == recorded.events
    assert kept.traces == recorded.traces
    assert kept.captures == []
    run = scenario.runs[1]
    assert kept.run("events", run).num_rows == recorded.run("events", run).num_rows
    with pytest.raises(KeyError):
        headgate.run(scenario, set=["record.flows=[]"], seeds=1).run("traces", run)


def test_a_rerun_gives_the_same_bytes(recorded: headgate.Result, tmp_path_factory: pytest.TempPathFactory):
    assert rerun(recorded, tmp_path_factory.mktemp("again")).differences == []
