"""Scenarios run from Python: the tables of a result, and equal bytes every time."""

import re
import shutil
import threading
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headgate
from headgate.execution.runner import Watcher
from headgate.files import store, tables
from tests.conftest import SMALL, files

DOCS = Path(__file__).parents[2] / "docs"
#: The reasons that droptail and faba can give.
REASONS = ["overflow", "bucket"]


def documented(table: str) -> list[str]:
    """The columns of a table in docs/reference/tables.md, with those of each reason."""
    page = (DOCS / "reference" / "tables.md").read_text("utf-8")
    section = page.partition(f"\n### {table}\n")[2].partition("\n###")[0]
    names = re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)
    return [name.replace("REASON", why) for name in names for why in (REASONS if "REASON" in name else [""])]


@pytest.mark.parametrize("table", tables.NAMES)
def test_a_table_has_its_documented_columns(in_memory: headgate.Result, table: str):
    assert getattr(in_memory, table).column_names == ["qdisc", "seed", *documented(table)]


def test_events_are_none_unless_recorded(in_memory: headgate.Result):
    assert in_memory.events is None


def test_rows_are_sorted_by_discipline_then_seed(in_memory: headgate.Result):
    flows = in_memory.flows.to_pylist()
    expected = [(q, s, f) for q in ("droptail", "faba") for s in (1, 2) for f in range(4)]
    assert [(row["qdisc"], row["seed"], row["flow"]) for row in flows] == expected
    assert [row["group"] for row in flows[:4]] == ["tcp", "tcp", "tcp", "cbr"]
    assert [row["kind"] for row in flows[:4]] == ["tcp", "tcp", "tcp", "udp"]


def test_flows_add_up_to_the_link(in_memory: headgate.Result):
    links = in_memory.links.filter(pa.compute.equal(in_memory.links["direction"].cast(pa.string()), "forward"))
    for column in ("arrived", "sent", "sent_bytes", "dropped", *(f"dropped_{why}" for why in REASONS)):
        by_run = in_memory.flows.group_by(["qdisc", "seed"]).aggregate([(column, "sum")])
        assert by_run[f"{column}_sum"].to_pylist() == links[column].to_pylist(), column
    dropped = [sum(row[f"dropped_{why}"] for why in REASONS) for row in links.to_pylist()]
    assert dropped == links["dropped"].to_pylist()


def test_delays_are_the_distribution_behind_the_link(in_memory: headgate.Result):
    forward = in_memory.links.to_pylist()[0]
    delays = in_memory.delays.to_pandas().query("measure == 'queue_delay'").to_dict("records")
    first = [row for row in delays if (row["qdisc"], row["seed"]) == ("droptail", 1)]
    assert sum(row["count"] for row in first) == forward["sent"]
    mean = sum(row["delay_ms"] * row["count"] for row in first) / forward["sent"]
    assert mean == pytest.approx(forward["queue_delay_ms_mean"], rel=0.01)


def test_pandas_and_polars_read_the_tables(in_memory: headgate.Result):
    frame = in_memory.flows.to_pandas()
    assert isinstance(frame["qdisc"].dtype, pd.CategoricalDtype)
    polars = pl.from_arrow(in_memory.flows)
    assert isinstance(polars, pl.DataFrame)
    assert frame["goodput_bps"].tolist() == polars["goodput_bps"].to_list()


def test_memory_and_folder_hold_the_same(in_memory: headgate.Result, in_folder: headgate.Result):
    for name in tables.NAMES:
        assert getattr(in_memory, name).equals(getattr(in_folder, name)), name
    loaded = headgate.load(in_folder.path)
    assert loaded.scenario.to_toml() == in_memory.scenario.to_toml()
    assert {**loaded.manifest, "tables": {}} == in_memory.manifest
    assert len(loaded.timing) == len(loaded.scenario.runs)


def test_one_thread_and_two_write_the_same_bytes(in_folder: headgate.Result, tmp_path: Path):
    one = headgate.run(headgate.Scenario.parse(SMALL), out=tmp_path, threads=1, report=False)
    two = headgate.run(headgate.Scenario.parse(SMALL), out=tmp_path / "two", threads=2, report=False)
    assert files(one.path) == files(two.path) == files(in_folder.path)


def test_finished_runs_are_not_run_again(tmp_path: Path):
    scenario = headgate.Scenario.parse(SMALL)
    seen = RecordingWatcher()
    first = headgate.run(scenario, out=tmp_path, report=False, watcher=seen)
    before = files(first.path)
    headgate.run(scenario, out=tmp_path, report=False, watcher=seen)
    assert seen.begun == [(4, 0), (4, 4)]
    headgate.run(scenario, out=tmp_path, report=False, watcher=seen, force=True)
    assert seen.begun[-1] == (4, 0)
    assert files(first.path) == before


