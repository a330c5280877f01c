"""Writes to the disk itself: a file is on it only after `fsync`, and a name only after `fsync` of its folder."""

import os
import threading
import time
from pathlib import Path

from headgate.files.disk import DISK

#: Seconds between two commits of finished runs. A power failure loses at most the runs of this time.
COMMIT_S = 1.0


def sync_tree(folder: Path) -> None:
    """Waits until a folder with all its files is on the disk."""
    for parent, _, names in os.walk(folder):
        for name in names:
            DISK.sync(Path(parent, name))
        DISK.sync(Path(parent))


def make_folder(folder: Path) -> list[Path]:
    """Makes a folder and those above it. Returns the new ones, innermost first; their names are on the disk."""
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    DISK.make_folder(folder)
    for each in reversed(new):
        DISK.sync(each.parent)
    return new


class GroupCommit:
    """Brings finished files and folders to the disk, many together, so that short runs do not wait for it each.

    Until then a power failure can tear them. Their hashes tell this, and their runs are executed again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Path] = []
        self._last = time.monotonic()

    def add(self, *paths: Path) -> None:
        """Adds files or folders that are written. Commits all if the last commit was long enough ago."""
        with self._lock:
            self._waiting += paths
            due = time.monotonic() - self._last >= COMMIT_S
        if due:
            self.commit()

    def commit(self) -> None:
        """Waits until everything that was added is on the disk."""
        with self._lock:
            waiting, self._waiting, self._last = self._waiting, [], time.monotonic()
        for path in waiting:
            if path.is_dir():
                sync_tree(path)
            elif path.exists():
                DISK.sync(path)
        for parent in dict.fromkeys(path.parent for path in waiting):
            if parent.is_dir():
                DISK.sync(parent)
