"""The measures of every test: the RFC's end-to-end metrics (section 2), for all flows together."""

from collections.abc import Mapping
from typing import NamedTuple

from headgate.evaluate.network import PERIOD_S
from headgate.evaluate.periods import goodput_over_periods
from headgate.experiment.measures import RunFunction, drop_percent, goodput, idle, link


class CommonMeasure(NamedTuple):
    """A measure of every test, and its title in a table."""

    title: str
    measure: RunFunction


#: `delay_ms` and `goodput_mbps` make the ellipses (section 2.7).
COMMON: Mapping[str, CommonMeasure] = {
    "goodput_mbps": CommonMeasure("Goodput Mbit/s", goodput() * 1e-6),
    "goodput_p5_mbps": CommonMeasure(f"over {PERIOD_S:g} s, p5", goodput_over_periods(0.05)),
    "goodput_p50_mbps": CommonMeasure("median", goodput_over_periods(0.5)),
    "idle": CommonMeasure("Idle %", idle()),
    "delay_ms": CommonMeasure("Queueing delay ms, mean", link("queue_delay_ms_mean")),
    "p50_ms": CommonMeasure("median", link("queue_delay_ms_p50")),
    "p95_ms": CommonMeasure("p95", link("queue_delay_ms_p95")),
    "p99_ms": CommonMeasure("p99", link("queue_delay_ms_p99")),
    "loss": CommonMeasure("Dropped %", drop_percent()),
    "loss_sync": CommonMeasure("Flows that lose in one loss event %", link("loss_sync_global") * 100),
}
