"""The metrics of a link or gateway, in Prometheus' text format."""

import math
import re
import socket
import urllib.error
import urllib.request
from typing import Any

import pytest

from headgate import _core
from headgate.errors import UsageError
from headgate.live import prometheus

#: A line that is no comment: name, labels whose values escape quotes, backslashes and line ends, and a number.
SAMPLE = re.compile(r'(\w+)(?:\{((?:\w+="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (\S+)')


def wire(**changes: Any) -> dict[str, Any]:
    numbers = dict.fromkeys((key for key, _, _ in _core.prometheus_metrics()), 0)
    times = {"count": 3, "sum_s": 0.25, "below": [(0.01, 1), (0.1, 2)]}
    rest = {
        "drops": {},
        "marks": {},
        "not_ip": [],
        "gauges": [],
        "flows": [],
        "stalled_ms": 0.0,
        "queue_delay": times,
        "late": times,
    }
    return {**numbers, **rest, **changes}


def view(**forward: Any) -> dict[str, Any]:
    return {"at_s": 1.0, "cpu_s": 0.5, "forward": wire(**forward), "reverse": wire()}


def read(text: str) -> dict[tuple[str, str], float]:
    """Every sample by name and labels, each below the head of its own metric."""
    found = {}
    kind = name = ""
    for line in text.splitlines():
        if line.startswith("# HELP "):
            continue
        if line.startswith("# TYPE "):
            name, kind = line.split()[2:]
            assert kind in ("counter", "gauge", "histogram")
            assert (kind == "counter") == name.endswith("_total")
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        assert match[1] == name or (
            kind == "histogram" and match[1].removeprefix(name) in ("_bucket", "_sum", "_count")
        )
        key = (match[1].removeprefix("headgate_"), match[2] or "")
        assert key not in found, f"{key} twice"
        found[key] = float(match[3])
    return found


def test_counts_have_their_directions_and_reasons():
    found = read(prometheus.exposition(view(sent=7, drops={"early": 5, "overflow": 2}, not_ip=[("fragment", 4)])))
    assert found["sent_packets_total", 'direction="forward"'] == 7
    assert found["sent_packets_total", 'direction="reverse"'] == 0
    assert found["drops_total", 'direction="forward",reason="early"'] == 5
    assert found["drops_total", 'direction="forward",reason="overflow"'] == 2
    assert found["not_ip_frames_total", 'direction="forward",kind="fragment"'] == 4
    assert found["cpu_seconds_total", ""] == 0.5


def test_a_histogram_counts_from_below_and_ends_with_all():
    found = read(prometheus.exposition(view()))
    bounds = {labels: count for (name, labels), count in found.items() if name == "queue_delay_seconds_bucket"}
    forward = {
        labels.split('le="')[1].removesuffix('"'): count for labels, count in bounds.items() if '"forward"' in labels
    }
    assert forward == {"0.01": 1, "0.1": 2, "+Inf": 3}
    assert found["queue_delay_seconds_sum", 'direction="forward"'] == 0.25
    assert found["queue_delay_seconds_count", 'direction="forward"'] == 3


def test_the_flows_that_send_most_have_their_rate_and_verdict():
    ends = {"protocol": 17, "source": "10.0.0.1", "source_port": 5, "destination": "10.0.0.2", "flow": "ff"}
    flows = [{**ends, "destination_port": n, "sent_bps": 8.0 * n, "verdict": "friendly"} for n in range(20)]
    found = read(prometheus.exposition(view(flows=flows)))
    told = {labels: value for (name, labels), value in found.items() if name == "flow_bytes_per_second"}
    assert sorted(told.values()) == list(range(12, 20))
    assert told['direction="forward",flow="udp 10.0.0.1:5 > 10.0.0.2:19",verdict="friendly"'] == 19


def test_names_have_base_units_and_the_words_of_the_glossary():
    names = {name for name, _ in read(prometheus.exposition(view(gauges=[("p", 0.5)], drops={"early": 1})))}
    for name in names:
        words = set(name.split("_"))
        assert not words & {"ms", "us", "milliseconds", "bps", "bits", "kib", "percent"}, name
    assert {"propagating_packets", "queue_delay_seconds_sum", "link_losses_total", "discipline_gauge"} <= names


def test_labels_and_numbers_are_written_so_that_they_can_be_read():
    gauges = [('a "quoted"\\\nname', math.nan), ("high", math.inf), ("low", -math.inf), ("small", 1e-9)]
    found = read(prometheus.exposition(view(gauges=gauges)))
    values = {labels: value for (name, labels), value in found.items() if name == "discipline_gauge"}
    read_back = {labels.split("gauge=")[1]: value for labels, value in values.items()}
    assert math.isnan(read_back.pop('"a \\"quoted\\"\\\\\\nname"'))
    assert read_back == {'"high"': math.inf, '"low"': -math.inf, '"small"': 1e-9}


@pytest.mark.parametrize("address", ["9100", ":9100", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:http"])
def test_an_invalid_address_is_refused(address: str):
    with pytest.raises(UsageError, match="expected HOST:PORT"):
        prometheus.parse(address)


def test_addresses_of_both_families():
    assert prometheus.parse("127.0.0.1:9100") == ("127.0.0.1", 9100)
    assert prometheus.parse("[::1]:9100") == ("::1", 9100)


def test_it_serves_metrics_and_holds_its_address():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match="cannot listen there: Address already in use"):
            prometheus.Exporter(f"127.0.0.1:{port}")
    looked = []

    def look() -> dict[str, Any]:
        looked.append(1)
        return view(sent=len(looked))

    with prometheus.Exporter(f"127.0.0.1:{port}").serve(look):
        for times in (1, 2):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
                text = answer.read().decode()
            assert read(text)["sent_packets_total", 'direction="forward"'] == times
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/other", timeout=5)
