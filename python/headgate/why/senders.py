"""Summarizes the trace of one sender."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headgate.results import Result
from headgate.scenario import RunKey

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class TcpTrace:
    """A summary of a TCP sender's trace: shares of time by phase, windows in packets, and times.

    `silence_s` is the longest time without newly acknowledged data.
    """

    phases: dict[str, float]
    cwnd_mean: float
    cwnd_max: float
    srtt_ms_mean: float | None
    srtt_ms_min: float | None
    timeouts_s: list[float]
    silence_s: float


@dataclass(frozen=True)
class TfrcTrace:
    """A summary of the trace of a UDP sender with congestion control: shares of time by phase, and rates in bit/s.

    Only TFRC has a loss event rate.
    """

    phases: dict[str, float]
    rate_bps_mean: float
    rate_bps_max: float
    loss_event_rate_mean: float | None
    srtt_ms_mean: float | None
    srtt_ms_min: float | None
    timeouts_s: list[float]


class TraceRows(NamedTuple):
    """A flow's rows of `traces`. `lasts_s` has the seconds after the warm-up for which each row is valid."""

    rows: pa.Table
    times_s: Array
    lasts_s: Array
    start_s: float
    end_s: float

    def column(self, name: str) -> Array:
        """A column as numbers; missing values are NaN."""
        return np.asarray(self.rows[name].to_numpy(zero_copy_only=False))

    def mean(self, values: Array) -> float:
        """The mean over time."""
        return float((values * self.lasts_s).sum()) / (float(self.lasts_s.sum()) or 1.0)

    def most(self, values: Array) -> float:
        """The maximum after the warm-up."""
        counted = values[self.lasts_s > 0]
        return float(counted.max() if len(counted) else values[-1])

    def common(self) -> dict[str, Any]:
        """The numbers that both summaries have, such as the mean and the minimum of the round-trip time."""
        phase = np.asarray(self.rows["phase"].to_pylist(), dtype=object)
        srtt = self.column("srtt_ms")[self.lasts_s > 0]
        known = srtt[~np.isnan(srtt)]
        return {
            "phases": {name: self.mean(phase == name) for name in sorted(set(phase[self.lasts_s > 0]))},
            "srtt_ms_mean": float(known.mean()) if len(known) else None,
            "srtt_ms_min": float(known.min()) if len(known) else None,
            "timeouts_s": [float(time) for time in self.rises("timeouts") if time >= self.start_s],
        }

    def rises(self, name: str) -> Array:
        """The times in seconds at which the count in this column rose."""
        rises = np.flatnonzero(np.diff(self.rows[name].to_numpy().astype(np.int64)) > 0) + 1
        return np.asarray(self.times_s[rises])


def traced(result: Result, run: RunKey, flow: int) -> TraceRows | None:
    """The trace of flow number `flow` in the run; None if it was not traced."""
    if "traces" not in result.scenario.records:
        return None
    rows = result.run("traces", run)
    rows = rows.filter(pc.equal(rows["flow"], flow))
    if rows.num_rows == 0:
        return None
    start, end = result.scenario.warmup_s, result.scenario.duration_s
    times = rows["time_ns"].to_numpy() / 1e9
    # Each row is valid until the next one. Time in the warm-up does not count.
    lasts = np.clip(np.append(times[1:], end), start, end) - np.clip(times, start, end)
    return TraceRows(rows, times, lasts, start, end)


def tcp_trace(traced: TraceRows) -> TcpTrace:
    """The summary of a TCP sender's trace."""
    cwnd = traced.column("cwnd")
    edges = np.concatenate([[traced.start_s], traced.rises("acked_bytes"), [traced.end_s]])
    silence_s = float(np.diff(np.clip(edges, traced.start_s, traced.end_s)).max())
    return TcpTrace(cwnd_mean=traced.mean(cwnd), cwnd_max=traced.most(cwnd), silence_s=silence_s, **traced.common())


def tfrc_trace(traced: TraceRows) -> TfrcTrace:
    """The summary of the trace of a UDP sender with congestion control."""
    rate, mean = traced.column("rate_bps"), traced.mean(traced.column("loss_event_rate"))
    most, loss = traced.most(rate), None if np.isnan(mean) else mean
    return TfrcTrace(rate_bps_mean=traced.mean(rate), rate_bps_max=most, loss_event_rate_mean=loss, **traced.common())
