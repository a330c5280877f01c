"""How fairness depends on how long one looks."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from headgate import style
from headgate.analysis import data
from headgate.analysis.spread import Figure
from headgate.plot.panels import chosen, figure_of, heading, new_figure
from headgate.results import Result


def fairness(result: Result, ax: Axes | None = None) -> Axes | None:
    """Jain's index over slots of each time scale and over the whole run, with 95 % intervals over seeds.

    None if no slot had two flows to compare.
    """
    with style.applied():
        known = chosen(data.qdiscs(result), None)
        lines = {entry["qdisc"]: _line(entry) for entry in result.summary() if entry["qdisc"] in known}
        if not any(name != _WHOLE for line in lines.values() for name in line):
            return None
        owned = ax is None
        axes = ax if ax is not None else new_figure(4.2).add_subplot()
        looks = style.looks(known)
        names = [*dict.fromkeys(name for line in lines.values() for name in line if name != _WHOLE), _WHOLE]
        compared = [(name, line) for name, line in lines.items() if line]
        order = sorted(compared, key=lambda item: -next(iter(item[1].values()))[0])
        handles = [_draw(axes, line, names, looks[name]) for name, line in order]
        axes.set_xticks(range(len(names)), names)
        axes.set_xlim(-0.3, len(names) - 0.7)
        axes.set_ylim(top=1.01)
        axes.set_xlabel("Goodput is compared over")
        axes.set_ylabel("Jain's index (1: all get their share)")
        axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), title=f"Over {names[0]}",
                    alignment="left")  # fmt: skip
        if owned:
            heading(figure_of(axes), "How fair the link is shared, by how long one looks", _note(result))
        return axes


_WHOLE = "whole run"


def _line(entry: dict[str, object]) -> dict[str, tuple[float, float, float]]:
    """Mean, low and high of the index by the name of the time scale."""
    scales: list[dict[str, Figure]] = entry["jain_by_scale"]  # type: ignore[assignment]
    found = {f"{style.plain(scale['scale_s'])} s": scale["mean"] for scale in scales}  # type: ignore[arg-type]
    found[_WHOLE] = entry["jain"]  # type: ignore[assignment]
    return {name: _ends(index) for name, index in found.items() if index["mean"] is not None}


def _ends(index: Figure) -> tuple[float, float, float]:
    mean, low, high = index["mean"], index["low"], index["high"]
    return mean or 0.0, low or 0.0, high or 0.0


def _draw(axes: Axes, line: dict[str, tuple[float, float, float]], names: list[str], look: style.Look) -> Line2D:
    places = [names.index(name) for name in line]
    mean, low, high = np.array(list(line.values())).T
    (drawn,) = axes.plot(
        places, mean, color=look.colour, linestyle=look.dashes, linewidth=1.6, marker="o", markersize=4.5,
        label=f"{style.number(mean[0])}  {style.fold(look.label, 26)}",
    )  # fmt: skip
    # An index is never above 1, though the ends of an interval may be.
    reach = np.maximum([mean - low, np.minimum(high, 1.0) - mean], 0)
    axes.errorbar(places, mean, reach, fmt="none", ecolor=look.colour, elinewidth=1, capsize=2.5)
    return drawn


def _note(result: Result) -> str:
    seeds = len(result.scenario.seeds)
    spread = f"mean of {seeds} seeds, bars: 95 % interval" if seeds > 1 else "one seed"
    return f"The index of each slot of that length, averaged over slots; {spread}, after the warm-up."
