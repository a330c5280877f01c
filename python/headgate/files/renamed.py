"""Old names of metrics, gauges, columns and document keys, with their present names.

Version 0.1 used the old names. Results and datasets of that version are read with the present names, with one warning a
folder. An old name of a metric is understood, with a warning. Both end with the release after 0.2.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

_DELAYS = {f"delay_ms_{part}": f"queue_delay_ms_{part}" for part in ("mean", "min", "p50", "p95", "p99", "max")}

#: Gauges of disciplines: old name and new name.
GAUGES = {"penalised": "penalized", "worth": "counter_value"}

#: Columns of tables: old name and new name. `points` is the table of a sweep's points.
COLUMNS = {
    "flows": {"lost": "link_losses", "delay_ms_mean": "queue_delay_ms_mean"},
    "links": {"lost": "link_losses", "utilisation": "utilization", **_DELAYS},
    "points": {"utilisation": "utilization", **_DELAYS},
}

#: Columns of `events`, one for each recorded gauge: of the queue, or of the packet's flow.
_EVENTS = {f"{kind}:{old}": f"{kind}:{new}" for old, new in GAUGES.items() for kind in ("gauge", "flow")}

#: Words in a column of a table: old word and new word.
VALUES = {
    "intervals": (
        "metric",
        {"utilisation": "utilization", "lost": "link_losses"}
        | {f"gauge:{old}": f"gauge:{GAUGES[old]}" for old in GAUGES},
    ),
    "delays": ("measure", {"queueing": "queue_delay", "one_way": "one_way_delay"}),
}

#: Metrics that objectives and bounds name, in words.
METRICS = {
    "utilisation": "utilization",
    "loss": "drop rate",
    "loss rate": "drop rate",
    "ambient loss": "ambient drop rate",
    "marks": "mark rate",
    "queue": "queue length",
    "misplaced": "misallocated",
    "misplaced bps": "misallocated",
    "window": "cwnd",
}

#: Of earlier versions: the `schema` of manifests, and the folder of finished runs in an unfinished result.
SCHEMA = 1
UNFINISHED = "points"

#: Old and new keys: first of the manifest, timing.json and `live`, then of each run in `live`.
_RUNS = {"points": "runs"}
_LIVE_RUN = {"urgent": "realtime", "elsewhere": "host_losses"}


def table(name: str, rows: pa.Table) -> pa.Table:
    """The table called `name` with the names of this version."""
    columns = _EVENTS if name == "events" else COLUMNS.get(name, {})
    if not columns.keys().isdisjoint(rows.column_names):
        rows = rows.rename_columns([columns.get(column, column) for column in rows.column_names])
    column, words = VALUES.get(name, ("", {}))
    if column in rows.column_names:
        rows = _with_words(rows, column, words)
    return rows


def manifest(document: dict[str, Any]) -> dict[str, Any]:
    """A manifest of an earlier version, with the keys of this one."""
    document = runs(document)
    if isinstance(document.get("live"), dict):
        live = document["live"] = runs(document["live"])
        if isinstance(live.get("runs"), list):
            live["runs"] = [_keys(run, _LIVE_RUN) if isinstance(run, dict) else run for run in live["runs"]]
    return document


def runs(document: dict[str, Any]) -> dict[str, Any]:
    """A document with a list of runs, under the key of this version."""
    return _keys(document, _RUNS)


def new_name_in(sql: str, known: Collection[str]) -> str:
    """A sentence with the new name of the first old name in an SQL query; empty if there is none.

    Names in `known` are columns of the data, so they do not count as old.
    """
    names = dict(pair for each in COLUMNS.values() for pair in each.items()) | _RUNS
    old_names = (old for old in names if old not in known and re.search(rf"\b{old}\b", sql))
    return next((f"`{old}` is called `{names[old]}` now" for old in old_names), "")


def _keys(document: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(key, key): value for key, value in document.items()}


def _with_words(rows: pa.Table, column: str, words: dict[str, str]) -> pa.Table:
    """The rows with each old word of a column replaced."""
    import pyarrow as pa  # not above: commands that read no table start without it
    import pyarrow.compute as pc

    column_index = rows.column_names.index(column)
    chunks = [pc.dictionary_encode(chunk) for chunk in rows.column(column).chunks]
    if words.keys().isdisjoint(word for chunk in chunks for word in chunk.dictionary.to_pylist()):
        return rows
    renamed = [
        pa.DictionaryArray.from_arrays(chunk.indices, [words.get(word, word) for word in chunk.dictionary.to_pylist()])
        for chunk in chunks
    ]
    field = rows.schema.field(column_index)
    return rows.set_column(column_index, field, pa.chunked_array(renamed).cast(field.type))
