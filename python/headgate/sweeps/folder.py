"""The location of a dataset: a local folder, any file system of fsspec (`s3://bucket/path`), or memory."""

import glob
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Protocol

from headgate import guarded
from headgate.errors import ResultError, UsageError
from headgate.extras import require
from headgate.files import durable, store
from headgate.files.disk import DISK

#: URLs of files on this machine. fsspec would open whatever has such a name.
LOCAL = "file://"


class Folder(Protocol):
    """A folder of files by name, such as `flows/0123456789abcdef.parquet`; each is written whole.

    `files` is the fsspec file system with the folder; None for a local path.
    """

    files: Any

    @property
    def url(self) -> str | None:
        """Its path or URL, for messages and for opening it again; None for memory."""

    def names(self, folder: str) -> list[str]:
        """The names of the files in a subfolder; empty if there is no such subfolder."""

    def read(self, names: Sequence[str]) -> dict[str, bytes]:
        """The contents of the files with these names; missing files are left out."""

    def write(self, files: Mapping[str, bytes]) -> None:
        """Writes files by name; `ResultError` if that fails."""

    def remove(self, names: Sequence[str]) -> None:
        """Removes files. Missing files are no error; `ResultError` if removing fails."""

    def commit(self) -> None:
        """Waits until everything written is on the disk; `ResultError` if that fails."""

    def locked(self) -> AbstractContextManager[object]:
        """Locks the folder during the context if possible; `ResultError` if another process writes there.

        Whether the folder is writable is not checked here.
        """


class _MemoryFolder:
    """A dataset in memory."""

    files = url = None

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}

    def names(self, folder: str) -> list[str]:
        return [name for name in self._files if name.startswith(f"{folder}/")]

    def read(self, names: Sequence[str]) -> dict[str, bytes]:
        return {name: self._files[name] for name in names if name in self._files}

    def write(self, files: Mapping[str, bytes]) -> None:
        self._files.update(files)

    def remove(self, names: Sequence[str]) -> None:
        for name in names:
            del self._files[name]

    def commit(self) -> None:
        pass

    def locked(self) -> AbstractContextManager[object]:
        return nullcontext()


class _LocalFolder:
    """A folder on this machine."""

    files = None

    def __init__(self, path: Path) -> None:
        self._path = path
        self._commits = durable.GroupCommit()
        self.url = str(path)

    def names(self, folder: str) -> list[str]:
        subfolder = self._path / folder
        return [f"{folder}/{file.name}" for file in subfolder.iterdir()] if subfolder.is_dir() else []

    def read(self, names: Sequence[str]) -> dict[str, bytes]:
        contents = {}
        for name in names:
            try:
                contents[name] = DISK.read(self._path / name, guarded.TABLE)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                raise ResultError(f"cannot read {self._path / name}: {error.strerror or error}") from None
        return contents

    def write(self, files: Mapping[str, bytes]) -> None:
        with self._writing():
            for name, data in files.items():
                durable.make_folder((self._path / name).parent)
                store.write_whole(self._path / name, data)
            self._commits.add(*(self._path / name for name in files))

    def remove(self, names: Sequence[str]) -> None:
        with self._writing():
            for name in names:
                DISK.remove(self._path / name)
            self._commits.add(*(self._path / name for name in names))

    def commit(self) -> None:
        with self._writing():
            self._commits.commit()

    def locked(self) -> AbstractContextManager[object]:
        return store.locked_folder(self._path, check_writable=False)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise store.not_writable(self._path, error) from None


class _RemoteFolder:
    """A folder that fsspec reaches. Object stores write files whole, so no reader sees half a file."""

    def __init__(self, url: str) -> None:
        require("fsspec.core", f"{url} needs fsspec")
        from fsspec.core import url_to_fs

        if glob.has_magic(url):  # fsspec would look for files that match
            raise UsageError(f"the URL of a dataset has no `*`, `?` or `[`: found {url}")
        try:
            self.files, self._path = url_to_fs(url)
        except (ImportError, ValueError) as error:  # a scheme that needs another package, or an unknown one
            raise UsageError(f"cannot open {url}: {error}") from None
        self.url = url
        self._made: set[str] = set()

    def names(self, folder: str) -> list[str]:
        try:
            paths = self._do("read", self.files.ls, f"{self._path}/{folder}", detail=False)
        except FileNotFoundError:
            return []
        return [f"{folder}/{file.rsplit('/', 1)[-1]}" for file in paths]

    def read(self, names: Sequence[str]) -> dict[str, bytes]:
        # Some file systems return paths with a leading root, others without.
        paths = {f"{self._path}/{name}".strip("/"): name for name in names}
        given = [f"{self._path}/{name}" for name in names]
        contents = self._do("read", self.files.cat, given, on_error="omit") if given else {}
        return {paths[path.strip("/")]: data for path, data in contents.items()}

    def write(self, files: Mapping[str, bytes]) -> None:
        # All files are written in parallel: each request to an object store takes long.
        whole = {f"{self._path}/{name}": data for name, data in files.items()}
        for folder in {path.rpartition("/")[0] for path in whole} - self._made:
            # A path without a root begins with its bucket, which has no folders. Buckets are never created.
            if folder.startswith("/"):
                self._do("write results to", self.files.makedirs, folder, exist_ok=True)
            self._made.add(folder)
        try:
            self._do("write results to", self.files.pipe, whole)
        except FileNotFoundError:
            bucket = self._path.partition("/")[0]
            raise ResultError(f"cannot write results to {self.url}: there is no bucket {bucket!r}") from None

    def remove(self, names: Sequence[str]) -> None:
        if names:
            self._do("write results to", self.files.rm, [f"{self._path}/{name}" for name in names])

    def commit(self) -> None:
        pass  # a request to an object store returns when the file is stored

    def locked(self) -> AbstractContextManager[object]:
        return nullcontext()  # object stores have no locks; two sweeps would write the same bytes

    def _do(self, what: str, job: Any, *args: Any, **named: Any) -> Any:
        try:
            return job(*args, **named)
        except FileNotFoundError:
            raise
        except Exception as error:  # every file system has errors of its own
            raise ResultError(f"cannot {what} {self.url}: {error}") from error


def below(parent: str | Path | None, name: str) -> Folder:
    """The folder `name` in `parent`: a path, a URL, or None for memory."""
    if parent is None:
        return _MemoryFolder()
    return at(f"{str(parent).rstrip('/')}/{name}" if _is_url(parent) else Path(parent) / name)


def at(location: str | Path) -> Folder:
    """The folder at a path or a URL. A URL of this machine's files is a path."""
    if isinstance(location, str) and location.startswith(LOCAL):
        location = Path(location.removeprefix(LOCAL))
    return _RemoteFolder(str(location)) if _is_url(location) else _LocalFolder(Path(location))


def _is_url(location: str | Path) -> bool:
    return isinstance(location, str) and "://" in location
