"""The comparison in the terminal: a table for each group of flows and for each link."""

from collections.abc import Iterator
from typing import TypeAlias

from rich.console import Group
from rich.table import Column, Table
from rich.text import Text

from headgate import style
from headgate.analysis.links import compared
from headgate.compare import words
from headgate.compare.gaps import LINK, Comparison
from headgate.counting import counted
from headgate.terminal import layout

#: A discipline's label, the name of the result, and the numbers as text.
ComparisonRow: TypeAlias = tuple[str, str, list[str]]


def tables(comparison: Comparison) -> Group:
    """A table for each group and each link, the notes, and the verdict."""
    drawn = [_table(*parts) for parts in listed(comparison)]
    notes = (Text(note, style="dim") for note in words.notes(comparison))
    sentences = (Text(sentence) for sentence in words.unresponsive_shares(comparison))
    return Group(*drawn, *notes, Text(), *sentences, Text(f"{words.sentence(comparison)}.", style="bold"), Text())


def listed(comparison: Comparison) -> Iterator[tuple[str, list[words.ComparisonColumn], list[ComparisonRow]]]:
    """The title, columns and rows of each table. A discipline has three rows: both results and the difference."""
    looks = style.looks(comparison.qdiscs)
    for of in [*comparison.groups, *comparison.links]:
        columns = words.columns(comparison, of)
        rows = [(looks[qdisc].label, *row) for qdisc in looks for row in words.lines(comparison, qdisc, of, columns)]
        yield title(comparison, of), columns, rows


def _table(title: str, columns: list[words.ComparisonColumn], rows: list[ComparisonRow]) -> Table:
    heads = [*layout.text_columns("discipline", vertical="top", min_width=10), Column("")]
    drawn = layout.table([*heads, *layout.number_columns(*(column.title for column in columns))], title=title)
    for index, (label, name, cells) in enumerate(rows):
        is_gap = index % 3 == 2
        head = Text("" if index % 3 else label, style="bold")
        drawn.add_row(head, Text(name), *cells, style="cyan" if is_gap else None, end_section=is_gap)
    return drawn


def title(comparison: Comparison, of: str) -> str:
    """The title of a table."""
    if of in comparison.links:
        direction = compared(comparison.results[0])[comparison.links.index(of)]
        name = f"the link {direction.label}" if len(comparison.links) > 1 else "the link"
        return f"{name}, {style.rate(comparison.results[0].scenario.rate_bps)}" if of == LINK else name
    group = next(group for group in comparison.results[0].scenario.groups if group.name == of)
    return f"{of}: {counted(group.flows, f'{group.kind.upper()} flow')}"
