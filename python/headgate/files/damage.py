"""Which files of an earlier run are no longer what it wrote: a disk that was full, a copy that was cut short."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from headgate.errors import ResultError

#: How every Parquet file begins and ends (Apache Parquet, File Format).
MAGIC = b"PAR1"


def sha256(file: Path) -> str:
    """The file's SHA-256, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def changed(folder: Path, hashes: Mapping[str, str]) -> list[str]:
    """The names of the files in a folder that are missing, or have not the SHA-256 that they had."""
    return [name for name, had in hashes.items() if not (folder / name).is_file() or sha256(folder / name) != had]


def cut_short(files: Iterable[Path]) -> list[Path]:
    """The Parquet files that do not begin and end as such: of them, no hash was kept."""
    return [file for file in files if not _is_whole(file)]


@contextmanager
def told(place: object) -> Iterator[None]:
    """Tells of a Parquet file, at `place`, that cannot be read: `ResultError`."""
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError) as error:
        # What Arrow cannot unpack is an OSError too, but none of the system's.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ResultError(f"{place} is damaged, and is made anew when the same is run again: {error}") from None


def _is_whole(file: Path) -> bool:
    with file.open("rb") as stream:
        begins = stream.read(len(MAGIC))
        stream.seek(-min(len(MAGIC), file.stat().st_size), os.SEEK_END)
        return begins == stream.read() == MAGIC
