"""The only place where files are read: files that a user names, files of results, and files of the kernel.

A path may come from somebody else: in a scenario, in a copied folder of results, or after a typing mistake. A named
pipe without a writer blocks whoever opens it, a device may never end, and opening one may do something. So only regular
files are read, each up to the size that its kind may have, and only while the disk or the network keeps answering. A
test finds other reads (`tests/layers/test_guarded.py`).
"""

import errno
import io
import os
import select
import stat
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import NamedTuple, TypeVar

Value = TypeVar("Value")

_MIB = 1 << 20

#: Most and fewest bytes that are read at once. Ctrl-C ends the reading of a large file between two pieces.
_PIECE, _SMALLEST_PIECE = _MIB, 1 << 13

#: The longest time for a file in seconds, to which its size adds: slower than a MiB a second is as good as no answer.
PATIENCE_S = 30.0
_SLOWEST = _MIB

#: Folders whose files are answers of the kernel. Some of these block, and some change when they are read.
_OF_KERNEL = ("/proc", "/sys")

#: What a path can lead to besides a regular file. Opening such a thing can block or have an effect.
_THINGS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


class FileKind(NamedTuple):
    """A kind of file: its name for messages, and the most bytes that such a file may have.

    `pipe` allows a pipe that the shell gave this process (`/dev/stdin`, `<(...)`).
    """

    name: str
    most: int
    pipe: bool = False


#: A file has at most a few thousand lines.
SCENARIO = FileKind("a scenario file", 16 * _MIB, pipe=True)
SETTINGS = FileKind("a file of settings", _MIB)
#: A trace or a capture that a scenario names. A CSV trace of this size has some thirty million lines.
INPUT = FileKind("a trace or a capture", 1024 * _MIB)
#: Manifests, receipts and documents of experiments. The manifest of ten thousand runs with streamed tables has 10 MiB.
DOCUMENT = FileKind("a JSON document", 256 * _MIB)
#: Tables and captures of results. They are as large as their run was long, so this only ends sparse files.
TABLE = FileKind("a table or a capture of a result", 1 << 40)
CAPTURE = FileKind("a capture of packets", 1 << 40)
#: The trials of a search.
DATABASE = FileKind("a database of SQLite", 1 << 36)
CERTIFICATE = FileKind("a certificate or a key", _MIB)
#: Data that comes with Headgate, and its compiled module.
PACKAGED = FileKind("a file of Headgate", 512 * _MIB)


def read_bytes(path: Path, kind: FileKind) -> bytes:
    """The content of a file of this kind.

    Raises `OSError` if it cannot be read, is no regular file, or is larger than the kind allows, with the reason as
    its `strerror`. It is a `TimeoutError` if the file is read too slowly.
    """
    with _guarded(path, kind) as stream:
        return stream.readall()


def read_text(path: Path, kind: FileKind) -> str:
    """The content of a file of this kind as text; also raises `UnicodeDecodeError` if it is not UTF-8."""
    return read_bytes(path, kind).decode()


def open_file(path: Path, kind: FileKind) -> io.BufferedReader:
    """A file of this kind, to be read piece by piece. Opening and reading raise what `read_bytes` raises."""
    stream = _guarded(path, kind)
    return io.BufferedReader(stream, stream.piece)


def _guarded(path: Path, kind: FileKind) -> "_GuardedFile":
    _refuse(path, path.stat(), kind)  # before it is opened, which can have an effect
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    stream = _GuardedFile(os.open(path, flags), path, kind)
    try:
        found = os.fstat(stream.fileno())
        _refuse(path, found, kind, stream.fileno())  # another file can have taken the place meanwhile
    except OSError:
        stream.close()
        raise
    if stat.S_ISREG(found.st_mode):
        stream.piece = max(min(found.st_size + 1, _PIECE), _SMALLEST_PIECE)
    return stream


def check(path: Path, kind: FileKind) -> None:
    """Raises what `open_file` raises, for a file that a library opens by itself: SQLite, DuckDB or OpenSSL.

    A file that is exchanged between the check and the library's own opening is not noticed.
    """
    open_file(path, kind).close()


def exists(path: Path, kind: FileKind) -> bool:
    """Whether there is a file of this kind; raises what `open_file` raises if there is something else."""
    try:
        check(path, kind)
    except FileNotFoundError:
        return False
    return True


def standard_input(kind: FileKind) -> str:
    """Standard input as text, which may be a terminal or a pipe. `OSError` if it is longer than the kind allows."""
    data = sys.stdin.buffer.read(kind.most + 1)
    if len(data) > kind.most:
        raise _too_large(Path("-"), f"more than {_size(kind.most)}", kind)
    return data.decode(errors="replace")


def of_kernel(path: Path) -> str:
    """The text of a small file below /proc or /sys that this program itself names."""
    return path.read_text("ascii")


