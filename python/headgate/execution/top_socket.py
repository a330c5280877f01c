"""The Unix socket at which a running link or gateway serves `headgate top`. Only its user may open it."""

import json
import os
import socket
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, Self

from headgate import _core
from headgate.files import store

#: Timeout of a client in seconds.
TIMEOUT_S = 5.0

#: The longest document read from a socket, in bytes. A view with 32 flows in each direction takes 20 KB.
LONGEST_BYTES = 1 << 22


def folders() -> list[Path]:
    """The folders for sockets of this user, in order: XDG_RUNTIME_DIR, /run for root, /tmp."""
    candidates = []
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        candidates.append(Path(runtime) / "headgate")
    if os.geteuid() == 0:
        candidates.append(Path("/run/headgate"))
    candidates.append(Path(tempfile.gettempdir()) / f"headgate-{os.geteuid()}")
    return candidates


def _is_private(folder: Path) -> bool:
    """Whether a folder exists, is not a symlink, belongs to this user and is closed to others."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077


def _open_folder() -> Path:
    """The first usable folder, made if needed; raises `OSError` if there is none."""
    for folder in folders():
        with suppress(OSError):
            folder.mkdir(mode=0o700)
        if _is_private(folder) and os.access(folder, os.W_OK):
            return folder
    raise OSError("no folder for a socket can be made")


class ViewSocket:
    """Serves views as JSON to every client, from `serve` to the end of the context, at whose start it makes the socket.

    `name` is the kind, such as `gateway`; `what` describes it. If no socket can be made, it does nothing. Sockets that
    killed processes left behind are removed first.
    """

    def __init__(self, name: str, what: str) -> None:
        self._head = {"name": name, "pid": os.getpid(), "what": what, "version": _core.VERSION}
        self._socket: socket.socket | None = None

    @property
    def folder(self) -> Path | None:
        """The folder of the socket; None without one."""
        return None if self._socket is None else self._path.parent

    def __enter__(self) -> Self:
        with suppress(OSError):
            folder = _open_folder()
            for path in folder.glob("*.sock"):
                _remove_if_stale(path)
            self._path = folder / f"{self._head['name']}-{os.getpid()}.sock"
            self._path.unlink(missing_ok=True)
            listening = socket.socket(socket.AF_UNIX)
            listening.bind(str(self._path))
            self._path.chmod(0o600)
            listening.listen()
            self._socket = listening
        return self

    def serve(self, read_view: Callable[[], Mapping[str, Any]]) -> None:
        """Answers clients with the view that `read_view` returns, in a thread."""
        if self._socket is not None:
            with suppress(RuntimeError):  # no thread can be started
                Thread(target=self._serve, args=(self._socket, read_view), name="top", daemon=True).start()

    def __exit__(self, *_: object) -> None:
        if self._socket is not None:
            # The thread may block in `accept`, which `close` alone does not interrupt.
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()
            self._path.unlink(missing_ok=True)

    def _serve(self, listening: socket.socket, read_view: Callable[[], Mapping[str, Any]]) -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            with client, suppress(OSError):
                client.settimeout(TIMEOUT_S)
                client.sendall(
                    json.dumps(store.without_nan({**self._head, "view": read_view()}), allow_nan=False).encode()
                )


def _remove_if_stale(path: Path) -> None:
    """Removes a socket that no process serves any more: its process was killed."""
    with socket.socket(socket.AF_UNIX) as client, suppress(OSError):
        # A process whose queue of connections is full is alive.
        client.setblocking(False)
        try:
            client.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)


def running() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every running link and gateway with its current view. Sockets of killed processes are removed."""
    for folder in filter(_is_private, folders()):
        for path in sorted(folder.glob("*.sock")):
            document = ask(path)
            if document is not None:
                yield path, document


def ask(path: Path) -> dict[str, Any] | None:
    """The document served at a socket; None if no process serves it."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(TIMEOUT_S)
        try:
            client.connect(str(path))
            data = b""
            while (piece := client.recv(1 << 16)) and len(data) < LONGEST_BYTES:
                data += piece
            document = json.loads(data)
        except (OSError, ValueError) as error:
            if isinstance(error, ConnectionRefusedError | FileNotFoundError):
                path.unlink(missing_ok=True)
            return None
    return document if isinstance(document, dict) else None
