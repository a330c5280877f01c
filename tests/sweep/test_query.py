"""`headgate query`: SQL on the tables of results and sweeps, and errors for invalid queries."""

import csv
import io
import json
import shlex
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import headgate
from headgate.files import tables
from tests.conftest import Command

pytest.importorskip("duckdb")

BY_RATE = 'select "link.rate", discipline, count(*) as flows from flows group by all order by all'


def test_every_row_has_the_swept_keys(dataset: headgate.Sweep):
    answer = dataset.query(BY_RATE).to_pylist()
    # Four flows, two seeds; RED has two values of maxp for each rate.
    assert [tuple(row.values()) for row in answer] == [
        (rate, name, 8 * values) for rate in (1e6, 2e6) for name, values in (("droptail", 1), ("red", 2))
    ]
    assert dataset.query("select sum(goodput_bps) from flows").to_pylist() == [
        {"sum(goodput_bps)": pytest.approx(sum(dataset.points["goodput_bps"].to_pylist()))}
    ]


@pytest.mark.parametrize("name", tables.NAMES)
def test_every_table_of_a_sweep_has_the_rows_that_python_has(dataset: headgate.Sweep, name: str):
    ours = dataset.table(name)
    theirs = dataset.query(f"select * from {name}")
    assert theirs.column_names == ours.column_names
    assert theirs.num_rows == ours.num_rows


@pytest.mark.parametrize("name", tables.NAMES)
def test_every_table_of_a_result_is_a_view(in_folder: headgate.Result, command: Command, name: str):
    done = command("query", in_folder.path, f"select count(*) as rows from {name}", "--json")
    assert json.loads(done.stdout) == [{"rows": getattr(in_folder, name).num_rows}]


def test_a_sweep_in_memory_and_one_at_a_url_give_the_same_rows(swept: Path, dataset: headgate.Sweep):
    pytest.importorskip("fsspec")
    for out in (None, "memory://queries"):
        assert headgate.sweep(swept, out=out).query(BY_RATE).equals(dataset.query(BY_RATE))


def test_recorded_tables_can_be_queried(small: Path, tmp_path: Path, command: Command):
    changes = ["record.events=decisions", "record.flows=['tcp/0']"]
    recorded = headgate.run(small, set=changes, seeds=1, qdiscs=["red", "blue"], out=tmp_path, report=False)
    sql = "select (select count(*) from events) as events, (select count(*) from traces) as traces"
    done = command("query", recorded.path, sql, "--json")
    assert json.loads(done.stdout) == [{"events": recorded.events.num_rows, "traces": recorded.traces.num_rows}]


def test_an_answer_is_a_table_csv_json_or_parquet(dataset: headgate.Sweep, command: Command, tmp_path: Path):
    expected = [[f"{rate:.0e}", name] for rate in (1e6, 2e6) for name in ("droptail", "red")]
    lines = [line.split()[:2] for line in command("query", dataset.url, BY_RATE).stdout.splitlines()]
    assert lines == [["link.rate", "discipline"], *expected]
    rows = list(csv.DictReader(io.StringIO(command("query", dataset.url, BY_RATE, "--csv").stdout)))
    assert [float(row["link.rate"]) for row in rows] == [1e6, 1e6, 2e6, 2e6]
    answer = json.loads(command("query", dataset.url, BY_RATE, "--json").stdout)
    assert [row["flows"] for row in answer] == [8, 16, 8, 16]
    assert command("query", dataset.url, BY_RATE, "--parquet", "a.parquet").returncode == 0
    assert pq.read_table(tmp_path / "a.parquet").to_pylist() == answer
    assert json.loads(command("query", dataset.url, "select 'nan'::double as x", "--json").stdout) == [{"x": None}]


@pytest.mark.parametrize("width", [40, 80, 100, 2000])
def test_a_result_that_does_not_fit_is_printed_as_records(
    in_folder: headgate.Result, command: Command, monkeypatch: pytest.MonkeyPatch, width: int
):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = command("query", in_folder.path, "select * from links order by all limit 2").stdout.splitlines()
    names = in_folder.links.column_names
    assert all(line.strip() for line in lines)
    assert max(map(len, lines)) <= width
    if width == 2000:
        assert lines[0].split() == names
        assert len(lines) == 3
    else:
        assert [line.split()[1] for line in lines if line.startswith("row ")] == ["1", "2"]
        assert [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "] == 2 * names


def test_without_a_query_tables_and_columns_are_listed(dataset: headgate.Sweep, command: Command):
    shown = command("query", dataset.url).stdout
    assert [line.split()[0] for line in shown.splitlines() if not line.startswith(" ")] == ["points", *tables.NAMES]
    assert "qdisc.red.maxp" in shown


def test_the_query_that_a_sweep_suggests_is_valid(swept: Path, command: Command):
    last = command("sweep", swept, "--seeds", 1).stdout.splitlines()[-1]
    words = shlex.split(last.removeprefix("query "))
    assert words[:2] == ["headgate", "query"]
    answer = json.loads(command(*words[1:], "--json").stdout)
    assert [(row["link.rate"], row["qdisc.red.maxp"], row["discipline"]) for row in answer] == [
        (rate, maxp, name) for rate in (1e6, 2e6) for maxp, name in ((0.02, "red"), (0.2, "red"), (None, "droptail"))
    ]


def test_long_answers_are_shortened_in_the_terminal_only(dataset: headgate.Sweep, command: Command):
    sql = "select * from range(500)"
    assert "300 more rows" in command("query", dataset.url, sql).stdout
    assert len(command("query", dataset.url, sql, "--csv").stdout.splitlines()) == 501


#: An invalid query, and a part of the message.
BAD = [
    ("select * from flws", 'Did you mean "flows"'),
    ("select goodput from flows", "goodput_bps"),
    ("select link.rate from points", 'write keys in double quotes: "link.rate"'),
    ("selct 1", "syntax error"),
    ("", "not a query"),
]


@pytest.mark.parametrize(("sql", "message"), BAD, ids=[row[0] for row in BAD])
def test_an_invalid_query_is_refused_with_a_hint(dataset: headgate.Sweep, command: Command, sql: str, message: str):
    done = command("query", dataset.url, sql)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("error: ") == 1


def test_missing_results_and_misused_options_are_errors(dataset: headgate.Sweep, command: Command):
    assert command("query", "nowhere", "select 1").returncode == 3
    assert command("query", dataset.url, "select 1", "--csv", "--json").returncode == 2
    assert command("query", dataset.url, "select 1", "--parquet", "no/such/a.parquet").returncode == 3


@pytest.mark.parametrize("table", ["points.parquet", "flows"])
def test_a_damaged_table_is_an_error(dataset: headgate.Sweep, command: Command, tmp_path: Path, table: str):
    copy = tmp_path / "copy"
    shutil.copytree(dataset.url, copy)
    (file, *_) = [copy / table] if table.endswith("parquet") else sorted((copy / table).iterdir())
    file.write_bytes(file.read_bytes()[:50])
    done = command("query", copy, "select * from flows")
    assert done.returncode in (2, 3)
    assert done.stderr.startswith("error: ")
    with pytest.raises(headgate.ResultError, match=r"is damaged.* Run the same command again"):
        headgate.Sweep.load(copy).table("flows")
