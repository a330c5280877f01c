"""Draws figures on all processors."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence

from matplotlib.figure import Figure

from headgate.execution.runner import processors
from headgate.plot.picture import Picture, picture

#: Makes each figure by its name; None if the result has no data for it.
Makers = Mapping[str, Callable[[], Figure | None]]


def pictures(makers: Makers, dpi: float, *, png: bool = True) -> dict[str, Picture]:
    """Every figure as SVG, and as PNG if wanted, by name and in the order of `makers`; without those that are None.

    Figures are drawn in forked processes, since matplotlib holds the interpreter's lock. A process that has other
    threads is not forked, because they may hold locks, nor is one on macOS, whose libraries do not survive a fork.
    It draws one figure after the other, as on Windows, which has no fork.
    """

    def draw(name: str) -> Picture | None:
        figure = makers[name]()
        return None if figure is None else picture(figure, dpi, png=png)

    count = min(processors(), len(makers)) if sys.platform == "linux" else 1
    alone = threading.active_count() == 1 and threading.current_thread() is threading.main_thread()
    drawn = _in_processes(draw, list(makers), count) if count > 1 and alone else {}
    everything = {name: drawn[name] if name in drawn else draw(name) for name in makers}
    return {name: each for name, each in everything.items() if each is not None}


def _in_processes(draw: Callable[[str], Picture | None], names: Sequence[str], count: int) -> dict[str, Picture | None]:
    """The figures by name, drawn by this process and `count - 1` forked ones. Those of a process that died are missing.

    A pool of the standard library imports many modules, and its parent process only waits.
    """
    # A pipe with a byte for each figure is the queue of work. The last figures are the largest, so they begin.
    take, put = os.pipe()
    os.write(put, bytes(reversed(range(len(names)))))
    os.close(put)

    def mine() -> dict[str, Picture | None]:
        return {names[taken[0]]: draw(names[taken[0]]) for taken in iter(lambda: os.read(take, 1), b"")}

    children: dict[int, int] = {}
    try:
        for _ in range(count - 1):
            pid, output = _fork(mine)
            children[pid] = output
        drawn = mine()
        for output in children.values():
            drawn |= _received(output)
        return drawn
    finally:
        os.close(take)
        for pid in children:
            os.kill(pid, signal.SIGKILL)  # it has finished, unless an error or Ctrl-C ended this process's part
            os.waitpid(pid, 0)


def _fork(job: Callable[[], dict[str, Picture | None]]) -> tuple[int, int]:
    """Starts a process that does `job`. Returns its identifier, and the descriptor with the pickled result."""
    output, written = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns about all threads. Those of numpy and Arrow are prepared for a fork.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        os.close(written)
        return pid, output
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent process
    try:
        with os.fdopen(written, "wb") as stream:
            pickle.dump(job(), stream)
    finally:
        # The parent process draws the missing figures again, so it also meets the error.
        os._exit(0)


def _received(output: int) -> dict[str, Picture | None]:
    """The pictures that a process sent; none if it failed."""
    with os.fdopen(output, "rb") as stream:
        sent = stream.read()
    try:
        drawn: dict[str, Picture | None] = pickle.loads(sent)  # noqa: S301 - from our own process
    except (EOFError, pickle.UnpicklingError):
        return {}
    return drawn
