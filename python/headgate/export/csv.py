"""The tables of a result, or of a sweep's dataset, as CSV, with a page that gives every column's type and unit."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from headgate.files import tables
from headgate.files.store import slug
from headgate.results import Result
from headgate.sweeps.dataset import MANIFEST
from headgate.sweeps.result import Sweep

README = "README.md"


def files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Every table of the result or the dataset in the folder `path` as a file, then README.md."""
    described = []
    for name, table in _of_sweep(Sweep.load(path)) if (path / MANIFEST).exists() else _of_result(Result.load(path)):
        described.append(_described(name, table))
        yield f"{name}.csv", tables.csv(table)
    yield README, "\n".join([f"# {path.resolve().name}", "", _HEAD, *described]).encode()


def unit(column: pa.Field) -> str:
    """The unit of a column; empty if it has none, such as a word or a share."""
    if column.metadata and b"unit" in column.metadata:
        return str(column.metadata[b"unit"], "utf-8")
    known = (columns[column.name].unit for columns in tables.COLUMNS.values() if column.name in columns)
    declared = next(known, "")
    return "" if declared in ("count", "ratio", "share") else declared


_HEAD = """\
The tables of a result of Headgate as CSV (RFC 4180): the first line has the columns' names, text is quoted, and a
missing value is an empty field without quotes. `value` has the unit that its `metric` or `measure` ends with; drops and
marks are packets, utilization and rates of drops are shares.
"""


def _of_result(result: Result) -> Iterable[tuple[str, pa.Table]]:
    """The tables of a result. Streamed tables are long, so each run has a file of its own, as in the result."""
    for name in tables.NAMES:
        yield name, getattr(result, name)
    for name in result.scenario.records:
        for run in result.scenario.runs:
            yield f"{name}/{slug(run)}", result.run(name, run)


def _of_sweep(sweep: Sweep) -> Iterable[tuple[str, pa.Table]]:
    yield "points", sweep.points
    for name in sweep.manifest["tables"]:
        yield name, sweep.table(name)


def _described(name: str, table: pa.Table) -> str:
    rows = [f"| `{field.name}` | {_type(field.type)} | {unit(field)} |" for field in table.schema]
    head = [f"## {name}.csv", "", f"{table.num_rows} rows", "", "| column | type | unit |", "| --- | --- | --- |"]
    return "\n".join([*head, *rows, ""])


def _type(kind: pa.DataType) -> str:
    return "text" if pa.types.is_dictionary(kind) or pa.types.is_string(kind) else str(kind)
