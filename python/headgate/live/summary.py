"""The summary of a link as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headgate.live.directions import DIRECTIONS
from headgate.live.losses import losses, sentence

if TYPE_CHECKING:
    from rich.table import Table

#: The rows: measures with their units.
ROWS = (
    "Mbit/s",
    "packets",
    "dropped",
    "marked",
    "link losses",
    "queueing delay, mean, ms",
    "queueing delay, p99, ms",
    "late, p50, ms",
    "late, p99, ms",
)


def table(view: Mapping[str, Any], seconds: float, title: str) -> Table:
    """One column for each direction: rate, drops, marks, link losses, queueing delay and lateness.

    Measures are rows, so that the table fits 80 columns. The reasons of drops and marks are below (`reason_lines`).
    """
    from rich.table import Column, Table

    heads = (Column(direction, justify="right") for direction in DIRECTIONS)
    drawn = Table("", *heads, title=title, title_justify="left", box=None, pad_edge=False)
    for name, *cells in zip(ROWS, *(_cells(view[direction], seconds) for direction in DIRECTIONS), strict=True):
        drawn.add_row(name, *cells)
    return drawn


def _cells(direction_view: Mapping[str, Any], seconds: float) -> list[str]:
    rate = direction_view["sent_bytes"] * 8e-6 / seconds if seconds else 0.0
    counts = [
        str(direction_view["sent"]),
        str(sum(direction_view["drops"].values())),
        str(sum(direction_view["marks"].values())),
        str(direction_view["lost"]),
    ]
    delays = [
        _ms(direction_view[name])
        for name in ("queue_delay_ms_mean", "queue_delay_ms_p99", "late_ms_p50", "late_ms_p99")
    ]
    return [f"{rate:.3f}", *counts, *delays]


def reason_lines(view: Mapping[str, Any]) -> Iterator[str]:
    """A line for the drops and for the marks of each direction, by reason, if there are any."""
    for direction in DIRECTIONS:
        for word in ("drops", "marks"):
            if sum(view[direction][word].values()):
                yield f"{direction} {word}: {reasons(view[direction][word])}"


def reasons(counts: Mapping[str, int]) -> str:
    """The sum and the counts by reason: `12 (early 10, overflow 2)`."""
    total = sum(counts.values())
    why = ", ".join(f"{name} {count}" for name, count in counts.items())
    return f"{total} ({why})" if total else "0"


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


#: Packets changed outside the link, by the counters of a direction.
NOTES = {
    "super_packets": "{super_packets} {were} segmented: a sender or an interface left it to a card",
    "no_checksum": "{packets} arrived without a checksum; it was filled in",
}


def warnings(view: Mapping[str, Any]) -> list[str]:
    """Warnings about measurements that limit what the table shows."""
    return [f"{direction}: {what}" for direction in DIRECTIONS for what in _warnings(view[direction])]


def _warnings(direction_view: Mapping[str, Any]) -> Iterator[str]:
    if direction_view["stalls"]:
        often = "once" if direction_view["stalls"] == 1 else f"{direction_view['stalls']} times"
        lasted = f"{direction_view['stalled_ms']:.0f} ms in total"
        yield f"the forwarding thread was late {often} ({lasted}): the CPU was busy"
    yield from (sentence(what, direction_view[name]) for name, what in NOTES.items() if direction_view[name])
    yield from (loss.in_words() for loss in losses(direction_view))
