"""`headgate sweep` and `headgate.sweep`: every run once, resumable after any interruption."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.dataset
import pytest

import headgate
from headgate.files import sealed, store, tables
from headgate.files.damage import sha256
from headgate.sweeps.dataset import POINTS_HASH
from tests.api.test_renamed import aged
from tests.cli.test_run import wait_for
from tests.conftest import SMALL, Command
from tests.sweep.conftest import RUNS, SWEPT


def every_file(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_every_run_is_in_the_dataset_once_with_its_settings(dataset: headgate.Sweep):
    points = dataset.points
    assert points.num_rows == len(set(points["point"].to_pylist())) == RUNS
    rows = points.select(["link.rate", "qdisc.red.maxp", "discipline", "seed"]).to_pylist()
    assert {tuple(row.values()) for row in rows} == {
        (rate, maxp, name, seed)
        for rate in (1e6, 2e6)
        for name, values in (("droptail", [None]), ("red", [0.02, 0.2]))
        for maxp in values
        for seed in (1, 2)
    }
    assert points.schema.field("link.rate").metadata == {b"unit": b"bit/s"}


def test_a_run_of_a_sweep_equals_the_run_of_its_scenario(dataset: headgate.Sweep):
    (row,) = [
        row
        for row in dataset.points.to_pylist()
        if (row["link.rate"], row["qdisc.red.maxp"], row["seed"]) == (1e6, 0.2, 2)
    ]
    changes = ["link.rate=1Mbit/s", "qdisc.red.maxp=0.2"]
    scenario = headgate.Scenario.parse(SWEPT, set=changes, qdiscs=["red:minth=5p,maxth=9p"], seeds=[2])
    assert dataset.scenario(row["point"]).to_toml() == scenario.to_toml()
    alone = headgate.run(scenario)
    flows = dataset.table("flows").filter(pc.equal(dataset.table("flows")["point"], row["point"]))
    ours = flows.select(alone.flows.column_names)
    assert ours.to_pylist() == alone.flows.to_pylist()
    entry = alone.summary()[0]
    assert row["jain"] == pytest.approx(entry["jain"]["mean"], rel=1e-12)
    assert row["utilization"] == entry["bottleneck"]["utilization"]["mean"]
    assert row["queue_delay_ms_p95"] == entry["bottleneck"]["queue_delay_ms"]["p95"]["mean"]
    assert row["goodput_bps"] == pytest.approx(sum(alone.flows["goodput_bps"].to_pylist()), rel=1e-12)


def test_threads_and_memory_give_the_same_bytes(dataset: headgate.Sweep, swept: Path, tmp_path: Path):
    one = headgate.sweep(swept, out=tmp_path, threads=1)
    assert every_file(Path(one.url)) == every_file(Path(dataset.url))
    kept = headgate.sweep(swept, out=None)
    assert kept.url is None
    assert kept.table("links").equals(dataset.table("links"))


def test_a_url_has_the_same_files(dataset: headgate.Sweep, swept: Path):
    fsspec = pytest.importorskip("fsspec")
    at_url = headgate.sweep(swept, out="memory://sweeps")
    files = fsspec.filesystem("memory")
    root = at_url.url.removeprefix("memory:/")
    remote = {name.removeprefix(f"{root}/"): files.cat(name) for name in files.find(root)}
    assert remote == every_file(Path(dataset.url))
    again = headgate.sweep(swept, out="memory://sweeps")
    assert again.cost.runs == 0
    assert headgate.Sweep.load(at_url.url).points.equals(dataset.points)


def test_a_mistyped_bucket_is_not_created(swept: Path, dataset: headgate.Sweep):
    fsspec = pytest.importorskip("fsspec")
    from fsspec.implementations.memory import MemoryFileSystem

    class Buckets(MemoryFileSystem):  # type: ignore[misc]
        """An object store: it has existing buckets with names, and no folders."""

        protocol = "bucket"
        root_marker = ""

        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            return path.removeprefix("bucket://").strip("/")

        def makedirs(self, path: str, exist_ok: bool = False):
            raise AssertionError(f"{path} {exist_ok}")

        def pipe_file(self, path: str, value: bytes, **how: object):
            if not path.startswith("mine/"):
                raise FileNotFoundError("The specified bucket does not exist")
            super().pipe_file(path, value, **how)

    fsspec.register_implementation("bucket", Buckets, clobber=True)
    with pytest.raises(headgate.ResultError, match="there is no bucket 'mien'"):
        headgate.sweep(swept, out="bucket://mien/x")
    assert headgate.sweep(swept, out="bucket://mine/x").points.equals(dataset.points)
    assert headgate.sweep(swept, out="bucket://mine/x").cost.runs == 0


def test_other_programs_can_read_the_dataset(dataset: headgate.Sweep):
    import polars

    flows = Path(dataset.url) / "flows"
    rows = dataset.table("flows").num_rows
    assert pyarrow.dataset.dataset(flows).count_rows() == rows
    assert polars.scan_parquet(flows / "*.parquet").collect().height == rows


def test_a_wider_sweep_executes_only_new_runs(swept: Path, tmp_path: Path):
    out = tmp_path / "out"
    first = headgate.sweep(swept, out=out, seeds=1)
    wider = headgate.sweep(swept, out=out, grid={"link.rate": ["2Mbit/s", "4Mbit/s"]}, seeds=1)
    # The dataset has DropTail at 2 Mbit/s, but not RED with its default of maxp.
    assert (first.cost.runs, wider.cost.runs) == (RUNS / 2, 3)
    assert wider.points.num_rows == 4
    assert headgate.sweep(swept, out=out, seeds=2).cost.runs == RUNS / 2
    assert headgate.sweep(swept, out=out, seeds=1, force=True).cost.runs == RUNS / 2


def test_tables_are_stored_only_when_they_are_asked_for(swept: Path, tmp_path: Path):
    grid = {"link.rate": ["2Mbit/s"]}
    few, all_of_them, again = (
        headgate.sweep(swept, grid=grid, out=tmp_path / "out", tables=tables)
        for tables in (["links"], None, ["flows", "links"])
    )
    assert few.manifest["tables"] == ["links"]
    assert [each.cost.runs for each in (few, all_of_them, again)] == [4, 4, 0]
    assert again.points.equals(few.points)
    with pytest.raises(headgate.UsageError, match="did you mean 'links'"):
        headgate.sweep(swept, grid=grid, tables=["lins"])
    with pytest.raises(headgate.UsageError, match="no table 'flows'"):
        few.table("flows")


def test_runs_of_another_build_are_not_reused(swept: Path, tmp_path: Path):
    wide, narrow = {"link.rate": ["1Mbit/s", "2Mbit/s"]}, {"link.rate": ["2Mbit/s"]}
    for out in (tmp_path / "out", "memory://builds"):
        first = headgate.sweep(swept, grid=wide, out=out, seeds=1, tables=["links"])
        first.folder.write({store.BUILD: b"another"})
        costs = [headgate.sweep(swept, grid=grid, out=out, seeds=1, tables=["links"]).cost for grid in (narrow, wide)]
        assert [cost.runs for cost in costs] == [2, 2]


@pytest.mark.parametrize("damage", ["cut", "flipped", "gone", "receipt"])
def test_damaged_runs_are_detected_and_run_again(swept: Path, tmp_path: Path, command: Command, damage: str):
    changes = ["--seeds", 1, "--out", "out"]
    done = command("sweep", swept, *changes)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "out").iterdir()
    before = every_file(folder)
    file = sorted((folder / ("receipts" if damage == "receipt" else "links")).iterdir())[0]
    data = file.read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        flipped = bytes([*data[:100], data[100] ^ 1, *data[101:]])
        file.write_bytes(flipped if damage == "flipped" else data[: len(data) // 2])
    again = command("sweep", swept, *changes)
    assert "  1 finished run is damaged and is run again: " in again.stdout
    assert f"{RUNS // 2 - 1} of {RUNS // 2} runs are finished and reused" in again.stderr
    assert every_file(folder) == before


def test_the_plan_is_printed_and_a_dry_run_writes_nothing(swept: Path, tmp_path: Path, command: Command):
    before = every_file(tmp_path)
    done = command("sweep", swept, "--dry-run")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"small: {RUNS} runs"
    assert '  link.rate: "1Mbit/s", "2Mbit/s"' in lines
    assert "  qdisc.red.maxp: 0.02, 0.2" in lines
    assert lines[-1].startswith(f"{RUNS} runs left, on ")
    assert ": about " in lines[-1]
    assert every_file(tmp_path) == before


#: A sweep, and a part of the message.
BAD = [
    ("link.rat = ['1Mbit/s']", "unknown key `rat` in [link]; did you mean `rate`?"),
    ("lnk.rate = ['1Mbit/s']", "no section or group is called `lnk`; did you mean `link`?"),
    ("qdisc.rad.maxp = [0.1]", "no discipline called `rad`; did you mean `red`?"),
    ("qdisc.red.maxpp = [0.1]", "unknown parameter `maxpp`; did you mean `maxp`?"),
    ("link.rate = ['1Mbit/s', '1ms']", '[sweep]: link.rate = "1ms"'),
    ("qdisc.red.minth = ['5p', '10p']", '[sweep]: qdisc.red.minth = "10p"'),
]


@pytest.mark.parametrize(("line", "expected"), BAD, ids=[row[0] for row in BAD])
def test_a_bad_key_or_value_is_an_error_before_anything_runs(
    tmp_path: Path, command: Command, line: str, expected: str
):
    (tmp_path / "bad.toml").write_text(f"{SWEPT.partition('[sweep')[0]}[sweep.grid]\n{line}\n")
    before = every_file(tmp_path)
    done = command("sweep", "bad.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert done.stderr.count("error:") == 1
    lines = (tmp_path / "bad.toml").read_text().splitlines()
    # The caret points at the last part of the key.
    place = f"bad.toml:{len(lines)}:{lines[-1].index(line.split(' =')[0].rpartition('.')[2]) + 1}, [sweep]: "
    assert f" --> {place}" in done.stderr
    assert every_file(tmp_path) == before


def test_keys_that_cannot_be_swept_are_refused(
    tmp_path: Path, command: Command, small: Path, in_folder: headgate.Result
):
    assert "no [sweep]" in command("sweep", small).stderr
    assert command("sweep", "nowhere.toml").returncode == 2
    (tmp_path / "file").touch()
    (tmp_path / "swept.toml").write_text(SWEPT)
    assert "cannot capture packets" in command("sweep", "swept.toml", "--set", "record.capture=['bottleneck']").stderr
    done = command("sweep", "swept.toml", "--out", "file")
    assert (done.returncode, "cannot write results" in done.stderr) == (3, True)
    assert "nosuch" in command("sweep", "swept.toml", "--out", "nosuch://x").stderr
    assert "has no `*`" in command("query", "memory://x-*", "select 1").stderr
    with pytest.raises(headgate.ResultError, match=r"no sweep\.json"):
        headgate.Sweep.load(in_folder.path)
    with pytest.raises(headgate.UsageError, match="nothing to sweep: give"):
        headgate.sweep(headgate.Scenario.parse(SMALL))


def test_two_sweeps_never_write_to_one_folder(swept: Path, tmp_path: Path):
    first = headgate.sweep(swept, out=tmp_path, seeds=1, grid={"link.rate": ["1Mbit/s"]})
    before = every_file(Path(first.url))
    with store.locked_folder(Path(first.url)), pytest.raises(headgate.ResultError, match="another process is writing"):
        headgate.sweep(swept, out=tmp_path, seeds=2, grid={"link.rate": ["1Mbit/s"]})
    assert every_file(Path(first.url)) == before


def test_ctrl_c_keeps_finished_runs_and_the_same_command_resumes(swept: Path, tmp_path: Path, command: Command):
    changes = ["--set", "duration=300s", "--seeds", "40"]
    total = 40 * RUNS // 2
    words = [sys.executable, "-m", "headgate", "sweep", str(swept), *changes]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        wait_for(lambda: len(list(tmp_path.glob("results/*/receipts/*"))) > 1, 60)
        os.kill(run.pid, signal.SIGINT)
        _, message = run.communicate(timeout=60)
    (folder,) = tmp_path.glob("results/*")
    kept = headgate.Sweep.load(folder).points.num_rows
    assert run.returncode == 130
    assert f"error: stopped: {kept} of {total} runs are finished. Repeat the command to resume from" in message
    assert 0 < kept < total
    receipts = [json.loads(file.read_text()) for file in (folder / "receipts").iterdir()]
    assert sum(len(receipt.get("points", "1")) for receipt in receipts) == kept
    planned = command("sweep", swept, *changes, "--dry-run").stdout.splitlines()
    assert planned[-2] == f"  {kept} runs are finished and reused"
    assert planned[-1].startswith(f"{total - kept} runs left")


def test_a_sweep_keeps_recorded_tables():
    sweep = headgate.sweep(
        headgate.Scenario.parse(SWEPT, set=["record.events=decisions", "record.flows=['tcp/0']"], seeds=1),
        grid={"link.rate": ["1Mbit/s"]},
    )
    assert set(sweep.table("events")["discipline"].to_pylist()) == {"droptail", "red"}
    assert sweep.table("traces").num_rows > 0
    assert any(name.startswith("gauge:") for name in sweep.table("events").column_names)


def test_an_old_dataset_is_read_with_the_new_names(dataset: headgate.Sweep, tmp_path: Path):
    copy = tmp_path / "old"
    shutil.copytree(dataset.url or "", copy)
    for file in [copy / "points.parquet", *(copy / "links").iterdir(), *(copy / "delays").iterdir()]:
        name = file.stem if file.parent == copy else file.parent.name
        had = tables.parse(file.read_bytes(), file)
        tables.write(file, aged(had.drop_columns(["file"]) if name == "points" else had, name))
    for file in (copy / "receipts").iterdir():
        receipt = sealed.read(file, "sweep-receipt-2")
        receipt["tables"] = {name: sha256(copy / name / f"{file.stem}.parquet") for name in receipt["tables"]}
        file.write_text(json.dumps(receipt))
    manifest = {key: value for key, value in sealed.read(copy / "sweep.json", "sweep-2").items() if key != POINTS_HASH}
    (copy / "sweep.json").write_text(json.dumps(manifest | {"schema": 1}))
    with pytest.warns(FutureWarning, match="is of an earlier version of Headgate"):
        old = headgate.Sweep.load(copy)
    assert old.points.equals(dataset.points.drop_columns(["file"]))
    assert all(old.table(name).equals(dataset.table(name)) for name in ("links", "delays"))
    pytest.importorskip("duckdb")
    for name in ("points", "links", "delays"):
        sql = f"select {'* exclude (file)' if name == 'points' else '*'} from {name} order by all"
        sql_of_old = f"select * from {name} order by all"
        assert old.query(sql_of_old).to_pylist() == dataset.query(sql).to_pylist()
