"""Draws figures on all processors."""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Callable, Mapping

from matplotlib.figure import Figure

from headgate.execution.runner import processors
from headgate.plot.picture import Picture, picture

#: Makes each figure by its name; None if the result has no data for it.
Makers = Mapping[str, Callable[[], Figure | None]]

#: The figures that the processes draw, and their resolution. Forked processes find them here.
_work: tuple[Makers, float] = ({}, 0.0)


def pictures(makers: Makers, dpi: float) -> dict[str, Picture]:
    """Every figure as SVG and PNG, by name and in the order of `makers`; without those that are None.

    Figures are drawn in forked processes, since matplotlib holds the interpreter's lock. A process that has other
    threads is not forked, because they may hold locks. It draws one figure after the other.
    """
    global _work
    _work = makers, dpi
    count = min(processors(), len(makers))
    alone = threading.active_count() == 1 and threading.current_thread() is threading.main_thread()
    drawn = _in_processes(list(makers), count) if count > 1 and alone else map(_draw, makers)
    return {name: each for name, each in zip(makers, drawn, strict=True) if each is not None}


def _in_processes(names: list[str], count: int) -> list[Picture | None]:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with warnings.catch_warnings():
        # Python 3.12 warns about all threads. Those of numpy and Arrow are prepared for a fork.
        warnings.simplefilter("ignore", DeprecationWarning)
        with ProcessPoolExecutor(count, mp_context=get_context("fork"), initializer=_ignore_ctrl_c) as pool:
            return list(pool.map(_draw, names))


def _ignore_ctrl_c() -> None:
    """Leaves Ctrl-C to the parent process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _draw(name: str) -> Picture | None:
    makers, dpi = _work
    figure = makers[name]()
    return None if figure is None else picture(figure, dpi)
