"""The measures of RFC 7928 and RFC 5166 that the summary has no room for, as tables of the page."""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

from headgate import style
from headgate.analysis.links import Place
from headgate.analysis.metrics.catalogue import FLOWS, LINK, Measure
from headgate.analysis.spread import Figure
from headgate.report.sections import Cell, Table
from headgate.results import Result
from headgate.units import Units

_WORDS = {"min": "least", "p50": "median", "max": "greatest"}


class Column(NamedTuple):
    """A column: its title, and where its figure is in an entry of the summary."""

    title: str
    path: tuple[str, ...]

    def figure(self, entry: dict[str, Any]) -> Figure:
        """Its figure."""
        found: Any = reduce(getitem, self.path, entry)
        figure: Figure = found
        return figure

    @property
    def scale(self) -> float:
        """How many times of the figure are shown."""
        return 100.0 if self.title.endswith("%") else 1.0


def _columns(measure: Measure) -> Iterator[Column]:
    """The columns that show a measure: a column for each part that is shown, the first with the title."""
    unit = {Units.TIME: "ms", Units.SHARE: "%"}.get(measure.units, "")
    title, path = f"{measure.title} {unit}".strip(), tuple(measure.key.split("."))
    if measure.shown in ((), ("mean",)):
        yield Column(title, (*path, *measure.shown))
        return
    for number, part in enumerate(measure.shown):
        word = _WORDS.get(part, part)
        yield Column(f"{title}, {word}" if number == 0 else word, (*path, part))


def _titled(every: Iterable[Measure]) -> list[Column]:
    return [column for measure in every if measure.title for column in _columns(measure)]


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
        (label if len(places) == 1 else f"{place.label}, {label}", entry["links"][number]["figures"])
        for number, place in enumerate(places)
        for label, entry in zip(labels, entries, strict=True)
    ]
    where = "At the bottleneck" if len(places) == 1 else "Link by link"
    first = "Discipline" if len(places) == 1 else "Link and discipline"
    seeds = len(result.scenario.seeds)
    spread = f"Mean of {seeds} seeds ± half the 95 % interval." if seeds > 1 else "One seed."
    return [
        _table(f"By group. {spread}", "Discipline and group", _titled(FLOWS), groups),
        _table(f"{where}. {spread}", first, _titled(LINK), links),
    ]


def _table(caption: str, first: str, every: Sequence[Column], rows: list[tuple[str, dict[str, Any]]]) -> Table:
    """The columns of `every` that have a figure in any of the rows."""
    known = [each for each in every if any(each.figure(entry)["mean"] for _, entry in rows)]
    body = [(name, [_cell(each.figure(entry), each.scale) for each in known]) for name, entry in rows]
    return Table(caption, [first, *(each.title for each in known)], body)


def _cell(measured: Figure, scale: float) -> Cell:
    return Cell.of(measured, lambda mean: style.number(mean * scale), lambda half: style.number(half * scale, 2))
