"""Writes files whole: under a temporary name, which is then renamed."""

from collections.abc import Callable, Mapping
from pathlib import Path

from headgate.errors import ResultError

#: The content of a file: its bytes, its text, or a function that writes it.
Content = bytes | str | Callable[[Path], object]

#: Prefix of unfinished files and folders.
UNFINISHED = ".unfinished-"


def write_files(folder: Path, files: Mapping[str, Content], what: str = "results", why: str = "") -> None:
    """Writes files into `folder`, which is made if needed, each atomically.

    Raises `ResultError` if `what` cannot be written; `why` ends the message.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            write_whole(folder / name, content)
    except OSError as error:
        raise not_writable(folder, error, what, why) from None


def write_whole(file: Path, content: Content) -> None:
    """Writes `file` atomically: to a temporary name, which is then renamed."""
    unfinished = file.with_name(f"{UNFINISHED}{file.name}")
    try:
        if callable(content):
            content(unfinished)
        else:
            unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
        unfinished.replace(file)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def not_writable(path: Path, error: OSError, what: str = "results", why: str = "") -> ResultError:
    """The error that `what` cannot be written to `path`; `why` ends the message."""
    return ResultError(f"cannot write {what} to {path}: {error.strerror or error}{why and f'; {why}'}")
