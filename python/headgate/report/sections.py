"""The sections of the report page as values for its template."""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple, Self

import numpy as np

from headgate import _core, style
from headgate.analysis import data
from headgate.analysis.columns import ColumnArrays
from headgate.analysis.division import Sharing, divisions
from headgate.analysis.links import LinkDirection
from headgate.analysis.metrics.catalogue import FLOWS, LINK, Measure
from headgate.analysis.pairs import STARRED
from headgate.analysis.repeats import too_few
from headgate.analysis.spread import Estimate, half
from headgate.results import Result
from headgate.terminal import columns as terminal
from headgate.units import Units


class PageCell(NamedTuple):
    """A number as text, its margin of error with several seeds, and whether it is set in bold."""

    shown: str
    margin: str = ""
    bold: bool = False

    @classmethod
    def of(cls, estimate: Estimate, scale: float = 1.0) -> Self:
        """The cell of an estimate; its numbers are multiplied by `scale`."""
        mean = estimate["mean"]
        if mean is None:
            return cls(style.MISSING)
        return cls(*style.estimated(mean * scale, half(estimate) * scale))


class PageTable(NamedTuple):
    """A table: its caption, the titles of its columns, and its rows by name."""

    caption: str
    head: list[str]
    rows: list[tuple[str, list[PageCell]]]


def alternatives(result: Result) -> dict[str, str]:
    """The alternative text of each figure, by its name."""
    unit, scale = style.unit_of(result.scenario.rate_bps)
    unit_of_shares = result.scenario.fair_units[0]
    shares = "; ".join(
        f"{division.label}{f' {division.direction}' if division.direction else ''}: "
        + ", ".join(f"{part.name} {style.number(part.goodput_bps / scale, 2)}" for part in division.parts)
        for way in result.scenario.ways
        for division in divisions(result, Sharing(way, unit_of_shares))
    )
    return {
        "overview": f"Bars of goodput in {unit} for each discipline. {shares}. The table below has these numbers "
        "and more.",
        "goodput": "Bars of goodput for each flow beside its max-min fair share, one panel a discipline.",
        "delay": "Distribution of the queueing delay (CDF), one curve a discipline. The table above has its 50th, 95th "
        "and 99th percentile.",
        "tradeoff": "Dots of goodput against mean queueing delay, one for each discipline and seed.",
        "fairness": "Lines of Jain's index against the time scale, one for each discipline.",
        "completion": "Completion times of transfers by size, and their distribution (CDF).",
        "queue": "Queue length in packets over simulated time, one panel a discipline.",
        "gauges": "The gauges of each discipline over simulated time.",
        "pair": "Goodput by group, queue length and gauges over simulated time, a column for each discipline.",
    }


def summary(result: Result) -> list[PageTable]:
    """The table of the terminal, and one for each further link."""
    rows = terminal.rows(result)
    seeds = len(result.scenario.seeds)
    spread = f"Mean of {seeds} seeds ± margin of error (95 %)" if seeds > 1 else "One seed"
    delays = "p50, p95, p99: queueing delay."
    if not terminal.several(rows):
        return _tables(result, [f"{spread}. {delays}"], terminal.columns(result.scenario, rows), [rows])
    blocks = terminal.by_link(rows)
    captions = [f"Link {direction.label}. {spread}. {delays}" for direction, _ in blocks]
    links = _tables(result, captions, terminal.link_columns(rows), [each for _, each in blocks])
    return [*_tables(result, [f"{spread}."], terminal.columns(result.scenario, rows), [rows]), *links]


def _tables(
    result: Result,
    captions: list[str],
    columns: list[terminal.ResultColumn],
    blocks: list[list[terminal.DisciplineRow]],
) -> list[PageTable]:
    """A table for each block of rows, with its caption. Their stars are one family of tests."""
    stars = terminal.TableStars.of(result, columns, blocks)
    bold = too_few(result) or f"Bold: {STARRED}"
    captions = [f"{caption} {bold[0].upper()}{bold[1:]}." for caption in captions]
    return [_table(one, columns, rows, its) for one, rows, its in zip(captions, blocks, stars, strict=True)]


def _table(
    caption: str,
    columns: list[terminal.ResultColumn],
    found_rows: list[terminal.DisciplineRow],
    stars: terminal.TableStars,
) -> PageTable:
    shown = [
        [
            PageCell(*column.show(column.estimate(row)), (number, row.entry["qdisc"]) in stars.starred)
            for row in found_rows
        ]
        for number, column in enumerate(columns)
    ]
    names = [look.label for look in style.looks([row.entry["qdisc"] for row in found_rows]).values()]
    head = ["Discipline", *(" ".join(column.title.split()) for column in columns)]
    rows = [(name, list(cells)) for name, *cells in zip(names, *shown, strict=True)]
    return PageTable(caption, head, rows)


class ReasonTable(NamedTuple):
    """Packets dropped and marked by reason."""

    head: list[str]
    rows: list[list[str]]


def reasons(result: Result) -> ReasonTable | None:
    """A row for each discipline and protocol, a column for each reason; None without drops and marks."""
    looks = style.looks(data.qdiscs(result))
    counts_by_row = {(qdisc, kind): by_reason(result, qdisc, kind) for qdisc in looks for kind in _kinds(result)}
    every = [name for name in result.flows.column_names if any(name in counts for counts in counts_by_row.values())]
    if not every:
        return None
    rows = [
        [f"{looks[qdisc].label}, {terminal.KINDS[kind]}", *(_packets(counts.get(name)) for name in every)]
        for (qdisc, kind), counts in counts_by_row.items()
    ]
    return ReasonTable(["Discipline and protocol", *(name.replace("_", " ") for name in every)], rows)


