"""What experiments measure of a run: functions that make measures, each a number for one run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headgate.analysis import data
from headgate.analysis.runs import Array, Run

#: A number for one run; NaN where it has none.
Measure = Callable[[Run], float]


def throughput(group: str | None = None, kind: str | None = None) -> Measure:
    """Bits a second on the wire that flows got through the bottleneck, headers and repeats included."""
    return lambda run: float(run.flows("sent_bytes", group, kind).sum()) * 8 / run.seconds


def throughput_share(group: str | None = None, kind: str | None = None) -> Measure:
    """The part of the bottleneck's rate that flows took, headers and repeats included; 1 is all of it."""
    whole = throughput(group, kind)
    return lambda run: whole(run) / run.rate_bps


def goodput(group: str | None = None, kind: str | None = None) -> Measure:
    """Useful bits a second of flows together."""
    return lambda run: float(run.flows("goodput_bps", group, kind).sum())


def share_of_fair(group: str | None = None, kind: str | None = None) -> Measure:
    """Goodput of flows together over their fair shares together."""
    return lambda run: float(
        run.flows("goodput_bps", group, kind).sum() / run.flows("fair_share_bps", group, kind).sum()
    )


def in_unit(measure: Measure, factor: float) -> Measure:
    """A measure times a factor: 1e-6 for Mbit/s from bit/s, so that judgements read as the paper does."""
    return lambda run: measure(run) * factor


def throughput_of_fair(group: str | None = None, kind: str | None = None) -> Measure:
    """Bits a second that flows got through the bottleneck, repeats included, over their fair shares together.

    Fair shares are net of headers; with `profile = "ns2"`, which has none, 1 is exactly the fair share.
    """
    whole = throughput(group, kind)
    return lambda run: whole(run) / float(run.flows("fair_share_bps", group, kind).sum())


def total(column: str, group: str | None = None, kind: str | None = None) -> Measure:
    """The sum of a column of the table `flows` over flows, such as `timeouts`."""
    return lambda run: float(run.flows(column, group, kind).sum())


def part_between(low_bps: float, high_bps: float, group: str | None = None, kind: str | None = None) -> Measure:
    """The part of the flows, 0 to 1, whose goodput is at least `low_bps` and at most `high_bps`."""

    def part(run: Run) -> float:
        rates = run.flows("goodput_bps", group, kind)
        return float(((rates >= low_bps) & (rates <= high_bps)).mean())

    return part


def loss_run(kind: str) -> Measure:
    """Packets that flows of a kind lose in a row, on average (RFC 3357's loss period); NaN without a loss."""

    def length(run: Run) -> float:
        rows = data.rows(run.table("losses"), measure="run_packets", kind=kind)
        value, count = data.values(rows, "value"), data.values(rows, "count")
        return _ratio(float((value * count).sum()), float(count.sum()))

    return length


def gauge(name: str) -> Measure:
    """The mean of a gauge of the discipline after the warm-up; NaN where it has none of that name."""

    def mean(run: Run) -> float:
        time, value = run.series(f"gauge:{name}")
        after = value[time > run.result.scenario.warmup_s]
        return float(after.mean()) if len(after) else float("nan")

    return mean


def jain(group: str | None = None, kind: str | None = None, *, alike: bool = False) -> Measure:
    """Jain's index of goodput over fair share, or of goodput alone if `alike`; 1 when all are served alike."""

    def index(run: Run) -> float:
        goodput = run.flows("goodput_bps", group, kind)
        share = goodput if alike else goodput / run.flows("fair_share_bps", group, kind)
        squares = float((share**2).sum())
        return float(share.sum()) ** 2 / (len(share) * squares) if squares else float("nan")

    return index


def loss_rate(group: str | None = None, kind: str | None = None) -> Measure:
    """Packets dropped over packets that came, all flows together; 0 to 1."""
    return lambda run: _ratio(run.flows("dropped", group, kind).sum(), run.flows("arrived", group, kind).sum())


def loss_bps(group: str | None = None, kind: str | None = None, *, packet_bytes: int) -> Measure:
    """Bits a second that were dropped, of flows whose packets all have `packet_bytes`."""
    return lambda run: float(run.flows("dropped", group, kind).sum()) * packet_bytes * 8 / run.seconds


def link(column: str, direction: str | None = None, name: str | None = None) -> Measure:
    """A column of a row of `links`: the bottleneck's, unless a direction or another link is named."""
    return lambda run: run.link(column, direction, name)


def over_intervals(
    metric: str, take: Callable[[Array], float], since_s: float | None = None, until_s: float | None = None
) -> Measure:
    """What `take` makes of a metric's values over time at the bottleneck (docs/reference/tables.md, `intervals`).

    From `since_s` (the end of the warm-up) to `until_s` (the end of the run); NaN where the metric has no values.
    """

    def number(run: Run) -> float:
        time_s, value = run.series(metric)
        begin = run.result.scenario.warmup_s if since_s is None else since_s
        inside = value[(time_s > begin) & (time_s <= (np.inf if until_s is None else until_s))]
        return float(take(inside)) if len(inside) else float("nan")

    return number


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else float("nan")


def dropped_share(*reasons: str, group: str | None = None, kind: str | None = None) -> Measure:
    """Packets dropped for any of these reasons over packets that came, all flows together; 0 to 1."""

    def share(run: Run) -> float:
        dropped = sum(float(run.flows(f"dropped_{reason}", group, kind).sum()) for reason in reasons)
        return _ratio(dropped, run.flows("arrived", group, kind).sum())

    return share


def average(*measures: Measure) -> Measure:
    """The mean of several measures of one run, as of groups of flows that are alike."""
    return lambda run: sum(measure(run) for measure in measures) / len(measures)
