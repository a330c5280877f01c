"""Draws figures on all processors."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from matplotlib.figure import Figure

from headgate.execution.children import Children, can_start
from headgate.execution.runner import processors
from headgate.plot.picture import Picture, picture

#: Makes each figure by its name; None if the result has no data for it.
Makers = Mapping[str, Callable[[], Figure | None]]


def pictures(makers: Makers, dpi: float, *, png: bool = True) -> dict[str, Picture]:
    """Every figure as SVG, and as PNG if wanted, by name and in the order of `makers`; without those that are None.

    Figures are drawn in child processes, since matplotlib holds the interpreter's lock. Where none may be started, this
    process draws one figure after the other.
    """

    def draw(name: str) -> Picture | None:
        figure = makers[name]()
        return None if figure is None else picture(figure, dpi, png=png)

    count = min(processors(), len(makers))
    drawn = _in_processes(draw, list(makers), count) if count > 1 and can_start() else {}
    everything = {name: drawn[name] if name in drawn else draw(name) for name in makers}
    return {name: each for name, each in everything.items() if each is not None}


def _in_processes(draw: Callable[[str], Picture | None], names: Sequence[str], count: int) -> dict[str, Picture | None]:
    """The figures by name, drawn by this process and `count - 1` children. Those of a child that failed are missing.

    A pool of the standard library imports many modules, and its parent process only waits.
    """
    # A pipe with a byte for each figure is the queue of work. The last figures are the largest, so they begin.
    take, put = os.pipe()
    os.write(put, bytes(reversed(range(len(names)))))
    os.close(put)

    def mine() -> dict[str, Picture | None]:
        return {names[taken[0]]: draw(names[taken[0]]) for taken in iter(lambda: os.read(take, 1), b"")}

    try:
        with Children() as children:
            with suppress(OSError):  # the running processes suffice
                for _ in range(count - 1):
                    children.start(mine, (take,))
            drawn = mine()
            for sent in children.results():
                drawn |= sent
        return drawn
    finally:
        os.close(take)
