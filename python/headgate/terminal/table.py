"""The result table in the terminal: a row for each discipline, best values marked.

Where the terminal is narrow, columns are left out, the least important first, and named below the table.
"""

from typing import Any, NamedTuple

from rich.console import Group
from rich.table import Table
from rich.text import Text

from headgate import scenario as scenarios
from headgate import style
from headgate.analysis.links import first
from headgate.analysis.pairs import STARRED
from headgate.analysis.repeats import too_few
from headgate.counting import counted
from headgate.results import Result
from headgate.scenario import RunWorld
from headgate.terminal import layout
from headgate.terminal.columns import KINDS, DisciplineRow, ResultColumn, TableStars, by_link, columns, link_columns

#: Marks the best values of a column, for terminals without color.
BEST = "*"
#: Letters between two columns, and at both edges of a table.
_GAP, _EDGES = 3, 2


def table(result: Result, rows: list[DisciplineRow], width: int) -> Group:
    """The table of a result, below a line about the scenario, in at most `width` letters if its names allow that."""
    listed = columns(result.scenario, rows)
    named = [(_name(row.entry["qdisc"]), row) for row in rows]
    fitted = _fitted("discipline", listed, named, width)
    drawn = _table("discipline", fitted, caption=_caption(result, fitted))
    (stars,) = TableStars.of(result, listed, [rows])
    _add_rows(drawn, fitted, named, stars)
    return Group(Text(_title(result), style="italic"), drawn, *_left_out(fitted))


def links(result: Result, rows: list[DisciplineRow], width: int) -> Group:
    """A section for each compared link, with a row for each discipline and the best values marked."""
    listed = link_columns(rows)
    named = [(Text("  ") + Text(row.entry["qdisc"]), row) for _, rows_ in by_link(rows) for row in rows_]
    fitted = _fitted("link, discipline", listed, named, width)
    drawn = _table("link, discipline", fitted, title="link by link")
    blocks = by_link(rows)
    every_star = TableStars.of(result, listed, [rows_ for _, rows_ in blocks])
    for (direction, rows_), stars in zip(blocks, every_star, strict=True):
        drawn.add_row(Text(direction.label, style="bold italic"))
        _add_rows(drawn, fitted, [(Text("  ") + Text(row.entry["qdisc"]), row) for row in rows_], stars)
        drawn.add_section()
    return Group(drawn, *_left_out(fitted))


class FittedColumns(NamedTuple):
    """The columns that fit, by their numbers, and those left out."""

    kept: dict[int, ResultColumn]
    left_out: list[ResultColumn]


def _fitted(
    first: str, listed: list[ResultColumn], named: list[tuple[Text, DisciplineRow]], width: int
) -> FittedColumns:
    """Leaves out columns until the others fit into `width`."""
    names = max(_widest([first]), *(_widest(name.plain.splitlines()) for name, _ in named))
    room = [_room(column, named) + _GAP for column in listed]
    kept = dict(enumerate(listed))
    while len(kept) > 1 and _EDGES + names + sum(room[number] for number in kept) > width:
        # Of equal columns, the last goes first.
        kept.pop(min(reversed(kept), key=lambda number: listed[number].priority))
    return FittedColumns(kept, [column for number, column in enumerate(listed) if number not in kept])


def _room(column: ResultColumn, named: list[tuple[Text, DisciplineRow]]) -> int:
    """The letters of the widest line of a column, with the mark of the best."""
    cells = [column.show(column.estimate(row)) for _, row in named]
    texts = [f"{text} " for cell in cells for text in (cell.mean, f"±{cell.margin}" if cell.margin else "")]
    return _widest([*column.title.splitlines(), *texts])


def _widest(lines: list[str]) -> int:
    return max(map(len, lines), default=0)


def _left_out(fitted: FittedColumns) -> list[Text]:
    if not fitted.left_out:
        return []
    names = ", ".join(" ".join(column.title.split()) for column in fitted.left_out)
    return [Text(f"left out of this width: {names} (report.html and --json have them)", style="dim")]


def _table(first: str, fitted: FittedColumns, **options: Any) -> Table:
    numbers = layout.number_columns(*(column.title for column in fitted.kept.values()))
    return layout.table([*layout.text_columns(first, vertical="top", no_wrap=True), *numbers], **options)


def _add_rows(drawn: Table, fitted: FittedColumns, named: list[tuple[Text, DisciplineRow]], stars: TableStars) -> None:
    for name, row in named:
        qdisc = row.entry["qdisc"]
        drawn.add_row(
            name,
            *(_cell(column, row, (number, qdisc) in stars.starred) for number, column in fitted.kept.items()),
        )


def _cell(column: ResultColumn, row: DisciplineRow, best: bool) -> Text:
    """The mean, and below it the margin of error if there are several seeds."""
    shown = column.show(column.estimate(row))
    if shown.mean == style.MISSING:
        return Text("-", style="dim")
    cell = Text(f"{shown.mean}{BEST}", style="bold green") if best else Text(f"{shown.mean} ")
    if shown.margin:
        cell.append(f"\n±{shown.margin} ", style="not bold dim default")
    return cell


def _name(qdisc: str) -> Text:
    """A discipline's name, with its settings on short lines below."""
    name, _, settings = qdisc.partition(":")
    lines = [""]
    for setting in filter(None, settings.split(",")):
        joined = f"{lines[-1]},{setting}" if lines[-1] else setting
        lines = [*lines[:-1], joined] if len(joined) <= 16 else [*lines, setting]
    return Text(name, style="bold").append("".join(f"\n{line}" for line in lines if line), style="not bold dim")


def _title(result: Result) -> str:
    scenario, link = result.scenario, first(result)
    worlds = {RunWorld.LIVE: " on real packets", RunWorld.KERNEL: " on real packets, in the kernel's queue"}
    world = worlds.get(scenario.world, "")
    time = f"{scenario.duration_s:g} s{world}, the first {scenario.warmup_s:g} s excluded"
    if len(scenario.ways) > 1:
        on = ", ".join(
            f"{_all_flows(way.groups)} {way.direction} on {style.rate(way.rate_bps)}" for way in scenario.ways
        )
        return f"{scenario.name}: {on}; {time}"
    on = f"{_all_flows(scenario.groups)} on {style.rate(scenario.rate_bps)}{f' ({link})' if link else ''}"
    return f"{scenario.name}: {on}; {time}"


def _all_flows(groups: list[scenarios.Group]) -> str:
    return " and ".join(filter(None, (_flows(kind, groups) for kind in KINDS)))


def _flows(kind: str, groups: list[scenarios.Group]) -> str:
    """The flows of one kind: `9 TCP flows`, `5 UDP flows (4 of 300 kbit/s, 1 of 9.6 Mbit/s)`; empty without flows."""
    mine = [group for group in groups if group.kind == kind]
    count = sum(group.flows for group in mine)
    rates = [f"{group.flows} of {style.rate(group.rate_bps)}" for group in mine if group.rate_bps is not None]
    flows = f"{counted(count, f'{KINDS[kind]} flow')}" if count else ""
    return f"{flows} ({', '.join(rates)})" if rates else flows


def _caption(result: Result, fitted: FittedColumns) -> str:
    seeds = len(result.scenario.seeds)
    shown = any("p95" in each.title for each in fitted.kept.values())
    delays = "; p50, p95, p99: queueing delay percentiles" if shown else ""
    if seeds == 1:
        return f"one seed, which shows no best{delays}"
    spread = f"mean of {seeds} seeds, ± margin of error (95 %){delays}"
    return f"{spread}; {too_few(result) or f'{BEST} {STARRED}'}"
