"""The layers of a figure's panel: curves, bars, lines over time, reference lines, published numbers.

A layer is a function, or an object that is called like one, which draws results on axes.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes

from headgate import style
from headgate.analysis.runs import Array, Run
from headgate.experiment import queues
from headgate.experiment.claims import Curve, Term, along, m, over
from headgate.experiment.declare import Case
from headgate.experiment.results import ExperimentResults

Layer: TypeAlias = Callable[[Axes, ExperimentResults], None]
#: matplotlib's keywords for a line or mark.
LineStyle: TypeAlias = Mapping[str, Any]

#: A function from a run to points: x values and y values.
Points: TypeAlias = Callable[[Run], tuple[Array, Array]]

#: Maximum number of points of a line with a value for every packet: a page is too narrow to show more.
POINTS = 400
#: Marks that distinguish curves without color.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")


def looks(labels: Mapping[str, str]) -> dict[str, style.Look]:
    """The look of each discipline, by its label in the paper.

    If a discipline appears with several settings, each has a lighter color than the one before.
    """
    named = dict(zip(labels, style.looks(list(labels.values())).values(), strict=True))
    names = [spec.partition(":")[0] for spec in labels.values()]
    shaded = {}
    for index, (label, look) in enumerate(named.items()):
        lighter = 0.75 * names[:index].count(names[index]) / names.count(names[index])
        shaded[label] = look._replace(label=label, color=_lighter(look.color, lighter))
    return shaded


def _lighter(color: str, part: float) -> str:
    """The color mixed with white; `part` is the share of white."""
    return "#" + "".join(f"{round(value + (255 - value) * part):02x}" for value in bytes.fromhex(color[1:]))


@dataclass(frozen=True)
class Line:
    """One curve with its 95 % interval as a band, or as `bars`. `at` turns a value of its axis into a position.

    Without a color in `look`, it has that of the discipline `of`.
    """

    curve: Curve
    look: LineStyle
    of: str = ""
    scale: float = 1.0
    at: Callable[[Any], float] = float
    bars: bool = False

    def __call__(self, axes: Axes, results: ExperimentResults) -> None:
        values, quantities = self.curve.points(results, {})
        positions = np.array([self.at(value) for value in values])
        mean = np.array([quantity.mean for quantity in quantities]) * self.scale
        half = np.array([quantity.half for quantity in quantities]) * self.scale
        own = {"color": looks(results.labels)[self.of].color} if self.of else {}
        look: dict[str, Any] = {"markersize": 4, **own, **self.look}
        if self.bars:
            axes.errorbar(positions, mean, half, **{"capsize": 2, **look})
        else:
            axes.plot(positions, mean, **look)
            axes.fill_between(positions, mean - half, mean + half, color=look["color"], alpha=0.18, linewidth=0)


@dataclass(frozen=True)
class Lines:
    """A measure `y` against an axis `x`, with a line for each discipline. `case` fixes the other axes.

    `shades` replace the disciplines' own colors. In `name`, the text of the legend, `{}` stands for the label.
    """

    y: str
    x: str
    case: Case = field(default_factory=dict)
    scale: float = 1.0
    at: Callable[[Any], float] = float
    bars: bool = False
    shades: Sequence[str] = ()
    name: str = "{}"

    def __call__(self, axes: Axes, results: ExperimentResults) -> None:
        for label, look in _marked(results, self.shades):
            look["label"] = self.name.format(label)
            curve = over(self.x, self.y, label, **self.case)
            Line(curve, look, scale=self.scale, at=self.at, bars=self.bars)(axes, results)


@dataclass(frozen=True)
class FlowLines:
    """A measure of single flows against their numbers, with a line for each discipline.

    In `y`, the measure's name, `{}` stands for the flow's number.
    """

    y: str
    flows: Sequence[int]
    scale: float = 1.0

    def __call__(self, axes: Axes, results: ExperimentResults) -> None:
        for label, look in _marked(results):
            curve = along({number: m(self.y.format(number), label) for number in self.flows})
            Line(curve, {**look, "marker": "o", "capsize": 3}, scale=self.scale, bars=True)(axes, results)
        axes.set_xticks(list(self.flows))


@dataclass(frozen=True)
class PublishedMarks:
    """The paper's numbers of a measure `y` against their axis, as crosses."""

    y: str
    case: Case = field(default_factory=dict)
    scale: float = 1.0
    at: Callable[[Any], float] = float
    color: str | None = None

    def __call__(self, axes: Axes, results: ExperimentResults) -> None:
        known = looks(results.labels)
        for table in results.experiment.published:
            if table.measure != self.y or table.axis is None or dict(table.case) != self.case:
                continue
            positions = [self.at(value) for value in table.at]
            for label, numbers in table.rows.items():
                color = self.color or known[label].color
                axes.plot(positions, np.array(numbers) / table.scale * self.scale, "x", color=color, markersize=6)


