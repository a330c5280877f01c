"""Measures for experiments. A measure is a function from a run to a number; the functions here make measures."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeAlias

import numpy as np

from headgate.analysis import data, distributions
from headgate.analysis.metrics.views import RATES, jains_index
from headgate.analysis.runs import Array, Run

#: A function from a run to a number: a `RunMeasure`, or a plain function. NaN if the run has no such number.
RunFunction: TypeAlias = Callable[[Run], float]
P = ParamSpec("P")


class RunMeasure:
    """A measure with arithmetic: `goodput("cbr") * 1e-6` is goodput in Mbit/s, `a / b` a ratio."""

    def __init__(self, number: RunFunction) -> None:
        self._number = number

    def __call__(self, run: Run) -> float:
        """The number of a run."""
        return self._number(run)

    def __mul__(self, factor: float) -> RunMeasure:
        return RunMeasure(lambda run: self(run) * factor)

    def __truediv__(self, other: RunMeasure) -> RunMeasure:
        """The ratio; NaN if the divisor is 0."""
        return RunMeasure(lambda run: _ratio(self(run), other(run)))


def measure(number: Callable[Concatenate[Run, P], float]) -> Callable[P, RunMeasure]:
    """Decorates a function of a run and further arguments. The result takes those arguments and returns a measure."""

    @wraps(number)
    def of(*args: P.args, **keywords: P.kwargs) -> RunMeasure:
        return RunMeasure(lambda run: number(run, *args, **keywords))

    return of


@measure
def total(run: Run, column: str, group: str | None = None, kind: str | None = None) -> float:
    """The sum of a column of the table `flows` over flows, such as `timeouts`; flows without a value add nothing.

    Of flows in both directions of a link, a rate is that of the bottleneck's direction.
    """
    values = run.sharing if column in RATES else run.flows
    return float(np.nansum(values(column, group, kind)))


@measure
def throughput(run: Run, group: str | None = None, kind: str | None = None) -> float:
    """Throughput of flows at the bottleneck in bit/s on the wire, headers and retransmissions included."""
    return float(run.sharing("sent_bytes", group, kind).sum()) * 8 / run.seconds


def throughput_share(group: str | None = None, kind: str | None = None) -> RunMeasure:
    """Throughput of flows over the bottleneck's rate; 1 is the whole link."""
    return throughput(group, kind) / RunMeasure(lambda run: run.rate_bps)


def goodput(group: str | None = None, kind: str | None = None) -> RunMeasure:
    """Goodput of flows together, in bit/s; of flows in both directions of a link, of the bottleneck's direction."""
    return total("goodput_bps", group, kind)


def share_of_fair(group: str | None = None, kind: str | None = None) -> RunMeasure:
    """Goodput of flows together over their fair shares together."""
    return goodput(group, kind) / total("fair_share_bps", group, kind)


def throughput_of_fair(group: str | None = None, kind: str | None = None) -> RunMeasure:
    """Throughput of flows at the bottleneck over the sum of their fair shares. Retransmissions count.

    Fair shares are without headers. With `profile = "ns2"` packets have none, so 1 is exactly the fair share.
    """
    return throughput(group, kind) / total("fair_share_bps", group, kind)


@measure
def ratio(run: Run, of: str, to: str) -> float:
    """Mean goodput of a flow of group `of` over that of a flow of group `to`; NaN if the latter is 0."""
    return _ratio(*(float(run.flows("goodput_bps", group).mean()) for group in (of, to)))


@measure
def evenness(run: Run, of: str, to: str) -> float:
    """The smaller of two groups' mean goodputs over the larger: 1 if equal, 0 if one group has no goodput."""
    value = ratio(of, to)(run)
    return min(value, 1 / value) if value > 0 else 0.0


@measure
def share_of_flows_between(
    run: Run, low_bps: float, high_bps: float, group: str | None = None, kind: str | None = None
) -> float:
    """The share of the flows, 0 to 1, whose goodput is between `low_bps` and `high_bps`, both included."""
    rates = run.flows("goodput_bps", group, kind)
    return float(((rates >= low_bps) & (rates <= high_bps)).mean())


@measure
def jain(run: Run, group: str | None = None, kind: str | None = None, *, alike: bool = False) -> float:
    """Jain's index of goodput over fair share, or of goodput alone if `alike`; 1 if all values are equal.

    A flow without a fair share was not active and does not count.
    """
    rates = run.flows("goodput_bps", group, kind)
    share = rates if alike else rates / run.flows("fair_share_bps", group, kind)
    share = share[np.isfinite(share)]
    return float(jains_index(share[np.newaxis], np.ones((1, len(share)), dtype=bool))[0])


def drop_rate(group: str | None = None, kind: str | None = None) -> RunMeasure:
    """Dropped packets over arrived packets, all flows together; 0 to 1."""
    return total("dropped", group, kind) / total("arrived", group, kind)


@measure
def dropped_share(run: Run, *reasons: str, group: str | None = None, kind: str | None = None) -> float:
    """Packets dropped for any of these reasons over arrived packets, all flows together; 0 to 1."""
    dropped = sum(float(run.flows(f"dropped_{reason}", group, kind).sum()) for reason in reasons)
    return _ratio(dropped, run.flows("arrived", group, kind).sum())