def within(seconds: float, job: Callable[[], Value]) -> Value:
    """What `job` returns or raises; `TimeoutError` if it has not ended after so many seconds.

    A file of a network that is gone blocks its reader in the kernel, where no signal ends it. The thread stays then.
    """
    results: list[Value] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(job())
        except BaseException as error:  # noqa: BLE001 - it is raised below
            errors.append(error)

    thread = Thread(target=run, name="reading", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(errno.ETIMEDOUT, f"reading took more than {seconds:g} s")
    return results[0]


class _GuardedFile(io.FileIO):
    """An open file that is read up to the size of its kind, and only while it answers."""

    def __init__(self, descriptor: int, path: Path, kind: FileKind) -> None:
        super().__init__(descriptor, "rb")
        self._path, self._kind = path, kind
        self._left = kind.most
        self.piece = _PIECE
        self._begun = monotonic()

    def readinto(self, buffer: object) -> int:
        """Reads the next piece; 0 at the end."""
        with memoryview(buffer).cast("B") as whole:  # type: ignore[arg-type]
            piece = whole[: self._allowed(len(whole))]
            return self._counted(self._waited(lambda: io.FileIO.readinto(self, piece)))

    def read(self, size: int | None = -1) -> bytes:
        """At most `size` bytes; everything if it is negative."""
        if size is None or size < 0:
            return self.readall()
        data: bytes = self._waited(lambda: io.FileIO.read(self, self._allowed(size)))
        self._counted(len(data))
        return data

    def readall(self) -> bytes:
        """Everything that is left, in pieces."""
        pieces: list[bytes] = []
        while piece := self.read(self.piece):
            pieces.append(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _allowed(self, size: int) -> int:
        """The bytes to read: one beyond the limit shows that there are more."""
        return min(size, self._left + 1)

    def _counted(self, count: int) -> int:
        self._left -= count
        if self._left < 0:
            raise _too_large(self._path, f"more than {_size(self._kind.most)}", self._kind)
        allowed = PATIENCE_S + (self._kind.most - self._left) / _SLOWEST
        if count and monotonic() - self._begun > allowed:
            raise _too_slow(self._path, allowed)
        return count

    def _waited(self, read: Callable[[], Value | None]) -> Value:
        """What `read` gives: of a file at once, of a pipe when its writer has written."""
        while (found := read()) is None:
            left = self._begun + PATIENCE_S - monotonic()
            if left <= 0 or not select.select([self], [], [], left)[0]:
                raise _too_slow(self._path, PATIENCE_S)
        return found


def _refuse(path: Path, found: os.stat_result, kind: FileKind, descriptor: int | None = None) -> None:
    """Raises `OSError` if the file that was found is not one of this kind."""
    what = stat.S_IFMT(found.st_mode)
    if what != stat.S_IFREG:
        own = what == stat.S_IFIFO and _is_own_pipe(path)
        if own and kind.pipe:
            return
        number = errno.EISDIR if what == stat.S_IFDIR else errno.EINVAL
        thing = "a pipe" if own else _THINGS.get(what, "no regular file")
        raise OSError(number, f"it is {thing}; expected {kind.name}", str(path))
    place = _opened(path, descriptor)
    for folder in _OF_KERNEL:
        if found.st_dev == _device(folder) or place.startswith(f"{folder}/"):
            raise OSError(errno.EINVAL, f"it is a file of the kernel below {folder}; expected {kind.name}", str(path))
    if found.st_size > kind.most:
        raise _too_large(path, _size(found.st_size), kind)


@cache
def _device(folder: str) -> int | None:
    """The device of a folder of the kernel; None on systems without it, or if it is an ordinary folder."""
    try:
        device, root = Path(folder).stat().st_dev, Path("/").stat().st_dev
    except OSError:
        return None
    return None if device == root else device


def _opened(path: Path, descriptor: int | None) -> str:
    """The path of an open file without symbolic links; of a file that is not open yet, as far as it was written."""
    if descriptor is None:
        return ""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - it is read for every file
    except OSError:
        return os.path.realpath(path)


def _is_own_pipe(path: Path) -> bool:
    """Whether a path stands for an open pipe of this process, which has no name: `/dev/stdin`, `/dev/fd/63`."""
    place = os.path.realpath(path)
    return place.startswith("/dev/fd/") or Path(place).name.startswith("pipe:[")


def _too_large(path: Path, size: str, kind: FileKind) -> OSError:
    return OSError(errno.EFBIG, f"it has {size}; {kind.name} has at most {_size(kind.most)}", str(path))


def _too_slow(path: Path, seconds: float) -> OSError:
    return OSError(errno.ETIMEDOUT, f"reading took more than {seconds:.0f} s", str(path))


def _size(count: int) -> str:
    """Bytes in words: `16 MiB`, `1.5 GiB`, `700 bytes`."""
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (_MIB, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:.4g} {name}"
    return f"{count} bytes"
