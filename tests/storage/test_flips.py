"""No flipped bit changes a number silently: a reader gives the right numbers or names the damaged file.

`HEADGATE_FLIPS=600` sets the number of flips for each reader.
"""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import headgate
from headgate import ResultError, report
from headgate.files import store, tables
from headgate.sweeps import api, bundle
from tests.sweep.conftest import SWEPT

pytest.importorskip("duckdb")

#: Flips for each reader.
FLIPS = int(os.environ.get("HEADGATE_FLIPS", "100"))

#: Flips in a sweep, whose files take longer to read.
SWEEP_FLIPS = FLIPS * 3 // 10

#: Twelve runs in three bundles.
GRID = {"link.rate": ["1Mbit/s", "2Mbit/s", "3Mbit/s"]}


def loaded(folder: Path) -> object:
    """Everything that `headgate.load` reads."""
    result = headgate.load(folder)
    parts = [getattr(result, name) for name in tables.NAMES]
    return result.manifest, result.timing, *parts


def reported(folder: Path) -> object:
    """The page of `headgate report`; its figures are drawn from the same tables."""
    return report.page(headgate.load(folder), {})


def queried(folder: Path) -> object:
    """Every table, as `headgate query` reads it."""
    database = api.database(str(folder))
    return [database.sql(f"select * from {name}").to_arrow_table() for name in ("runs", *tables.NAMES)]


def swept(folder: Path) -> object:
    """Every table of a sweep, in Python and in SQL."""
    sweep = headgate.Sweep.load(folder)
    names = sweep.manifest["tables"]
    answers = [sweep.query(f"select * from {name} order by all") for name in ("points", *names)]
    return sweep.manifest, sweep.points, *(sweep.table(name) for name in names), *answers


def silent_flips(
    original: Path, folder: Path, files: list[Path], read: Callable[[Path], object], count: int
) -> list[str]:
    """The flips after which `read` gave other numbers than before, or an error without the file's name."""
    shutil.copytree(original, folder)
    expected, draws = read(folder), random.Random(f"flips {read.__name__}")
    silent = []
    for _ in range(count):
        name = draws.choice(files)
        data = (folder / name).read_bytes()
        place, bit = draws.randrange(len(data)), draws.randrange(8)
        (folder / name).write_bytes(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :])
        try:
            if read(folder) != expected:
                silent.append(f"{name}: byte {place}, bit {bit}")
        except ResultError as error:
            silent += [] if name.name in str(error) else [f"{name} is not named: {error}"]
        (folder / name).write_bytes(data)
    return silent


@pytest.mark.parametrize("read", [loaded, reported, queried], ids=["load", "report", "query"])
def test_no_flipped_bit_of_a_result_is_silent(
    in_folder: headgate.Result, tmp_path: Path, read: Callable[[Path], object]
):
    original = in_folder.path
    files = [Path(store.MANIFEST), *(Path(f"{name}.parquet") for name in tables.NAMES)]
    files += [Path(store.TIMING)] if read is loaded else []
    assert silent_flips(original, tmp_path / "copy", files, read, FLIPS) == []


@pytest.mark.parametrize("bundled", [False, True], ids=["runs", "bundles"])
def test_no_flipped_bit_of_a_sweep_is_silent(
    dataset: headgate.Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bundled: bool
):
    original = Path(dataset.url)
    if bundled:
        monkeypatch.setattr(bundle, "LEAST_BUNDLES", 3)
        original = Path(headgate.sweep(headgate.Scenario.parse(SWEPT), grid=GRID, out=tmp_path / "bundles").url)
        assert len(list(original.glob("receipts/bundle-*"))) == 3
    files = [file.relative_to(original) for file in sorted(original.rglob("*.parquet"))]
    files += [file.relative_to(original) for file in sorted(original.rglob("*.json"))]
    assert silent_flips(original, tmp_path / "copy", files, swept, SWEEP_FLIPS) == []
