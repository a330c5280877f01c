"""What a gateway keeps after its start: the files that it may read, and the folder whose sockets it may remove.

`headgate_live::confinement` gives up all other rights of the process. Without Landlock in the kernel the paths have no
effect.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

#: Most symbolic links on the way to a file (path_resolution(7)).
MOST_LINKS = 40

#: The system's shared libraries, which modules of Python load, and the data of the C library.
SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/etc/localtime")


class KeptPaths(NamedTuple):
    """Files to read, and folders with all that they contain; folders in which files may be removed."""

    readable: list[str]
    removable: list[str]


def kept_paths(settings_files: Iterable[Path], sockets: Path | None) -> KeptPaths:
    """The paths that a gateway needs to read `settings_files` again, and to remove its socket from `sockets`.

    An editor replaces a file instead of changing it, so the folder of each file may be read.
    """
    folders = [folder for file in settings_files for folder in _folders(file)]
    readable = {*map(str, folders), *_code(), *SYSTEM}
    return KeptPaths(sorted(readable), [] if sockets is None else [str(sockets)])


def _folders(file: Path) -> Iterator[Path]:
    """The folder of `file`, and if it is a symbolic link the folder of each file on the way.

    The root contains everything: of a file there only the file itself may be read.
    """
    for _ in range(MOST_LINKS):
        file = file.absolute()
        yield file if file.parent.resolve() == Path(file.anchor) else file.parent
        if not file.is_symlink():
            return
        file = file.parent / file.readlink()


def _code() -> Iterator[str]:
    """Folders of Python's library and of each imported package: some modules load when they are first needed."""
    paths = sysconfig.get_paths()
    yield from (paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    for name, module in sorted(sys.modules.items()):
        if "." not in name:
            yield from map(str, getattr(module, "__path__", ()))
