"""Reads files of results and compares each with its SHA-256. Every reader of results reads here."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from headgate import guarded
from headgate.errors import ResultError
from headgate.files.disk import DISK
from headgate.guarded import FileKind

#: Advice at the end of messages about damaged files.
ADVICE = "Run the same command again to recompute it."


def sha256(file: Path, kind: FileKind = guarded.TABLE) -> str:
    """The SHA-256 of a file of this kind, in hexadecimal."""
    with DISK.open(file, kind) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def changed_files(folder: Path, hashes: Mapping[str, str]) -> list[str]:
    """The names of files in a folder that are missing or whose SHA-256 differs."""
    return [name for name, had in hashes.items() if not (folder / name).is_file() or sha256(folder / name) != had]


def verified(data: bytes, expected: str, place: object) -> bytes:
    """The content of the file at `place`; `ResultError` if its SHA-256 is not the `expected` one."""
    if hashlib.sha256(data).hexdigest() != expected:
        raise ResultError(f"{place} is damaged: its SHA-256 differs from the recorded one. {ADVICE}")
    return data


def check_files(folder: Path, hashes: Mapping[str, str]) -> None:
    """Raises `ResultError` if a file is missing or damaged. Memory does not grow with the files."""
    if changed := changed_files(folder, hashes):
        with suppress(FileNotFoundError):
            guarded.check(folder / changed[0], guarded.TABLE)  # its error says what is in the place of the file
        raise ResultError(f"{folder / changed[0]} is damaged: its SHA-256 differs from the recorded one. {ADVICE}")


@contextmanager
def reading(place: object) -> Iterator[None]:
    """Raises `ResultError` if the Parquet file at `place` cannot be read."""
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError) as error:
        # Arrow raises OSError without an errno for data that it cannot decode.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ResultError(f"{place} is damaged. {ADVICE} ({error})") from None
