"""Goodput of every flow against its fair share."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from headgate import style
from headgate.analysis import data
from headgate.analysis.division import protocols
from headgate.plot import figure_style
from headgate.plot.panels import Panels, heading
from headgate.results import Result
from headgate.scenario import Role

MOST_BARS = 24
"""With more flows than this, groups are drawn as sorted profiles instead of bars."""
_LETTERS = 60
"""Letters of a legend on one line beside the title."""
_UPRIGHT = 40
"""Letters of the names of groups side by side, in a figure with one panel in a row; more are turned."""
_GAP = 0.7
"""Gap between the bars of two groups, in bars."""


def goodput(result: Result, qdisc: str | None = None, ax: Axes | None = None) -> list[Axes]:
    """Goodput per flow in Mbit/s against the max-min fair share, after the warm-up; one panel a discipline.

    Up to 24 flows each get a bar, with the 95 % interval over seeds. More flows are drawn as one profile a group: its
    flows in ascending order, with the range over seeds as a band.
    """
    with figure_style.applied():
        panels = Panels(result, qdisc, ax)
        single = sum(group.flows for group in result.scenario.groups) <= MOST_BARS
        summary = {entry["qdisc"]: entry for entry in result.summary()}
        for name, axes in zip(panels.qdiscs, panels.axes, strict=True):
            groups = data.groups(result, name)
            if single:
                _bars(axes, groups, summary[name], panels.columns)
            else:
                _profiles(axes, groups, panels.columns)
            axes.grid(axis="x", visible=False)
            axes.tick_params(axis="x", length=0)
        # After all panels are drawn: setting a limit ends the autoscaling of shared axes.
        panels.axes[0].set_ylim(bottom=0)
        for axes in panels.left():
            axes.set_ylabel("Goodput (Mbit/s)")
        if panels.owned:
            heading(panels.figure, "Goodput of each flow and its fair share", _note(result, single))
            _legend(panels, result)
        return panels.axes


def _bars(axes: Axes, groups: list[data.GroupGoodput], entry: dict[str, object], columns: int) -> None:
    estimates = {group["name"]: group["goodput_bps_per_flow"] for group in entry["groups"]}  # type: ignore[attr-defined]
    at, ticks = 0.0, []
    for group in groups:
        places = at + np.arange(group.flows)
        mean = group.goodput_bps.mean(axis=0) / 1e6
        axes.bar(places, mean, width=0.8, color=style.color_of(group.role))
        if len(group.goodput_bps) > 1:
            low, high = (np.array([flow[end] for flow in estimates[group.name]]) / 1e6 for end in ("low", "high"))
            reach = np.maximum([mean - low, high - mean], 0)
            axes.errorbar(places, mean, reach, fmt="none", ecolor="#333333", elinewidth=1, capsize=2)
        axes.hlines(group.fair_bps / 1e6, places - 0.5, places + 0.5, color=style.FAIR, linewidth=1.6)
        ticks.append(at + (group.flows - 1) / 2)
        at += group.flows + _GAP
    _names(axes, ticks, [style.fold(group.name, 12) for group in groups], columns)


def _profiles(axes: Axes, groups: list[data.GroupGoodput], columns: int) -> None:
    for place, group in enumerate(groups):
        # Each flow is a step of equal width. Flows are sorted within each seed: averaging by flow would blur the shape.
        # Not `stairs`: finding the limits of thousands of steps takes it seconds.
        ranked = np.sort(group.goodput_bps, axis=1) / 1e6
        edges = place + 0.05 + 0.9 * np.linspace(0, 1, group.flows + 1)
        color = style.color_of(group.role)
        axes.fill_between(edges, _steps(ranked.mean(axis=0)), step="post", color=color, alpha=0.85, linewidth=0)
        if len(ranked) > 1:
            low, high = _steps(ranked.min(axis=0)), _steps(ranked.max(axis=0))
            # Hatched: a gray band would look like a group that demands at most its fair share.
            axes.fill_between(
                edges, low, high, step="post", facecolor="none", edgecolor="#333333", hatch="//////", linewidth=0
            )
        fair = _steps(np.sort(group.fair_bps) / 1e6)
        axes.plot(edges, fair, drawstyle="steps-post", color=style.FAIR, linewidth=1.6, solid_capstyle="butt")
    names = [style.fold(f"{group.name} ({group.flows})", max(10, 36 // len(groups))) for group in groups]
    _names(axes, list(np.arange(len(groups)) + 0.5), names, columns)


def _steps(values: np.ndarray) -> np.ndarray:
    """Values of steps, and the last one again at the right edge."""
    return np.append(values, values[-1:])


def _names(axes: Axes, ticks: list[float], names: list[str], columns: int) -> None:
    """The names of groups below their bars, turned where they would overlap."""
    longest = max(len(line) for name in names for line in name.split("\n"))
    turned = len(names) > 1 and longest * len(names) * columns > 2 * _UPRIGHT
    axes.set_xticks(ticks, names, rotation=90 if turned else 0)


def _legend(panels: Panels, result: Result) -> None:
    groups = result.scenario.groups
    labels = {
        Role.RESPONSIVE: protocols(group for group in groups if group.role == Role.RESPONSIVE),
        Role.UNRESPONSIVE: "unresponsive (UDP)",
        Role.MODEST: "demands at most its fair share",
    }
    present = {group.role for group in groups}
    handles: list[Patch | Line2D] = [
        Patch(color=style.color_of(role), label=label) for role, label in labels.items() if role in present
    ]
    handles.append(Line2D([], [], color=style.FAIR, linewidth=1.6, label="max-min fair share"))
    letters = sum(len(str(handle.get_label())) for handle in handles)
    panels.figure.legend(handles=handles, loc="outside upper right", ncols=len(handles) if letters < _LETTERS else 2)


def _note(result: Result, single: bool) -> str:
    seeds = len(result.scenario.seeds)
    shape = "One bar a flow, by group" if single else "The flows of each group in ascending order"
    if seeds == 1:
        return f"{shape}; one seed, after the warm-up."
    spread = "Whiskers: 95 % interval of the mean" if single else "Hatched: range"
    return f"{shape}; means over {seeds} seeds, after the warm-up. {spread} over the seeds."
