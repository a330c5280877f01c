"""Tables of numbers for a page."""

from collections.abc import Callable
from typing import NamedTuple, Self

from headgate import style
from headgate.analysis.spread import Figure

Show = Callable[[float], str]


class Cell(NamedTuple):
    """A number as text, its margin of error if there are several seeds, and whether it is the best of its column."""

    shown: str
    margin: str = ""
    best: bool = False

    @classmethod
    def of(cls, figure: Figure, show: Show, show_margin: Show | None = None, best: str | None = None) -> Self:
        """The cell of a figure; `best` is the text of the column's best number."""
        mean, high = figure["mean"], figure["high"]
        if mean is None or high is None:
            return cls(style.MISSING)
        margin = (show_margin or show)(high - mean) if len(figure["per_seed"]) > 1 else ""
        return cls(show(mean), margin, show(mean) == best)


class Table(NamedTuple):
    """A table: what stands below it, the titles of its columns, and its rows, each with its name."""

    caption: str
    head: list[str]
    rows: list[tuple[str, list[Cell]]]
