"""Exports: flent's files have the values of the intervals, CSV files those of the tables."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pytest

import headgate
from headgate.export import csv, flent, summary
from headgate.files import tables
from headgate.files.store import slug
from tests.api.test_links import CHAIN
from tests.conftest import Command, files
from tests.sweep.conftest import RUNS, SWEPT

# The link of the small scenario.
RATE_BPS = 2e6


def flent_document(result: headgate.Result, number: int = 0) -> dict[str, Any]:
    """The flent document of a run."""
    assert result.path is not None
    name, data = list(flent.files(result.path))[number]
    assert name == f"{slug(result.scenario.runs[number])}.flent.gz"
    document: dict[str, Any] = json.loads(gzip.decompress(data))
    return document


def metric_values(result: headgate.Result, metric: str, group: str | None = None) -> np.ndarray:
    """A metric of the first run over time."""
    rows = result.run("intervals", result.scenario.runs[0])
    of = pc.equal(rows["metric"], metric)
    if group is not None:
        of = pc.and_(of, pc.equal(rows["group"], group))
    return np.array(rows.filter(of).sort_by("time_s")["value"])


def test_series_are_those_of_flent_in_its_units(in_folder: headgate.Result):
    series = flent_document(in_folder)["results"]
    np.testing.assert_allclose(series["TCP upload::1"], metric_values(in_folder, "goodput_bps", "tcp") / 1e6)
    np.testing.assert_allclose(series["UDP upload::cbr"], metric_values(in_folder, "goodput_bps", "cbr") / 1e6)
    np.testing.assert_allclose(series["Ping (ms) ICMP"], metric_values(in_folder, "queue_bytes") * 8 / RATE_BPS * 1e3)
    assert series["Drops::cbr"] == metric_values(in_folder, "drops", "cbr").tolist()
    assert series["TCP upload sum"] == series["TCP upload avg"] == series["TCP upload::1"]


def test_a_file_is_complete_by_the_rules_of_flents_reader(in_folder: headgate.Result):
    """flent/resultset.py asserts as many values as times, and takes dates with microseconds and Z."""
    document = flent_document(in_folder)
    metadata, times = document["metadata"], document["x_values"]
    assert (document["version"], metadata["NAME"]) == (4, "tcp_nup")
    assert metadata["TITLE"] == f"small: {in_folder.scenario.qdiscs[0]}, seed 1"
    assert times == sorted(times)
    assert (len(times), metadata["TOTAL_LENGTH"], metadata["STEP_SIZE"]) == (40, 4.0, 0.1)
    assert {len(values) for values in document["results"].values()} == {len(times)}
    assert document["results"].keys() == metadata["SERIES_META"].keys() < document["raw_values"].keys()
    assert metadata["T0"] == "1970-01-01T00:00:00.000000Z"


def test_the_queue_has_the_name_that_flents_plots_expect(in_folder: headgate.Result):
    document = flent_document(in_folder)
    assert document["metadata"]["TEST_PARAMETERS"]["qdisc_stats_hosts"] == "bottleneck"
    queue = document["raw_values"]["qdisc_stats_bottleneck"]
    assert [entry["backlog_bytes"] for entry in queue] == metric_values(in_folder, "queue_bytes").tolist()
    drops = sum(metric_values(in_folder, "drops", group.name).sum() for group in in_folder.scenario.groups)
    assert sum(entry["dropped"] for entry in queue) == drops > 0


def test_without_tcp_it_is_flents_flood_and_has_no_streams(tmp_path: Path):
    text = SWEPT.partition("[sweep")[0]
    text = text.replace(text[text.index("[[tcp]]") : text.index("[[udp]]")], "")
    result = headgate.run(headgate.Scenario.parse(text, seeds=1), out=tmp_path, report=False)
    document = flent_document(result)
    assert document["metadata"]["NAME"] == "udp_flood"
    assert document["results"]["UDP upload"] == document["results"]["UDP upload::cbr"]
    assert not any(name.startswith("TCP") for name in document["results"])


def test_a_link_whose_rate_changes_has_a_backlog_and_no_delay(tmp_path: Path):
    text = SWEPT.partition("[sweep")[0].replace('limit = "50p"', 'limit = "50p"\nschedule = CHANGES', 1)
    text = text.replace("CHANGES", '[{ at = "1s", rate = "1Mbit/s" }]')
    result = headgate.run(headgate.Scenario.parse(text, seeds=1), out=tmp_path, report=False)
    document = flent_document(result)
    assert "Ping (ms) ICMP" not in document["results"]
    assert "delay" not in document["raw_values"]["qdisc_stats_bottleneck"][0]


def test_csv_holds_every_value_of_every_table(in_folder: headgate.Result):
    assert in_folder.path is not None
    files = dict(csv.files(in_folder.path))
    assert [*files] == [f"{name}.csv" for name in tables.NAMES] + ["README.md"]
    for name in ("flows", "intervals", "links"):
        table = in_folder.to_pandas(name)
        read = pyarrow.csv.read_csv(
            pyarrow.BufferReader(files[f"{name}.csv"]),
            convert_options=pyarrow.csv.ConvertOptions(
                strings_can_be_null=True, column_types={"seed": pyarrow.uint64()}
            ),
        )
        assert read.column_names == list(table.columns)
        for column in read.column_names:
            values = getattr(in_folder, name)[column].to_pylist()
            assert read[column].to_pylist() == values, (name, column)


def test_the_page_beside_csv_has_the_units(in_folder: headgate.Result):
    assert in_folder.path is not None
    lines = dict(csv.files(in_folder.path))["README.md"].decode().splitlines()
    for line in (
        "| `goodput_bps` | double | bit/s |",
        "| `queue_delay_ms_p99` | double | ms |",
        "| `dropped_bucket` | uint64 | packets |",
        "| `sent_bytes` | uint64 | bytes |",
        "| `utilization` | double |  |",
    ):
        assert line in lines


def test_each_run_has_its_own_file_of_a_recorded_table(tmp_path: Path):
    text = SWEPT.partition("[sweep")[0] + '[record]\nevents = "all"\n'
    result = headgate.run(headgate.Scenario.parse(text, seeds=1), out=tmp_path, report=False)
    assert result.path is not None
    files = dict(csv.files(result.path))
    for run in result.scenario.runs:
        rows = files[f"events/{slug(run)}.csv"].count(b"\n") - 1
        assert rows == result.run("events", run).num_rows > 0


def test_a_sweep_exports_to_csv_with_its_keys_and_not_to_flent(tmp_path: Path, command: Command):
    (tmp_path / "swept.toml").write_text(SWEPT)
    assert command("sweep", "swept.toml", "--out", "set").returncode == 0
    (folder,) = (tmp_path / "set").iterdir()
    assert command("export", folder, "--format", "csv", "--out", "tables").returncode == 0
    read = pyarrow.csv.read_csv(tmp_path / "tables" / "points.csv")
    assert read.num_rows == RUNS
    assert "| `link.rate` | double | bit/s |" in (tmp_path / "tables" / "README.md").read_text()
    refused = command("export", folder, "--format", "flent")
    assert refused.returncode == 2
    assert "--format csv" in refused.stderr


def test_a_folder_with_files_is_left_alone_unless_forced(in_folder: headgate.Result, tmp_path: Path, command: Command):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    arguments = ("export", in_folder.path, "--format", "flent", "--out", "out")
    refused = command(*arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--force" in refused.stderr
    assert files(tmp_path) == {"out/mine": b"mine"}
    assert command(*arguments, "--force").returncode == 0
    first = files(tmp_path)
    assert len(first) == 1 + len(in_folder.scenario.runs)
    assert command(*arguments, "--force").returncode == 0
    assert files(tmp_path) == first


def test_the_current_folder_is_accepted_and_a_file_refused(
    in_folder: headgate.Result, tmp_path: Path, command: Command
):
    assert command("export", in_folder.path, "--format", "csv", "--out", ".").returncode == 0
    assert sorted(files(tmp_path)) == sorted([*(f"{name}.csv" for name in tables.NAMES), "README.md"])
    refused = command("export", in_folder.path, "--format", "csv", "--out", "README.md")
    assert refused.returncode == 2
    assert "is not a folder" in refused.stderr


@pytest.mark.parametrize("kind", ["flent", "csv"])
def test_an_export_without_a_result_leaves_no_folder(tmp_path: Path, command: Command, kind: str):
    (tmp_path / "empty").mkdir()
    done = command("export", "empty", "--format", kind)
    assert done.returncode == 3
    assert "is not a result" in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["empty"]


def test_an_unknown_format_is_refused_with_the_valid_ones(tmp_path: Path, command: Command):
    done = command("export", tmp_path, "--format", "xlsx")
    assert done.returncode == 2
    assert "flent" in done.stderr
    assert "csv" in done.stderr


def test_ping_is_the_sum_of_the_delays_of_all_compared_links(tmp_path: Path):
    result = headgate.run(headgate.Scenario.parse(CHAIN, seeds=1), out=tmp_path, report=False)
    series = flent_document(result)["results"]
    delays = [values for name, values in series.items() if name.endswith("::delay")]
    assert len(delays) == 2
    np.testing.assert_allclose(series["Ping (ms) ICMP"], np.sum(delays, axis=0))
    assert not any("dropped" in entry for entry in flent_document(result)["raw_values"]["qdisc_stats_A-B"])


def test_the_table_for_a_paper_has_every_column_and_its_numbers_those_of_the_summary(in_folder: headgate.Result):
    tex, data = dict(summary.files(in_folder.path)).values()
    lines = tex.decode().splitlines()
    (begin,) = (line for line in lines if line.startswith(r"\begin{tabular}"))
    rows = [line for line in lines if line.endswith(r"\\")]
    columns = begin.count("r", len(r"\begin{tabular}"))
    assert {line.count(" & ") for line in rows} == {columns}
    assert [line.split(" & ")[0] for line in rows[-2:]] == ["DropTail", "FABA"]
    assert lines.index(r"\toprule") < lines.index(r"\midrule") < lines.index(r"\bottomrule")
    table = pyarrow.csv.read_csv(pa.BufferReader(data)).to_pylist()
    assert len(table) == 2 * columns
    jain = next(row for row in table if (row["qdisc"], row["measure"]) == ("faba", "Jain's index"))
    expected = next(entry for entry in in_folder.summary() if entry["qdisc"] == "faba")["jain"]
    assert (jain["mean"], jain["low"], jain["high"]) == pytest.approx(
        (expected["mean"], expected["low"], expected["high"])
    )


def test_letters_with_a_meaning_in_latex_are_escaped():
    assert summary.escaped("a_b 5 % & {c}~") == r"a\_b 5 \% \& \{c\}\textasciitilde{}"
