"""Fits a figure to a paper's width: text of one size, wrapped labels, fewer ticks, one legend below, enough height."""

from __future__ import annotations

import textwrap
from itertools import chain, pairwise
from typing import Any, cast

from matplotlib.axes import Axes
from matplotlib.axes._secondary_axes import SecondaryAxis
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullFormatter

from headgate.plot import figure_style

#: Average width of a letter, as a share of the text's size.
_LETTER = 0.46
#: The least height of a panel in inches, and the height that a row of text takes.
_LEAST_IN = 0.85
_ROW_IN = 0.145
#: A row of this height in inches has one tick with a label, and a column of this width.
_TICK_IN = (0.42, 0.25)
#: Layouts until a figure fits. Each one changes the room that the next step measures.
_ROUNDS = 4


def fit(figure: Figure) -> None:
    """Fits a figure in a paper's style. Figures for the screen stay as they are."""
    size = figure_style.current().text_pt
    if size is None:
        return
    for text in figure.findobj(Text):
        text.set_fontsize(size)
    for axes in _all_axes(figure):
        axes.tick_params(which="both", labelsize=size, pad=2)
    _legend_below(figure)
    for _ in range(_ROUNDS):
        _lay_out(figure)
        for axes in _all_axes(figure):
            _wrap(axes, size)
            _fewer_ticks(axes)
        _grow(figure)


def _all_axes(figure: Figure) -> list[Axes]:
    """The axes, and the secondary axes at their sides."""
    sides = (cast("list[Axes]", axes.child_axes) for axes in figure.axes)
    return [*figure.axes, *chain.from_iterable(sides)]


def _lay_out(figure: Figure) -> None:
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)


def _legend_below(figure: Figure) -> None:
    """Puts a figure's only legend below its panels, in as many columns as fit. Several legends stay in their panels."""
    of_axes = [legend for axes in figure.axes if (legend := axes.get_legend()) is not None]
    legends = [*of_axes, *figure.legends]
    if len(legends) != 1:
        return
    (legend,) = legends
    entries, title = _entries(legend), legend.get_title().get_text()
    legend.remove()
    for columns in range(min(len(entries), 6), 0, -1):
        handles, labels = zip(*entries, strict=True)
        below = figure.legend(
            handles, labels, loc="outside lower center", ncols=columns, title=title or None,
            handlelength=1.6, columnspacing=1.0, handletextpad=0.5, borderaxespad=0.1,
        )  # fmt: skip
        if columns == 1 or below.get_window_extent().width <= 0.97 * figure.bbox.width:
            return
        below.remove()


def _entries(legend: Legend) -> list[tuple[Any, str]]:
    texts = (text.get_text() for text in legend.get_texts())
    return list(zip(legend.legend_handles, texts, strict=True))


def _wrap(axes: Axes, size: float) -> None:
    """Breaks titles and labels into lines that fit beside or above their axes."""
    box = axes.get_window_extent()
    letter = _LETTER * size / 72 * _figure(axes).dpi
    across, down = max(8, int(box.width / letter)), max(8, int(box.height / letter))
    for loc in () if isinstance(axes, SecondaryAxis) else ("left", "center", "right"):
        if title := axes.get_title(loc):
            axes.set_title(_wrapped(title, across), loc=loc)
    axes.xaxis.label.set_text(_wrapped(axes.get_xlabel(), across))
    axes.yaxis.label.set_text(_wrapped(axes.get_ylabel(), down))


def _wrapped(text: str, letters: int) -> str:
    return "\n".join(textwrap.wrap(" ".join(text.split()), letters, break_long_words=False))


def _fewer_ticks(axes: Axes) -> None:
    box, dpi = axes.get_window_extent(), _figure(axes).dpi
    for axis, length, tick_in in ((axes.xaxis, box.width, _TICK_IN[0]), (axes.yaxis, box.height, _TICK_IN[1])):
        locator = axis.get_major_locator()
        count = max(2, int(length / dpi / tick_in))
        if isinstance(locator, MaxNLocator):
            locator.set_params(nbins=min(count, 6))
        elif _collide(axis):
            _thin(axis, count)


def _thin(axis: Axis, count: int) -> None:
    """Fewer labels on a logarithmic axis or of numbers; names are turned, since each one is needed."""
    if isinstance(axis.get_major_locator(), LogLocator):
        axis.set_major_locator(LogLocator(subs=(1,), numticks=max(3, count)))
        axis.set_minor_formatter(NullFormatter())
    elif isinstance(axis.get_major_locator(), FixedLocator) and axis.axis_name == "x":  # type: ignore[attr-defined]
        places, labels = list(axis.get_majorticklocs()), [text.get_text() for text in axis.get_ticklabels()]
        if all(label.replace(".", "", 1).isdecimal() for label in labels):
            step = -(-len(labels) // count)
            axis.set_ticks(places[::step], labels[::step])
        else:
            axis.set_tick_params(labelrotation=90)


def _collide(axis: Axis) -> bool:
    """Whether labels of an axis overlap, those of minor ticks included."""
    minor = [tick.label1 for tick in axis.get_minor_ticks() if tick in axis._update_ticks()]  # type: ignore[attr-defined]
    labels = [text for text in (*axis.get_ticklabels(), *minor) if text.get_visible() and text.get_text()]
    boxes = sorted((text.get_window_extent() for text in labels), key=lambda box: (box.x0, box.y0))
    if axis.axis_name == "x":  # type: ignore[attr-defined]
        return any(right.x0 - left.x1 < 2 for left, right in pairwise(boxes))
    boxes.sort(key=lambda box: box.y0)
    return any(upper.y0 - lower.y1 < 0 for lower, upper in pairwise(boxes))


def _grow(figure: Figure) -> None:
    """Makes the figure higher until each panel has the height that its rows of names need."""
    short: dict[int, float] = {}
    for axes in figure.axes:
        spec = axes.get_subplotspec()
        row = 0 if spec is None else spec.rowspan.start
        missing = _needed_in(axes) - axes.get_window_extent().height / figure.dpi
        short[row] = max(short.get(row, 0.0), missing)
    if (missing := sum(max(0.0, each) for each in short.values())) > 0.02:
        figure.set_figheight(figure.get_figheight() + missing)


def _needed_in(axes: Axes) -> float:
    if not isinstance(axes.yaxis.get_major_locator(), FixedLocator):
        return _LEAST_IN
    lines = [1 + label.get_text().count("\n") for label in axes.get_yticklabels()]
    return max(_LEAST_IN, _ROW_IN * len(lines) * max(lines, default=1) + 0.1)


def _figure(axes: Axes) -> Figure:
    return cast("Figure", axes.get_figure(root=True))
