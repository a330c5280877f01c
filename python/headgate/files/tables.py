"""Tables on disk: fixed column types, fixed row order, and Parquet files with the same bytes every time."""

import io
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from headgate import _core, guarded
from headgate.files import damage, words
from headgate.files.disk import DISK

TEXT = pa.dictionary(pa.int32(), pa.string())

_KINDS = {"words": TEXT, "bool": pa.bool_(), "u32": pa.uint32(), "u64": pa.uint64(), "f64": pa.float64()}


class TableColumn(NamedTuple):
    """A column of a table: its type, whether values may be missing, their unit and their meaning."""

    name: str
    kind: str
    nullable: bool
    unit: str
    meaning: str

    @property
    def field(self) -> pa.Field:
        """The column in a table's schema."""
        return pa.field(self.name, _KINDS[self.kind], nullable=self.nullable)


#: The meaning of a row of each table, and the columns after discipline and seed. `crates/measure` declares both.
ABOUT = {name: about for name, about, _ in _core.tables()}
COLUMNS = {name: {column[0]: TableColumn(*column) for column in columns} for name, _, columns in _core.tables()}

_RUN_COLUMNS = [pa.field("qdisc", TEXT, nullable=False), pa.field("seed", pa.uint64(), nullable=False)]

#: The tables that a scenario can ask for, with their columns. They are streamed, so an empty one needs the columns from
#: here. If decisions are recorded, `events` has a further column for each gauge.
STREAMED = {
    name: pa.schema([*_RUN_COLUMNS, *(column.field for column in COLUMNS[name].values())])
    for name in ("events", "traces")
}

#: The tables of every result, in the order in which they are documented.
NAMES = tuple(name for name in COLUMNS if name not in STREAMED)

#: Drops apart from those that target identified flows, which only their reasons tell.
AMBIENT = "ambient_drop_rate"

PARQUET: dict[str, Any] = {"version": "2.6", "compression": "zstd", "store_schema": True}
ROW_GROUP = 1 << 20


def table(batch: Any) -> pa.Table:
    """A table of one Arrow record batch from `_core`, without a copy."""
    # `pa.table` would read the batch as a stream, which takes twice as long.
    return pa.Table.from_batches([pa.record_batch(batch)])


def join(parts: Iterable[pa.Table]) -> pa.Table:
    """The rows of all `parts` in order, with null where a part lacks a column. Chunks stay as they are."""
    return pa.concat_tables(list(parts), promote_options="default")


def concat(parts: Iterable[pa.Table]) -> pa.Table:
    """The rows of all `parts` in order, as one chunk. Each column of words gets a single dictionary.

    Words are numbered by their first appearance in the whole table, not by the dictionaries of the parts. So the bytes
    written are the same for parts that were just run and for parts that were read from files.
    """
    whole = join(parts)
    for index, field in enumerate(whole.schema):
        if pa.types.is_dictionary(field.type):
            numbered = words.renumbered(whole.column(index))
            whole = whole.set_column(index, pa.field(field.name, TEXT, field.nullable), numbered)
    return whole.combine_chunks()


def with_every_reason(name: str, whole: pa.Table) -> pa.Table:
    """The table with a column for every reason of all disciplines, so that a sweep's runs have the same columns.

    A run's table has only the reasons that its scenario's disciplines can give. The other columns are filled with 0.
    """
    present = whole.column_names
    wanted = COLUMNS.get(name, {})
    if wanted.keys() <= set(present):
        return whole
    # `pa.array` of a list would import pandas.
    none = pa.Array.from_buffers(pa.uint64(), whole.num_rows, [None, pa.py_buffer(bytes(8 * whole.num_rows))])
    columns = dict(zip(present, zip(whole.schema, whole.columns, strict=True), strict=True))
    columns = {column: columns[column] for column in present if column not in wanted} | {
        column: columns[column] if column in columns else (_field(declared), none)
        for column, declared in wanted.items()
    }
    fields, arrays = zip(*columns.values(), strict=True)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, whole.schema.metadata))


@cache
def _field(column: TableColumn) -> pa.Field:
    return column.field


def without_reasons(whole: pa.Table) -> pa.Table:
    """The table with nulls in the columns that need the reason of each drop or mark, and without such intervals."""
    import pyarrow.compute as pc

    for place, field in enumerate(whole.schema):
        if field.name.startswith(("dropped_", "marked_")) or field.name == AMBIENT:
            unknown = pa.nulls(whole.num_rows, field.type)
            whole = whole.set_column(place, field.with_nullable(True), unknown)
    if "metric" in whole.column_names:
        whole = whole.filter(pc.not_equal(whole["metric"].cast(pa.string()), AMBIENT))
    return whole


def csv(whole: pa.Table) -> bytes:
    """A table as CSV; the first line has the column names."""
    import pyarrow.csv

    for index, field in enumerate(whole.schema):
        if pa.types.is_dictionary(field.type):
            whole = whole.set_column(index, field.name, whole.column(index).cast(pa.string()))
    out = pa.BufferOutputStream()
    pyarrow.csv.write_csv(whole, out)
    return bytes(out.getvalue())


def write(path: Path, whole: pa.Table) -> None:
    """Writes a Parquet file."""
    DISK.write(path, to_bytes(whole))


def to_bytes(whole: pa.Table) -> bytes:
    """The content of the file that `write` writes."""
    out = io.BytesIO()
    pq.write_table(whole, out, row_group_size=ROW_GROUP, **PARQUET)
    return out.getvalue()


def read(path: Path, expected: str) -> pa.Table:
    """Reads a Parquet file that Headgate wrote; `ResultError` if its SHA-256 is not the `expected` one."""
    return parse(damage.verified(DISK.read(path, guarded.TABLE), expected, path), path)


def parse(data: bytes, place: object) -> pa.Table:
    """The table in the content of a Parquet file; `ResultError` if it is damaged."""
    with damage.reading(place):
        # `pq.read_table` would import pyarrow.dataset, and that imports pandas.
        return pq.ParquetFile(pa.BufferReader(data)).read(use_threads=False)
