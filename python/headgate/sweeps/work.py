"""One run of a sweep: text in, bytes of its files out. Equal texts give equal bytes on every machine."""

import hashlib
import io
import math
import platform
from collections.abc import Mapping
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headgate import _core
from headgate.analysis.columns import ColumnArrays
from headgate.analysis.links import LinkDirection
from headgate.analysis.metrics.views import ResultRows, jain
from headgate.execution import batch, memory
from headgate.execution.runner import Timing, execute_run
from headgate.files import sealed, store, streams, tables
from headgate.scenario import Scenario

SCHEMA = 2

#: The measures in a run's row: those of the first compared link, and those of all flows together.
RUN_MEASURES = (
    "utilization",
    "queue_delay_ms_mean",
    "queue_delay_ms_p50",
    "queue_delay_ms_p95",
    "queue_delay_ms_p99",
    "drop_rate",
    "mark_rate",
    "goodput_bps",
    "jain",
)

#: Columns with minimum and maximum in the file's header: a reader skips files without the values that it looks for.
STATISTICS_COLUMNS = ["point", "qdisc", "seed"]

#: Files with at most this many rows are not compressed.
FEW_ROWS = 200


class RunTask(NamedTuple):
    """The input of one run: its hash, its scenario in canonical form with its files, the tables to keep."""

    hash: str
    text: str
    inputs: Mapping[str, bytes]
    tables: tuple[str, ...]


class RunFiles(NamedTuple):
    """The output of one run: its tables as files by name, its receipt with their hashes, and its cost."""

    files: dict[str, bytes]
    receipt: bytes
    timing: Timing


class BuildIdentity(NamedTuple):
    """The version and the build of Headgate. Equal builds give equal results."""

    version: str
    machine: str
    build: str


def identity() -> BuildIdentity:
    """The build on this machine."""
    return BuildIdentity(_core.VERSION, platform.machine(), store.build())


def run(task: RunTask, progress: _core.Progress) -> RunFiles:
    """Executes a run in this thread; the interpreter is free for other threads meanwhile."""
    scenario = Scenario.parse(task.text, file=task.hash, files=task.inputs.__getitem__)
    recorded = streams.MemoryStreams(scenario)
    (only,) = scenario.runs
    memory.check(scenario, only.qdisc_index)
    outcome, timing, _ = execute_run(scenario, only, progress, recorded.batch)
    # The measures need `flows` and `links`, whether they are kept or not.
    needed = [name for name in tables.NAMES if name in ("flows", "links", *task.tables)]
    all_tables = batch.tables_of(outcome, scenario.world, needed) | recorded.tables()
    files = {name: _bytes(task.hash, tables.with_every_reason(name, all_tables[name])) for name in task.tables}
    receipt = {
        "schema": SCHEMA,
        "headgate": _core.VERSION,
        "point": task.hash,
        "scenario": task.text,
        "tables": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
        "figures": _measures(scenario, all_tables),
    }
    return RunFiles(files, sealed.sealed_text(receipt).encode(), timing)


def _bytes(run_hash: str, table: pa.Table) -> bytes:
    """A table as a Parquet file with one row group; its first column `point` has the hash of the run."""
    named = pa.array([run_hash] * table.num_rows, pa.string())
    whole = table.add_column(0, pa.field("point", pa.string(), nullable=False), named)
    if any(column.num_chunks > 1 for column in whole.columns):
        whole = tables.concat([whole])  # its batches have dictionaries of their own
    out = io.BytesIO()
    # A file has one row group, so statistics only help to skip files: they are limited to some columns. Compression
    # does not shrink a short file, which is mostly headers, and takes twice the time (measured).
    packed = {} if whole.num_rows > FEW_ROWS else {"compression": "none"}
    settings = tables.PARQUET | packed
    pq.write_table(whole, out, row_group_size=max(1, whole.num_rows), write_statistics=STATISTICS_COLUMNS, **settings)
    return out.getvalue()


def _measures(scenario: Scenario, all_tables: Mapping[str, pa.Table]) -> dict[str, float | None]:
    link, flows = (
        LinkDirection(*scenario.bottleneck).of(ColumnArrays(all_tables["links"])),
        ColumnArrays(all_tables["flows"]),
    )
    arrived = float(link["arrived"][0]) or math.nan
    figures: dict[str, Any] = {
        **{figure: float(link[figure][0]) for figure in RUN_MEASURES[:5]},
        "drop_rate": float(link["dropped"][0]) / arrived,
        "mark_rate": float(link["marked"][0]) / arrived,
        "goodput_bps": pc.sum(all_tables["flows"]["goodput_bps"]).as_py(),
        "jain": float(jain(ResultRows(flows, 1), scenario.groups)[0]),
    }
    return {name: each if each is not None and math.isfinite(each) else None for name, each in figures.items()}
