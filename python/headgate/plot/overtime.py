"""Queue length and the disciplines' gauges over time."""

import re
from collections.abc import Callable
from functools import cache

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from headgate import _core, style
from headgate.analysis import data, links
from headgate.plot import figure_style
from headgate.plot.panels import Panels, chosen, heading, new_figure, over_time, warmup_note
from headgate.results import Result

_GAUGES_ACROSS = 4
_LINE_PT = 1.1


def points(columns: int) -> int:
    """The number of points in a line over a panel, with so many panels in a row: one for each line width."""
    return round(figure_style.current().width_in * 72 / _LINE_PT / columns)


def queue(result: Result, qdisc: str | None = None, ax: Axes | None = None) -> list[Axes]:
    """Queue length over time in packets: the first seed as a line, the range over all seeds as a band.

    One panel a discipline, or the one named by `qdisc`, drawn on `ax` if given. The right axis turns packets into the
    time the link needs to send them, at the mean packet size of the run.
    """
    with figure_style.applied():
        panels = Panels(result, qdisc, ax)
        for name, axes in zip(panels.qdiscs, panels.axes, strict=True):
            line = data.metric(result, name, "queue_packets", points(panels.columns))
            draw_line(result, axes, line, panels.looks[name].color)
        panels.axes[0].set_ylim(bottom=0)
        _label(result, panels)
        if panels.owned:
            heading(panels.figure, "Queue length over time", _note(result))
        return panels.axes


