"""The comparison in the terminal: a table for each group of flows and one for each link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Column, Table
from rich.text import Text

from headgate import style
from headgate.analysis.links import compared
from headgate.compare import words
from headgate.compare.gaps import LINK
from headgate.terminal import layout

if TYPE_CHECKING:
    from headgate.compare.gaps import Comparison


def tables(comparison: Comparison) -> Group:
    """A table for each group, one for each link, what must be known of both, and what came of it."""
    drawn = [_table(comparison, of) for of in [*comparison.groups, *comparison.links]]
    notes = (Text(note, style="dim") for note in words.notes(comparison))
    said = (Text(sentence) for sentence in words.held(comparison))
    return Group(*drawn, *notes, Text(), *said, Text(f"{words.sentence(comparison)}.", style="bold"), Text())


def _table(comparison: Comparison, of: str) -> Table:
    listed = words.columns(comparison, of)
    titles = [*layout.words("discipline", vertical="top", min_width=10), Column("")]
    titles += layout.numbers(*(column.title for column in listed))
    drawn = layout.table(titles, title=title(comparison, of))
    for qdisc, look in style.looks(comparison.qdiscs).items():
        for place, (name, cells) in enumerate(words.lines(comparison, qdisc, of, listed)):
            is_gap = place == 2
            head = Text("" if place else look.label, style="bold")
            drawn.add_row(head, Text(name), *cells, style="cyan" if is_gap else None, end_section=is_gap)
    return drawn


def title(comparison: Comparison, of: str) -> str:
    """What a table is of."""
    if of in comparison.links:
        place = compared(comparison.results[0])[comparison.links.index(of)]
        said = f"the link {place.label}" if len(comparison.links) > 1 else "the link"
        return f"{said}, {style.rate(comparison.results[0].scenario.rate_bps)}" if of == LINK else said
    group = next(group for group in comparison.results[0].scenario.groups if group.name == of)
    return f"{of}: {group.flows} {group.kind.upper()} flow{'' if group.flows == 1 else 's'}"
