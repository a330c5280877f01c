"""What a link did, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headgate.live.directions import DIRECTIONS

if TYPE_CHECKING:
    from rich.table import Table

HEADS = ("Mbit/s", "packets", "dropped", "marked", "lost", "queueing ms, mean", "p99", "late ms, median", "p99")


def table(view: Mapping[str, Any], seconds: float, title: str) -> Table:
    """One row a direction: what was sent in `seconds`, what was not and why, how long it waited, how late it left."""
    from rich.table import Column, Table

    heads = (Column(head, justify="right") for head in HEADS)
    found = Table("", *heads, title=title, title_justify="left", box=None, pad_edge=False)
    for direction in DIRECTIONS:
        found.add_row(direction, *_row(view[direction], seconds))
    return found


def _row(wire: Mapping[str, Any], seconds: float) -> list[str]:
    rate = wire["sent_bytes"] * 8e-6 / seconds if seconds else 0.0
    counts = [str(wire["sent"]), reasons(wire["drops"]), reasons(wire["marks"]), str(wire["lost"])]
    waits = [_ms(wire[name]) for name in ("queueing_ms_mean", "queueing_ms_p99", "late_ms_p50", "late_ms_p99")]
    return [f"{rate:.3f}", *counts, *waits]


def reasons(counts: Mapping[str, int]) -> str:
    """How many, and why: `12 (early 10, overflow 2)`."""
    total = sum(counts.values())
    why = ", ".join(f"{name} {count}" for name, count in counts.items())
    return f"{total} ({why})" if total else "0"


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


#: What makes a frame longer than the MTU, by ethtool's names.
MERGED = (
    " (generic-receive-offload of the interface they came in by, or tcp- or generic-segmentation-offload of their"
    " sender's, had merged them)"
)


#: Packets that were gone, or wrong, for other reasons than the link's, by the numbers of a direction.
NOTES = {
    "no_slot": "{} packets found no room in memory",
    "kernel_dropped": "the kernel dropped {} packets before they were seen: no room in its ring",
    "no_checksum": "{} packets came without their checksum, which was filled in",
    "refused": "{} packets were refused by the receiving host",
}


def warnings(view: Mapping[str, Any]) -> list[str]:
    """What a reader must know before believing the table."""
    return [f"{direction}: {what}" for direction in DIRECTIONS for what in _warnings(view[direction])]


def _warnings(wire: Mapping[str, Any]) -> Iterator[str]:
    if wire["stalls"]:
        often = "once" if wire["stalls"] == 1 else f"{wire['stalls']} times"
        lasted = f"{wire['stalled_ms']:.0f} ms in all"
        yield f"the link stood still {often}, {lasted}: the machine was busy with other things"
    yield from (what.format(wire[name]) for name, what in NOTES.items() if wire[name])
    for name, count in wire["discarded"]:
        yield f"{count} frames were dropped: {name}" + (MERGED if name == "oversize" else "")
