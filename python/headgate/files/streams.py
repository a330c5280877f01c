"""The streams of a run: events, traces and captures, written to files or kept in memory during the run."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Self

import pyarrow as pa
import pyarrow.parquet as pq

from headgate.files import tables
from headgate.files.disk import DISK
from headgate.files.store import CAPTURES
from headgate.scenario import Scenario


class FileStreams:
    """Streams the records of a run into a folder: a Parquet file for each table, a pcapng file for each captured link.

    At the end every file that the scenario asks for exists, even if it has no rows.
    """

    def __init__(self, folder: Path, scenario: Scenario) -> None:
        self._folder = folder
        self._tables = {name: folder / f"{name}.parquet" for name in scenario.records}
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._captures: dict[str, BinaryIO] = {}
        self._links = scenario.captures
        self._open = ExitStack()

    def __enter__(self) -> Self:
        if self._links:
            DISK.make_folder(self._folder / CAPTURES)
        with self._open:
            for link in self._links:
                file = DISK.create(self._folder / CAPTURES / f"{link}.pcapng")
                self._captures[link] = self._open.enter_context(file)
            self._open = self._open.pop_all()
        return self

    def batch(self, name: str, batch: Any) -> None:
        """Appends the next rows of a table. The first rows decide its columns."""
        rows = tables.table(batch)
        if name not in self._writers:
            self._start(name, rows.schema)
        self._writers[name].write_table(rows)

    def capture(self, link: str, data: bytes) -> None:
        """Appends to the capture of a link."""
        self._captures[link].write(data)

    def __exit__(self, *_: object) -> None:
        with self._open:  # closes the files, whether the last ones can be made or not
            for name in self._tables.keys() - self._writers.keys():
                self._start(name, tables.STREAMED[name])

    def _start(self, name: str, schema: pa.Schema) -> None:
        file = self._open.enter_context(DISK.create(self._tables[name]))
        writer = pq.ParquetWriter(file, schema, **tables.PARQUET)
        self._writers[name] = self._open.enter_context(writer)


class MemoryStreams:
    """Keeps the tables that a run records in memory. Captures need files and are discarded."""

    def __init__(self, scenario: Scenario) -> None:
        self._batches: dict[str, list[pa.Table]] = {name: [] for name in scenario.records}

    def batch(self, name: str, batch: Any) -> None:
        """Appends the next rows of a table."""
        self._batches[name].append(tables.table(batch))

    def tables(self) -> dict[str, pa.Table]:
        """Every table that was recorded, by name."""
        empty = {name: tables.STREAMED[name].empty_table() for name in self._batches}
        return {name: tables.join([empty[name], *batches]) for name, batches in self._batches.items()}
