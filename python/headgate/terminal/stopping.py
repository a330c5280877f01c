"""Signals that stop a command: SIGTERM, SIGHUP and SIGQUIT do as Ctrl-C does."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import contextmanager

TYPE_CHECKING = False  # as in `headgate`

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

#: The signals besides SIGINT, where the system has them.
STOPS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name))

#: Seconds in which further signals are repetitions of the first: `timeout` and a closed terminal send two.
REPETITION_S = 2.0

#: Added to a signal's number for the exit code, as shells do.
SIGNALED = 128

_received: list[tuple[int, float]] = []
_taken_at: list[float] = []


def install() -> None:
    """Lets the signals stop the command. A signal that was ignored from the start, as by `nohup`, stays ignored."""
    for number in (signal.SIGINT, *STOPS):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, interrupt)


def uninstall() -> None:
    """Lets the signals kill the process, now that the command has ended: Python would print a traceback."""
    if _received:
        _discard_lost_output()
    for number in (signal.SIGINT, *STOPS):
        if is_ours(number):
            signal.signal(number, signal.SIG_DFL)


def _discard_lost_output() -> None:
    """Redirects the output of a closed terminal. Python would fail to write it and exit with 120."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def is_ours(number: int) -> bool:
    """Whether the signal stops the command in the way of this module, or of Python for Ctrl-C."""
    return signal.getsignal(number) in (interrupt, signal.default_int_handler)


def interrupt(number: int, _frame: FrameType | None) -> None:
    """The handler: raises `KeyboardInterrupt`, so that finished work is kept and everything is closed."""
    if is_repetition(number):
        return
    _received.append((number, time.monotonic()))
    raise KeyboardInterrupt


def taken() -> None:
    """Notes that the command has taken such a signal itself, and ends in its own way: a repetition does not stop it."""
    _taken_at[:] = [time.monotonic()]


@contextmanager
def taking() -> Iterator[None]:
    """A context that such a signal ends, without an error."""
    try:
        yield
    except KeyboardInterrupt:
        taken()


def is_repetition(number: int) -> bool:
    """Whether a signal repeats one that has come. A second Ctrl-C does not, unless the command took the first."""
    stopped_at = [at for _, at in _received[-1:] if number != signal.SIGINT]
    return any(time.monotonic() - at < REPETITION_S for at in (*stopped_at, *_taken_at))


def received() -> bool:
    """Whether a signal has come. Errors that follow are its consequence: libraries turn an interruption into others."""
    return bool(_received)


def exit_code(otherwise: int = SIGNALED + signal.SIGINT) -> int:
    """The exit code for the signal that stopped the command; `otherwise` if none did."""
    return SIGNALED + _received[0][0] if _received else otherwise
