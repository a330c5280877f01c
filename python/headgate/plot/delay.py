"""How long packets wait."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, PercentFormatter

from headgate import style
from headgate.analysis import data, links
from headgate.plot.panels import chosen, figure_of, heading, new_figure
from headgate.results import Result

_FLOOR_MS = 0.1
"""Where a logarithmic scale begins: shorter waits are all the same to anyone."""
_WIDE = 30.0
"""A logarithmic scale pays when the longest p99 is this many times the shortest median."""
_P99 = 0.99


def delay_cdf(result: Result, ax: Axes | None = None) -> Axes:
    """The share of packets that waited at most so long in the queue, all seeds together; a dot marks each p99."""
    with style.applied():
        owned = ax is None
        axes = ax if ax is not None else new_figure(4.6).add_subplot()
        known = chosen(data.qdiscs(result), None)
        looks = style.looks(known)
        curves = {name: curve for name in known if (curve := data.delay(result, name)) is not None}
        left = _scale(axes, list(curves.values()))
        handles = [
            _curve(axes, curve, looks[name], left)
            for name, curve in sorted(curves.items(), key=lambda item: item[1].quantile(_P99))
        ]
        axes.set_ylim(0, 1.02)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        axes.set_xlabel("Time in the queue (ms)")
        axes.set_ylabel("Packets that waited at most so long")
        if handles:
            axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), title="99 % waited at most",
                        alignment="left")  # fmt: skip
        else:
            axes.text(0.5, 0.5, "No packet was sent after the warm-up.", transform=axes.transAxes, ha="center")
        if owned:
            heading(figure_of(axes), "How long packets wait in the queue", _note(result) + links.note(result))
        return axes


def _scale(axes: Axes, curves: list[data.Cdf]) -> float:
    """Chooses the scale; returns where it begins, in ms."""
    longest = max((curve.quantile(_P99) for curve in curves), default=0.0)
    shortest = min((curve.quantile(0.5) for curve in curves), default=0.0)
    furthest = max((float(curve.delay_ms[-1]) for curve in curves), default=1.0)
    if longest <= max(shortest, _FLOOR_MS) * _WIDE:
        axes.set_xlim(0, max(longest * 1.15, min(furthest, longest * 1.3), _FLOOR_MS))
        return 0.0
    left = max(_FLOOR_MS, min(curve.quantile(0.05) for curve in curves))
    axes.set_xscale("log")
    axes.set_xlim(left, max(furthest, longest * 1.15))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda ms, _: style.plain(ms)))
    return left


def _curve(axes: Axes, curve: data.Cdf, look: style.Look, left: float) -> Line2D:
    # All shorter delays sit on the left edge, so that the curve starts with the share that waited no longer than that.
    shown = np.maximum(curve.delay_ms, left)
    p99 = curve.quantile(_P99)
    (line,) = axes.plot(
        np.concatenate([[left, shown[0]], shown, [max(shown[-1], axes.get_xlim()[1])]]),
        np.concatenate([[0.0, 0.0], curve.share, [1.0]]),
        color=look.colour,
        linestyle=look.dashes,
        linewidth=1.8,
        label=f"{style.number(p99)} ms  {style.fold(look.label, 26)}",
    )
    axes.plot([p99], [_P99], marker="o", markersize=5, color=look.colour, markeredgecolor="white", zorder=3)
    return line


def _note(result: Result) -> str:
    count = len(result.scenario.seeds)
    together = f"All packets of {count} seeds together" if count > 1 else "All packets"
    return f"{together}, after the warm-up. Dots: the delay that 99 % of packets did not exceed."
