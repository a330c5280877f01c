"""What a link does, in the terminal, while a command runs."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from headgate.live.directions import DIRECTIONS
from headgate.live.summary import reasons
from headgate.terminal.console import console

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

HEADS = ("Mbit/s", "queue packets", "KiB", "dropped", "marked", "lost")


class Screen:
    """Shows views on stderr, if that is a terminal; call it with each."""

    def __init__(self) -> None:
        self._live: Live | None = None
        self._before: Mapping[str, Any] | None = None

    def __enter__(self) -> Self:
        from rich.live import Live

        out = console(stderr=True)
        if out.is_terminal:
            self._live = Live(
                console=out, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
            )
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, view: Mapping[str, Any]) -> None:
        """Shows `view`, and the rates since the one before it."""
        if self._live is not None:
            self._live.update(table(self._before or view, view), refresh=True)
            self._before = view


def table(before: Mapping[str, Any], now: Mapping[str, Any]) -> Table:
    """One row a direction: the rate from one view to the other, and what there is now or has been in all."""
    from rich.table import Table

    found = Table(box=None, pad_edge=False)
    found.add_column(f"{now['at_s']:.1f} s")
    for head in HEADS:
        found.add_column(head, justify="right")
    seconds = now["at_s"] - before["at_s"]
    for direction in DIRECTIONS:
        found.add_row(direction, *cells(before[direction], now[direction], seconds))
    return found


def cells(before: Mapping[str, Any], now: Mapping[str, Any], seconds: float) -> list[str]:
    """A direction's row, `seconds` after the view before."""
    rate = (now["sent_bytes"] - before["sent_bytes"]) * 8e-6 / seconds if seconds > 0 else 0.0
    queue = [str(now["queue_packets"]), f"{now['queue_bytes'] / 1024:.0f}"]
    return [f"{rate:.3f}", *queue, reasons(now["drops"]), reasons(now["marks"]), str(now["lost"])]
