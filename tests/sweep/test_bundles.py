"""Bundles: short runs of a sweep share their files, and nothing else about them changes."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset
import pytest

import headgate
from headgate import identity
from headgate.errors import RunFailedError
from headgate.files import arrays
from headgate.sweeps import bundle, plan, spec, work
from tests.conftest import SMALL
from tests.sweep.test_sweep import every_file

#: Runs of 340 packets, too many for a file each.
SHORT = headgate.Scenario.parse(SMALL, set=["duration=2s", "warmup=500ms"], qdiscs=["droptail", "red"])
RATES = ["1Mbit/s", "2Mbit/s", "3Mbit/s", "4Mbit/s"]
SEEDS = 8
RUNS = 2 * len(RATES) * SEEDS
#: Runs in each bundle.
EACH = RUNS // bundle.LEAST_BUNDLES


def sweep(out: Path | None, rates: Iterable[str] = RATES, seeds: int = SEEDS, **how: object) -> headgate.Sweep:
    return headgate.sweep(SHORT, grid={"link.rate": list(rates)}, seeds=seeds, out=out, **how)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> headgate.Sweep:
    """The sweep in bundles, which no test may change."""
    return sweep(tmp_path_factory.mktemp("bundled"))


def check(made: headgate.Sweep, expected: headgate.Sweep) -> None:
    """Checks that the sweeps have the same rows, and that no row is twice in the files."""
    folder = Path(made.url or "")
    for name in made.manifest["tables"]:
        assert made.table(name).equals(expected.table(name)), name
        points = pyarrow.dataset.dataset(folder / name).to_table(columns=["point"])["point"].to_pylist()
        runs = list(dict.fromkeys(points))
        assert points == sorted(points, key=runs.index), name  # a run's rows are in one file
        assert len(points) >= made.table(name).num_rows
    assert made.points.drop_columns(["file"]).equals(expected.points.drop_columns(["file"]))
    made.check()


def test_short_runs_share_files(bundled: headgate.Sweep):
    files = bundled.files("flows")
    assert len(files) == RUNS / EACH == len(list(Path(bundled.url or "", "receipts").iterdir()))
    assert bundled.points.num_rows == RUNS


def test_a_run_in_a_bundle_equals_the_run_alone(bundled: headgate.Sweep, tmp_path: Path):
    alone = sweep(tmp_path, seeds=1, rates=RATES[:1])
    assert alone.files("flows") == [f"flows/{point}.parquet" for point in alone.points["point"].to_pylist()]
    for point in alone.points.to_pylist():
        (row,) = (row for row in bundled.points.to_pylist() if row["point"] == point["point"])
        assert {**row, "file": ""} == {**point, "file": ""}
        for name in alone.manifest["tables"]:
            rows = (row for row in bundled.table(name).to_pylist() if row["point"] == point["point"])
            assert list(rows) == [row for row in alone.table(name).to_pylist() if row["point"] == point["point"]]
        assert bundled.scenario(point["point"]) == alone.scenario(point["point"])


def test_threads_and_interruptions_do_not_change_a_byte(bundled: headgate.Sweep, tmp_path: Path):
    expected = every_file(Path(bundled.url or ""))
    one = sweep(tmp_path, threads=1)
    folder = Path(one.url or "")
    assert every_file(folder) == expected
    receipts = sorted((folder / "receipts").iterdir())
    receipts[0].unlink()  # its command was killed before it wrote the receipt
    for file in folder.glob(f"*/{receipts[1].stem}.*"):
        file.unlink()  # its command was killed before it executed the runs
    again = sweep(tmp_path)
    assert again.cost is not None
    assert again.cost.runs == 2 * EACH
    assert every_file(folder) == expected


@pytest.mark.parametrize("folder", ["flows", "receipts"])
def test_a_damaged_bundle_is_executed_again(bundled: headgate.Sweep, tmp_path: Path, folder: str):
    made = sweep(tmp_path)
    file = sorted(Path(made.url or "", folder).iterdir())[3]
    data = file.read_bytes()
    file.write_bytes(bytes([*data[:99], data[99] ^ 1, *data[100:]]))
    with pytest.raises(headgate.ResultError, match=file.name):
        headgate.Sweep.load(made.url or "").check()
    again = sweep(tmp_path)
    assert again.cost is not None
    assert again.cost.runs == EACH
    assert every_file(Path(made.url or "")) == every_file(Path(bundled.url or ""))


def test_a_wider_sweep_reuses_bundles_and_runs(bundled: headgate.Sweep, tmp_path: Path):
    done = sum(
        sweep(tmp_path, rates=rates, seeds=seeds).points.num_rows for rates, seeds in ((RATES[1:3], 4), (RATES[3:], 1))
    )
    wide = sweep(tmp_path)
    assert wide.cost is not None
    assert wide.cost.runs == RUNS - done
    check(wide, bundled)
    less = sweep(tmp_path, rates=RATES[:1])
    assert less.cost is not None
    assert less.cost.runs == 0
    assert less.table("links").num_rows == bundled.table("links").num_rows / len(RATES)


def test_a_run_that_moves_to_another_bundle_is_not_stored_twice(
    bundled: headgate.Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patched:
        patched.setattr(bundle, "MOST_RUNS", 3)
        patched.setattr(bundle, "LEAST_BUNDLES", 1)
        narrow = sweep(tmp_path, rates=RATES[1:3], seeds=6)
    bundles = sorted(Path(narrow.url or "").glob("receipts/bundle-*"))
    for number, file in enumerate(bundles):
        if number % 2:
            file.unlink()  # the command was killed before it wrote the receipt
        else:
            file.write_bytes(file.read_bytes()[:-9])  # nobody knows its runs
    wide = sweep(tmp_path)
    check(wide, bundled)
    left = {file.stem for file in bundles if file.exists()}
    assert left <= {*wide.points["file"].to_pylist()}
    assert len(left) < len(bundles)


def test_force_replaces_the_files_of_each_run(bundled: headgate.Sweep, tmp_path: Path):
    alone = sweep(tmp_path, rates=RATES[:1], seeds=1)
    files = list(Path(alone.url or "").glob(f"*/{alone.points['file'][0]}.*"))
    check(sweep(tmp_path), bundled)
    assert all(file.exists() for file in files)
    check(sweep(tmp_path, force=True), bundled)
    assert not any(file.exists() for file in files)
    assert every_file(Path(alone.url or "")) == every_file(Path(bundled.url or ""))


def test_a_sweep_with_further_tables_executes_bundles_again(bundled: headgate.Sweep, tmp_path: Path):
    few = headgate.sweep(SHORT, grid={"link.rate": RATES[:2]}, seeds=SEEDS, out=tmp_path, tables=["links"])
    assert len(few.files("links")) < few.points.num_rows
    all_tables = sweep(tmp_path)
    assert all_tables.cost is not None
    assert all_tables.cost.runs == RUNS
    check(all_tables, bundled)


def test_a_failed_run_of_a_bundle_leaves_the_others(
    bundled: headgate.Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    execute, bad = work._execute, bundled.points["point"][EACH + 1].as_py()

    def failing(run: work.ReadRun, progress: headgate._core.Progress) -> work._Finished:
        if identity.name_of(run.hash) == bad:
            raise RuntimeError("it broke")
        return execute(run, progress)

    with monkeypatch.context() as patched:
        patched.setattr(work, "_execute", failing)
        with pytest.raises(RunFailedError, match="it broke") as failed:
            sweep(tmp_path)
    assert str(failed.value).count("it broke") == 1
    (folder,) = tmp_path.iterdir()
    assert headgate.Sweep.load(folder).points.num_rows == RUNS - 1
    repaired = sweep(tmp_path)
    assert repaired.cost is not None
    assert repaired.cost.runs == 1
    check(repaired, bundled)


def test_recorded_tables_of_a_bundle_have_the_rows_of_its_runs():
    scenario = SHORT.changed(set=["record.events=decisions", "record.flows=['tcp/0']"])
    grid = {"link.rate": RATES[:2]}
    whole = headgate.sweep(scenario, grid=grid, seeds=SEEDS)
    alone = headgate.sweep(scenario, grid=grid, seeds=1)
    assert len(whole.files("events")) < whole.points.num_rows
    assert len(alone.files("events")) == alone.points.num_rows
    for name in ("events", "traces"):
        points = set(alone.points["point"].to_pylist())
        rows = [row for row in whole.table(name).to_pylist() if row["point"] in points]
        assert rows == alone.table(name).to_pylist()


def test_sql_has_each_row_of_the_plan_once(bundled: headgate.Sweep, tmp_path: Path):
    pytest.importorskip("duckdb")
    sweep(tmp_path)
    narrow = sweep(tmp_path, rates=RATES[1:2])
    (row,) = narrow.query("select count(*) as rows, count(distinct point) as runs from flows").to_pylist()
    assert row == {"rows": bundled.table("flows").num_rows / len(RATES), "runs": RUNS / len(RATES)}


def test_a_receipt_of_a_bundle_is_that_of_its_files(bundled: headgate.Sweep):
    for file in Path(bundled.url or "", "receipts").iterdir():
        document = json.loads(file.read_text())
        assert len(document["points"]) == EACH
        assert all(document["tables"][name] for name in bundled.manifest["tables"])


@pytest.mark.parametrize(
    "values",
    [
        [],
        [None, None],
        [1, None, -3],
        [0.5, 2, None],
        [True, None, False] * 5,
        ["a", None, "", "\N{GREEK SMALL LETTER MU}"],
    ],
    ids=str,
)
def test_arrays_are_those_of_pyarrow(values: list[object]):
    assert arrays.array(values).equals(pa.array(values))
    arrays.array(values).validate(full=True)


def test_a_sweep_imports_neither_pandas_nor_functions_of_arrow(tmp_path: Path):
    (tmp_path / "short.toml").write_text(SHORT.to_toml() + "[sweep.grid]\nlink.limit = ['20p', '30p']\n")
    code = "import sys; from headgate.cli import main; sys.argv[1:] = ['sweep', 'short.toml']\ntry: main()\n"
    code += "except SystemExit: pass\nprint({'pandas', 'pyarrow.compute'} & sys.modules.keys(), 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "dataset  results/" in done.stdout
    assert done.stdout.splitlines()[-1] == "set() True"


def planned(duration: str, seeds: int) -> list[bundle.Bundle]:
    scenario = SHORT.changed(set=[f"duration={duration}"], seeds=seeds)
    rates = spec.spec({"link.rate": ["2Mbit/s"]}, {}, {})
    return bundle.divided(plan.read(scenario, rates).runs)


def test_long_runs_and_short_sweeps_have_a_file_for_each_run():
    assert all(len(each.runs) == 1 for each in planned("1000s", 40))
    assert all(len(each.runs) == 1 for each in planned("2s", 8))
    assert len(planned("2s", 8)) == 16


def test_a_bundle_has_a_bounded_number_of_runs_and_of_packets():
    many = planned("2s", 2100)
    assert {len(each.runs) for each in many[:-1]} == {bundle.MOST_RUNS}
    longer = planned("90s", 100)
    packets = 90 * 2e6 / (8 * plan.PACKET_BYTES)
    assert {len(each.runs) for each in longer[:-1]} == {int(bundle.MOST_PACKETS / packets)}
