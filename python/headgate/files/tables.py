"""Tables as they are kept: fixed column types, fixed row order, and Parquet files with the same bytes every time."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from headgate import _core
from headgate.files import damage

WORDS = pa.dictionary(pa.int32(), pa.string())

_KINDS = {"words": WORDS, "bool": pa.bool_(), "u32": pa.uint32(), "u64": pa.uint64(), "f64": pa.float64()}


class TableColumn(NamedTuple):
    """A column of a table: its type, whether values may be missing, what they are in and what they mean."""

    name: str
    kind: str
    nullable: bool
    unit: str
    meaning: str

    @property
    def field(self) -> pa.Field:
        """The column in a table's schema."""
        return pa.field(self.name, _KINDS[self.kind], nullable=self.nullable)


#: What a row of each table is of, and its columns after the discipline and the seed; `crates/measure` states them.
ABOUT = {name: about for name, about, _ in _core.tables()}
COLUMNS = {name: {column[0]: TableColumn(*column) for column in columns} for name, _, columns in _core.tables()}

_POINT = [pa.field("qdisc", WORDS, nullable=False), pa.field("seed", pa.uint64(), nullable=False)]

#: The tables that are there where the scenario asks for them, and their columns: they are streamed, and an empty one
#: must have them too. `events` has a further column for each gauge where decisions are recorded.
STREAMED = {
    name: pa.schema([*_POINT, *(column.field for column in COLUMNS[name].values())]) for name in ("events", "traces")
}

#: The tables of every result, in the order in which they are documented.
NAMES = tuple(name for name in COLUMNS if name not in STREAMED)

PARQUET: dict[str, Any] = {"version": "2.6", "compression": "zstd", "store_schema": True}
ROW_GROUP = 1 << 20


def table(batch: Any) -> pa.Table:
    """A table of one Arrow record batch from `_core`, without a copy."""
    # `pa.table` would make a stream of it, which takes twice as long.
    return pa.Table.from_batches([pa.record_batch(batch)])


def join(parts: Iterable[pa.Table]) -> pa.Table:
    """The rows of all `parts` in order, null where a part has not all columns; chunks stay as they are."""
    return pa.concat_tables(list(parts), promote_options="default")


def concat(parts: Iterable[pa.Table]) -> pa.Table:
    """The rows of all `parts` in order, as one chunk, every column of words with one dictionary.

    The words are numbered by first appearance in the whole table, whatever dictionaries the parts had, so that the
    bytes written do not depend on whether a part was just run or read from a file.
    """
    whole = join(parts).combine_chunks()
    for index, field in enumerate(whole.schema):
        if pa.types.is_dictionary(field.type):
            words = pc.dictionary_encode(whole.column(index).cast(pa.string())).cast(WORDS)
            whole = whole.set_column(index, pa.field(field.name, WORDS, field.nullable), words)
    return whole.combine_chunks()


def with_every_reason(name: str, whole: pa.Table) -> pa.Table:
    """The table with a column for each reason there is, so that points of a sweep have the same columns.

    A run's table has those that its scenario's disciplines can give; of the others nothing was dropped or marked.
    """
    missing = [column for column in COLUMNS.get(name, {}) if column not in whole.column_names]
    if not missing:
        return whole
    none = pa.array([0] * whole.num_rows, pa.uint64())
    for column in missing:
        whole = whole.append_column(COLUMNS[name][column].field, none)
    own = [column for column in whole.column_names if column not in COLUMNS[name]]
    return whole.select([*own, *COLUMNS[name]])


def csv(whole: pa.Table) -> bytes:
    """A table as CSV, with a line of names."""
    for place, field in enumerate(whole.schema):
        if pa.types.is_dictionary(field.type):
            whole = whole.set_column(place, field.name, whole.column(place).cast(pa.string()))
    out = pa.BufferOutputStream()
    pyarrow.csv.write_csv(whole, out)
    return bytes(out.getvalue())


def write(path: Path, whole: pa.Table) -> None:
    """Writes a Parquet file."""
    pq.write_table(whole, path, row_group_size=ROW_GROUP, **PARQUET)


def read(path: Path) -> pa.Table:
    """Reads a Parquet file that Headgate wrote; `ResultError` if it is damaged."""
    with damage.told(path):
        return pq.read_table(path, memory_map=False, partitioning=None)
