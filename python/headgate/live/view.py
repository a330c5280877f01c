"""A table of the link in the terminal while a command runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from headgate.live.directions import DIRECTIONS
from headgate.live.summary import reasons
from headgate.terminal.console import console

if TYPE_CHECKING:
    from rich.table import Table

HEADS = ("Mbit/s", "queue packets", "KiB", "dropped", "marked", "link losses")


@contextmanager
def screen() -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """A function that shows views on stderr if it is a terminal, with rates since the last view."""
    from rich.live import Live

    out = console(stderr=True)
    if not out.is_terminal:
        yield lambda _: None
        return
    before: Mapping[str, Any] | None = None
    with Live(console=out, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False) as live:

        def show(view: Mapping[str, Any]) -> None:
            nonlocal before
            live.update(table(before or view, view), refresh=True)
            before = view

        yield show


def table(before: Mapping[str, Any], now: Mapping[str, Any]) -> Table:
    """One row for each direction: the rate between two views, the current queue, and totals."""
    from rich.table import Column, Table

    heads = (Column(head, justify="right") for head in HEADS)
    drawn = Table(f"{now['at_s']:.1f} s", *heads, box=None, pad_edge=False)
    seconds = now["at_s"] - before["at_s"]
    for direction in DIRECTIONS:
        drawn.add_row(direction, *cells(before[direction], now[direction], seconds))
    return drawn


def cells(before: Mapping[str, Any], now: Mapping[str, Any], seconds: float) -> list[str]:
    """A direction's row, `seconds` after the last view."""
    rate = (now["sent_bytes"] - before["sent_bytes"]) * 8e-6 / seconds if seconds > 0 else 0.0
    queue = [str(now["queue_packets"]), f"{now['queue_bytes'] / 1024:.0f}"]
    return [f"{rate:.3f}", *queue, reasons(now["drops"]), reasons(now["marks"]), str(now["lost"])]
