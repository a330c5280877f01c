"""The lock of a folder, so that two processes do not write one result. It ends with the process that holds it."""

import os
import sys
from pathlib import Path

from headgate.errors import ResultError
from headgate.files.writing import UNFINISHED


def lock(path: Path) -> int:
    """Locks the folder against other processes until the returned file descriptor is closed."""
    try:
        return _lock(path)
    except OSError:
        raise ResultError(f"another process is writing to {path}") from None


if sys.platform == "win32":
    import msvcrt

    def _lock(path: Path) -> int:
        # Windows cannot open a folder. It removes this file when the descriptor is closed.
        descriptor = os.open(path / f"{UNFINISHED}lock", os.O_RDWR | os.O_CREAT | os.O_TEMPORARY)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

else:
    import fcntl

    def _lock(path: Path) -> int:
        # The folder itself is locked: the library filelock would leave a lock file in every result.
        descriptor = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor
