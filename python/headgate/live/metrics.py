"""Prometheus metrics of a link or gateway: the text format, and a server for it.

The format is that of https://prometheus.io/docs/instrumenting/exposition_formats/ (version 0.0.4); names follow
https://prometheus.io/docs/practices/naming/: base units, and `_total` where a number only grows.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any, NamedTuple, Self

from headgate import _core
from headgate.errors import UsageError
from headgate.live.top import name as flow_name
from headgate.live.ways import WAYS

View = Mapping[str, Any]

CONTENT = "text/plain; version=0.0.4; charset=utf-8"

#: Flows of a direction that are told of.
MOST_FLOWS = 8

#: A client that takes longer than this, in seconds, is let go.
PATIENCE = 5


class Sample(NamedTuple):
    """A number with its labels; `suffix` is added to the metric's name."""

    value: float
    labels: Mapping[str, str]
    suffix: str = ""


class Metric(NamedTuple):
    """A metric: name, kind (counter, gauge or histogram), meaning, and its numbers."""

    name: str
    kind: str
    help: str
    samples: Iterable[Sample]


#: Plain counters of a direction: name, the view's key, and meaning.
COUNTERS = (
    ("arrived_packets_total", "arrived", "Packets that came to the discipline."),
    ("sent_packets_total", "sent", "Packets that it let go."),
    ("sent_bytes_total", "sent_bytes", "Their bytes."),
    ("lost_packets_total", "lost", "Packets lost on the way by chance, as was asked for."),
    ("refused_packets_total", "refused", "Packets that the far interface refused."),
    ("no_slot_packets_total", "no_slot", "Packets that found no room in memory."),
    ("kernel_drops_total", "kernel_dropped", "Packets that the kernel dropped before they were seen."),
    ("stalls_total", "stalls", "Times in which the loop was too late to make up for it."),
)

#: Plain gauges of a direction.
GAUGES = (
    ("backlog_packets", "queue_packets", "Packets that wait."),
    ("backlog_bytes", "queue_bytes", "Bytes that wait."),
    ("flying_packets", "flying", "Packets on their way."),
)


def exposition(view: View) -> str:
    """The metrics of a view, in Prometheus' text format."""
    return "".join(f"{line}\n" for metric in metrics(view) for line in _lines(metric))


def metrics(view: View) -> Iterator[Metric]:
    """The metrics of a view."""
    yield Metric("build_info", "gauge", "Always 1.", [Sample(1, {"version": _core.VERSION})])
    yield Metric("cpu_seconds_total", "counter", "Processor time of the loop.", [Sample(view["cpu_s"], {})])
    for name, key, meaning in COUNTERS:
        yield Metric(name, "counter", meaning, [Sample(view[way][key], {"direction": way}) for way in WAYS])
    for name, key, meaning in GAUGES:
        yield Metric(name, "gauge", meaning, [Sample(view[way][key], {"direction": way}) for way in WAYS])
    yield Metric("drops_total", "counter", "Packets that the discipline dropped.", _by(view, "drops", "reason"))
    yield Metric("marks_total", "counter", "Packets that it marked.", _by(view, "marks", "reason"))
    yield Metric("odd_frames_total", "counter", "Frames that were no plain IP packets.", _by(view, "odd", "kind"))
    meaning = "Time in which the link stood still."
    stalled = [Sample(view[way]["stalled_ms"] / 1e3, {"direction": way}) for way in WAYS]
    yield Metric("stalled_seconds_total", "counter", meaning, stalled)
    for name, key, meaning in (
        ("queueing_seconds", "queueing", "How long packets that were let go had waited."),
        ("lateness_seconds", "late", "How much later packets left than rate and delay say."),
    ):
        yield Metric(name, "histogram", meaning, [each for way in WAYS for each in _histogram(view[way][key], way)])
    yield Metric("discipline", "gauge", "What the discipline says of itself.", _by(view, "gauges", "gauge"))
    meaning = "What was sent of the flows that send most, in the last second."
    yield Metric("flow_bytes_per_second", "gauge", meaning, [each for way in WAYS for each in _flows(view[way], way)])


def _flows(wire: View, way: str) -> Iterator[Sample]:
    """The flows that send most: few of them, since every one that ever did is a series of its own to a database."""
    sending = [flow for flow in wire["flows"] if flow["sent_bps"] > 0]
    for flow in sorted(sending, key=lambda flow: -flow["sent_bps"])[:MOST_FLOWS]:
        labels = {"direction": way, "flow": flow_name(flow), "verdict": flow["verdict"]}
        yield Sample(flow["sent_bps"] / 8, labels)


def _by(view: View, key: str, label: str) -> Iterator[Sample]:
    """The numbers of something that a direction counts by name."""
    for way in WAYS:
        for name, value in dict(view[way][key]).items():
            yield Sample(value, {"direction": way, label: name})


def _histogram(found: Mapping[str, Any], way: str) -> Iterator[Sample]:
    for bound, count in (*found["below"], (math.inf, found["count"])):
        yield Sample(count, {"direction": way, "le": _number(bound)}, "_bucket")
    yield Sample(found["sum_s"], {"direction": way}, "_sum")
    yield Sample(found["count"], {"direction": way}, "_count")


def _lines(metric: Metric) -> Iterator[str]:
    name = f"headgate_{metric.name}"
    yield f"# HELP {name} {_escaped(metric.help)}"
    yield f"# TYPE {name} {metric.kind}"
    for sample in metric.samples:
        labels = ",".join(f'{key}="{_escaped(value, quote=True)}"' for key, value in sample.labels.items())
        yield (
            f"{name}{sample.suffix}{{{labels}}} {_number(sample.value)}"
            if labels
            else f"{name} {_number(sample.value)}"
        )


def _escaped(text: str, *, quote: bool = False) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quote else text


def _number(value: float) -> str:
    """As Go's ParseFloat reads it."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(value)


def parse(address: str) -> tuple[str, int]:
    """Host and port of `127.0.0.1:9100` or `[::1]:9100`; raises `UsageError` if it is no address."""
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise UsageError(f"--metrics {address}: expected HOST:PORT, such as 127.0.0.1:9100")
    return host.removeprefix("[").removesuffix("]"), int(port)


class Exporter:
    """Serves metrics at an address: bound when it is made, answering from when it is entered until it is left.

    Its threads are Python's: the loop that forwards has one of its own, which never waits for them.
    """

    def __init__(self, address: str) -> None:
        host, port = parse(address)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        kind = type("Server", (ThreadingHTTPServer,), {"address_family": family, "daemon_threads": True})
        try:
            self._server: ThreadingHTTPServer = kind((host, port), _Handler)
        except OSError as error:
            raise UsageError(f"--metrics {address}: cannot listen there: {error.strerror or error}") from None

    def serve(self, look: Callable[[], View]) -> Self:
        """What to show: `look` gives the latest view."""
        self._server.document = lambda: exposition(look()).encode()  # type: ignore[attr-defined]
        return self

    def __enter__(self) -> Self:
        self._thread = Thread(target=self._server.serve_forever, name="metrics", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    timeout = PATIENCE

    def do_GET(self) -> None:
        if self.path not in ("/metrics", "/"):
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        found = self.server.document()  # type: ignore[attr-defined]
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", CONTENT)
        self.send_header("Content-Length", str(len(found)))
        self.end_headers()
        self.wfile.write(found)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody wants to read of every scrape."""
