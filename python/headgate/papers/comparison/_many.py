"""What figures 7 to 11 share: 49 TCP flows, alone or with a UDP flow of forty times the link's rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate import style
from headgate.papers import axes
from headgate.papers.comparison._setting import scenario
from headgate.plot.panels import figure_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from headgate.experiment.found import Found

#: Section 4.2: a TCP window of 300 KB, in packets of 1000 bytes.
WINDOW = "300"


def many(name: str, about: str, buffer: str, *, udp: bool, cbr_start: str = "0s..1s", warmup: str = "20s") -> str:
    """The template of 49 TCP flows; with `udp`, one of 40 Mbit/s joins."""
    return scenario(
        name,
        about,
        limit=buffer,
        tcp_flows="49",
        window=WINDOW,
        cbr="40Mbit/s" if udp else "",
        cbr_start=cbr_start,
        warmup=warmup,
        events="all",
    )


def queue_over_time(found: Found, title: str, classes: Sequence[str] = ()) -> Figure:
    """The queue over time in KB, actual and average, and the averages of some groups of flows; a panel a discipline."""
    drawn = axes.panels(list(found.labels), height=3.4)
    for panel, label in zip(drawn, found.labels, strict=True):
        axes.over_time(panel, found, label, "queue_bytes", scale=1e-3, color="#B9B9B9", linewidth=0.7, label="actual")
        axes.average_over_time(panel, found, label, color=style.FAIR, label="average")
        for group in classes:
            _class(panel, found, label, group)
        panel.set_ylim(bottom=0)
        panel.set_xlabel("Time (s)")
    drawn[0].set_ylabel("Queue (KB)")
    note = "Actual: means over 0.1 s. Average: over arrivals, weight 0.002. One seed."
    # The lines leave no room for it between the axes.
    figure = figure_of(drawn[0])
    figure.legend(*drawn[0].get_legend_handles_labels(), loc="outside lower right", ncols=4)
    return axes.finish(figure, title, note)


def _class(panel: Axes, found: Found, label: str, group: str) -> None:
    colour = style.UNRESPONSIVE if group == "cbr" else style.TCP
    name = "average, UDP" if group == "cbr" else "average, TCP"
    axes.average_over_time(panel, found, label, group=group, color=colour, linestyle="--", label=name)
