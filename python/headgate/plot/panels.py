"""Small multiples: one panel a discipline on shared axes, and the title above them."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from headgate import style
from headgate.analysis import data
from headgate.results import Result

TITLE = "title"
"""The identifier of a figure's title."""


class Panels:
    """One axes for each discipline, in a new figure or on the axes the caller brought."""

    def __init__(self, result: Result, qdisc: str | None, ax: Axes | None, panel_height: float = 2.3) -> None:
        known = data.qdiscs(result)
        self.qdiscs = chosen(known, qdisc)
        self.looks = style.looks(known)
        if ax is not None and len(self.qdiscs) > 1:
            raise ValueError(f"one axes holds one discipline: name it, qdisc= one of {', '.join(known)}")
        self.owned = ax is None
        self.axes = [ax] if ax is not None else grid(len(self.qdiscs), panel_height)
        for name, axes in zip(self.qdiscs, self.axes, strict=True):
            look = self.looks[name]
            axes.set_title(style.fold(look.label, 96 // self.columns), color=look.colour)

    @property
    def figure(self) -> Figure:
        """The figure the panels are in."""
        return figure_of(self.axes[0])

    def left(self) -> Sequence[Axes]:
        """The panels that begin a row."""
        return self.axes[:: self.columns]

    def right(self) -> Sequence[Axes]:
        """The panels at the right edge of the figure."""
        return self.axes[self.columns - 1 :: self.columns]

    @property
    def columns(self) -> int:
        """Panels in a row."""
        return columns(len(self.axes))


def chosen(known: list[str], qdisc: str | None) -> list[str]:
    """All disciplines, or the one asked for."""
    if qdisc is not None and qdisc not in known:
        raise ValueError(f"the result has no discipline {qdisc}, but {', '.join(known)}")
    if not known:
        raise ValueError("the result holds no finished run, so there is nothing to draw")
    return known if qdisc is None else [qdisc]


def columns(count: int) -> int:
    """How many panels stand side by side."""
    if count <= 3:
        return count
    return 2 if count == 4 else 3 if count in (5, 6, 9) else 4


def grid(count: int, panel_height: float) -> list[Axes]:
    """`count` axes that share both scales, in rows."""
    across = columns(count)
    down = -(-count // across)
    figure = new_figure(down * panel_height + 1.0)
    drawn: list[Axes] = []
    for place in range(count):
        shared = drawn[0] if drawn else None
        axes = figure.add_subplot(down, across, place + 1, sharex=shared, sharey=shared)
        below, beside = place + across < count, place % across > 0
        axes.tick_params(labelbottom=not below, labelleft=not beside)
        drawn.append(axes)
    return drawn


def apart(count: int, panel_height: float) -> list[Axes]:
    """`count` axes on scales of their own, in rows."""
    across = columns(count)
    down = -(-count // across)
    figure = new_figure(down * panel_height + 0.6)
    return [figure.add_subplot(down, across, place + 1) for place in range(count)]


def new_figure(height: float) -> Figure:
    """A figure of the common width; `height` in inches."""
    layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.06, wspace=0.02, hspace=0.03)
    return Figure(figsize=(style.WIDTH_IN, height), layout=layout)


def figure_of(axes: Axes) -> Figure:
    """The figure that axes belong to."""
    figure = axes.get_figure(root=True)
    if figure is None:
        raise ValueError("the axes are in no figure")
    return figure


def heading(figure: Figure, title: str, note: str = "") -> None:
    """A sentence above the panels, and a quieter one that says how to read them."""
    wrapped = style.fold(title, 88, lines=3)
    below = style.fold(note, 150, lines=3)
    figure.suptitle(wrapped, x=0.012, ha="left", linespacing=1.25, gid=TITLE)
    if note:
        figure.supxlabel(below, x=0.012, ha="left", fontsize=8.5, color=style.QUIET)


def shade_warmup(axes: Axes, warmup_s: float) -> None:
    """Greys the part at the beginning that no total counts."""
    if warmup_s > 0:
        axes.axvspan(0, warmup_s, color=style.BAND, linewidth=0, zorder=0)
