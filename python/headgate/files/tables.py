"""Tables as they are kept: fixed column types, fixed row order, and Parquet files with the same bytes every time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from headgate.files import damage

WORDS = pa.dictionary(pa.int32(), pa.string())

#: The tables of every result, in the order in which they are documented.
NAMES = ("flows", "intervals", "links", "delays", "losses", "fairness", "transfers")

_POINT = [pa.field("qdisc", WORDS, nullable=False), pa.field("seed", pa.uint64(), nullable=False)]

#: The tables that are there where the scenario asks for them, and their columns: they are streamed, and an empty one
#: must have them too. `events` has a further column for each gauge where decisions are recorded.
STREAMED = {
    "events": pa.schema(
        [
            *_POINT,
            pa.field("link", WORDS),
            pa.field("direction", WORDS),
            pa.field("time_ns", pa.uint64(), nullable=False),
            pa.field("event", WORDS, nullable=False),
            pa.field("reason", WORDS),
            pa.field("flow", pa.uint32(), nullable=False),
            pa.field("bytes", pa.uint32(), nullable=False),
            pa.field("queue_packets", pa.uint32(), nullable=False),
            pa.field("queue_bytes", pa.uint64(), nullable=False),
        ]
    ),
    "traces": pa.schema(
        [
            *_POINT,
            pa.field("time_ns", pa.uint64(), nullable=False),
            pa.field("flow", pa.uint32(), nullable=False),
            pa.field("cwnd", pa.float64()),
            pa.field("ssthresh", pa.float64()),
            pa.field("srtt_ms", pa.float64()),
            pa.field("rttvar_ms", pa.float64()),
            pa.field("rto_ms", pa.float64()),
            pa.field("flight", pa.uint32()),
            pa.field("acked_bytes", pa.uint64()),
            pa.field("phase", WORDS, nullable=False),
            pa.field("retransmits", pa.uint32(), nullable=False),
            pa.field("timeouts", pa.uint32(), nullable=False),
            pa.field("rate_bps", pa.float64()),
            pa.field("receive_rate_bps", pa.float64()),
            pa.field("loss_event_rate", pa.float64()),
        ]
    ),
}

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


def write(path: Path, whole: pa.Table) -> None:
    """Writes a Parquet file."""
    pq.write_table(whole, path, row_group_size=ROW_GROUP, **PARQUET)


def read(path: Path) -> pa.Table:
    """Reads a Parquet file that Headgate wrote; `ResultError` if it is damaged."""
    with damage.told(path):
        return pq.read_table(path, memory_map=False, partitioning=None)
