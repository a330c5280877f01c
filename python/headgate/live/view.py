"""The link in the terminal while it forwards packets: rate, queueing delay, queue, drops and marks over time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from headgate.live.directions import DIRECTIONS
from headgate.live.summary import reasons
from headgate.style import MISSING
from headgate.terminal.console import console

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

#: Columns of the charts on the widest terminal, and what a row needs beside its chart.
WIDEST = 120
BESIDE = 42

#: Lines of the charts that show a course. Charts of single events have one.
LINES = 2

EIGHTHS = " ▁▂▃▄▅▆▇█"


class Point(NamedTuple):
    """A direction between two views: Mbit/s, mean queueing delay in ms, packets in the queue, and counts of packets."""

    rate: float
    delay: float | None
    queue: int
    dropped: int
    marked: int
    lost: int


def point(before: Mapping[str, Any], now: Mapping[str, Any], seconds: float) -> Point:
    """What a direction did in the `seconds` from one view to the next."""
    count, sum_s = (now["queue_delay"][key] - before["queue_delay"][key] for key in ("count", "sum_s"))
    return Point(
        rate=(now["sent_bytes"] - before["sent_bytes"]) * 8e-6 / seconds if seconds > 0 else 0.0,
        delay=1e3 * sum_s / count if count else None,
        queue=now["queue_packets"],
        dropped=sum(now["drops"].values()) - sum(before["drops"].values()),
        marked=sum(now["marks"].values()) - sum(before["marks"].values()),
        lost=now["lost"] - before["lost"],
    )


class ViewCharts:
    """Charts of both directions over the last views. Each column of a chart is one view."""

    def __init__(self) -> None:
        self._points: dict[str, deque[Point]] = {direction: deque(maxlen=WIDEST) for direction in DIRECTIONS}
        self._before: Mapping[str, Any] | None = None

    def add(self, view: Mapping[str, Any]) -> None:
        """Appends what happened since the last view."""
        before, self._before = self._before or view, view
        seconds = view["at_s"] - before["at_s"]
        for direction, points in self._points.items():
            points.append(point(before[direction], view[direction], seconds))

    def drawn(self, width: int) -> Group:
        """The charts, for a terminal of `width` columns."""
        from rich.console import Group
        from rich.text import Text

        view = self._before
        if view is None:
            return Group()
        columns = max(min(width - BESIDE, WIDEST), 1)
        parts: list[Text | Table] = []
        for direction, points in self._points.items():
            title = Text(direction, style="bold").append(f"  {view['at_s']:.1f} s", style="not bold dim")
            parts += [title, charts(list(points)[-columns:], view[direction], columns)]
        return Group(*parts)


def charts(points: Sequence[Point], now: Mapping[str, Any], columns: int) -> Table:
    """A direction's rows: name, chart and current value. Rows of marks and losses are there once there are any."""
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, show_header=False, pad_edge=False)
    drawn.add_column(no_wrap=True)
    drawn.add_column(width=columns, no_wrap=True)
    drawn.add_column(no_wrap=True, overflow="ellipsis")
    last = points[-1]
    delay = MISSING if last.delay is None else f"{last.delay:.1f}"
    kib = f"{now['queue_bytes'] / 1024:.0f} KiB"

    def row(name: str, values: Sequence[float | None], lines: int, color: str, value: str) -> None:
        chart = Text("\n".join(bars(values, lines)), style=color)
        drawn.add_row("\n" * (lines - 1) + name, chart, "\n" * (lines - 1) + value)

    rates, delays = [each.rate for each in points], [each.delay for each in points]
    row("Mbit/s", rates, LINES, "blue", f"{last.rate:.3f}, peak {max(rates):.3f}")
    peak = max((each for each in delays if each is not None), default=None)
    row("delay, ms", delays, LINES, "yellow", delay if peak is None else f"{delay}, peak {peak:.1f}")
    row("packets", [each.queue for each in points], 1, "cyan", f"{last.queue} in the queue, {kib}")
    row("dropped", [each.dropped for each in points], 1, "red", reasons(now["drops"]))
    if now["marks"]:
        row("marked", [each.marked for each in points], 1, "magenta", reasons(now["marks"]))
    if now["lost"]:
        row("lost", [each.lost for each in points], 1, "red", f"{now['lost']} on the link")
    return drawn


def bars(values: Sequence[float | None], lines: int) -> list[str]:
    """A chart of one column for each value, as lines from top to bottom. The greatest value has the whole height.

    Values above 0 are always visible. `None` is an empty column.
    """
    greatest = max((value for value in values if value is not None), default=0.0)
    full = 8 * lines

    def height(value: float | None) -> int:
        return max(round(full * value / greatest), 1) if value and greatest > 0 else 0

    heights = [height(value) for value in values]
    return [
        "".join(EIGHTHS[min(max(height - 8 * line, 0), 8)] for height in heights) for line in reversed(range(lines))
    ]


@contextmanager
def screen() -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """A function that shows views on stderr if it is a terminal."""
    from rich.live import Live

    out = console(stderr=True)
    if not out.is_terminal:
        yield lambda _: None
        return
    picture = ViewCharts()
    with Live(console=out, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False) as live:

        def show(view: Mapping[str, Any]) -> None:
            picture.add(view)
            live.update(picture.drawn(out.width), refresh=True)

        yield show
