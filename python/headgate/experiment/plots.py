"""Figures of experiments, declared as panels with layers (`layers`), and the function that draws them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headgate.experiment.layers import Layer
from headgate.experiment.results import ExperimentResults
from headgate.plot.panels import columns, figure_of, heading, new_figure, separate_axes, shared_axes

#: Places of the legend: below the panels, if they have no room for it, or in the last panel.
OUTSIDE: Literal["outside"] = "outside"
LAST = -1
#: Height of a panel in inches: with the same scales as the others, with scales of its own, and as the only panel.
HEIGHTS = {"shared": 2.6, "apart": 3.6, "one": 4.2}


@dataclass(frozen=True)
class AxisScale:
    """One axis of a panel: label, ends, ticks with their labels, and the base of a logarithmic scale."""

    label: str = ""
    low: float | None = None
    high: float | None = None
    ticks: Mapping[float, str] | Sequence[float] = ()
    log: int | None = None

    def apply(self, axes: Axes, which: Literal["x", "y"], *, labeled: bool) -> None:
        """Gives an axis of a panel this scale."""
        if self.log is not None:
            getattr(axes, f"set_{which}scale")("log", base=self.log)
        if isinstance(self.ticks, Mapping):
            getattr(axes, f"set_{which}ticks")(list(self.ticks), list(self.ticks.values()))
        elif self.ticks:
            getattr(axes, f"set_{which}ticks")(list(self.ticks))
        if (self.low, self.high) != (None, None):
            getattr(axes, f"set_{which}lim")(self.low, self.high)
        if labeled:
            getattr(axes, f"set_{which}label")(self.label)


@dataclass(frozen=True)
class PlotPanel:
    """The layers on one pair of axes, and the scales of both axes."""

    layers: tuple[Layer, ...]
    x: AxisScale = AxisScale()
    y: AxisScale = AxisScale()
    title: str = ""


#: The panels of a figure, or the panel of each discipline, by its label.
PlotPanels: TypeAlias = PlotPanel | Sequence[PlotPanel] | Callable[[str], PlotPanel]


@dataclass(frozen=True)
class Plot:
    """A figure: its panels, the note below them, and the number of the panel with the legend.

    Panels have the same scales (`shared`), whose labels only outer panels show, or scales of their own (`apart`). With
    `heights`, in inches, they are stacked over one horizontal scale.
    """

    panels: PlotPanels
    note: str | Callable[[ExperimentResults], str] = ""
    layout: Literal["shared", "apart"] = "shared"
    height: float | None = None
    heights: tuple[float, ...] = ()
    legend: int | Literal["outside"] | None = None
    legend_place: Literal["best", "lower right", "upper left", "upper right"] = "best"
    legend_columns: int = 1

    def __call__(self, results: ExperimentResults) -> Figure:
        """Draws the results."""
        panels = [self.panels(label) for label in results.labels] if callable(self.panels) else self.panels
        if isinstance(panels, PlotPanel):
            panels = [panels]
        drawn = self._axes(len(panels))
        across = columns(len(drawn)) if not self.heights else 1
        for index, (panel, axes) in enumerate(zip(panels, drawn, strict=True)):
            if panel.title:
                axes.set_title(panel.title)
            for layer in panel.layers:
                layer(axes, results)
            common = self.layout == "shared"
            panel.x.apply(axes, "x", labeled=not common or index >= len(drawn) - across)
            panel.y.apply(axes, "y", labeled=not common or index % across == 0)
        figure = figure_of(drawn[0])
        if self.legend == OUTSIDE:
            figure.legend(*drawn[0].get_legend_handles_labels(), loc="outside lower right", ncols=4)
        elif isinstance(self.legend, int):
            drawn[self.legend].legend(loc=self.legend_place, ncols=self.legend_columns)
        heading(figure, results.experiment.title, self.note(results) if callable(self.note) else self.note)
        return figure

    def _axes(self, count: int) -> list[Axes]:
        if self.heights:
            figure = new_figure(sum(self.heights) + 1.0)
            return list(figure.subplots(count, sharex=True, height_ratios=list(self.heights)))
        if isinstance(self.panels, PlotPanel):
            return [new_figure(self.height or HEIGHTS["one"]).add_subplot()]
        height = self.height or HEIGHTS[self.layout]
        return shared_axes(count, height) if self.layout == "shared" else separate_axes(count, height)


def one_panel(
    layers: tuple[Layer, ...],
    x: AxisScale = AxisScale(),
    y: AxisScale = AxisScale(),
    *,
    legend: int | None = 0,
    **options: Any,
) -> Plot:
    """A figure of one panel with a legend; `options` are keywords of `Plot`."""
    return Plot(PlotPanel(layers, x, y), legend=legend, **options)
