"""Commands as users run them: a process with a terminal, which is ended by a signal or by closing the terminal.

Every process that such a command starts has a mark in its environment, by which a test finds those that it left.
"""

import fcntl
import os
import pty
import resource
import select
import signal
import subprocess
import sys
import termios
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

#: The variable of the environment with the mark.
MARK = "HEADGATE_TEST_MARK"

#: Seconds after which a command that should end has failed.
PATIENCE_S = 120.0


class Way(NamedTuple):
    """A way to end a command: the signal that it gets, and how."""

    name: str
    number: signal.Signals
    to_group: bool = False
    hangs_up: bool = False

    @property
    def code(self) -> int:
        """The return code of a command that was met: 128 and the number, as in a shell."""
        return -self.number if self.number == signal.SIGKILL else 128 + self.number

    @property
    def codes(self) -> tuple[int, ...]:
        """The same, and 3 where output may fail before the signal comes: the kernel closes a terminal first."""
        return (self.code, 3) if self.hangs_up else (self.code,)


#: Every way. Keys of a terminal and a shell that ends signal the whole group; `kill` signals one process.
WAYS = (
    Way("SIGTERM", signal.SIGTERM),
    Way("SIGTERM to all", signal.SIGTERM, to_group=True),
    Way("SIGHUP", signal.SIGHUP),
    Way("closed terminal", signal.SIGHUP, hangs_up=True),
    Way("SIGQUIT", signal.SIGQUIT),
    Way("Ctrl-backslash", signal.SIGQUIT, to_group=True),
    Way("Ctrl-C", signal.SIGINT, to_group=True),
    Way("SIGKILL", signal.SIGKILL),
)


class Terminal:
    """A running command whose output is a terminal. At the end of the context no process of it runs.

    Closing the terminal ends the command only if it is `controlling`. The kernel then also ends the orphans of a
    session whose first process ends, which would hide them.
    """

    def __init__(self, words: Sequence[object], folder: Path, *, controlling: bool = False) -> None:
        self._mark = uuid.uuid4().hex
        self._screen, shell = pty.openpty()
        self._open = True
        self._known: set[int] = set()
        self.output = b""
        self.seconds = 0.0  # its duration
        self._began = time.monotonic()
        self.process = subprocess.Popen(
            list(map(str, words)), cwd=folder, stdin=shell, stdout=shell, stderr=shell, start_new_session=True,
            preexec_fn=_in_terminal if controlling else _without_core, env={**os.environ, MARK: self._mark},
        )  # fmt: skip
        os.close(shell)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        for pid in {self.process.pid, *self.processes()}:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self._close()

    def wait(self, until: Callable[[], object] = lambda: False, seconds: float = PATIENCE_S) -> bool:
        """Reads the output until the command ended, `until` is true, or the time is over. Returns whether it ended."""
        end = time.monotonic() + seconds
        while not (ended := self.process.poll() is not None) and not until() and time.monotonic() < end:
            self._read(0.01)
        while self._read(0):
            pass
        if ended and not self.seconds:
            self.seconds = time.monotonic() - self._began
        return ended

    def wait_for(self, until: Callable[[], object]) -> None:
        """Reads the output until `until` is true, which must come before the end of the command."""
        assert not self.wait(until), self.text
        assert until(), self.text

    def end(self, way: Way) -> None:
        """Ends the command."""
        self._known |= set(self.processes())
        if way.hangs_up:
            self._close()
        elif self.process.poll() is None:
            (os.killpg if way.to_group else os.kill)(self.process.pid, way.number)
        assert self.wait(), f"{way.name} does not end it: {self.text}"

    def finish(self) -> str:
        """Waits for the end of the command, which must succeed. Returns its output."""
        assert self.wait(), self.text
        assert self.process.returncode == 0, self.text
        return self.text

    @property
    def text(self) -> str:
        return self.output.decode(errors="replace")

    def children(self) -> list[int]:
        """The child processes of the command."""
        found: list[int] = []
        for file in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, file.read_text().split())
        return found

    def processes(self) -> list[int]:
        """The processes with the mark."""
        wanted, found = f"{MARK}={self._mark}".encode(), []
        for file in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if wanted in file.read_bytes().split(b"\0"):
                    found.append(int(file.parent.name))
        return found

    def left(self) -> list[str]:
        """What the ended command left: processes that have not ended either after some seconds."""
        end = time.monotonic() + 20
        # A process that is ending has no environment any more, but may still have files.
        while (found := {*self.processes(), *filter(_is_alive, self._known)}) and time.monotonic() < end:
            time.sleep(0.01)
        return [Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ") for pid in found]

    def _read(self, seconds: float) -> bool:
        """Reads a piece of output. Returns whether there may be more."""
        if not self._open:
            time.sleep(seconds)
            return False
        if not select.select([self._screen], [], [], seconds)[0]:
            return False
        try:
            piece = os.read(self._screen, 1 << 16)
        except OSError:  # no process has the terminal any more
            time.sleep(seconds)
            return False
        self.output += piece
        return True

    def _close(self) -> None:
        if self._open:
            self._open = False
            os.close(self._screen)


def headgate_in(folder: Path, command: str, way: Way | None = None) -> Terminal:
    """The command `headgate` in a folder, to be ended in a way. Its words have no blanks."""
    controlling = way is not None and way.hangs_up
    return Terminal([sys.executable, "-m", "headgate", *command.split()], folder, controlling=controlling)


def _in_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    _without_core()


def _without_core() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # SIGQUIT before the command has begun


def _is_alive(pid: int) -> bool:
    """Whether a process exists and is no zombie, which has no files."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