def _packets(mean: float | None) -> str:
    """Packets in a run as text. Numbers below ten have a decimal, so that a mean of 0.2 does not read 0."""
    return style.MISSING if mean is None else style.fixed(mean, 0 if mean >= 10 else 1)


def by_reason(result: Result, qdisc: str, kind: str) -> dict[str, float]:
    """Packets dropped and marked by column (`dropped_early`), as means over seeds, without zeros."""
    flows = data.rows(ColumnArrays.of(result, "flows"), qdisc=qdisc, kind=kind)
    seeds = len(np.unique(data.values(flows, "seed"))) or 1
    columns = [name for name in flows.names if name.startswith(("dropped_", "marked_"))]
    means = {name: float(data.values(flows, name).sum()) / seeds for name in columns}
    return {name: mean for name, mean in means.items() if mean > 0}


def _kinds(result: Result) -> list[str]:
    return [kind for kind in terminal.KINDS if any(group.kind == kind for group in result.scenario.groups)]


class ShownParameter(NamedTuple):
    """A parameter and its value."""

    name: str
    value: str
    meaning: str
    by_hand: bool


class DisciplineSettings(NamedTuple):
    """A discipline's idea and paper, and its parameters with their values."""

    summary: str
    citation: str
    settings: list[ShownParameter]


def disciplines(result: Result) -> list[tuple[str, DisciplineSettings]]:
    """The label and the settings of each discipline."""
    return [(look.label, about(qdisc)) for qdisc, look in style.looks(data.qdiscs(result)).items()]


def about(qdisc: str) -> DisciplineSettings:
    """The settings of a discipline in canonical text, such as `sfb:bins=46,levels=1`."""
    name, _, written = qdisc.partition(":")
    entry = _core.discipline(name)
    given = dict(pair.split("=", 1) for pair in written.split(",") if pair)
    preset: dict[str, str] = {}
    if "preset" in given:
        preset = dict(next(each.settings for each in entry.presets if each.name == given["preset"]))
    shown = []
    for parameter in entry.parameters:
        value = given.get(parameter.name, preset.get(parameter.name, parameter.default))
        if parameter.name == "limit" and parameter.name not in given:
            value = "as the link's"
        shown.append(ShownParameter(parameter.name, value, parameter.doc, parameter.name in given))
    return DisciplineSettings(entry.summary, entry.citation, shown)


_WORDS = {"min": "least", "p50": "median", "max": "greatest"}


class MeasureColumn(NamedTuple):
    """A column: its title, and the path of its estimate in an entry of the summary."""

    title: str
    path: tuple[str, ...]

    def estimate(self, entry: dict[str, Any]) -> Estimate:
        """The estimate in an entry."""
        found: Any = reduce(getitem, self.path, entry)
        estimate: Estimate = found
        return estimate

    @property
    def scale(self) -> float:
        """The factor from the estimate to the number shown."""
        return 100.0 if self.title.endswith("%") else 1.0


def _columns(measure: Measure) -> Iterator[MeasureColumn]:
    """The columns of a measure: one for each part shown; the first has the title."""
    unit = {Units.TIME: "ms", Units.SHARE: "%"}.get(measure.units, "")
    title, path = f"{measure.title} {unit}".strip(), tuple(measure.key.split("."))
    if measure.shown in ((), ("mean",)):
        yield MeasureColumn(title, (*path, *measure.shown))
        return
    for number, part in enumerate(measure.shown):
        word = _WORDS.get(part, part)
        yield MeasureColumn(f"{title}, {word}" if number == 0 else word, (*path, part))


def _titled(every: Iterable[Measure]) -> list[MeasureColumn]:
    return [column for measure in every if measure.title for column in _columns(measure)]


def measures(result: Result) -> list[PageTable]:
    """A table with a row for each discipline and group, and one with a row for each link and discipline."""
    entries = result.summary()
    labels = [look.label for look in style.looks([entry["qdisc"] for entry in entries]).values()]
    groups = [
        (f"{label}, {group['name']}", group)
        for label, entry in zip(labels, entries, strict=True)
        for group in entry["groups"]
    ]
    directions = [LinkDirection(link["link"], link["direction"]) for link in entries[0]["links"]]
    links = [
        (label if len(directions) == 1 else f"{link_direction.label}, {label}", entry["links"][number]["figures"])
        for number, link_direction in enumerate(directions)
        for label, entry in zip(labels, entries, strict=True)
    ]
    where = "At the bottleneck" if len(directions) == 1 else "Link by link"
    first = "Discipline" if len(directions) == 1 else "Link and discipline"
    seeds = len(result.scenario.seeds)
    spread = f"Mean of {seeds} seeds ± margin of error (95 %)." if seeds > 1 else "One seed."
    return [
        _measured(f"By group. {spread}", "Discipline and group", _titled(FLOWS), groups),
        _measured(f"{where}. {spread}", first, _titled(LINK), links),
    ]


def _measured(
    caption: str, first: str, every: Sequence[MeasureColumn], rows: list[tuple[str, dict[str, Any]]]
) -> PageTable:
    """The table with those columns of `every` that have an estimate in any row."""
    known = [each for each in every if any(each.estimate(entry)["mean"] for _, entry in rows)]
    body = [(name, [_cell(each.estimate(entry), each.scale) for each in known]) for name, entry in rows]
    return PageTable(caption, [first, *(each.title for each in known)], body)


def _cell(measured: Estimate, scale: float) -> PageCell:
    return PageCell.of(measured, scale)
