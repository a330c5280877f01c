"""Tables in the terminal: all commands draw them alike."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Column, Table


def table(columns: Sequence[Column], rows: Iterable[Sequence[RenderableType]] = (), **options: Any) -> Table:
    """A table with these rows; `options` are those of `rich.table.Table`."""
    drawn = Table(*columns, box=SIMPLE_HEAD, pad_edge=False, title_justify="left", caption_justify="left", **options)
    for row in rows:
        drawn.add_row(*row)
    return drawn


def words(*titles: str, **options: Any) -> list[Column]:
    """Columns of text, which is folded where it does not fit."""
    return [Column(title, overflow="fold", **options) for title in titles]


def numbers(*titles: str) -> list[Column]:
    """Columns of numbers, each whole on its line."""
    return [Column(title, justify="right", no_wrap=True) for title in titles]
