"""Two disciplines beside each other, over time."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from headgate import style
from headgate.analysis import data, links
from headgate.analysis.columns import ColumnArrays
from headgate.plot import figure_style
from headgate.plot.overtime import draw_line, gauge_shown, gauge_title
from headgate.plot.panels import heading, looks_of, new_figure, over_time, warmup_note
from headgate.results import Result

_POINTS = 100
"""Points in a line over half of the figure's width."""
_GAUGES = 2
_LEGEND_ACROSS = 3
_LEGEND_ROW_PT = 14.0


def pair(result: Result) -> Figure:
    """A column for each of a result's two disciplines: goodput by class of flows and queue length over time.

    Below are up to two gauges of the second discipline. Raises ValueError unless the result has two disciplines.
    """
    looks = looks_of(result)
    known = list(looks)
    if len(known) != 2:
        raise ValueError(f"pair needs a result with two disciplines; this one has {len(known)}: {', '.join(known)}")
    with figure_style.applied():
        gauges = dict(list(_watched(result, known[1]).items())[:_GAUGES])
        figure = new_figure(5.2 + (1.9 if gauges else 0))
        rows = 3 if gauges else 2
        for column, (name, look) in enumerate(looks.items()):
            first, second = figure.axes[:2] if column else (None, None)
            top = figure.add_subplot(rows, 2, column + 1, sharey=first)
            _goodput(result, name, top)
            top.set_title(look.label, color=style.legible(look.color), pad=_title_pad(result))
            below = figure.add_subplot(rows, 2, column + 3, sharey=second)
            queue = data.metric(result, name, "queue_packets", _POINTS)
            draw_line(result, below, queue, look.color, band=False)
        for axes, label in zip(figure.axes, ("Goodput (Mbit/s)", "Queue (packets)"), strict=False):
            axes.set_ylabel(label)
            # After both are drawn: setting a limit ends the autoscaling of shared axes.
            axes.set_ylim(bottom=0)
        for place, (gauge, line) in enumerate(gauges.items()):
            # A single gauge is drawn below its discipline.
            axes = figure.add_subplot(rows, 2, 5 + place if len(gauges) > 1 else 6)
            unit, shown = gauge_shown(gauge, line)
            draw_line(result, axes, shown, look.color, band=False)
            axes.set_title(f"{look.label}: {gauge_title(gauge)}", fontsize=9.5, color=style.legible(look.color))
            axes.set_ylabel(unit)
        for axes in figure.axes[-2:]:
            axes.set_xlabel("Time (s)")
        heading(figure, result.scenario.about or result.scenario.name, _note(result))
        _legend(figure.axes[0], result)
        return figure


def _watched(result: Result, qdisc: str) -> dict[str, data.TimeSeries]:
    """The gauges that vary, by name. An average queue comes last: the queue itself is drawn above."""
    lines = data.gauges(result, qdisc, _POINTS)
    moving = {name: line for name, line in lines.items() if np.nanmax(line.high) > np.nanmin(line.low)}
    return dict(sorted((moving or lines).items(), key=lambda item: (item[0] == "average", item[0])))


def _goodput(result: Result, qdisc: str, axes: Axes) -> None:
    over_time(axes, result)
    table = data.rows(ColumnArrays.of(result, "intervals"), qdisc=qdisc, metric="goodput_bps")
    groups = data.groups(result, qdisc)
    for group, color in zip(groups, style.colors_of_groups([group.role for group in groups]), strict=True):
        line = data.series(data.rows(table, group=group.name), _POINTS)
        if line is not None:
            axes.plot(line.time_s, line.first / 1e6, color=color, linewidth=1.4)
            axes.axhline(group.fair_bps.sum() / 1e6, color=color, linewidth=0.9, dashes=(4, 3), zorder=1)


def _title_pad(result: Result) -> float:
    """Points between a title and its panel: room for the rows of the legend, which a paper's figure has below."""
    if figure_style.current().is_paper:
        return 3.0
    return 6 - _LEGEND_ROW_PT * (-(len(result.scenario.groups) + 1) // _LEGEND_ACROSS)


def _legend(axes: Axes, result: Result) -> None:
    groups = result.scenario.groups
    names = [f"{group.flows} {group.name} flows together" if group.flows > 1 else group.name for group in groups]
    colors = style.colors_of_groups([group.role for group in groups])
    handles = [
        Line2D([], [], color=color, linewidth=1.4, label=label) for label, color in zip(names, colors, strict=True)
    ]
    handles.append(Line2D([], [], color=style.FAIR, linewidth=0.9, dashes=(4, 3), label="fair share"))
    axes.legend(
        handles=handles,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=_LEGEND_ACROSS,
        borderaxespad=0.2,
        fontsize=8.5,
        columnspacing=1.2,
        handlelength=1.4,
    )


def _note(result: Result) -> str:
    seed = f"Seed {result.scenario.seeds[0]}. Fair share: max-min, while all groups send."
    return seed + warmup_note(result) + links.note(result)
