"""A command behind a link: started, waited for, and what came of it."""

import os
import select
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from headgate import _core
from headgate.errors import HeadgateError, UsageError

#: How often, in seconds, a watcher is shown the link.
TICK = 0.25

#: How long, in seconds, a server may take until it listens; a command starts then at the latest.
PATIENCE = 2.0

#: Signals to the whole terminal: the command gets them itself, and decides.
LEFT_TO_COMMAND = (signal.SIGINT, signal.SIGQUIT)

#: Signals to this process alone, which it hands on.
HANDED_ON = (signal.SIGTERM, signal.SIGHUP)


class LinkError(HeadgateError):
    """A link that cannot be made, or that broke; as `timeout` and `env` have it, 125 is their own failure."""

    exit_code = 125


def not_made(error: OSError, cc: str | None) -> HeadgateError:
    """Why there is no link, when its hosts were to use the congestion controller `cc`."""
    _, named, why = str(error).partition(f'net/ipv4/tcp_congestion_control to "{cc}": ')
    if named:
        return UsageError(f"--cc {cc}: {why}")
    return LinkError(str(error))


class CommandError(HeadgateError):
    """A command that cannot be started, with the exit code a shell has for that."""

    def __init__(self, word: str, error: OSError) -> None:
        self.exit_code = 127 if isinstance(error, FileNotFoundError) else 126
        super().__init__(f"cannot run {word!r}: {str(error).removesuffix(')').split(' (os error ')[0]}")


class CommandRun(NamedTuple):
    """What a command left: its exit code, how long it ran in seconds, and what the link did."""

    code: int
    seconds: float
    view: dict[str, Any]


def run(
    link: _core.Link,
    command: Sequence[str],
    server: Sequence[str] = (),
    watch: Callable[[dict[str, Any]], object] | None = None,
    tick: Callable[[], object] | None = None,
) -> CommandRun:
    """Runs `command` in the near host, while `server` runs in the far one.

    `watch` sees the link every `TICK`, and `tick` is called as often.
    """
    try:
        if server:
            _serve(link, server)
        with _signals() as belong_to:
            begun = time.monotonic()
            pid = _start(link.spawn, command)
            belong_to(pid)
            code = _wait(link, pid, watch, tick)
            seconds = time.monotonic() - begun
    finally:
        try:
            view = link.stop()
        except OSError as error:
            raise LinkError(f"the link broke: {error}") from None
    return CommandRun(code, seconds, view)


def own_resolvers(configured: Path = Path("/etc/resolv.conf")) -> str:
    """The name servers that programs here ask, if all are on this machine's loopback, which no near host has."""
    try:
        lines = [line.split() for line in configured.read_text().splitlines()]
    except OSError:
        return ""
    servers = [words[1] for words in lines if words[:1] == ["nameserver"] and len(words) > 1]
    own = all(server.startswith("127.") or server == "::1" for server in servers)
    # Without any the resolver asks the loopback (resolv.conf(5)).
    return ", ".join(servers or ["127.0.0.1"]) if own else ""


def _start(start: Callable[[Sequence[str]], Any], words: Sequence[str]) -> Any:
    try:
        return start(words)
    except OSError as error:
        raise CommandError(words[0], error) from None


def _serve(link: _core.Link, server: Sequence[str]) -> None:
    """Starts the server and waits until it listens, or might by now: not every server waits for TCP."""
    _start(link.serve, server)
    end = time.monotonic() + PATIENCE
    while not link.listens() and time.monotonic() < end:
        if (code := link.poll_server()) is not None:
            raise LinkError(f"the server {server[0]!r} ended before the command began, with exit code {code}")
        time.sleep(0.01)


def _wait(
    link: _core.Link,
    pid: int,
    watch: Callable[[dict[str, Any]], object] | None,
    tick: Callable[[], object] | None,
) -> int:
    """Waits for the command `pid`; raises `LinkError` if the link breaks meanwhile."""
    ended = select.poll()
    handle = os.pidfd_open(pid)
    try:
        ended.register(handle, select.POLLIN)
        while (code := link.poll()) is None:
            if not link.runs:
                raise LinkError("the link broke: a device is gone")
            if watch is not None:
                watch(link.view())
            if tick is not None:
                tick()
            ended.poll(TICK * 1000)
        return code
    finally:
        os.close(handle)


@contextmanager
def _signals() -> Iterator[Callable[[int], None]]:
    """From before the command starts until it has ended, signals are its own; what this gives is told its process.

    They have handlers: what is ignored would be ignored by what we start, too.
    """
    process: int | None = None
    early: list[int] = []

    def hand_on(number: int, _frame: FrameType | None) -> None:
        if process is None:
            early.append(number)
        else:
            os.kill(process, number)

    def belong_to(pid: int) -> None:
        nonlocal process
        process = pid
        for number in early:
            os.kill(pid, number)

    handlers = dict.fromkeys(LEFT_TO_COMMAND, lambda *_: None) | dict.fromkeys(HANDED_ON, hand_on)
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield belong_to
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
