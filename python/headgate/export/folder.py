"""Writes an export: the folder gets all files or none."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from headgate.errors import UsageError
from headgate.files.disk import DISK
from headgate.files.store import UNFINISHED, not_writable


def write_files(folder: Path, files: Iterable[tuple[str, bytes]], *, force: bool) -> int:
    """Writes files by name; gives their number.

    A folder that is not empty is an error unless `force`, which replaces files of these names and keeps all others.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {folder} is not a folder")
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise UsageError(f"{folder} exists: give another folder with --out, or --force to replace its files")
    # The first file fails before the folder is made if there is no result.
    files = iter(files)
    first = next(files)
    new = not folder.exists()
    unfinished = folder / f"{UNFINISHED}export"
    try:
        DISK.remove_tree(unfinished)
        DISK.make_folder(unfinished)
        try:
            names = []
            for name, data in chain([first], files):
                DISK.make_folder((unfinished / name).parent)
                DISK.write(unfinished / name, data)
                names.append(name)
            for name in names:
                DISK.make_folder((folder / name).parent)
                DISK.rename(unfinished / name, folder / name)
        finally:
            DISK.remove_tree(unfinished)
            if new and not any(folder.iterdir()):
                DISK.remove_folder(folder)
    except OSError as error:
        raise not_writable(folder, error) from None
    return len(names)
