"""The log folder of a link: measurements over time as Parquet, captures of both ends, and a JSON summary."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from headgate import _core
from headgate.errors import ResultError, UsageError
from headgate.live.directions import DIRECTIONS
from headgate.live.session import CommandRun

if TYPE_CHECKING:
    import pyarrow as pa

DOCUMENT = "link.json"
INTERVALS = "intervals"

#: Seconds between files of measurements. An unfinished Parquet file is unreadable, so each file is short.
SEGMENT = 60.0

UNFINISHED = ".unfinished"

#: Entries of the summary for each direction, and for each of its largest flows.
COUNTS = (
    "offered",
    "arrived",
    "sent",
    "sent_bytes",
    "dropped",
    "marked",
    "lost",
    "duplicates",
    "remarked",
    "delivered",
    "refused",
    "no_slot",
    "stalls",
)
MEASURES = ("stalled_ms", "queue_delay_ms_mean", "queue_delay_ms_p99", "late_ms_p50", "late_ms_p99", "drops", "marks")
FLOW = ("protocol", "source", "destination", "source_port", "destination_port")
FLOW_COUNTS = ("arrived", "sent", "sent_bytes", "dropped", "marked")


class LinkLog:
    """Writes the log of a link into a folder; without a folder every method does nothing.

    A full disk ends the log, not the link.
    """

    def __init__(self, folder: Path | None) -> None:
        """Makes the folder; raises `ResultError` if that fails, `UsageError` if it is not empty."""
        self.folder = folder
        self._link: _core.Link | None = None
        self._options: Mapping[str, Any] = {}
        self._batches: list[pa.Table] = []
        self._segments = 0
        self._due = 0.0
        self._failed: str | None = None
        if folder is not None:
            _make(folder)

    def begin(self, link: _core.Link, options: Mapping[str, Any]) -> None:
        """Starts the log of `link`; `options` are the command's, for the summary."""
        if self.folder is not None:
            self._link, self._options, self._due = link, options, time.monotonic() + SEGMENT
            self._keep(self._document, None)

    def tick(self) -> None:
        """Collects the measurements since the last call. Call it often."""
        batches = None if self._link is None else self._link.take_intervals()
        if batches is None or self._failed is not None:
            return
        from headgate.files import tables

        self._batches.extend(table for batch in batches if (table := tables.table(batch)).num_rows)
        if time.monotonic() >= self._due:
            self._due += SEGMENT
            self._keep(self._segment)

    def end(self, ended: CommandRun | None = None) -> list[str]:
        """Writes the remaining measurements and the summary when the link has `ended`. Returns warnings."""
        if self._link is None:
            return []
        self.tick()
        self._keep(self._segment)
        written = self._link.written() or {}
        self._keep(self._document, ended and {**outcome(ended), "log": written})
        self._link = None
        notes = [f"the log is incomplete: {why}" for why in (written["failed"], self._failed) if why]
        if missed := written["missed"]:
            notes.append(f"{missed} of {missed + written['packets']} packets are missing in the captures")
        if rows := written["rows_missed"]:
            notes.append(f"{rows} rows of measurements are missing: this process was stopped too long")
        return notes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Cleans up after a link that failed: removes the folder if it is empty."""
        self.end()
        if self.folder is not None:
            for folder in (self.folder / INTERVALS, self.folder):
                if not any(folder.iterdir()):
                    folder.rmdir()

    def _keep(self, write: Callable[..., None], *arguments: Any) -> None:
        """Calls `write`; after a failure it never writes again."""
        try:
            if self._failed is None:
                write(*arguments)
        except OSError as error:
            self._failed = f"cannot write to {self.folder}: {error.strerror or error}"

    def _segment(self) -> None:
        """Writes the collected rows as the next file."""
        if self._batches:
            import pyarrow.parquet as pq

            from headgate.files import tables

            rows = tables.join(self._batches)
            name = f"{INTERVALS}/{self._segments:06}.parquet"
            self._whole(name, lambda path: pq.write_table(rows, path, **tables.PARQUET))
            self._batches, self._segments = [], self._segments + 1

    def _document(self, ended: Mapping[str, Any] | None) -> None:
        document = {"schema": 3, "version": _core.VERSION, **self._options, "ended": ended}
        text = json.dumps(document, indent=2) + "\n"
        self._whole(DOCUMENT, lambda path: path.write_text(text))

    def _whole(self, name: str, write: Callable[[Path], object]) -> None:
        """Writes to a temporary name and renames the finished file; removes it on failure."""
        path = (self.folder or Path()) / name
        unfinished = path.with_name(path.name + UNFINISHED)
        try:
            write(unfinished)
            unfinished.replace(path)
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise


def outcome(ended: CommandRun) -> dict[str, Any]:
    """The summary of a link that has ended."""
    directions = {direction: _direction(ended.view[direction]) for direction in DIRECTIONS}
    return {"code": ended.code, "seconds": ended.seconds, **directions, "cpu_s": ended.view["cpu_s"]}


def _direction(view: Mapping[str, Any]) -> dict[str, Any]:
    """The summary of a direction, from its view."""
    entries = {name: view[name] for name in (*COUNTS, *MEASURES)}
    flows = [{name: flow[name] for name in (*FLOW, *FLOW_COUNTS)} for flow in view["flows"]]
    return {**entries, "not_ip": dict(view["not_ip"]), "flows": flows}


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(f"--log {folder}: the folder is not empty; give a new one")
        (folder / INTERVALS).mkdir()
        probe = folder / f"probe{UNFINISHED}"
        probe.write_text("x")  # a full disk still makes folders
        probe.unlink()
    except OSError as error:
        raise ResultError(f"cannot write the log to {folder}: {error.strerror}") from None
