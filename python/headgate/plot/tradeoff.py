"""Queueing delay against goodput (RFC 7928, section 2.7)."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from headgate import style
from headgate.analysis import data, links
from headgate.plot import figure_style
from headgate.plot.panels import beside_legend, figure_of, heading, legend_beside, looks_of
from headgate.results import Result
from headgate.scenario.queues import whose

_WIDE = 30.0
"""The scale is logarithmic if the longest delay is this many times the shortest."""
_FLOOR_MS = 0.01
"""Lowest left end of a logarithmic scale, in ms."""
_LEAST = 0.1
"""Least range of an axis, as a share of the link's rate or of the longest delay."""


def tradeoff(result: Result, ax: Axes | None = None) -> Axes:
    """Mean queueing delay against the goodput of all flows together, one dot for each seed.

    With several seeds a larger dot marks the mean, and an ellipse one standard deviation. The ellipse is the contour of
    the two-dimensional normal distribution fitted by maximum likelihood.
    """
    with figure_style.applied():
        looks = looks_of(result)
        axes = ax if ax is not None else beside_legend(len(looks), 4.6).add_subplot()
        unit, scale = style.unit_of(result.scenario.rate_bps)
        points = {name: dots for name in looks if len(dots := data.delay_goodput(result, name, scale))}
        scale_delay(axes, list(points.values()))
        handles = [
            _dots(axes, dots, looks[name], unit)
            for name, dots in sorted(points.items(), key=lambda item: -item[1][:, 1].mean())
        ]
        axes.set_xlabel("Mean queueing delay (ms)")
        axes.set_ylabel(f"Goodput of {whose(result.scenario)} ({unit})")
        _widen(axes, result.scenario.rate_bps / scale)
        legend_beside(axes, handles, "Goodput, mean delay")
        if ax is None:
            title = "Goodput and queueing delay (top left is best)"
            above = _above_note(points, result.scenario.rate_bps / scale, links.first(result))
            heading(figure_of(axes), title, _note(result) + links.note(result) + above)
        return axes


def _widen(axes: Axes, rate: float) -> None:
    """Widens the goodput axis to at least a tenth of the link's rate, and delays to a tenth of the longest.

    A difference of half a percent would otherwise fill the figure.
    """
    low, high = axes.get_ylim()
    if (missing := _LEAST * rate - (high - low)) > 0:
        axes.set_ylim(low - missing / 2, high + missing / 2)
    low, high = axes.get_xlim()
    if axes.get_xscale() == "linear" and (missing := _LEAST * high - (high - low)) > 0:
        axes.set_xlim(low - missing / 2, high + missing / 2)


def scale_delay(axes: Axes, points: list[data.Array]) -> None:
    """Sets a logarithmic delay axis if delays differ by much; `points` are rows of delay in ms and goodput."""
    delays = np.concatenate(points)[:, 0] if points else np.ones(1)
    if delays.max() > max(delays.min(), _FLOOR_MS) * _WIDE:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda ms, _: style.plain(ms)))
        axes.xaxis.set_minor_formatter(FuncFormatter(_between_decades))
    axes.margins(0.1)


def _between_decades(ms: float, _: object) -> str:
    """Labels of minor ticks: only 2 and 5 of each power of ten."""
    shown = style.plain(ms)
    return shown if shown.strip("0.") in ("2", "5") else ""


def _dots(axes: Axes, points: data.Array, look: style.Look, unit: str) -> Line2D:
    middle = points.mean(axis=0)
    label = f"{style.number(middle[1])} {unit}, {style.number(middle[0])} ms  {style.fold(look.label, 26)}"
    return mark(axes, points, look.color, look.dashes, label)


def mark(
    axes: Axes,
    points: data.Array,
    color: str,
    dashes: style.Dashes,
    label: str,
    *,
    marker: str = "o",
    hollow: bool = False,
) -> Line2D:
    """Draws a dot for each seed, their mean and their ellipse; `hollow` for a second variant of one color."""
    if len(points) > 1:
        outline = ellipse(points)
        # A logarithmic scale has no zero.
        outline = outline[outline[:, 0] > 0] if axes.get_xscale() == "log" else outline
        if not hollow:
            axes.fill(outline[:, 0], outline[:, 1], facecolor=color, alpha=0.2, linewidth=0)
        axes.plot(outline[:, 0], outline[:, 1], color=color, linestyle=dashes, linewidth=1.1)
        axes.plot(points[:, 0], points[:, 1], linestyle="none", marker=".", markersize=4, color=color, alpha=0.6)
    x, y = points.mean(axis=0)
    inside, edge = ("white", color) if hollow else (color, "white")
    (dot,) = axes.plot(
        x, y, linestyle="none", marker=marker, markersize=7, color=inside, markeredgecolor=edge, label=label
    )
    return dot


def ellipse(points: data.Array, corners: int = 72) -> data.Array:
    """The outline of one standard deviation around the mean of `points` (rows of x and y), closed."""
    middle = points.mean(axis=0)
    spread, axes = np.linalg.eigh(np.cov(points.T, bias=True))
    angle = np.linspace(0, 2 * np.pi, corners + 1)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    # Rounding can make the variance along the shorter axis negative.
    outline = middle[:, None] + axes @ (np.sqrt(np.maximum(spread, 0))[:, None] * circle)
    return np.asarray(outline.T, dtype=np.float64)


def _above_note(points: dict[str, data.Array], rate: float, link: str) -> str:
    """The reason for a goodput above the link's rate; empty if there is none."""
    if all((dots[:, 1] <= rate).all() for dots in points.values()):
        return ""
    if link:
        return f" Goodput above the rate of link {link} is that of flows on other links."
    return " Goodput above the link's rate: receivers got data that the link had sent before the warm-up ended."


def _note(result: Result) -> str:
    count = len(result.scenario.seeds)
    if count == 1:
        return "One seed, after the warm-up. Run several seeds to see the spread."
    return (
        f"Small dots: {count} seeds, after the warm-up. Large dots: means. Ellipses: one standard deviation of the "
        "fitted normal distribution."
    )
