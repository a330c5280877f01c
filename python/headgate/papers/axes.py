"""Figures that experiments share: curves over what varies, bars of single numbers, time series."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from headgate import style
from headgate.experiment import queues
from headgate.plot.panels import columns, grid, heading, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found


#: Points of a line over time that is recorded at every packet: more are not seen at the width of a page.
POINTS = 400

#: Marks of curves, so that they are told apart where colours are near each other or are not seen.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")


def looks(labels: Mapping[str, str]) -> dict[str, style.Look]:
    """Colour and dashes of each discipline by the label it has in the paper.

    Where one discipline is there in several forms, the later ones are lighter.
    """
    named = dict(zip(labels, style.looks(list(labels.values())).values(), strict=True))
    names = [spec.partition(":")[0] for spec in labels.values()]
    found = {}
    for place, (label, look) in enumerate(named.items()):
        lighter = 0.75 * names[:place].count(names[place]) / names.count(names[place])
        found[label] = look._replace(label=label, colour=_lighter(look.colour, lighter))
    return found


def _lighter(colour: str, part: float) -> str:
    """The colour with a part of white."""
    return "#" + "".join(f"{round(value + (255 - value) * part):02x}" for value in bytes.fromhex(colour[1:]))


def panels(titles: Sequence[str], height: float = 2.6) -> list[Axes]:
    """Axes side by side, on common scales, with a title each."""
    drawn = grid(len(titles), height)
    for axes, title in zip(drawn, titles, strict=True):
        axes.set_title(title)
    return drawn


def apart(titles: Sequence[str], height: float = 3.6) -> list[Axes]:
    """Axes side by side, on scales of their own, with a title each."""
    across = columns(len(titles))
    down = -(-len(titles) // across)
    figure = new_figure(down * height + 0.6)
    drawn = [figure.add_subplot(down, across, place + 1) for place in range(len(titles))]
    for axes, title in zip(drawn, titles, strict=True):
        axes.set_title(title)
    return drawn


def one(height: float = 4.2) -> Axes:
    """A single pair of axes in a new figure."""
    return new_figure(height).add_subplot()


def stacked(heights: Sequence[float]) -> list[Axes]:
    """Axes above each other on a common horizontal scale, of these heights in inches."""
    figure = new_figure(sum(heights) + 1.0)
    drawn = figure.subplots(len(heights), sharex=True, height_ratios=list(heights))
    return list(drawn)


def curves(
    axes: Axes,
    found: Found,
    measure: str,
    axis: str,
    *,
    labels: Iterable[str] | None = None,
    x: Mapping[Any, float] | None = None,
    scale: float = 1.0,
    line: Mapping[str, Any] | None = None,
    **case: Any,
) -> None:
    """A measure against what varies, a line for each discipline with its 95 % interval as a band.

    `x` gives the place of each value on the axis where values are no numbers; `scale` multiplies the measure; `line`
    replaces what is usual of the lines (`label`, `linestyle`, `marker`).
    """
    known, marks = looks(found.labels), dict(zip(found.labels, itertools.cycle(MARKERS), strict=False))
    for label in found.labels if labels is None else labels:
        look = known[label]
        at, quantities = found.over(axis, measure, label, **case)
        places = np.array([x[value] if x is not None else float(value) for value in at])
        mean = np.array([quantity.mean for quantity in quantities]) * scale
        half = np.array([quantity.half for quantity in quantities]) * scale
        usual = {"color": look.colour, "linestyle": look.dashes, "marker": marks[label], "label": label}
        axes.plot(places, mean, **{"markersize": 4, **usual, **(line or {})})
        axes.fill_between(places, mean - half, mean + half, color=look.colour, alpha=0.18, linewidth=0)


def published(
    axes: Axes, found: Found, measure: str, x: Mapping[Any, float] | None = None, *, scale: float = 1.0, **case: Any
) -> None:
    """The paper's own numbers of a measure as crosses in the colours of their disciplines; else as `curves`."""
    known = looks(found.labels)
    for table in found.experiment.published:
        if table.measure != measure or table.axis is None or dict(table.case) != case:
            continue
        places = [x[value] if x is not None else float(value) for value in table.at]
        for label, numbers in table.rows.items():
            axes.plot(places, np.array(numbers) / table.scale * scale, "x", color=known[label].colour, markersize=6)


def bars(axes: Axes, found: Found, measure: str, *, scale: float = 1.0, **case: Any) -> None:
    """A measure of each discipline as a bar with its 95 % interval."""
    known = looks(found.labels)
    for place, label in enumerate(found.labels):
        quantity = found(measure, label, **case) * scale
        axes.bar(place, quantity.mean, yerr=quantity.half or None, color=known[label].colour, width=0.7, capsize=3)
    axes.set_xticks(range(len(found.labels)), [style.fold(label, 12) for label in found.labels])
    axes.grid(axis="x", visible=False)


def flows(axes: Axes, found: Found, numbers: Sequence[int], measure: str = "flow{}", scale: float = 1e-6) -> None:
    """A measure of each flow by its number, `{}` in the measure's name; bars are 95 % intervals."""
    for label, look in looks(found.labels).items():
        quantities = [found(measure.format(number), label) * scale for number in numbers]
        mean, half = [each.mean for each in quantities], [each.half for each in quantities]
        line = axes.errorbar(numbers, mean, half, color=look.colour, linestyle=look.dashes, capsize=3, label=label)
        line.lines[0].set(marker="o", markersize=4)
    axes.set_xticks(list(numbers))


def over_time(
    axes: Axes, found: Found, label: str, metric: str, /, *, group: str | None = None, scale: float = 1.0, **look: Any
) -> None:
    """A metric of `intervals` over time, of the first seed; `look` goes to the line."""
    case = look.pop("case", {})
    time, value = found.runs(label, **case)[0].series(metric, group)
    axes.plot(time, value * scale, **{"linewidth": 1.1, **look})


def average_over_time(
    axes: Axes, found: Found, label: str, /, *, group: str | None = None, kind: str | None = None, **look: Any
) -> None:
    """The exponentially weighted average of flows' packets in the queue over time, of the first seed.

    The scenario must record all events.
    """
    case = look.pop("case", {})
    run = found.runs(label, **case)[0]
    time, average = queues.queue(run, group, kind).average()
    if len(time):
        shown = np.searchsorted(time, np.linspace(0, time[-1], POINTS))
        axes.plot(time[shown], average[shown], **{"linewidth": 1.1, **look})


def finish(figure: Figure, title: str, note: str = "", legend: Axes | None = None) -> Figure:
    """Gives the figure its title, note and legend."""
    heading(figure, title, note)
    if legend is not None:
        legend.legend(loc="best")
    return figure
