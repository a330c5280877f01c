"""SQL over results through DuckDB: every table of a result folder or a sweep's dataset is a view."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from headgate import guarded
from headgate.errors import ResultError, UsageError
from headgate.extras import require
from headgate.files import damage, renamed, store, tables
from headgate.sweeps.folder import Folder

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation


def connect() -> DuckDBPyConnection:
    """A database in memory. If DuckDB is not installed, `UsageError` says how to install it."""
    require("duckdb", "queries need DuckDB")
    import duckdb

    return duckdb.connect()


def ask(database: DuckDBPyConnection, sql: str) -> pa.Table:
    """The result of a query; `UsageError` if it is invalid."""
    import duckdb

    try:
        answer = database.sql(sql)
        if answer is None:
            raise UsageError('not a query: write a `select`, as in "select * from points"')
        return answer.to_arrow_table()
    except duckdb.Error as error:
        raise UsageError(f"{error}{_hint(database, sql)}") from None


def names(database: DuckDBPyConnection) -> dict[str, list[str]]:
    """The columns of every view."""
    listed = database.execute("select view_name from duckdb_views() where not internal order by view_oid").fetchall()
    shown = [name for (name,) in listed if not name.startswith("_")]
    return {name: database.view(name).columns for name in shown}


def mentioned(names: Iterable[str], sql: str | None) -> list[str]:
    """The tables whose name is in a query; all without one."""
    return [name for name in names if sql is None or name in sql.lower()]


def result_views(path: Path, sql: str | None = None) -> DuckDBPyConnection:
    """The tables of a result; `runs` has its disciplines and seeds.

    DuckDB reads the files itself, so they are compared with their hashes first: those of the tables that `sql`
    mentions, or all.
    """
    manifest = store.read_manifest(path)
    hashes: dict[str, str] = manifest["tables"]
    wanted = mentioned([*tables.NAMES, *tables.STREAMED], sql)
    damage.check_files(path, {file: had for file, had in hashes.items() if re.split(r"[./]", file)[0] in wanted})
    try:
        return _result_views(path, manifest)
    except ResultError:
        damage.check_files(path, hashes)  # DuckDB reads the header of every table; this error names the damaged file
        raise


def _result_views(path: Path, manifest: Mapping[str, Any]) -> DuckDBPyConnection:
    old = manifest["schema"] == renamed.SCHEMA
    database = connect()
    runs = pa.Table.from_pylist([{key: run[key] for key in ("qdisc", "seed")} for run in manifest["runs"]])
    database.from_arrow(runs).create_view("runs")
    for name in tables.NAMES:
        rows = _parquet(database, [_checked(path, f"{name}.parquet")])
        (_with_new_names(rows, name) if old else rows).create_view(name)
    for name in tables.STREAMED:
        if files := [_checked(path, file) for file in manifest["tables"] if file.startswith(f"{name}/")]:
            _parquet(database, files, union_by_name=True).create_view(name)
    return database


def sweep_views(
    folder: Folder, runs: pa.Table, keys: Iterable[str], files: Mapping[str, list[str]], *, old: bool
) -> DuckDBPyConnection:
    """The points of a sweep, and its tables (`files` of each) with the swept `keys` beside each row.

    `old` is true if an earlier version wrote the files.
    """
    database = connect()
    if folder.files is not None:
        database.register_filesystem(folder.files)
    database.from_arrow(runs).create_view("points")
    if runs.num_rows == 0:
        return database
    quoted = (key.replace('"', '""') for key in (*keys, "discipline"))
    key_columns = ", ".join(f'points."{key}"' for key in quoted)
    for name, run_files in files.items():
        rows = _rows(database, folder, name, run_files)
        (_with_new_names(rows, name) if old else rows).create_view(f"_{name}")
        columns = f"select points.point, {key_columns}, rows.* exclude (point) "
        database.execute(f"create view {name} as {columns} from _{name} as rows join points using (point)")
    return database


def _rows(database: DuckDBPyConnection, folder: Folder, name: str, files: list[str]) -> DuckDBPyRelation:
    # Gauges of disciplines are columns of events; every other table has the same columns in each file.
    by_name = name in tables.STREAMED
    if folder.url is not None:
        local = folder.files is None
        places = [_checked(Path(folder.url), file) if local else f"{folder.url}/{file}" for file in files]
        return _parquet(database, places, union_by_name=by_name)
    contents = folder.read(files)
    return database.from_arrow(tables.join(pq.read_table(io.BytesIO(contents[file])) for file in files))


def _with_new_names(rows: DuckDBPyRelation, name: str) -> DuckDBPyRelation:
    """The rows of a table of an earlier version, with the names of this one."""
    columns = renamed.COLUMNS.get(name, {})
    words_of, words = renamed.VALUES.get(name, ("", {}))
    cases = " ".join(f"when '{old}' then '{new}'" for old, new in words.items())
    new = {words_of: f'case "{words_of}" {cases} else "{words_of}" end as "{words_of}"'}
    new |= {old: f'"{old}" as "{name}"' for old, name in columns.items()}
    return rows.project(", ".join(new.get(column, f'"{column}"') for column in rows.columns))


def _checked(folder: Path, file: str) -> str:
    """The path of a table that DuckDB will open; `ResultError` if it is missing or no regular file."""
    try:
        guarded.check(folder / file, guarded.TABLE)
    except OSError as error:
        raise ResultError(f"cannot read {folder / file}: {error.strerror or error}") from None
    return str(folder / file)


def _parquet(database: DuckDBPyConnection, files: list[str], **options: Any) -> DuckDBPyRelation:
    from duckdb import Error

    try:
        return database.read_parquet(files, **options)
    except Error as error:
        raise ResultError(f"a table is damaged. Run the same command again to recompute it. ({error})") from None


def _hint(database: DuckDBPyConnection, sql: str) -> str:
    """A hint to quote a key with a dot if the query has one without quotes; else the known tables."""
    columns = names(database)
    dotted = [key for key in columns.get("points", []) if "." in key and key in sql and f'"{key}"' not in sql]
    if dotted:
        return f'\nwrite keys in double quotes: "{dotted[0]}"'
    if hint := renamed.new_name_in(sql, {*columns, *(name for each in columns.values() for name in each)}):
        return f"\n{hint}"
    return f"\ntables: {', '.join(columns)}; `headgate query RESULT` lists their columns"
