"""Writes files whole: under a temporary name, which is then renamed."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from headgate.errors import ResultError
from headgate.files import durable
from headgate.files.disk import DISK

#: The content of a file: its bytes or its text.
Content = bytes | str

#: Prefix of unfinished files and folders.
UNFINISHED = ".unfinished-"


def write_files(folder: Path, files: Mapping[str, Content], what: str = "results", why: str = "") -> None:
    """Writes files into `folder`, which is made if needed, each atomically. When this returns, they are on the disk.

    Raises `ResultError` if `what` cannot be written; `why` ends the message.
    """
    try:
        durable.make_folder(folder)
        for name, content in files.items():
            write_whole(folder / name, content, sync=True)
        DISK.sync(folder)
    except OSError as error:
        raise not_writable(folder, error, what, why) from None


def write_whole(file: Path, content: Content, *, sync: bool = False) -> None:
    """Writes `file` atomically: to a temporary name, which is then renamed.

    A power failure may tear the file unless `sync`, which waits for the disk before the name changes.
    """
    unfinished = file.with_name(f"{UNFINISHED}{file.name}")
    try:
        DISK.write(unfinished, content.encode() if isinstance(content, str) else content)
        if sync:
            DISK.sync(unfinished)
        DISK.rename(unfinished, file)
    except BaseException:
        with suppress(OSError):
            DISK.remove(unfinished)
        raise


def not_writable(path: Path, error: OSError, what: str = "results", why: str = "") -> ResultError:
    """The error that `what` cannot be written to `path`; `why` ends the message."""
    return ResultError(f"cannot write {what} to {path}: {error.strerror or error}{why and f'; {why}'}")
