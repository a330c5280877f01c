"""What a reader could not read in a figure: texts over texts, texts cut off, legends on data, and weak contrast."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib import colors
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from headgate.plot import figure_style

#: Lines of text may touch each other by this many pixels: a letter's box has blanks above and below its ink.
SLACK = 2.0
#: The least contrast of a text (WCAG 2.2, success criterion 1.4.11: 3 for graphics and large text).
CONTRAST = 3.0


def faults(figure: Figure, *, legends: bool = True) -> list[str]:
    """Every fault of a figure in words; empty if there is none. Without `legends`, they may cover made-up data."""
    with figure_style.applied():
        FigureCanvasAgg(figure)
        figure.draw_without_rendering()
        texts = list(drawn_texts(figure))
        boxes = [(text, text.get_window_extent()) for text in texts]
        return [*_overlaps(boxes), *_cut_off(figure, boxes), *_weak(texts), *(_on_data(figure) if legends else ())]


def drawn_texts(figure: Figure) -> Iterator[Text]:
    """The texts that are drawn. Tick labels beyond the ends of an axis are not."""
    hidden = set()
    for axis in figure.findobj(Axis):  # those of secondary axes, too
        assert isinstance(axis, Axis)
        shown = set(map(id, axis._update_ticks()))  # type: ignore[attr-defined]
        ticks = [tick for tick in (*axis.majorTicks, *axis.minorTicks) if id(tick) not in shown]
        hidden |= {id(label) for tick in ticks for label in (tick.label1, tick.label2)}
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden:
            yield text


def _overlaps(boxes: list[tuple[Text, Bbox]]) -> Iterator[str]:
    for (one, a), (other, b) in combinations(boxes, 2):
        width, height = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        # Words on one line need a gap: a box that touches the next one makes one word of two.
        if width > 0 and height > SLACK:
            yield f"{one.get_text()!r} overlaps {other.get_text()!r}"


def _cut_off(figure: Figure, boxes: list[tuple[Text, Bbox]]) -> Iterator[str]:
    for text, box in boxes:
        beyond = max(-box.x0, -box.y0, box.x1 - figure.bbox.width, box.y1 - figure.bbox.height)
        if beyond > SLACK:
            yield f"{text.get_text()!r} is cut off by {beyond:.0f} pixels"


def _weak(texts: list[Text]) -> Iterator[str]:
    for text in texts:
        patch = text.get_bbox_patch()
        background = patch.get_facecolor() if patch is not None else "white"
        ratio = contrast(text.get_color(), background)
        if ratio < CONTRAST:
            yield f"{text.get_text()!r} has a contrast of {ratio:.1f}"


def contrast(one: object, other: object) -> float:
    """The contrast of two colors by WCAG 2.2, from 1 to 21."""

    def luminance(color: object) -> float:
        rgb: Any = np.array(colors.to_rgb(color))  # type: ignore[arg-type]
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _on_data(figure: Figure) -> Iterator[str]:
    for axes in figure.axes:
        legend = axes.get_legend()
        if legend is not None and (count := _points_under(axes, legend)):
            yield f"the legend of {axes.get_ylabel() or axes.get_title()!r} covers {count} points of data"


def _points_under(axes: Axes, legend: Legend) -> int:
    """The points of the axes' lines, and of the segments between them, that a legend covers."""
    box, count = legend.get_window_extent(), 0
    for line in axes.lines:
        points = line.get_transform().transform(np.asarray(line.get_xydata(), dtype=float))
        points = points[np.isfinite(points).all(axis=1)]
        if line.get_linestyle() != "None" and len(points) > 1:
            shares = np.linspace(0, 1, 8)[:, None, None]
            points = (points[:-1] * (1 - shares) + points[1:] * shares).reshape(-1, 2)
        inside = (points > [box.x0, box.y0]).all(axis=1) & (points < [box.x1, box.y1]).all(axis=1)
        count += int(inside.sum())
    return count
