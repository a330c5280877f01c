"""A disk that fails on purpose, the same way for the same seed.

Files are real, in a folder of the test. What a power failure may lose is remembered: a file's content until `sync` of
the file, and a name (made, renamed or removed) until `sync` of its folder. Names of one folder reach the disk in order.
"""

import errno
import io
import os
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from headgate.files.disk import DISK, Disk
from headgate.guarded import FileKind

#: The faults. `power` loses what was not synced, `kill` does not; both end the process in the middle of an operation.
#: `error` fails one operation, `full` every later write; `flip` changes one bit of one read.
KINDS = ("power", "kill", "error", "full", "flip")

#: Operations of a disk that a test replaces.
OPERATIONS = (
    "read",
    "open",
    "write",
    "create",
    "rename",
    "remove",
    "make_folder",
    "remove_folder",
    "remove_tree",
    "sync",
)


class Died(BaseException):
    """The process has ended: nothing reaches the disk any more."""


class Change(NamedTuple):
    """A change of a name that is not yet on the disk: its folder, and how a power failure takes it back."""

    folder: Path
    undo: Callable[[], object]


class FaultyDisk(Disk):
    """Does one fault of a `kind` at operation number `at`; at none if 0. `count` is the number of operations so far.

    Only files in `root` are lost.
    """

    def __init__(self, root: Path, kind: str = "", at: int = 0, seed: object = 0) -> None:
        self.root, self.kind, self.at = root, kind, at
        self.count = 0
        self.draws = random.Random(str(seed))
        self.dead = False
        self._names: list[Change] = []
        self._unsynced: set[int] = set()  # inodes

    def read(self, file: Path, kind: FileKind) -> bytes:
        due = self._due()
        if due in ("error", "power", "kill"):
            self._fail(due)
        data = super().read(file, kind)
        return self._flipped(data) if due == "flip" else data

    def open(self, file: Path, kind: FileKind) -> io.BytesIO:
        return io.BytesIO(self.read(file, kind))

    def write(self, file: Path, data: bytes) -> None:
        with self.create(file) as stream:
            stream.write(data)

    def create(self, file: Path) -> Any:
        before = _content(file)
        self._begin(writes=True)
        stream = _Stream(self, file)
        self._changed(file.parent, (lambda: file.unlink(missing_ok=True)) if before is None else
                      (lambda: file.write_bytes(before)))  # fmt: skip
        return stream

    def rename(self, old: Path, new: Path) -> None:
        self._begin()
        replaced = _content(new)
        super().rename(old, new)

        def undo() -> None:
            if new.exists():
                new.replace(old)
            if replaced is not None:
                new.write_bytes(replaced)

        self._changed(new.parent, undo)
        if old.parent != new.parent:
            self._changed(old.parent, lambda: None)

    def remove(self, file: Path) -> None:
        self._begin()
        had = _content(file)
        super().remove(file)
        if had is not None:
            self._changed(file.parent, lambda: file.write_bytes(had))

    def make_folder(self, folder: Path) -> None:
        self._begin()
        new = [each for each in (folder, *folder.parents) if not each.exists()]
        super().make_folder(folder)
        for each in reversed(new):
            self._changed(each.parent, partial(shutil.rmtree, each, ignore_errors=True))

    def remove_folder(self, folder: Path) -> None:
        self._begin()
        super().remove_folder(folder)
        self._changed(folder.parent, lambda: folder.mkdir(exist_ok=True))

    def remove_tree(self, folder: Path) -> None:
        due = self._begin(ends=False)
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        had = {file: file.read_bytes() for file in files}
        if due in ("power", "kill", "error"):  # in the middle of the work
            for file in self.draws.sample(files, self.draws.randrange(len(files) + 1)):
                file.unlink()
            self._fail(due)
        existed = folder.exists()
        super().remove_tree(folder)

        def undo() -> None:
            folder.mkdir(exist_ok=True)
            for file, data in had.items():
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)

        if existed:
            self._changed(folder.parent, undo)

    def sync(self, path: Path) -> None:
        self._begin()
        if path.is_dir():
            self._names = [change for change in self._names if change.folder != path]
        else:
            self._unsynced.discard(path.stat().st_ino)

    def lose_power(self) -> None:
        """Changes the files to a state that a power failure may leave behind."""
        lost = {folder: self.draws.randrange(3) for folder in {change.folder for change in self._names}}
        torn = [file for file in self._located() if self.draws.random() < 0.7]
        for file in torn:
            data = file.read_bytes()
            cut = self.draws.randrange(len(data) + 1)
            file.write_bytes(self.draws.choice([data[:cut], data[:cut] + bytes(len(data) - cut), b""]))
        for folder, change in reversed(self._names):
            # Of each folder the last names are lost: all, some, or none.
            if lost[folder] == 2 or (lost[folder] == 1 and self.draws.random() < 0.5):
                if folder.is_dir():
                    change()
            else:
                lost[folder] = 0
        self._names, self._unsynced = [], set()

    def _located(self) -> list[Path]:
        """The files whose content is not on the disk, wherever they were renamed to."""
        files = (file for file in sorted(self.root.rglob("*")) if file.is_file())
        return [file for file in files if file.stat().st_ino in self._unsynced]

    def _begin(self, *, writes: bool = False, ends: bool = True) -> str:
        """Counts an operation, and does its fault unless the operation does it itself."""
        due = self._due()
        if (due == "full" and writes) or (ends and due in ("error", "power", "kill")):
            self._fail(due)
        return due

    def _due(self) -> str:
        """The fault of the next operation; empty for none."""
        if self.dead:
            raise Died
        self.count += 1
        if self.at and (self.count == self.at or (self.kind == "full" and self.count > self.at)):
            return self.kind
        return ""

    def _fail(self, due: str) -> None:
        if due in ("power", "kill"):
            self.dead = True
            raise Died
        number = errno.ENOSPC if due == "full" else errno.EIO
        raise OSError(number, "No space left on device" if due == "full" else "Input/output error")

    def _flipped(self, data: bytes) -> bytes:
        if not data:
            return data
        place = self.draws.randrange(len(data))
        return data[:place] + bytes([data[place] ^ 1 << self.draws.randrange(8)]) + data[place + 1 :]

    def _changed(self, folder: Path, undo: Callable[[], object]) -> None:
        self._names.append(Change(folder, undo))

    def wrote(self, stream: "_Stream", data: bytes) -> int:
        """Writes to a file, perhaps only a part."""
        due = self._due()
        self._unsynced.add(stream.inode)
        if due in ("power", "kill", "error", "full"):
            io.FileIO.write(stream, data[: self.draws.randrange(len(data) + 1)])
            self._fail(due)
        return io.FileIO.write(stream, data)

    def install(self, monkeypatch: Any) -> None:
        """Puts this disk in place of the real one."""
        for name in OPERATIONS:
            monkeypatch.setattr(DISK, name, getattr(self, name))


class _Stream(io.FileIO):
    """A file of a faulty disk."""

    def __init__(self, disk: FaultyDisk, file: Path) -> None:
        super().__init__(file, "w")
        self.disk = disk
        self.inode = os.fstat(self.fileno()).st_ino

    def write(self, data: Any) -> int:
        return self.disk.wrote(self, bytes(data))


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None
