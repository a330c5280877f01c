"""Tells a damaged study from a full disk. A study is never removed, and never begun anew over an existing one.

An empty study is that of a search which was stopped before its first trial, unless a file beside it says that trials
were stored.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from headgate import guarded
from headgate.errors import ResultError
from headgate.files.disk import DISK
from headgate.files.writing import write_files

#: The file beside a study that has, or had, a trial.
BEGUN = "study.begun"
_BEGUN_TEXT = "Trials were stored in study.db. If it is empty now, they are lost.\n"

#: Endings of the files that SQLite opens beside a database.
_BESIDE = ("-journal", "-wal", "-shm")

#: The attribute of a study with the identity of its search.
IDENTITY = "identity"
_IDENTITY_SQL = f"select value_json from study_user_attributes where key = '{IDENTITY}'"  # noqa: S608 - a constant

#: The present trials are good work, so the advice keeps them.
_ADVICE = (
    "Restore a copy, or move the file away to begin anew. `sqlite3 study.db .recover` reads the intact part of a "
    "moved file."
)


def check_file(file: Path, name: str) -> str | None:
    """Checks the structure of an existing study called `name`; `ResultError` if it is damaged.

    Returns the identity of the search; None without a study, or if an earlier version wrote it. Optuna would begin a
    second study beside one whose name is damaged.
    """
    try:
        if not guarded.exists(file, guarded.DATABASE):
            return None
        for ending in _BESIDE:
            guarded.exists(file.with_name(file.name + ending), guarded.DATABASE)
    except OSError as error:
        raise ResultError(f"cannot read {error.filename}: {error.strerror}") from None
    try:
        # A process that was killed while it stored a trial left a journal. Only a writer may undo that trial with it.
        with closing(sqlite3.connect(f"file:{file}?mode=rw", uri=True)) as database:
            (found,) = database.execute("pragma integrity_check(1)").fetchone()
            studies = _column(database, "studies", "select study_name from studies") if found == "ok" else []
            trials = _column(database, "trials", "select number from trials") if found == "ok" else []
            stored = _column(database, "study_user_attributes", _IDENTITY_SQL) if found == "ok" else []
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if _is_about_the_disk(error):
            raise _not_stored(file, error) from None
        raise _damaged(file, error) from None
    if found != "ok":
        raise _damaged(file, found)
    if studies not in ([], [name]):
        raise _damaged(file, "it has another study")
    if not trials and file.with_name(BEGUN).exists():
        raise _damaged(file, "it is empty, and trials were stored in it")
    return None if not stored else str(stored[0]).strip('"')


def record_begin(file: Path) -> None:
    """Records that a study has a trial."""
    if not file.with_name(BEGUN).exists():
        write_files(file.parent, {BEGUN: _BEGUN_TEXT}, "trials")


def forget_begin(file: Path) -> None:
    """Removes the record if there is no study: the user has moved it away to begin anew."""
    if not file.exists() and file.with_name(BEGUN).exists():
        DISK.remove(file.with_name(BEGUN))
        DISK.sync(file.parent)


@contextmanager
def storing(file: Path) -> Iterator[None]:
    """Raises `ResultError` if the study cannot be read or written: for a damaged file, or a disk that is full."""
    from optuna.exceptions import OptunaError
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, OptunaError, sqlite3.Error) as error:
        cause = _origin(error)
        raise (_not_stored if _is_about_the_disk(cause) else _damaged)(file, cause) from None
    except (LookupError, TypeError, ValueError) as error:
        raise _damaged(file, error) from None


@contextmanager
def understanding(file: Path) -> Iterator[None]:
    """Raises `ResultError` if the trials of the study cannot be understood."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise _damaged(file, error) from None


def _column(database: sqlite3.Connection, table: str, sql: str) -> list[object]:
    """The column of a table that `sql` selects; empty without the table.

    A process may have been stopped before it made the table.
    """
    if not database.execute("select 1 from sqlite_master where name = ?", (table,)).fetchone():
        return []
    return [value for (value,) in database.execute(sql)]


def _origin(error: BaseException) -> BaseException:
    """The error of SQLite below those of SQLAlchemy and Optuna."""
    below = getattr(error, "orig", None) or error.__cause__
    return error if below is None else _origin(below)


def _is_about_the_disk(error: BaseException) -> bool:
    """Whether the file could not be read or written, and is not damaged. Extended codes have more bits than these."""
    code = getattr(error, "sqlite_errorcode", None)
    disk = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN,
            sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PERM)  # fmt: skip
    return code is not None and code & 0xFF in disk


def _not_stored(file: Path, error: BaseException) -> ResultError:
    return ResultError(f"cannot write trials to {file}: {error}; finished trials are kept, so keep the file")


def _damaged(file: Path, why: object) -> ResultError:
    first, _, _ = str(why).partition("\n")
    return ResultError(f"{file} is damaged ({first}). {_ADVICE}")
