"""The result of a sweep: a table of its runs, and every table of the runs with the swept keys in each row."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from headgate.errors import ResultError, UsageError, did_you_mean, warn_renamed
from headgate.files import damage, renamed, tables
from headgate.scenario import Scenario
from headgate.sweeps import folder as folders
from headgate.sweeps.dataset import POINTS, RECEIPTS, read_manifest
from headgate.sweeps.folder import Folder

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class SweepCost(NamedTuple):
    """The cost of a sweep: executed runs, processor seconds of their simulations, and wall time of the whole sweep."""

    runs: int
    cpu_s: float
    wall_s: float

    @property
    def points(self) -> int:
        """The name of `runs` before 0.2. It works for one more release."""
        warn_renamed("SweepCost.points is called SweepCost.runs now")
        return self.runs


class Sweep:
    """The dataset of a sweep. docs/guide/sweeps.md explains its files, which other programs can read."""

    def __init__(self, folder: Folder, cost: SweepCost | None = None) -> None:
        self.folder = folder
        self.manifest: dict[str, Any] = read_manifest(folder)
        self.cost = cost
        """The cost of the sweep; None if the dataset was loaded."""

    @classmethod
    def load(cls, place: str | Path) -> Sweep:
        """The dataset at a path, or at a URL such as `s3://bucket/path`; `ResultError` if there is none."""
        return cls(folders.at(place))

    @property
    def url(self) -> str | None:
        """The path or URL of the dataset; None in memory."""
        return self.folder.url

    @property
    def keys(self) -> list[str]:
        """The swept keys, such as `link.rate`."""
        return list(self.manifest["keys"])

    @cached_property
    def points(self) -> pa.Table:
        """One row per finished run: `point` (its hash), the swept keys, `discipline`, `qdisc`, `seed`, and measures."""
        data = self.folder.read([POINTS]).get(POINTS)
        if data is None:
            raise ResultError(f"{self.url} has no {POINTS}: run the sweep again to make it")
        return renamed.table("points", self._read(POINTS, data))

    def files(self, name: str) -> list[str]:
        """The files of a table, one per finished run, in the order of `points`."""
        if name not in self.manifest["tables"]:
            raise UsageError(f"the sweep has no table {name!r}{did_you_mean(name, self.manifest['tables'])}")
        return [f"{name}/{point}.parquet" for point in self.points["point"].to_pylist()]

    def table(self, name: str) -> pa.Table:
        """A table of all runs, such as `flows`: rows in the order of `points`, with the swept keys in each row."""
        files = self.files(name)
        contents = self.folder.read(files)
        parts = [self._read(file, contents[file]) for file in files if file in contents]
        if len(parts) < len(files) or not parts:
            raise ResultError(f"{self.url} has {len(parts)} of {len(files)} files of {name}: run the sweep again")
        rows = renamed.table(name, tables.concat(parts))
        run_indices = np.repeat(np.arange(len(parts)), [part.num_rows for part in parts])
        keys_by_row = self.points.select([*self.keys, "discipline"]).take(pa.array(run_indices))
        for index, field in enumerate(keys_by_row.schema):
            rows = rows.add_column(index + 1, field, keys_by_row.column(index))
        return rows

    def scenario(self, point: str, files: Callable[[str], bytes] | None = None) -> Scenario:
        """The scenario of a run, by its hash, for `headgate.run`. `files` reads the files that the scenario names."""
        name = f"{RECEIPTS}/{point}.json"
        receipt = self.folder.read([name]).get(name)
        if receipt is None:
            raise UsageError(f"the sweep has no point {point!r}")
        return Scenario.parse(json.loads(receipt)["scenario"], file=name, files=files)

    def query(self, sql: str) -> pa.Table:
        """The result of an SQL query, with `points` and every table as views; needs DuckDB."""
        from headgate.sweeps.query import ask

        return ask(self.database(), sql)

    def database(self) -> DuckDBPyConnection:
        """A DuckDB database in memory, with `points` and every table as views."""
        from headgate.sweeps.query import sweep_views

        files = {name: self.files(name) for name in self.manifest["tables"]}
        old = self.manifest["schema"] == renamed.SCHEMA
        return sweep_views(self.folder, self.points, self.keys, files, old=old)

    def _read(self, name: str, data: bytes) -> pa.Table:
        with damage.reading(f"{self.url}/{name}"):
            return pq.read_table(io.BytesIO(data))

    def __repr__(self) -> str:
        where = "in memory" if self.url is None else self.url
        return f"Sweep({self.manifest['name']!r}, {self.points.num_rows} of {self.manifest['points']} points, {where})"