def gauges(result: Result, qdisc: str | None = None, gauge: str | None = None, ax: Axes | None = None) -> list[Axes]:
    """The disciplines' gauges over time: one panel for each gauge, one row for each discipline.

    `qdisc` selects one discipline. With `gauge` and `ax`, only that gauge is drawn, on these axes. Returns no axes if
    no discipline has a gauge.
    """
    with figure_style.applied():
        if gauge is not None or ax is not None:
            return [_gauge(result, qdisc, gauge, ax)]
        known = data.qdiscs(result)
        looks = style.looks(known)
        in_row = figure_style.across(_GAUGES_ACROSS)
        watched = {name: data.gauges(result, name, points(in_row)) for name in chosen(known, qdisc)}
        rows = [
            [(name, gauge, line) for gauge, line in lines.items()][start : start + in_row]
            for name, lines in watched.items()
            for start in range(0, len(lines), in_row)
        ]
        if not rows:
            return []
        columns = max(map(len, rows))
        figure = new_figure(len(rows) * 1.75 + 1.0)
        drawn = []
        for down, row in enumerate(rows):
            for across, (name, gauge, line) in enumerate(row):
                axes = figure.add_subplot(len(rows), columns, down * columns + across + 1)
                _panel(result, axes, looks[name], (gauge, line), 96 // columns)
                if down == len(rows) - 1 or across >= len(rows[down + 1]):
                    axes.set_xlabel("Time (s)")
                else:
                    axes.tick_params(labelbottom=False)
                drawn.append(axes)
        scale = " Scales fit the time after the warm-up." if result.scenario.warmup_s > 0 else ""
        heading(figure, "Gauges of the disciplines over time", _note(result) + scale)
        return drawn


def _panel(result: Result, axes: Axes, look: style.Look, watched: tuple[str, data.TimeSeries], letters: int) -> None:
    """Draws one gauge; a line of its title has `letters` letters."""
    gauge, line = watched
    unit, shown = gauge_shown(gauge, line)
    draw_line(result, axes, shown, look.color)
    _fit_settled(axes, shown, result.scenario.warmup_s)
    axes.set_title(
        style.fold(f"{look.label}: {gauge_title(gauge)}", letters), color=style.legible(look.color), fontsize=9.5
    )
    axes.set_ylabel(unit)


def _gauge(result: Result, qdisc: str | None, gauge: str | None, ax: Axes | None) -> Axes:
    """One gauge of one discipline, on the caller's axes or on new ones."""
    known = data.qdiscs(result)
    names = chosen(known, qdisc)
    lines = data.gauges(result, names[0], points(1))
    if len(names) > 1 or gauge not in lines:
        gauges = ", ".join(lines) or "none"
        raise ValueError(
            f"one axes holds one gauge of one discipline: qdisc= one of {', '.join(known)}, gauge= one of {gauges}"
        )
    axes = ax if ax is not None else new_figure(3.0).add_subplot()
    _panel(result, axes, style.looks(known)[names[0]], (gauge, lines[gauge]), 96)
    axes.set_xlabel("Time (s)")
    return axes


def draw_line(result: Result, axes: Axes, line: data.TimeSeries | None, color: str, *, band: bool = True) -> None:
    """Draws the first seed of a series over time, and the range over all seeds as a `band`."""
    over_time(axes, result)
    if line is None:
        return
    if band and (line.high > line.low).any():
        axes.fill_between(line.time_s, line.low, line.high, color=color, alpha=0.22, linewidth=0)
    axes.plot(line.time_s, line.first, color=color, linewidth=_LINE_PT)


def _fit_settled(axes: Axes, line: data.TimeSeries, warmup_s: float) -> None:
    # Values in the first seconds are often far above the rest and would flatten it.
    settled = line.time_s > warmup_s
    top = float(np.nanmax(line.high[settled], initial=0.0))
    bottom = float(np.nanmin(line.low[settled], initial=0.0))
    if top > bottom:
        axes.set_ylim(1.12 * bottom, 1.12 * top)


def _label(result: Result, panels: Panels) -> None:
    for axes in panels.axes[-panels.columns :]:
        axes.set_xlabel("Time (s)")
    for axes in panels.left():
        axes.set_ylabel("Queue (packets)")
    packet_ms = data.packet_ms(result)
    if packet_ms is None:
        return
    for axes in panels.right():
        ms = axes.secondary_yaxis("right", functions=(_multiply_by(packet_ms), _multiply_by(1 / packet_ms)))
        ms.set_ylabel(f"ms at {style.rate(result.scenario.rate_bps)}")


def _multiply_by(factor: float) -> Callable[[ArrayLike], data.Array]:
    return lambda values: np.asarray(values, dtype=np.float64) * factor


def _note(result: Result) -> str:
    seeds = result.scenario.seeds
    over = f"range over {len(seeds)} seeds" if len(seeds) > 1 else "range where the line shows a mean"
    return f"Line: seed {seeds[0]}. Band: {over}.{warmup_note(result)}{links.note(result)}"


def gauge_title(gauge: str) -> str:
    """A gauge's name in words, without its unit: `average_queue` is "average queue", `delay_ms` "delay"."""
    return " ".join(word for word in gauge.split("_") if word not in ("bps", "ms"))


def gauge_shown(gauge: str, line: data.TimeSeries) -> tuple[str, data.TimeSeries]:
    """The unit in which a gauge is drawn, and its values: rates are drawn in Mbit/s."""
    unit = gauge_unit(gauge)
    if unit != "bit/s":
        return unit, line
    return "Mbit/s", data.TimeSeries(line.time_s, line.first / 1e6, line.low / 1e6, line.high / 1e6)


def gauge_unit(gauge: str) -> str:
    """The unit of a gauge as an axis has it; `Count` for gauges of disciplines written in Python."""
    unit = _units().get(re.sub(r"\d+", "N", gauge), "count")
    return _WRITTEN.get(unit, unit if "/" in unit else unit.capitalize())


_WRITTEN = {"ms": "Milliseconds", "0 or 1": "1: yes, 0: no"}


@cache
def _units() -> dict[str, str]:
    """The unit of each gauge, as its discipline declares it."""
    return {name: unit for discipline in _core.disciplines() for name, unit, _ in discipline.gauges}