@dataclass(frozen=True)
class Bars:
    """A measure of each discipline as a bar with its 95 % interval; crosses are the paper's numbers."""

    y: str
    case: Case = field(default_factory=dict)

    def __call__(self, axes: Axes, results: ExperimentResults) -> None:
        known = looks(results.labels)
        for position, label in enumerate(results.labels):
            quantity = results(self.y, label, **self.case)
            axes.bar(
                position, quantity.mean, yerr=quantity.half or None, color=known[label].color, width=0.7, capsize=3
            )
            _cross(axes, results, self.y, label, self.case, position)
        axes.set_xticks(range(len(results.labels)), [style.fold(label, 12) for label in results.labels])
        axes.grid(axis="x", visible=False)


@dataclass(frozen=True)
class GroupedBars:
    """A group of bars for each measure, with a bar for each discipline. `groups` are the measures with their titles."""

    groups: Mapping[str, str]
    leave_out: tuple[str, ...] = ()
    intervals: bool = True

    def __call__(self, axes: Axes, results: ExperimentResults) -> None:
        known = looks(results.labels)
        labels = [label for label in results.labels if label not in self.leave_out]
        width = 0.8 / len(labels)
        for number, label in enumerate(labels):
            positions = [group + (number - (len(labels) - 1) / 2) * width for group in range(len(self.groups))]
            quantities = [results(measure, label) for measure in self.groups]
            half = [quantity.half for quantity in quantities] if self.intervals else None
            mean, color = [quantity.mean for quantity in quantities], known[label].color
            axes.bar(positions, mean, width * 0.9, yerr=half, color=color, capsize=3, label=label)
            for position, measure in zip(positions, self.groups, strict=True):
                _cross(axes, results, measure, label, {}, position)
        axes.set_xticks(range(len(self.groups)), list(self.groups.values()))


def series(metric: str, group: str | None = None) -> Points:
    """A metric of `intervals` over time."""
    return lambda run: run.series(metric, group)


def average_queue(group: str | None = None, kind: str | None = None) -> Points:
    """The exponentially weighted average of the flows' packets in the queue over time, at most `POINTS` points.

    The scenario must record all events.
    """

    def points(run: Run) -> tuple[Array, Array]:
        time, average = queues.queue(run, group, kind).average()
        shown = np.searchsorted(time, np.linspace(0, time.max(initial=0.0), min(POINTS, len(time))))
        return time[shown], average[shown]

    return points


@dataclass(frozen=True)
class RunLine:
    """A line through the points of the first seed's run, or with `every_seed` a line for each seed.

    `label` selects one discipline. Without it, every discipline has a line.
    """

    points: Points
    label: str | None = None
    case: Case = field(default_factory=dict)
    scale: float = 1.0
    look: LineStyle = field(default_factory=dict)
    every_seed: bool = False

    def __call__(self, axes: Axes, results: ExperimentResults) -> None:
        for label, known in looks(results.labels).items():
            if self.label in (None, label):
                look: dict[str, Any] = {"linewidth": 1.1, "color": known.color, **self.look}
                if self.label is None:
                    look |= {"linestyle": known.dashes, "label": label}
                for run in results.runs(label, **self.case)[: None if self.every_seed else 1]:
                    x, y = self.points(run)
                    axes.plot(x, y * self.scale, **look)


@dataclass(frozen=True)
class ReferenceLine:
    """A reference line across the panel at a number or at a measured value: horizontal, or vertical if `upright`."""

    at: float | Term
    look: LineStyle = field(default_factory=dict)
    upright: bool = False

    def __call__(self, axes: Axes, results: ExperimentResults) -> None:
        at = self.at.value(results, {}).mean if isinstance(self.at, Term) else self.at
        look = {"color": style.FAIR, "linestyle": ":", "linewidth": 1.0, **self.look}
        (axes.axvline if self.upright else axes.axhline)(at, **look)


@dataclass(frozen=True)
class FixedLine:
    """A line or mark through given points, such as the ideal curve."""

    x: Sequence[float]
    y: Sequence[float]
    look: LineStyle = field(default_factory=dict)

    def __call__(self, axes: Axes, _: ExperimentResults) -> None:
        axes.plot(self.x, self.y, **{"color": style.FAIR, "linestyle": ":", "linewidth": 1.2, **self.look})


def _marked(results: ExperimentResults, shades: Sequence[str] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each discipline with the look of its line."""
    known = looks(results.labels)
    for number, (label, marker) in enumerate(zip(results.labels, itertools.cycle(MARKERS), strict=False)):
        look = {"color": known[label].color, "linestyle": known[label].dashes}
        if shades:
            look = {"color": shades[number]}
        yield label, {**look, "marker": marker, "label": label}


def _cross(axes: Axes, results: ExperimentResults, measure: str, label: str, case: Case, position: float) -> None:
    """Draws the paper's number of a measure as a cross, if the paper prints one."""
    for table in results.experiment.published:
        if table.measure == measure and table.axis is None and dict(table.case) == case and label in table.rows:
            axes.plot(position, table.rows[label][0] / table.scale, "x", color="black", markersize=6)
