"""What values of parameters do, one varied at a time: a row for each value, a column for each thing seen."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.table import Column, Table
from rich.text import Text

from headgate.terminal import layout


class Row(NamedTuple):
    """One value of one parameter, whether it is the one that was there before, and what was seen with it."""

    name: str
    value: str
    chosen: bool
    cells: Sequence[Text]


def table(title: str, heads: Sequence[str], rows: Iterable[Row], *, chosen: str, caption: str) -> Table:
    """The table; `chosen` is written behind the values that were there before."""
    drawn = layout.table([Column(head) for head in ("parameter", "value", *heads)], title=title, caption=caption)
    for row in rows:
        drawn.add_row(row.name, f"{row.value}{f' ({chosen})' if row.chosen else ''}", *row.cells)
    return drawn
