"""Runs a command behind a link and waits for it."""

import os
import select
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from headgate import _core, guarded
from headgate.errors import HeadgateError, UsageError
from headgate.live.invoker import CommandUser
from headgate.terminal import stopping
from headgate.terminal.console import console

#: Seconds between views of the link.
TICK = 0.25

#: Seconds to wait for the server to listen; on a busy machine an interpreter takes seconds to start.
SERVER_START_S = 10.0

#: Signals that the terminal sends to the whole group: the command handles them itself.
LEFT_TO_COMMAND = (signal.SIGINT, signal.SIGQUIT)

#: Signals to this process only: it forwards them to the command.
FORWARDED = (signal.SIGTERM, signal.SIGHUP)


class LinkError(HeadgateError):
    """A link that cannot be made, or that failed. Exit code 125, as `timeout` and `env` use it."""

    exit_code = 125


def not_made(error: Exception, cc: str | None) -> HeadgateError:
    """The error of a link that cannot be made; `cc` is the congestion control of its hosts."""
    if not isinstance(error, ValueError):
        return LinkError(str(error))
    _, named, why = str(error).partition(f'net/ipv4/tcp_congestion_control to "{cc}": ')
    return UsageError(f"--cc {cc}: {why}" if named else str(error))


class CommandError(HeadgateError):
    """A command that cannot be started, with a shell's exit code for it."""

    def __init__(self, word: str, error: OSError) -> None:
        self.exit_code = 127 if isinstance(error, FileNotFoundError) else 126
        super().__init__(f"cannot run {word!r}: {os.strerror(error.errno or 0)}")


class CommandRun(NamedTuple):
    """A finished command: its exit code, its duration in seconds, and the last view of the link."""

    code: int
    seconds: float
    view: dict[str, Any]


def run(
    link: _core.Link,
    command: Sequence[str],
    server: Sequence[str] = (),
    user: CommandUser | None = None,
    watches: Sequence[Callable[[dict[str, Any]], object]] = (),
    tick: Callable[[], object] | None = None,
) -> CommandRun:
    """Runs `command` in the near host while `server` runs in the far host, both as `user` or as this process.

    `watches` get a view of the link every `TICK` seconds; `tick` is called as often.
    """
    try:
        if server:
            _serve(link, server, user)
        with _signals() as forward_to:
            begun = time.monotonic()
            pid = _start(link.spawn, command, user)
            forward_to(pid)
            code = _wait(link, pid, watches, tick)
            seconds = time.monotonic() - begun
    except _core.LiveError as error:
        raise LinkError(str(error)) from None
    finally:
        try:
            view = link.stop()
        except _core.LiveError as error:
            raise LinkError(f"the link failed: {error}") from None
    return CommandRun(code, seconds, view)


def own_resolvers(configured: Path = Path("/etc/resolv.conf")) -> str:
    """The name servers of this machine if all are on its loopback, which the near host cannot reach; else empty."""
    try:
        lines = [line.split() for line in guarded.read_text(configured, guarded.SETTINGS).splitlines()]
    except (OSError, UnicodeDecodeError):
        return ""
    servers = [words[1] for words in lines if words[:1] == ["nameserver"] and len(words) > 1]
    own = all(server.startswith("127.") or server == "::1" for server in servers)
    # Without an entry the resolver uses the loopback address (resolv.conf(5)).
    return ", ".join(servers or ["127.0.0.1"]) if own else ""


def _start(start: Callable[..., Any], words: Sequence[str], user: CommandUser | None) -> Any:
    try:
        return start(words, user)
    except OSError as error:
        raise CommandError(words[0], error) from None


def _serve(link: _core.Link, server: Sequence[str], user: CommandUser | None) -> None:
    """Starts the server and waits until it listens, or for a time, since not every server uses TCP or UDP."""
    _start(link.serve, server, user)
    end = time.monotonic() + SERVER_START_S
    while not link.listens():
        if (code := link.poll_server()) is not None:
            raise LinkError(f"the server {server[0]!r} exited with code {code} before the command started")
        if time.monotonic() > end:
            note = f"the server {server[0]!r} has opened no port in {SERVER_START_S:.0f} s; the command starts"
            console(stderr=True).print(note, markup=False, highlight=False)
            return
        time.sleep(0.01)


def _wait(
    link: _core.Link,
    pid: int,
    watches: Sequence[Callable[[dict[str, Any]], object]],
    tick: Callable[[], object] | None,
) -> int:
    """Waits for the command `pid`; raises `LinkError` if the link fails before it ends."""
    ended = select.poll()
    try:
        handle = os.pidfd_open(pid)
    except OSError as error:
        raise LinkError(str(_core.refused("ProcessWatch", error.errno or 0))) from None
    try:
        ended.register(handle, select.POLLIN)
        while (code := link.poll()) is None:
            if not link.is_running:
                raise LinkError("the link failed: a device was removed")
            view = link.view()
            for watch in watches:
                watch(view)
            if tick is not None:
                tick()
            ended.poll(TICK * 1000)
        return code
    finally:
        os.close(handle)


@contextmanager
def _signals() -> Iterator[Callable[[int], None]]:
    """Forwards signals to the command until it has ended. Yields a function that must be called with its process.

    The signals get handlers instead of SIG_IGN: the command would inherit that.
    """
    process: int | None = None
    early: list[int] = []

    def leave(_number: int, _frame: FrameType | None) -> None:
        stopping.taken()

    def forward(number: int, _frame: FrameType | None) -> None:
        stopping.taken()
        if process is None:
            early.append(number)
        else:
            os.kill(process, number)

    def forward_to(pid: int) -> None:
        nonlocal process
        process = pid
        for number in early:
            os.kill(pid, number)

    handlers = dict.fromkeys(LEFT_TO_COMMAND, leave) | dict.fromkeys(FORWARDED, forward)
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield forward_to
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
