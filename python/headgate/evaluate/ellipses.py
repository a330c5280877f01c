"""Delay against goodput (RFC 7928, section 2.7): an ellipse of one standard deviation a discipline, a panel a case."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headgate import style
from headgate.analysis import data
from headgate.experiment.layers import MARKERS
from headgate.plot.panels import columns, figure_of, heading, separate_axes
from headgate.plot.tradeoff import mark, scale_delay

#: The dashes of runs with ECN.
WITH_ECN: style.Dashes = (0, (3, 1.5))


class EllipsePanel(NamedTuple):
    """One case of a test, and the points of each discipline with and without ECN: rows of ms and Mbit/s."""

    title: str
    points: dict[tuple[str, bool], data.Array]


def figure(section: Mapping[str, Any], disciplines: Sequence[Mapping[str, Any]]) -> Figure:
    """The figure of one section of the document."""
    drawn = list(panels(section))
    axes = separate_axes(len(drawn), 2.7)
    looks = style.looks([each["spec"] for each in disciplines])
    everything = [points for panel in drawn for points in panel.points.values() if len(points)]
    for panel, each in zip(drawn, axes, strict=True):
        each.set_title(style.fold(panel.title, 90 // columns(len(drawn)), lines=3))
        scale_delay(each, everything)
        _draw(each, panel, looks)
        # As many ticks at any height: the layout measures them before the panel has its final size.
        each.locator_params(axis="y", nbins=5)
    whole_figure = figure_of(axes[0])
    # Names that matplotlib gives begin with an underscore.
    lines = (line for each in axes for line in each.lines if not str(line.get_label()).startswith("_"))
    handles = {line.get_label(): line for line in lines}
    whole_figure.legend(handles=list(handles.values()), loc="outside lower center", ncols=6)
    for index, each in enumerate(axes):
        if index % columns(len(axes)) == 0:
            each.set_ylabel("Goodput (Mbit/s)")
        if index >= len(axes) - columns(len(axes)):
            each.set_xlabel("Mean queueing delay (ms)")
    heading(whole_figure, f"{section['number']} {section['title']}: up and to the left is better")
    return whole_figure


def panels(section: Mapping[str, Any]) -> Iterator[EllipsePanel]:
    """The panels of a section."""
    for test in section["tests"]:
        for case in test["cases"]:
            for graph in test["graphs"]:
                title = ": ".join(filter(None, [case or test["title"], graph["title"]]))
                yield EllipsePanel(f"{test['place']} {title}", _points(test["values"], case, graph["name"]))


def _points(rows: Sequence[Mapping[str, Any]], case: str, name: str) -> dict[tuple[str, bool], data.Array]:
    """The points of a class of traffic or a phase, one for each seed. All flows together have an empty name."""
    both = [f"{measure}:{name}" if name else measure for measure in ("delay_ms", "goodput_mbps")]
    values: dict[tuple[str, bool], dict[str, data.Array]] = {}
    for row in rows:
        if row["case"] == case and row["measure"] in both:
            values.setdefault((row["qdisc"], row["ecn"]), {})[row["measure"]] = np.array(row["per_seed"], dtype=float)
    points = {key: np.stack([each[measure] for measure in both], axis=1) for key, each in values.items()}
    return {key: rows[np.isfinite(rows).all(axis=1)] for key, rows in points.items()}


def _draw(axes: Axes, panel: EllipsePanel, looks: Mapping[str, style.Look]) -> None:
    # Colors of disciplines of one family are similar, so markers differ too.
    markers = dict(zip(looks, itertools.cycle(MARKERS), strict=False))
    for (spec, ecn), points in panel.points.items():
        look = looks[spec]
        label = f"{look.label}, ECN" if ecn else look.label
        dashes = WITH_ECN if ecn else look.dashes
        if len(points):
            mark(axes, points, look.color, dashes, label, marker=markers[spec], hollow=ecn)
