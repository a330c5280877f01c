"""Common to figures 7 to 11: 49 TCP flows, alone or with a UDP flow of forty times the link's rate."""

from typing import Any

from headgate import style
from headgate.experiment.declare import ScenarioValues
from headgate.experiment.layers import Layer, RunLine, average_queue, series
from headgate.experiment.plots import OUTSIDE, AxisScale, Plot, PlotPanel
from headgate.papers.comparison._setting import network
from headgate.scenario.network import Dumbbell

#: Section 4.2: a TCP window of 300 KB, in packets of 1000 bytes.
WINDOW = 300


def many_flows(v: ScenarioValues, name: str, about: str, buffer: str, *, udp: bool, **more: Any) -> Dumbbell:
    """49 TCP flows, with `udp` also a UDP flow of 40 Mbit/s."""
    cbr = "40Mbit/s" if udp else None
    return network(v, name, about, tcp_flows=49, window=WINDOW, cbr=cbr, events="all", limit=buffer, **more)


def queue_over_time(*groups: str) -> Plot:
    """The queue in KB over time: its actual length, its average, and the average of each of `groups`.

    Each discipline has a panel.
    """
    looks = {
        "tcp": {"color": style.TCP, "linestyle": "--", "label": "average, TCP"},
        "cbr": {"color": style.UNRESPONSIVE, "linestyle": "--", "label": "average, UDP"},
    }

    def panel(label: str) -> PlotPanel:
        actual = {"color": "#B9B9B9", "linewidth": 0.7, "label": "actual"}
        layers: list[Layer] = [
            RunLine(series("queue_bytes"), label, scale=1e-3, look=actual),
            RunLine(average_queue(), label, look={"color": style.FAIR, "label": "average"}),
            *(RunLine(average_queue(group), label, look=looks[group]) for group in groups),
        ]
        return PlotPanel(tuple(layers), AxisScale("Time (s)"), AxisScale("Queue (KB)", 0), label)

    return Plot(
        panel,
        note="Actual: means over 0.1 s. Average: over arrivals, weight 0.002. One seed.",
        height=3.4,
        # The lines leave no room for the legend inside the axes.
        legend=OUTSIDE,
    )
