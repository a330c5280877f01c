"""Names of earlier versions: old results load with the current names, and old names of metrics are accepted."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headgate
from headgate.analysis.metrics import MEASURES, metric
from headgate.errors import UsageError
from headgate.files import renamed, sealed, store, tables
from headgate.files.damage import sha256
from headgate.sweeps.result import SweepCost
from tests.conftest import Command


def aged(rows: pa.Table, name: str) -> pa.Table:
    """A table as an earlier version wrote it."""
    old = {new: old for old, new in renamed.COLUMNS.get(name, {}).items()}
    rows = rows.rename_columns([old.get(column, column) for column in rows.column_names])
    column, words = renamed.VALUES.get(name, ("", {}))
    if column in rows.column_names:
        before = {new: old for old, new in words.items()}
        place, field = rows.column_names.index(column), rows.schema.field(column)
        old_words = [before.get(word, word) for word in rows.column(column).to_pylist()]
        rows = rows.set_column(place, field, pa.chunked_array([pa.array(old_words)]).cast(field.type))
    return rows


@pytest.fixture
def old(in_folder: headgate.Result, tmp_path: Path) -> Path:
    """A result as version 0.1 left it."""
    assert in_folder.path is not None
    folder = tmp_path / "old"
    shutil.copytree(in_folder.path, folder)
    for name in tables.NAMES:
        file = folder / f"{name}.parquet"
        tables.write(file, aged(tables.parse(file.read_bytes(), file), name))
    manifest = json.loads((folder / store.MANIFEST).read_text())
    del manifest[sealed.KEY]
    manifest["tables"] = {name: sha256(folder / name) for name in manifest["tables"]}
    manifest = {"points" if key == "runs" else key: value for key, value in manifest.items()} | {"schema": 1}
    (folder / store.MANIFEST).write_text(json.dumps(manifest))
    timing = json.loads((folder / store.TIMING).read_text())
    (folder / store.TIMING).write_text(json.dumps({"points": timing["runs"]}))
    return folder


def test_an_old_result_is_read_with_the_new_names_and_one_warning(old: Path, in_folder: headgate.Result):
    assert "utilisation" in pq.read_schema(old / "links.parquet").names
    with pytest.warns(FutureWarning, match="is of an earlier version of Headgate"):
        result = headgate.load(old)
    # From here on a warning is an error.
    assert all(getattr(result, name).equals(getattr(in_folder, name)) for name in tables.NAMES)
    assert result.summary() == in_folder.summary()
    assert result.manifest["runs"] == in_folder.manifest["runs"]


@pytest.mark.filterwarnings("default:.*earlier version:FutureWarning")
def test_commands_read_old_results(old: Path, in_folder: headgate.Result, command: Command):
    for words in (
        ["report", old],
        ["compare", old, in_folder.path],
        ["export", old, "--format", "csv", "--out", "csv"],
    ):
        done = command(*words)
        assert done.returncode == 0, done.stderr
    pytest.importorskip("duckdb")
    sql = "select avg(utilization) as busy, avg(queue_delay_ms_p95) as waits, sum(link_losses) as lost from links"
    answers = [command("query", folder, sql, "--json").stdout for folder in (old, in_folder.path)]
    assert answers[0] == answers[1] != ""
    sql = "select distinct measure from delays order by measure"
    assert [row["measure"] for row in json.loads(command("query", old, sql, "--json").stdout)] == [
        "one_way_delay",
        "queue_delay",
    ]


def test_the_error_of_a_query_with_an_old_name_gives_the_new_one(in_folder: headgate.Result, command: Command):
    pytest.importorskip("duckdb")
    done = command("query", in_folder.path, "select avg(utilisation) from links")
    assert (done.returncode, done.stdout) == (2, "")
    assert "`utilisation` is called `utilization` now" in done.stderr


def test_live_runs_of_an_old_manifest_have_the_new_keys():
    live = {"notes": [], "points": [{"seed": 1, "urgent": True, "elsewhere": {"device": 0}}]}
    assert renamed.manifest({"points": [], "live": live}) == {
        "runs": [],
        "live": {"notes": [], "runs": [{"seed": 1, "realtime": True, "host_losses": {"device": 0}}]},
    }


def test_old_names_of_gauges_are_read_in_tables_of_intervals_and_events():
    intervals = pa.table({"metric": pa.array(["gauge:penalised", "gauge:average"]).dictionary_encode()})
    assert renamed.table("intervals", intervals).column("metric").to_pylist() == ["gauge:penalized", "gauge:average"]
    events = pa.table({"gauge:penalised": [1.0], "flow:worth": [2.0], "flow:count": [3.0]})
    assert renamed.table("events", events).column_names == ["gauge:penalized", "flow:counter_value", "flow:count"]


@pytest.mark.parametrize(("old_name", "new"), renamed.METRICS.items())
def test_an_old_name_of_a_metric_is_understood_with_a_warning(old_name: str, new: str, in_memory: headgate.Result):
    with pytest.warns(FutureWarning, match=f"the metric `{old_name}` is called `{new}` now"):
        assert str(metric(old_name, in_memory.scenario)) == new


def test_old_names_are_not_current_names(in_memory: headgate.Result):
    names = {measure.name for measure in MEASURES}
    assert names.isdisjoint(renamed.METRICS)
    assert names >= set(renamed.METRICS.values())
    for table, columns in renamed.COLUMNS.items():
        if table in tables.COLUMNS:
            assert tables.COLUMNS[table].keys().isdisjoint(columns)
            assert tables.COLUMNS[table].keys() >= set(columns.values())
    with pytest.raises(UsageError, match="did you mean 'drop rate'"):
        metric("drop rat", in_memory.scenario)


def test_old_names_of_classes_and_methods_are_understood_with_a_warning(in_memory: headgate.Result):
    with pytest.warns(DeprecationWarning, match=r"headgate\.Tuned is headgate\.TuningResult now"):
        assert headgate.Tuned is headgate.TuningResult
    with pytest.warns(DeprecationWarning, match=r"headgate\.Margins is headgate\.Sensitivity now"):
        assert headgate.Margins is headgate.Sensitivity
    run = in_memory.scenario.runs[0]
    with pytest.warns(DeprecationWarning, match=r"Result\.point is Result\.run now"):
        assert in_memory.point("flows", run).equals(in_memory.run("flows", run))


def test_points_of_a_scenario_are_its_runs_and_warn(in_memory: headgate.Result):
    scenario = in_memory.scenario
    with pytest.warns(FutureWarning, match=r"Scenario\.points is called Scenario\.runs now"):
        assert scenario.points == scenario.runs
    explanation = headgate.why.explain(in_memory, 0, qdisc=scenario.runs[-1].qdisc, seed=scenario.runs[-1].seed)
    with pytest.warns(FutureWarning, match=r"Explanation\.point is called Explanation\.run now"):
        assert explanation.point == scenario.runs[-1]
    with pytest.warns(FutureWarning, match=r"SweepCost\.points is called SweepCost\.runs now"):
        assert SweepCost(7, 1.0, 2.0).points == 7
