"""The only place where results, sweeps and documents reach the disk. Tests make it fail, tear and reorder.

A test finds other ways to the disk in the packages that store results (`tests/layers/test_disk.py`). SQLite writes the
database of a search itself, with a journal of its own.
"""

import io
import os
import shutil
import sys
from pathlib import Path
from typing import BinaryIO

from headgate import guarded
from headgate.guarded import FileKind


class Disk:
    """Reads and changes files. Errors are `OSError`."""

    def read(self, file: Path, kind: FileKind) -> bytes:
        """The content of a file of this kind."""
        return guarded.read_bytes(file, kind)

    def open(self, file: Path, kind: FileKind) -> io.BufferedIOBase:
        """A file of this kind, to be read piece by piece."""
        return guarded.open_file(file, kind)

    def write(self, file: Path, data: bytes) -> None:
        """Writes a file. A process that stops meanwhile leaves a part of it."""
        file.write_bytes(data)

    def create(self, file: Path) -> BinaryIO:
        """A new file, to be written piece by piece."""
        return file.open("wb")

    def rename(self, old: Path, new: Path) -> None:
        """Renames a file or a folder. A file replaces another file in one step."""
        old.replace(new)

    def remove(self, file: Path) -> None:
        """Removes a file if it exists."""
        file.unlink(missing_ok=True)

    def make_folder(self, folder: Path) -> None:
        """Makes a folder and those above it, if they do not exist."""
        folder.mkdir(parents=True, exist_ok=True)

    def remove_folder(self, folder: Path) -> None:
        """Removes an empty folder."""
        folder.rmdir()

    def remove_tree(self, folder: Path) -> None:
        """Removes a folder with everything in it, if it exists."""
        if folder.exists():
            shutil.rmtree(folder)

    def copy_tree(self, folder: Path, into: Path) -> None:
        """Copies a folder with everything in it to a new folder."""
        self.make_folder(into)
        for file in sorted(folder.rglob("*")):
            target = into / file.relative_to(folder)
            if file.is_dir():
                self.make_folder(target)
            else:
                self.write(target, self.read(file, guarded.TABLE))

    def sync(self, path: Path) -> None:
        """Waits until a file's content, or a folder's list of names, is on the disk."""
        if sys.platform == "win32" and path.is_dir():
            return  # Windows cannot open a folder
        # Windows only writes files to the disk that are open for writing.
        descriptor = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


DISK = Disk()
