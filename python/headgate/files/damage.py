"""Finds damaged files of earlier runs, such as those cut short by a full disk or an interrupted copy."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from headgate.errors import ResultError

#: The first and last bytes of every Parquet file (Apache Parquet, File Format).
MAGIC = b"PAR1"


def sha256(file: Path) -> str:
    """The file's SHA-256, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def changed_files(folder: Path, hashes: Mapping[str, str]) -> list[str]:
    """The names of files in a folder that are missing or whose SHA-256 differs."""
    return [name for name, had in hashes.items() if not (folder / name).is_file() or sha256(folder / name) != had]


def truncated_files(files: Iterable[Path]) -> list[Path]:
    """The Parquet files without the magic bytes at both ends. Used for files without a hash."""
    return [file for file in files if not _is_whole(file)]


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
        raise ResultError(f"{place} is damaged. Run the same command again to recompute it. ({error})") from None


def _is_whole(file: Path) -> bool:
    with file.open("rb") as stream:
        begins = stream.read(len(MAGIC))
        stream.seek(-min(len(MAGIC), file.stat().st_size), os.SEEK_END)
        return begins == stream.read() == MAGIC
