"""The result of a sweep: a table of its runs, and every table of the runs with the swept keys in each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate import identity
from headgate.errors import ResultError, UsageError, did_you_mean, warn_renamed
from headgate.files import damage, renamed, tables
from headgate.scenario import Scenario
from headgate.sweeps import folder as folders
from headgate.sweeps import receipt
from headgate.sweeps.dataset import MANIFEST, POINTS, POINTS_HASH, read_manifest
from headgate.sweeps.folder import Folder
from headgate.sweeps.receipt import Receipt

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Number of files that are read together.
_FILES_PER_READ = 64


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
        """One row per finished run: its name `point`, the swept keys, `discipline`, `qdisc`, `seed`, measures.

        `file` is the name of the files with its rows.
        """
        data = self.folder.read([POINTS]).get(POINTS)
        if data is None:
            raise ResultError(f"{self.url} has no {POINTS}: run the sweep again to make it")
        if POINTS_HASH in self.manifest:  # datasets of earlier builds have no hash
            damage.verified(data, str(self.manifest[POINTS_HASH]), f"{self.url}/{POINTS}")
        points = renamed.table("points", tables.parse(data, f"{self.url}/{POINTS}"))
        if missing := [name for name in ("point", *self.keys, "discipline") if name not in points.column_names]:
            raise ResultError(f"{self.url}/{MANIFEST} is damaged: {POINTS} has no column {missing[0]!r}")
        return points

    def files(self, name: str) -> list[str]:
        """The files of a table, in the order of `points`. A file has the rows of a run, or of several short runs."""
        if name not in self.manifest["tables"]:
            raise UsageError(f"the sweep has no table {name!r}{did_you_mean(name, self.manifest['tables'])}")
        return [receipt.table_place(name, file) for file in self._files]

    @property
    def _files(self) -> list[str]:
        """The names of the files, each once."""
        return list(dict.fromkeys(self._file_by_point.values()))

    @cached_property
    def _file_by_point(self) -> dict[str, str]:
        """The name of each run's files. In datasets of earlier builds every run has files of its own."""
        column = "file" if "file" in self.points.column_names else "point"
        return dict(zip(self.points["point"].to_pylist(), self.points[column].to_pylist(), strict=True))

    def table(self, name: str) -> pa.Table:
        """A table of all runs, such as `flows`: rows in the order of `points`, with the swept keys in each row."""
        parts = [tables.parse(data, f"{self.url}/{file}") for file, data in self._contents(name)]
        if not parts:
            raise ResultError(f"{self.url} has no runs of {name}: run the sweep again")
        rows, run_indices = self._in_order(tables.concat(parts))
        rows = renamed.table(name, rows)
        keys_by_row = self.points.select([*self.keys, "discipline"]).take(pa.array(run_indices))
        for index, field in enumerate(keys_by_row.schema):
            rows = rows.add_column(index + 1, field, keys_by_row.column(index))
        return rows

    def _in_order(self, rows: pa.Table) -> tuple[pa.Table, npt.NDArray[np.int64]]:
        """The rows of the runs in `points`, in their order, and the number of each row's run.

        A bundle can have runs of an earlier sweep, or runs between which other files have some.
        """
        import pyarrow.compute as pc  # loads slowly: a sweep does without it

        numbers = np.asarray(pc.fill_null(pc.index_in(rows["point"], value_set=self.points["point"]), -1), np.int64)
        if numbers.size and (numbers.min() < 0 or (np.diff(numbers) < 0).any()):
            order = np.argsort(numbers, kind="stable")
            order = order[numbers[order] >= 0]
            rows, numbers = tables.concat([rows.take(pa.array(order))]), numbers[order]
        return rows, numbers

    def _contents(self, name: str) -> Iterator[tuple[str, bytes]]:
        """The files of a table with their contents, each compared with the hash in its receipt."""
        files = dict(zip(self.files(name), self._files, strict=True))
        places = list(files)
        for first in range(0, len(places), _FILES_PER_READ):
            some = places[first : first + _FILES_PER_READ]
            contents = self.folder.read(some)
            if missing := [place for place in some if place not in contents]:
                raise ResultError(f"{self.url} has no {missing[0]}: run the sweep again")
            for place in some:
                expected = self._receipts[files[place]].tables.get(name)
                if expected is None:
                    of_files = receipt.place_of(files[place])
                    raise ResultError(f"{self.url}/{of_files} is damaged: it has no hash of {name}")
                yield place, damage.verified(contents[place], expected, f"{self.url}/{place}")

    @cached_property
    def _receipts(self) -> dict[str, Receipt]:
        """The receipt of each file."""
        places = {file: receipt.place_of(file) for file in self._files}
        contents = self.folder.read(list(places.values()))
        if missing := [place for place in places.values() if place not in contents]:
            raise ResultError(f"{self.url} has no {missing[0]}: run the sweep again")
        return {file: Receipt.parse(contents[place], f"{self.url}/{place}") for file, place in places.items()}

    def check(self, names: Iterable[str] | None = None) -> int:
        """Compares the files of these tables (of all by default) with their hashes. Returns the number of files.

        `ResultError` names the first damaged file.
        """
        stored = {(identity.name_of(run), file) for file, each in self._receipts.items() for run in each.runs}
        for point, file in self._file_by_point.items():
            if (point, file) not in stored:
                raise ResultError(f"{self.url}/{receipt.place_of(file)} lacks the run {point}. Run the sweep again")
        chosen = self.manifest["tables"] if names is None else names
        return sum(1 for name in chosen for _ in self._contents(name)) + len(self._receipts) + 2

    def scenario(self, point: str, files: Callable[[str], bytes] | None = None) -> Scenario:
        """The scenario of a run, by its name, for `headgate.run`. `files` reads the files that the scenario names."""
        place = receipt.place_of(self._file_by_point.get(point, point))
        data = self.folder.read([place]).get(place)
        if data is None:
            raise UsageError(f"the sweep has no point {point!r}")
        text = Receipt.parse(data, f"{self.url}/{place}").run_named(point).scenario
        return Scenario.parse(text, file=place, files=files)

    def query(self, sql: str) -> pa.Table:
        """The result of an SQL query, with `points` and every table as views; needs DuckDB."""
        from headgate.sweeps.query import ask

        return ask(self.database(sql), sql)

    def database(self, sql: str | None = None) -> DuckDBPyConnection:
        """A DuckDB database in memory, with `points` and every table as views.

        DuckDB reads the files itself, so they are compared with their hashes first: those of the tables that `sql`
        mentions, or all.
        """
        from headgate.sweeps.query import mentioned, sweep_views

        self.check(mentioned(self.manifest["tables"], sql))
        files = {name: self.files(name) for name in self.manifest["tables"]}
        old = self.manifest["schema"] == renamed.SCHEMA
        try:
            return sweep_views(self.folder, self.points, self.keys, files, old=old)
        except ResultError:
            self.check()  # DuckDB reads the header of every table; this error names the damaged file
            raise

    def __repr__(self) -> str:
        where = "in memory" if self.url is None else self.url
        return f"Sweep({self.manifest['name']!r}, {self.points.num_rows} of {self.manifest['points']} points, {where})"