@measure
def dropped_bps(run: Run, group: str | None = None, kind: str | None = None, *, packet_bytes: int) -> float:
    """Dropped bits per second of flows with packets of `packet_bytes`."""
    return float(run.flows("dropped", group, kind).sum()) * packet_bytes * 8 / run.seconds


@measure
def loss_run(run: Run, kind: str) -> float:
    """Mean number of packets that a flow of a kind loses in a row (RFC 3357's loss period); NaN without a loss."""
    rows = data.rows(run.table("losses"), measure="run_packets", kind=kind)
    value, count = data.values(rows, "value"), data.values(rows, "count")
    return _ratio(float((value * count).sum()), float(count.sum()))


@measure
def percent(run: Run, part: str, whole: str, group: str | None = None) -> float:
    """The count `part` in percent of the count `whole`, of a group or of all flows; 0 without packets."""
    packets = run.flows(whole, group).sum()
    return 100 * float(run.flows(part, group).sum() / packets) if packets else 0.0


def drop_percent(group: str | None = None) -> RunMeasure:
    """Dropped packets in percent of arrived packets, of a group or of all flows; 0 if none arrived."""
    return percent("dropped", "arrived", group)


@measure
def ack_drop_percent(run: Run, direction: str, beside: str) -> float:
    """Percentage of ACKs dropped in a direction of the bottleneck; NaN if none arrived.

    `beside` is the group whose data goes in that direction. All other packets are ACKs.
    """
    arrived, lost = (run.link(column, direction) - run.flows(column, beside).sum() for column in ("arrived", "dropped"))
    return 100 * _ratio(lost, arrived)


@measure
def link(run: Run, column: str, direction: str | None = None, name: str | None = None) -> float:
    """A column of the table `links`, for the bottleneck unless a direction or another link is named."""
    return run.link(column, direction, name)


@measure
def idle(run: Run, link: str | None = None) -> float:
    """Percentage of the time in which a link had nothing to send."""
    return 100 * (1 - run.link("utilization", "forward", link))


@measure
def over_intervals(
    run: Run,
    metric: str,
    take: Callable[[Array], float],
    since_s: float | None = None,
    until_s: float = math.inf,
    group: str | None = None,
) -> float:
    """Applies `take` to a metric's values over time (docs/reference/tables.md, `intervals`).

    The metric is that of the bottleneck, or of a group of flows. Values count from `since_s`, by default the end of the
    warm-up, to `until_s`. NaN if there are none.
    """
    time_s, value = run.series(metric, group)
    inside = value[(time_s > (run.warmup_s if since_s is None else since_s)) & (time_s <= until_s)]
    return float(take(inside)) if len(inside) else math.nan


def gauge(name: str) -> RunMeasure:
    """The mean of a gauge after the warm-up; NaN if the discipline has no such gauge."""
    return over_intervals(f"gauge:{name}", np.mean)


@measure
def completion_ms(run: Run, group: str, part: float) -> float:
    """The quantile `part` of the completion times of a group's transfers, in ms; NaN without a transfer.

    Transfers that began after the warm-up count. A transfer cut off by the run's end counts with its time until then.
    """
    table = data.rows(run.table("transfers"), group=group)
    start, took = data.values(table, "start_ns") / 1e6, data.values(table, "completion_ms")
    had = 1e3 * run.result.scenario.duration_s - start
    times = np.where(np.isfinite(took), took, had)[start >= 1e3 * run.warmup_s]
    return distributions.quantile(times, part)


@measure
def group_delay_ms(run: Run, group: str, part: float) -> float:
    """The quantile `part` (0 to 1) of a group's queueing delay at the bottleneck, in ms."""
    table = data.bottleneck(run.result, data.rows(run.table("delays"), measure="queue_delay", group=group))
    quantile = distributions.histogram(table, "delay_ms").quantile(part)
    return math.nan if quantile is None else quantile


@measure
def path_delay_ms(run: Run, group: str) -> float:
    """The mean sum of a group's queueing delays over all queues of its path, in ms; NaN if no packet was sent."""
    sent, delay = run.flows("sent", group), run.flows("queue_delay_ms_mean", group)
    return float(np.average(delay[sent > 0], weights=sent[sent > 0])) if sent.any() else math.nan


@measure
def jitter_ms(run: Run, group: str, part: float = 0.95) -> float:
    """The quantile `part` of a group's packet delay variation (RFC 5481, section 4.2), in ms.

    Delay variation is the one-way delay less its minimum. RFC 7928, section 2.6, uses it as the jitter.
    """
    delays = distributions.histogram(data.rows(run.table("delays"), measure="one_way_delay", group=group), "delay_ms")
    least, most = delays.quantile(0), delays.quantile(part)
    return math.nan if least is None or most is None else most - least


def average(*measures: RunFunction) -> RunMeasure:
    """The mean of several measures of one run, such as one measure of several similar groups."""
    return RunMeasure(lambda run: sum(each(run) for each in measures) / len(measures))


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else math.nan
