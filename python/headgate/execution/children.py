"""Child processes that execute Python code: the only place with a fork. Linux.

A forked child shares the open files of its parent, and with them the lock of a result's folder, pipes and sockets. A
child that outlived a killed parent would keep the lock, and could wait for ever in a pipe that only it reads. Hence:

- The kernel kills the child when its parent dies (`PR_SET_PDEATHSIG`), however that happens. The keeper of
  `gateway --fail open` is the exception: it acts when the gateway has ended, and ends itself.
- Descriptors that the child does not need are replaced by /dev/null. Closed numbers would be used again, and an object
  of the parent that still has one could close the new file.
- All signals stay blocked in the child. A terminal or a service manager signals the whole group; the parent answers.
- `Children` ends and reaps its processes in every case.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

#: The option of prctl(2) for the signal at the parent's death.
PR_SET_PDEATHSIG = 1

#: The descriptor of standard error, for warnings and errors of a child.
STDERR = 2


def can_start() -> bool:
    """Whether children may be started: by the only thread of a process on Linux. Other threads may hold locks."""
    return (
        sys.platform == "linux"
        and threading.active_count() == 1
        and threading.current_thread() is threading.main_thread()
    )


class Children:
    """Child processes that each compute a value beside this process. At the end of the context none is left."""

    def __init__(self) -> None:
        self._outputs: dict[int, int] = {}

    def __enter__(self) -> Self:
        return self

    def start(self, job: Callable[[], object], needs: Iterable[int] = ()) -> None:
        """Starts a child that calls `job`. It keeps the descriptors `needs`.

        Raises `OSError` if the system gives no process.
        """
        output, written = os.pipe()

        def send() -> int:
            with os.fdopen(written, "wb") as stream:
                pickle.dump(job(), stream)
            return 0

        try:
            with _signals_blocked():  # Ctrl-C must not come before the child is known
                self._outputs[fork(send, (written, *needs))] = output
        except OSError:
            os.close(output)
            raise
        finally:
            os.close(written)

    def results(self) -> Iterator[Any]:
        """The value of each child, in the order of their starts. A child that failed has none."""
        for output in self._outputs.values():
            with os.fdopen(output, "rb", closefd=False) as stream:
                sent = stream.read()
            try:
                value = pickle.loads(sent)  # noqa: S301 - from our own process
            except (EOFError, pickle.UnpicklingError):
                continue
            yield value

    def __exit__(self, *_error: object) -> None:
        with _signals_blocked():
            for pid, output in self._outputs.items():
                os.close(output)
                _end(pid)


def fork(job: Callable[[], int], needs: Iterable[int], *, outlives: bool = False) -> int:
    """Forks a child that calls `job` and exits with the status that it returns, or 1. Returns the child's process.

    The child keeps the descriptors `needs` and standard error. It dies with this process unless it `outlives` it. Only
    a process with a single thread may call it. Raises `OSError` if the system gives no process, or has no /proc.
    """
    parent, prctl = os.getpid(), None if outlives else _prctl()
    with _signals_blocked(), warnings.catch_warnings():
        kept = {*needs, *(() if sys.__stderr__ is None else (STDERR,))}
        dropped = [each for each in (int(file.name) for file in Path("/proc/self/fd").iterdir()) if each not in kept]
        # Python 3.12 warns about all threads. Those of numpy and Arrow are prepared for a fork.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
        if pid:
            return pid
        status = 1
        try:
            # The parent may have died before the call.
            if prctl is None or (prctl() and os.getppid() == parent):
                _drop(dropped)
                status = job()
        finally:
            os._exit(status)


def _prctl() -> Callable[[], bool]:
    """A function that asks the kernel to kill this process at its parent's death, and returns whether it will."""
    try:
        import ctypes
    except ImportError:  # a Python that was built without libffi
        raise OSError("this Python has no ctypes") from None
    prctl, word = ctypes.CDLL(None).prctl, ctypes.c_ulong
    return lambda: prctl(PR_SET_PDEATHSIG, word(signal.SIGKILL), word(0), word(0), word(0)) == 0


def _drop(descriptors: Iterable[int]) -> None:
    """Replaces descriptors by /dev/null."""
    null = os.open(os.devnull, os.O_RDWR)
    # The list has its own descriptor, whose number may be free again.
    for each in set(descriptors) - {null}:
        os.dup2(null, each, inheritable=each <= STDERR)


def _end(pid: int) -> None:
    """Kills a child if it runs, and reaps it. Does nothing if another part of the program has reaped it."""
    with suppress(ChildProcessError, ProcessLookupError):
        if os.waitpid(pid, os.WNOHANG) == (0, 0):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


@contextmanager
def _signals_blocked() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
