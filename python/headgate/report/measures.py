"""The measures of RFC 7928 and RFC 5166 that the summary has no room for, as tables of the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from headgate import style
from headgate.analysis.links import Place
from headgate.report.tables import Cell, Table

if TYPE_CHECKING:
    from headgate.analysis.spread import Figure
    from headgate.results import Result


class Measure(NamedTuple):
    """A column: its title, where its figure is in an entry of the summary, and how many times of it are shown."""

    title: str
    figure: Callable[[dict[str, Any]], Figure]
    scale: float = 1.0


def _part(*keys: str) -> Callable[[dict[str, Any]], Figure]:
    def find(entry: dict[str, Any]) -> Figure:
        found: Any = entry
        for key in keys:
            found = found[key]
        figure: Figure = found
        return figure

    return find


_GROUP = (
    Measure("Start-up ms", _part("startup_ms")),
    Measure("One-way delay ms, median", _part("one_way_delay_ms", "p50")),
    Measure("p95", _part("one_way_delay_ms", "p95")),
    Measure("p99", _part("one_way_delay_ms", "p99")),
    Measure("Delay variation ms, p95", _part("delay_variation_ms", "p95")),
    Measure("Completion ms, median", _part("completion_ms", "p50")),
    Measure("p95", _part("completion_ms", "p95")),
    Measure("Unfinished %", _part("unfinished"), 100),
    Measure("Goodput's variation %", _part("goodput_variation"), 100),
    Measure("Packets lost in a row", _part("loss_run_packets", "mean")),
    Measure("Between losses, packets", _part("loss_distance_packets", "mean")),
    Measure("ms", _part("loss_interval_ms", "mean")),
    Measure("Flows singled out %", _part("identified"), 100),
    Measure("after ms", _part("identified_ms")),
    Measure("Response ms", _part("response_ms")),
)

_LINK = (
    Measure("Ambient drop rate %", _part("bottleneck", "ambient_drop_rate"), 100),
    Measure("Loss events", _part("bottleneck", "loss_synchronisation", "events")),
    Measure("Flows that lose in one %", _part("bottleneck", "loss_synchronisation", "global"), 100),
    Measure("Another loses too %", _part("bottleneck", "loss_synchronisation", "pairwise"), 100),
    Measure("Delay ms, least", _part("bottleneck", "queue_delay_ms", "min")),
    Measure("mean", _part("bottleneck", "queue_delay_ms", "mean")),
    Measure("greatest", _part("bottleneck", "queue_delay_ms", "max")),
)


def measures(result: Result) -> list[Table]:
    """A table with a row for each discipline and group, and one with a row for each link and discipline."""
    entries = result.summary()
    labels = [look.label for look in style.looks([entry["qdisc"] for entry in entries]).values()]
    groups = [
        (f"{label}, {group['name']}", group)
        for label, entry in zip(labels, entries, strict=True)
        for group in entry["groups"]
    ]
    places = [Place(link["link"], link["direction"]) for link in entries[0]["links"]]
    links = [
        (label if len(places) == 1 else f"{place.label}, {label}", {"bottleneck": entry["links"][number]["figures"]})
        for number, place in enumerate(places)
        for label, entry in zip(labels, entries, strict=True)
    ]
    where = "At the bottleneck" if len(places) == 1 else "Link by link"
    first = "Discipline" if len(places) == 1 else "Link and discipline"
    seeds = len(result.scenario.seeds)
    spread = f"Mean of {seeds} seeds ± half the 95 % interval." if seeds > 1 else "One seed."
    return [
        _table(f"By group. {spread}", "Discipline and group", _GROUP, groups),
        _table(f"{where}. {spread}", first, _LINK, links),
    ]


def _table(caption: str, first: str, every: Sequence[Measure], rows: list[tuple[str, dict[str, Any]]]) -> Table:
    """The columns of `every` that have a figure in any of the rows."""
    known = [each for each in every if any(each.figure(entry)["mean"] for _, entry in rows)]
    body = [(name, [_cell(each.figure(entry), each.scale) for each in known]) for name, entry in rows]
    return Table(caption, [first, *(each.title for each in known)], body)


def _cell(measured: Figure, scale: float) -> Cell:
    return Cell.of(measured, lambda mean: style.number(mean * scale), lambda half: style.number(half * scale, 2))
