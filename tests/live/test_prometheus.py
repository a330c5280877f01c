"""The metrics of a link or gateway, in Prometheus' text format."""

import math
import re
from typing import Any

from headgate import _core
from headgate.live import prometheus

#: A sample: name, labels (their values escape quotes, backslashes and line ends) and a number.
SAMPLE = re.compile(r'(\w+)(?:\{((?:\w+="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (\S+)')


def direction(**changes: Any) -> dict[str, Any]:
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
    return {"at_s": 1.0, "cpu_s": 0.5, "forward": direction(**forward), "reverse": direction()}


def read(text: str) -> dict[tuple[str, str], float]:
    """The samples by name and labels. Checks that each follows the header of its metric."""
    values = {}
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
        assert key not in values, f"{key} twice"
        values[key] = float(match[3])
    return values


def test_counts_have_their_directions_and_reasons():
    values = read(prometheus.exposition(view(sent=7, drops={"early": 5, "overflow": 2}, not_ip=[("fragment", 4)])))
    assert values["sent_packets_total", 'direction="forward"'] == 7
    assert values["sent_packets_total", 'direction="reverse"'] == 0
    assert values["drops_total", 'direction="forward",reason="early"'] == 5
    assert values["drops_total", 'direction="forward",reason="overflow"'] == 2
    assert values["not_ip_frames_total", 'direction="forward",kind="fragment"'] == 4
    assert values["cpu_seconds_total", ""] == 0.5


def test_a_histogram_counts_from_below_and_ends_with_all():
    values = read(prometheus.exposition(view()))
    bounds = {labels: count for (name, labels), count in values.items() if name == "queue_delay_seconds_bucket"}
    forward = {
        labels.split('le="')[1].removesuffix('"'): count for labels, count in bounds.items() if '"forward"' in labels
    }
    assert forward == {"0.01": 1, "0.1": 2, "+Inf": 3}
    assert values["queue_delay_seconds_sum", 'direction="forward"'] == 0.25
    assert values["queue_delay_seconds_count", 'direction="forward"'] == 3


def test_the_flows_with_the_highest_rates_have_their_rate_and_verdict():
    ends = {"protocol": 17, "source": "10.0.0.1", "source_port": 5, "destination": "10.0.0.2", "flow": "ff"}
    flows = [{**ends, "destination_port": n, "sent_bps": 8.0 * n, "verdict": "friendly"} for n in range(20)]
    values = read(prometheus.exposition(view(flows=flows)))
    rates = {labels: value for (name, labels), value in values.items() if name == "flow_bytes_per_second"}
    assert sorted(rates.values()) == list(range(12, 20))
    assert rates['direction="forward",flow="udp 10.0.0.1:5 > 10.0.0.2:19",verdict="friendly"'] == 19


def test_names_have_base_units_and_the_words_of_the_glossary():
    names = {name for name, _ in read(prometheus.exposition(view(gauges=[("p", 0.5)], drops={"early": 1})))}
    for name in names:
        words = set(name.split("_"))
        assert not words & {"ms", "us", "milliseconds", "bps", "bits", "kib", "percent"}, name
    assert {"propagating_packets", "queue_delay_seconds_sum", "link_losses_total", "discipline_gauge"} <= names


def test_labels_and_numbers_are_written_so_that_they_can_be_read():
    gauges = [('a "quoted"\\\nname', math.nan), ("high", math.inf), ("low", -math.inf), ("small", 1e-9)]
    result = read(prometheus.exposition(view(gauges=gauges)))
    values = {labels: value for (name, labels), value in result.items() if name == "discipline_gauge"}
    read_back = {labels.split("gauge=")[1]: value for labels, value in values.items()}
    assert math.isnan(read_back.pop('"a \\"quoted\\"\\\\\\nname"'))
    assert read_back == {'"high"': math.inf, '"low"': -math.inf, '"small"': 1e-9}
