"""Reads the files that a scenario names: traces and captures.

A scenario may come from somebody else, so a path in it is not trusted. A device or pipe may never end, and a file may
be larger than the memory.
"""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

#: The largest file that a scenario may name, in bytes. A CSV trace of this size has some thirty million lines.
LARGEST = 1 << 30

_PIECE = 1 << 20


def read_input(path: Path, largest: int = LARGEST) -> bytes:
    """Reads a regular file of at most `largest` bytes, in pieces, so that Ctrl-C ends it.

    Raises `OSError` for any other file, with the reason as its `strerror`.
    """
    # A pipe without a writer would block an ordinary open.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        about = os.fstat(descriptor)
        if stat.S_ISDIR(about.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        pieces, left = [], largest
        while piece := file.read(min(_PIECE, left + 1)):
            left -= len(piece)
            if left < 0:
                raise OSError(errno.EFBIG, f"it has more than {largest >> 20} MiB", str(path))
            pieces.append(piece)
    return b"".join(pieces)


def files_in(folder: Path) -> Callable[[str], bytes]:
    """Reads the files that a scenario in `folder` names."""
    return lambda path: read_input(folder / path)
