"""Prometheus metrics of a link or gateway. `exporter` serves them.

Names follow https://prometheus.io/docs/practices/naming/: base units, and `_total` where a number only grows.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from headgate import _core
from headgate.live.directions import DIRECTIONS
from headgate.live.top import name as flow_name

View = Mapping[str, Any]

#: The values of a sample's labels, and the sample.
Sample = tuple[list[str], float]

#: Number of flows exported for each direction.
MOST_FLOWS = 8


def exposition(view: View) -> str:
    """The metrics of a view, in Prometheus' text format (version 0.0.4)."""
    return generate_latest(_ViewCollector(view)).decode()


class _ViewCollector(Collector):
    def __init__(self, view: View) -> None:
        self._view = view

    def collect(self) -> Iterator[Metric]:
        return metrics(self._view)


def metrics(view: View) -> Iterator[Metric]:
    """The metrics of a view."""
    yield _gauge("build_info", "Always 1.", ["version"], [([_core.VERSION], 1)])
    yield _counter("cpu_seconds_total", "Processor time of the forwarding thread.", [], [([], view["cpu_s"])])
    for key, name, meaning in _core.prometheus_metrics():
        written = _counter if name.endswith("_total") else _gauge
        yield written(name, meaning, ["direction"], _of(view, key))
    yield _counter("drops_total", "Packets that the discipline dropped.", ["direction", "reason"], _by(view, "drops"))
    yield _counter("marks_total", "Packets that the discipline marked.", ["direction", "reason"], _by(view, "marks"))
    meaning = "Frames that were not plain IP packets."
    yield _counter("not_ip_frames_total", meaning, ["direction", "kind"], _by(view, "not_ip"))
    meaning = "Time in which the forwarding thread was late."
    stalled = [([direction], view[direction]["stalled_ms"] / 1e3) for direction in DIRECTIONS]
    yield _counter("stalled_seconds_total", meaning, ["direction"], stalled)
    yield _histogram("queue_delay_seconds", "Queueing delay of sent packets.", view, "queue_delay")
    yield _histogram(
        "lateness_seconds", "Lateness of packets: actual departure minus scheduled departure.", view, "late"
    )
    yield _gauge("discipline_gauge", "Gauges of the discipline.", ["direction", "gauge"], _by(view, "gauges"))
    meaning = "Rate of the largest flows over the last second."
    flows = (each for direction in DIRECTIONS for each in _flows(view[direction], direction))
    yield _gauge("flow_bytes_per_second", meaning, ["direction", "flow", "verdict"], flows)


def _filled(
    kind: type[CounterMetricFamily | GaugeMetricFamily],
    name: str,
    meaning: str,
    labels: list[str],
    samples: Iterable[Sample],
) -> Metric:
    family = kind(f"headgate_{name}", meaning, labels=labels)
    for values, number in samples:
        family.add_metric(values, number)
    return family


_counter = partial(_filled, CounterMetricFamily)
_gauge = partial(_filled, GaugeMetricFamily)


def _histogram(name: str, meaning: str, view: View, key: str) -> Metric:
    family = HistogramMetricFamily(f"headgate_{name}", meaning, labels=["direction"])
    for direction in DIRECTIONS:
        times = view[direction][key]
        below = [(repr(bound), count) for bound, count in times["below"]]
        family.add_metric([direction], [*below, ("+Inf", times["count"])], times["sum_s"])
    return family


def _of(view: View, key: str) -> Iterator[Sample]:
    return (([direction], view[direction][key]) for direction in DIRECTIONS)


def _by(view: View, key: str) -> Iterator[Sample]:
    """The samples of a counter that a direction keeps by name."""
    return (
        ([direction, name], value) for direction in DIRECTIONS for name, value in dict(view[direction][key]).items()
    )


def _flows(direction_view: View, direction: str) -> Iterator[Sample]:
    """The largest flows only: each flow is a time series of its own in the database."""
    sending = [flow for flow in direction_view["flows"] if flow["sent_bps"] > 0]
    for flow in sorted(sending, key=lambda flow: -flow["sent_bps"])[:MOST_FLOWS]:
        yield [direction, flow_name(flow), flow["verdict"]], flow["sent_bps"] / 8
