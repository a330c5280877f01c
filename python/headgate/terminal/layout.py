"""Tables in the terminal: all commands draw them alike."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text


def table(columns: Sequence[Column], rows: Iterable[Sequence[RenderableType]] = (), **options: Any) -> Table:
    """A table with these rows; `options` are those of `rich.table.Table`."""
    drawn = Table(*columns, box=SIMPLE_HEAD, pad_edge=False, title_justify="left", caption_justify="left", **options)
    for row in rows:
        drawn.add_row(*row)
    return drawn


def text_columns(*titles: str, **options: Any) -> list[Column]:
    """Columns of text, which is folded where it does not fit."""
    return [Column(title, overflow="fold", **options) for title in titles]


def number_columns(*titles: str) -> list[Column]:
    """Columns of numbers, each whole on its line."""
    return [Column(title, justify="right", no_wrap=True) for title in titles]


class Variation(NamedTuple):
    """One value of one parameter, whether it is the value in use, and the cells of its row."""

    name: str
    value: str
    chosen: bool
    cells: Sequence[Text]


def variations(title: str, heads: Sequence[str], rows: Iterable[Variation], *, chosen: str, caption: str) -> Table:
    """The effect of parameters varied one at a time: a row for each value, a column for each metric.

    `chosen` is printed behind the values in use.
    """
    # Values fold: they can differ in their last letters alone.
    columns = [*text_columns("parameter", "value"), *(Column(head) for head in heads)]
    drawn = table(columns, title=title, caption=caption)
    for row in rows:
        drawn.add_row(row.name, f"{row.value}{f' ({chosen})' if row.chosen else ''}", *row.cells)
    return drawn
