"""Small multiples: one panel for each discipline on shared axes, below a title."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from headgate import style
from headgate.analysis import data
from headgate.plot import figure_style
from headgate.plot.layout import Layout
from headgate.results import Result

TITLE = "title"
"""The identifier of a figure's title."""


class Panels:
    """One axes for each discipline, in a new figure or on the caller's axes."""

    def __init__(self, result: Result, qdisc: str | None, ax: Axes | None) -> None:
        known = data.qdiscs(result)
        self.qdiscs = chosen(known, qdisc)
        self.looks = style.looks(known)
        if ax is not None and len(self.qdiscs) > 1:
            raise ValueError(f"ax= draws one discipline: choose it with qdisc=, one of {', '.join(known)}")
        self.owned = ax is None
        self.axes = [ax] if ax is not None else shared_axes(len(self.qdiscs), 2.3)
        for name, axes in zip(self.qdiscs, self.axes, strict=True):
            look = self.looks[name]
            axes.set_title(style.fold(look.label, 96 // self.columns), color=style.legible(look.color))

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
    """All known disciplines, or only `qdisc`; `ValueError` if it is unknown."""
    if qdisc is not None and qdisc not in known:
        raise ValueError(f"the result has no discipline {qdisc}; it has {', '.join(known)}")
    if not known:
        raise ValueError("the result has no finished run to draw")
    return known if qdisc is None else [qdisc]


def looks_of(result: Result) -> dict[str, style.Look]:
    """The look of each discipline of a result, in the scenario's order."""
    return style.looks(chosen(data.qdiscs(result), None))


def columns(count: int) -> int:
    """How many panels stand side by side."""
    if count <= 3:
        return figure_style.across(count)
    return figure_style.across(2 if count == 4 else 3 if count in (5, 6, 9) else 4)


def shared_axes(count: int, panel_height: float) -> list[Axes]:
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


def separate_axes(count: int, panel_height: float) -> list[Axes]:
    """`count` axes on scales of their own, in rows."""
    across = columns(count)
    down = -(-count // across)
    figure = new_figure(down * panel_height + 0.6)
    return [figure.add_subplot(down, across, place + 1) for place in range(count)]


def new_figure(height: float) -> Figure:
    """A figure of the style's width; `height` in inches is that on a screen."""
    chosen_style = figure_style.current()
    pads = (0.02, 0.03) if chosen_style.is_paper else (0.08, 0.06)
    layout = Layout(w_pad=pads[0], h_pad=pads[1], wspace=0.02, hspace=0.03)
    return Figure(figsize=(chosen_style.width_in, chosen_style.height * height), layout=layout)


def beside_legend(count: int, height: float) -> Figure:
    """A new figure for one axes beside a legend with so many entries: at least as high as both need."""
    return new_figure(max(height, 0.21 * count + 1.9))


def figure_of(axes: Axes) -> Figure:
    """The figure that axes belong to."""
    figure = axes.get_figure(root=True)
    if figure is None:
        raise ValueError("the axes belong to no figure")
    return figure


def heading(figure: Figure, title: str, note: str = "") -> None:
    """The title above the panels, and a note on how to read them. In a paper, the caption has both."""
    if figure_style.current().is_paper:
        return
    wrapped = style.fold(title, 88, lines=3)
    below = style.fold(note, 150, lines=3)
    figure.suptitle(wrapped, x=0.012, ha="left", linespacing=1.25, gid=TITLE)
    if note:
        figure.supxlabel(below, x=0.012, ha="left", fontsize=8.5, color=style.QUIET)


def legend_beside(axes: Axes, handles: Sequence[Line2D], title: str) -> None:
    """Draws the legend at the right of the axes, or a note if there is no curve."""
    if handles:
        axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), title=title, alignment="left")
    else:
        axes.text(0.5, 0.5, "No packet was sent after the warm-up.", transform=axes.transAxes, ha="center")


def over_time(axes: Axes, result: Result) -> None:
    """Sets the horizontal axis to the run's time, with the warm-up in gray."""
    if result.scenario.warmup_s > 0:
        axes.axvspan(0, result.scenario.warmup_s, color=style.BAND, linewidth=0, zorder=0)
    axes.set_xlim(0, result.scenario.duration_s)


def warmup_note(result: Result) -> str:
    """The note on the gray warm-up; empty without a warm-up."""
    warmup_s = result.scenario.warmup_s
    return f" Gray: the first {style.plain(warmup_s)} s (warm-up), excluded from all totals." if warmup_s > 0 else ""