@pytest.mark.parametrize("damage", ["cut", "changed", "gone", "manifest"])
def test_a_damaged_result_is_detected_and_run_again(in_folder: headgate.Result, tmp_path: Path, damage: str):
    kept = tmp_path / in_folder.path.name
    shutil.copytree(in_folder.path, kept)
    before = files(kept)
    file = kept / ("manifest.json" if damage == "manifest" else "flows.parquet")
    data = file.read_bytes()
    middle = len(data) // 2
    file.write_bytes(data[:middle] if damage != "changed" else data[:middle] + b"!" + data[middle + 1 :])
    if damage == "cut":
        with pytest.raises(headgate.ResultError, match=r"flows\.parquet is damaged"):
            headgate.load(kept).summary()
    if damage == "gone":
        file.unlink()
    seen = RecordingWatcher()
    again = headgate.run(in_folder.scenario, out=tmp_path, report=False, watcher=seen)
    assert files(again.path) == before
    headgate.run(in_folder.scenario, out=tmp_path, report=False, watcher=seen)
    assert seen.begun == [(4, 0), (4, 4)]
    assert seen.messages == [f"damaged files in {kept} are recomputed: {file.name}"]


def test_a_truncated_finished_run_is_run_again(in_folder: headgate.Result, tmp_path: Path):
    scenario = headgate.Scenario.parse(SMALL)
    with pytest.raises(headgate.InterruptedRunError) as raised:
        headgate.run(scenario, out=tmp_path, report=False, watcher=RecordingWatcher(stop_after=2), threads=1)
    (kept, *_) = (Path(raised.value.folder) / "unfinished").iterdir()
    (kept / "links.parquet").write_bytes((kept / "links.parquet").read_bytes()[:-1])
    seen = RecordingWatcher()
    resumed = headgate.run(scenario, out=tmp_path, report=False, watcher=seen)
    assert seen.begun == [(4, raised.value.finished - 1)]
    assert seen.messages[0].endswith(f"recomputed: unfinished/{kept.name}/links.parquet")
    assert files(resumed.path) == files(in_folder.path)


def test_a_run_that_stopped_half_way_is_resumed_to_the_same_bytes(in_folder: headgate.Result, tmp_path: Path):
    scenario = headgate.Scenario.parse(SMALL)
    path = tmp_path / store.folder_name(scenario)
    seen = RecordingWatcher(stop_after=1)
    with pytest.raises(headgate.InterruptedRunError) as raised:
        headgate.run(scenario, out=tmp_path, report=False, watcher=seen, threads=1)
    assert raised.value.folder == path
    assert 1 <= raised.value.finished < 4
    assert not list(path.rglob(f"{store.UNFINISHED}*"))
    with pytest.raises(headgate.ResultError, match="repeat it to resume"):
        headgate.load(path)
    again = RecordingWatcher()
    resumed = headgate.run(scenario, out=tmp_path, report=False, watcher=again)
    assert again.begun == [(4, raised.value.finished)]
    assert files(resumed.path) == files(in_folder.path)


def test_an_interrupted_result_serves_one_with_fewer_seeds(tmp_path: Path):
    many = headgate.Scenario.parse(SMALL, seeds=30, qdiscs=["faba"])
    with pytest.raises(headgate.InterruptedRunError) as raised:
        headgate.run(many, out=tmp_path, report=False, watcher=RecordingWatcher(stop_after=3), threads=1)
    assert raised.value.finished >= 3
    # A truncated run does not serve, nor do runs of another scenario.
    (tmp_path / store.folder_name(many) / "unfinished" / store.slug(many.runs[1]) / "links.parquet").write_bytes(b"")
    few, other = (
        headgate.Scenario.parse(SMALL, seeds=3, qdiscs=["faba"], set=change) for change in ((), ["link.limit=49p"])
    )
    seen = RecordingWatcher()
    result = headgate.run(few, out=tmp_path, report=False, watcher=seen)
    headgate.run(other, out=tmp_path, report=False, watcher=seen)
    assert seen.begun == [(3, 2), (3, 0)]
    alone = headgate.run(few, out=tmp_path / "alone", report=False)
    assert files(result.path) == files(alone.path)


def test_a_run_that_finished_nothing_leaves_nothing(tmp_path: Path):
    endless = headgate.Scenario.parse(SMALL, set=["duration=10h", "record.interval=1min"])
    with pytest.raises(headgate.InterruptedRunError, match="0 of 4 runs"):
        headgate.run(endless, out=tmp_path / "new" / "results", watcher=RecordingWatcher(stop_after=0))
    assert list(tmp_path.iterdir()) == []


def test_two_runs_do_not_write_to_one_folder(tmp_path: Path):
    scenario = headgate.Scenario.parse(SMALL)
    path = tmp_path / store.folder_name(scenario)
    with store.Store.open(path, scenario), pytest.raises(headgate.ResultError, match="another process"):
        headgate.run(scenario, out=tmp_path)


