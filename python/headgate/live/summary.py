"""The summary of a link as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headgate.live.directions import DIRECTIONS
from headgate.live.losses import losses

if TYPE_CHECKING:
    from rich.table import Table

HEADS = (
    "Mbit/s",
    "packets",
    "dropped",
    "marked",
    "link losses",
    "queueing delay ms, mean",
    "p99",
    "late ms, p50",
    "p99",
)


def table(view: Mapping[str, Any], seconds: float, title: str) -> Table:
    """One row for each direction: rate, drops and marks by reason, link losses, queueing delay and lateness."""
    from rich.table import Column, Table

    heads = (Column(head, justify="right") for head in HEADS)
    drawn = Table("", *heads, title=title, title_justify="left", box=None, pad_edge=False)
    for direction in DIRECTIONS:
        drawn.add_row(direction, *_row(view[direction], seconds))
    return drawn


def _row(direction_view: Mapping[str, Any], seconds: float) -> list[str]:
    rate = direction_view["sent_bytes"] * 8e-6 / seconds if seconds else 0.0
    counts = [
        str(direction_view["sent"]),
        reasons(direction_view["drops"]),
        reasons(direction_view["marks"]),
        str(direction_view["lost"]),
    ]
    delays = [
        _ms(direction_view[name])
        for name in ("queue_delay_ms_mean", "queue_delay_ms_p99", "late_ms_p50", "late_ms_p99")
    ]
    return [f"{rate:.3f}", *counts, *delays]


def reasons(counts: Mapping[str, int]) -> str:
    """The sum and the counts by reason: `12 (early 10, overflow 2)`."""
    total = sum(counts.values())
    why = ", ".join(f"{name} {count}" for name, count in counts.items())
    return f"{total} ({why})" if total else "0"


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


#: Packets changed outside the link, by the counters of a direction.
NOTES = {
    "no_checksum": "{} packets arrived without a checksum; it was filled in",
}


def warnings(view: Mapping[str, Any]) -> list[str]:
    """Warnings about measurements that limit what the table shows."""
    return [f"{direction}: {what}" for direction in DIRECTIONS for what in _warnings(view[direction])]


def _warnings(direction_view: Mapping[str, Any]) -> Iterator[str]:
    if direction_view["stalls"]:
        often = "once" if direction_view["stalls"] == 1 else f"{direction_view['stalls']} times"
        lasted = f"{direction_view['stalled_ms']:.0f} ms in total"
        yield f"the forwarding thread was late {often} ({lasted}): the CPU was busy"
    yield from (what.format(direction_view[name]) for name, what in NOTES.items() if direction_view[name])
    yield from (loss.sentence.format(loss.packets) for loss in losses(direction_view))
