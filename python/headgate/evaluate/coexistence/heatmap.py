"""The heat map: a panel for each discipline, and a cell for each rate and round-trip time with color and number."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from headgate import style
from headgate.plot.panels import columns, figure_of, heading, separate_axes

#: Ratios at the ends of the color scale. Ratios beyond them have the colors of the ends, and their own numbers.
ENDS = (1 / 16, 16.0)
#: Purple: CUBIC has more; orange: Prague has more; white: equal. Color-blind readers tell the hues apart.
COLORS = "PuOr_r"
#: A ratio beyond this, or below its inverse, is written in white on a dark cell.
DARK = 6.0

#: Ratios beyond this, or below its inverse, are not written in full: one flow has next to nothing.
MOST = 1000

#: How to read a cell.
SCALE = "1/3: CUBIC has three times the goodput of Prague."


def figure(document: Mapping[str, Any]) -> Figure:
    """The figure of a document."""
    labels = {each["spec"]: each["label"] for each in document["disciplines"]}
    axes = separate_axes(len(labels), 2.1 + 0.28 * len(document["rates_bps"]))
    for (spec, label), each in zip(labels.items(), axes, strict=True):
        each.set_title(style.fold(label, 90 // columns(len(labels))))
        image = _draw(each, table(document, spec), document)
    drawn = figure_of(axes[0])
    bar = drawn.colorbar(image, ax=axes, shrink=0.8, extend="both")
    ticks = [1 / 16, 1 / 4, 1, 4, 16]
    bar.set_ticks(ticks, labels=[shown(tick) for tick in ticks])
    bar.ax.minorticks_off()
    for index, each in enumerate(axes):
        if index % columns(len(axes)) == 0:
            each.set_ylabel("Rate (Mbit/s)")
        if index >= len(axes) - columns(len(axes)):
            each.set_xlabel("Base round-trip time (ms)")
    heading(drawn, "Goodput of Prague over CUBIC's", f"{document['pair']}. {SCALE}")
    return drawn


def table(document: Mapping[str, Any], spec: str) -> list[list[Mapping[str, Any]]]:
    """The cells of a discipline: a row for each rate, a column for each round-trip time."""
    cells = {(each["rate_bps"], each["rtt_ms"]): each for each in document["cells"] if each["qdisc"] == spec}
    return [[cells[rate, rtt] for rtt in document["rtts_ms"]] for rate in document["rates_bps"]]


def shown(ratio: float | None) -> str:
    """A ratio as text: `2.4`; `1/5.3` if CUBIC has more, so that 3 and 1/3 look alike. None: CUBIC has nothing."""
    if ratio is None or ratio > MOST:
        return f">{MOST}"
    if ratio < 1 / MOST:
        return f"<1/{MOST}"
    digits = _digits(max(ratio, 1 / ratio))
    return digits if ratio >= 1 or digits == "1" else f"1/{digits}"


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}".removesuffix(".0")


def _draw(axes: Axes, rows: Sequence[Sequence[Mapping[str, Any]]], document: Mapping[str, Any]) -> Any:
    ratios = np.array([[_color(cell["ratio"]) for cell in row] for row in rows])
    image = axes.imshow(ratios, cmap=COLORS, norm=LogNorm(*ENDS), aspect="auto", origin="lower")
    axes.grid(visible=False)
    axes.set_xticks(range(len(document["rtts_ms"])), [style.plain(rtt) for rtt in document["rtts_ms"]])
    axes.set_yticks(range(len(document["rates_bps"])), [style.plain(rate / 1e6) for rate in document["rates_bps"]])
    for y, row in enumerate(rows):
        for x, cell in enumerate(row):
            dark = not 1 / DARK < ratios[y, x] < DARK
            axes.text(x, y, shown(cell["ratio"]), ha="center", va="center", color="white" if dark else "black")
    return image


def _color(ratio: float | None) -> float:
    """A ratio within the ends of the color scale."""
    return ENDS[1] if ratio is None else min(max(ratio, ENDS[0]), ENDS[1])