def test_a_file_that_a_scenario_names_stays_with_its_result(tmp_path: Path):
    (tmp_path / "traces").mkdir()
    trace = tmp_path / "traces" / "lte.up"
    trace.write_text("".join(f"{moment}\n" for moment in range(0, 1000, 6)))
    file = tmp_path / "small.toml"
    file.write_text(
        SMALL.replace('rate = "2Mbit/s"\ndelay', 'trace = "traces/lte.up"\nreverse.rate = "2Mbit/s"\ndelay', 1)
    )
    scenario = headgate.Scenario.load(file, seeds=1, qdiscs=["droptail"])
    result = headgate.run(scenario, out=tmp_path / "out", report=False)
    assert (result.path / "inputs" / "lte.up").read_bytes() == trace.read_bytes()
    loaded = headgate.load(result.path)
    assert loaded.scenario.config_hash == scenario.config_hash == result.manifest["config_hash"]
    assert headgate.run(loaded.scenario, seeds=2, qdiscs=["faba"]).flows.num_rows == 2 * 4
    trace.write_text("3\n")
    assert headgate.Scenario.load(file, seeds=1, qdiscs=["droptail"]).config_hash != scenario.config_hash
    (result.path / "inputs" / "lte.up").write_text("3\n")
    with pytest.raises(headgate.ResultError, match="differs from the input that the result was made from"):
        headgate.load(result.path)
    trace.unlink()
    with pytest.raises(headgate.ScenarioError, match=r"cannot read .*No such file"):
        headgate.Scenario.load(file)


def test_events_are_streamed_and_add_up_to_the_counts(tmp_path: Path):
    scenario = headgate.Scenario.parse(SMALL, set=["record.events=all", "warmup=0s"])
    memory = headgate.run(scenario)
    folder = headgate.run(scenario, out=tmp_path, report=False)
    assert memory.events is not None
    assert folder.events.cast(memory.events.schema).equals(memory.events.combine_chunks())
    events = memory.events.to_pandas()
    link = memory.links.to_pandas().query("direction == 'forward'")
    for what in ("arrived", "sent", "dropped"):
        counted = events[events["event"] == what].groupby(["qdisc", "seed"], observed=True).size()
        assert counted.tolist() == link[what].tolist(), what
    assert (events[events["event"] == "dropped"]["reason"].notna()).all()
    assert sorted(p.name for p in (folder.path / "events").iterdir()) == sorted(
        f"{store.slug(run)}.parquet" for run in scenario.runs
    )


def test_events_are_recorded_even_if_there_are_none(tmp_path: Path):
    calm = headgate.Scenario.parse(SMALL, set=["record.events=drops", "link.limit=10000p", "cbr.rate=1kbit/s"], seeds=1)
    result = headgate.run(calm, out=tmp_path, qdiscs=["droptail"], report=False)
    assert result.events.num_rows == 0
    assert result.events.column_names == tables.STREAMED["events"].names


def test_other_threads_continue_during_a_run():
    scenario = headgate.Scenario.parse(
        SMALL, set=["duration=30min", "record.interval=1min"], qdiscs=["droptail"], seeds=1
    )
    progress, counted = headgate._core.Progress(), []
    runner = threading.Thread(target=lambda: headgate._core.run(scenario.core, 0, 1, progress))
    runner.start()
    while runner.is_alive():
        counted.append(progress.seconds)
    assert progress.seconds == 1800.0
    assert len({seconds for seconds in counted if 0 < seconds < 1800}) > 2


def test_a_stopped_run_raises_stopped():
    scenario = headgate.Scenario.parse(SMALL)
    progress = headgate._core.Progress()
    progress.stop()
    with pytest.raises(headgate._core.Stopped):
        headgate._core.run(scenario.core, 0, 1, progress)


def test_an_error_in_the_callback_ends_the_run():
    scenario = headgate.Scenario.parse(SMALL, set=["record.events=all"])

    def refuse(name: str, batch: object) -> None:
        raise ZeroDivisionError(name, batch)

    with pytest.raises(ZeroDivisionError):
        headgate._core.run(scenario.core, 0, 1, None, refuse)


def test_a_run_beyond_the_scenario_is_refused():
    with pytest.raises(IndexError):
        headgate._core.run(headgate.Scenario.parse(SMALL).core, 2, 1)


def test_zero_threads_are_refused():
    with pytest.raises(headgate.UsageError, match="at least 1"):
        headgate.run(headgate.Scenario.parse(SMALL), threads=0)


class RecordingWatcher(Watcher):
    """Records the calls of `begin` and `tell`; with `stop_after`, interrupts after so many finished runs."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.begun: list[tuple[int, int]] = []
        self.messages: list[str] = []
        self.stop_after = stop_after

    def tell(self, sentence: str) -> None:
        self.messages.append(sentence)

    def begin(self, total: int, cached: int, seconds: float) -> None:  # noqa: ARG002
        self.begun.append((total, cached))

    def tick(self, finished: int, seconds: float) -> None:  # noqa: ARG002
        if self.stop_after is not None and finished >= self.stop_after:
            raise KeyboardInterrupt
