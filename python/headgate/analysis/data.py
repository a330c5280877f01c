"""The data of figures as arrays. Nothing here draws."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate import _core
from headgate.analysis.columns import ColumnArrays
from headgate.analysis.distributions import histogram, place
from headgate.files.result_tables import ResultTables
from headgate.scenario import Role
from headgate.scenario.queues import bottleneck_way

Array = npt.NDArray[np.float64]

GAUGE = "gauge:"

#: The reasons for drops and marks of the registry's disciplines.
REASONS = {name for name, _ in _core.reasons()}


class TimeSeries(NamedTuple):
    """One quantity over time: the first seed's values, and the range over all seeds."""

    time_s: Array
    first: Array
    low: Array
    high: Array


class Cdf(NamedTuple):
    """The distribution of the queueing delay: the number of packets with at most `delay_ms`, over all seeds."""

    delay_ms: Array
    packets: Array

    @property
    def share(self) -> Array:
        """The share of packets (0 to 1) with at most each delay."""
        return np.asarray(self.packets / self.packets[-1], dtype=np.float64)

    def quantile(self, share: float) -> float:
        """The quantile of the delay in milliseconds."""
        return float(self.delay_ms[int(np.searchsorted(self.packets, place(share, self.packets[-1]), side="right"))])


class Transfers(NamedTuple):
    """Sizes and completion times of one discipline's transfers; NaN for unfinished ones."""

    kilobytes: Array
    seconds: Array


class GroupGoodput(NamedTuple):
    """A group of flows, and its flows' goodput: one row a seed, one column a flow. `fair_bps` are means over seeds."""

    name: str
    role: Role
    flows: int
    goodput_bps: Array
    fair_bps: Array


def qdiscs(result: ResultTables) -> list[str]:
    """The disciplines with results, in the scenario's order. If the run was stopped, some may be missing."""
    have = set(ColumnArrays.of(result, "links").words("qdisc"))
    return [qdisc for qdisc in result.scenario.qdiscs if qdisc in have]


def values(table: pa.Table | ColumnArrays, name: str) -> Array:
    """A column of numbers; null becomes NaN.

    If no discipline of the result declares a reason, the table has no column for it. The values are then 0.
    """
    names = table.names if isinstance(table, ColumnArrays) else table.column_names
    if name not in names and name.removeprefix("dropped_").removeprefix("marked_") in REASONS:
        return np.zeros(len(table))
    if isinstance(table, ColumnArrays):
        return table[name]
    return np.asarray(table.column(name).to_numpy(), dtype=np.float64)


def rows(table: Any, **equal: str) -> Any:
    """The rows whose columns have the wanted values, of an Arrow table or of `ColumnArrays`."""
    if isinstance(table, ColumnArrays):
        return table.where(**equal)
    import pyarrow.compute as pc  # loads slowly: figures and summaries do without it

    for column, value in equal.items():
        table = table.filter(pc.equal(table.column(column), value))
    return table


def groups(result: ResultTables, qdisc: str) -> list[GroupGoodput]:
    """The groups with their flows' goodput and fair shares, after the warm-up."""
    table = rows(ColumnArrays.of(result, "flows"), qdisc=qdisc)
    flows = sum(group.flows for group in result.scenario.groups)
    shares = np.nan_to_num(values(table, "fair_share_bps").reshape(-1, flows))
    # With random starts, flows have other shares with other seeds.
    fair = shares.mean(axis=0)
    goodputs, first = [], 0
    for group in result.scenario.groups:
        # A TCP and a UDP group may have the same name in a file; they stay separate.
        part = rows(table, group=group.name, kind=group.kind)
        if len(part):
            goodput = values(part, "goodput_bps").reshape(-1, group.flows)
            mine = fair[first : first + group.flows]
            goodputs.append(GroupGoodput(group.name, group.role, group.flows, goodput, mine))
            first += group.flows
    return goodputs


def series(table: pa.Table | ColumnArrays, points: int) -> TimeSeries | None:
    """Rows of one metric of one discipline as a series of at most `points` points; None without rows.

    A point can stand for several times. Its value is then their mean, and `low` and `high` are their extremes.
    """
    if len(table) == 0:
        return None
    time, seed, value = values(table, "time_s"), values(table, "seed"), values(table, "value")
    moments, index = np.unique(time, return_inverse=True)
    bins = (index * min(points, len(moments))) // len(moments)
    count = int(bins.max()) + 1
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    finite = np.isfinite(value)
    np.minimum.at(low, bins[finite], value[finite])
    np.maximum.at(high, bins[finite], value[finite])
    middle = _mean_by_bin(bins, time, count)
    mine = finite & (seed == seed[0])
    return TimeSeries(middle, _mean_by_bin(bins[mine], value[mine], count), _finite_or_nan(low), _finite_or_nan(high))


def _mean_by_bin(bins: npt.NDArray[Any], value: Array, count: int) -> Array:
    totals = np.bincount(bins, weights=value, minlength=count)
    counts = np.bincount(bins, minlength=count)
    return np.asarray(totals / np.where(counts > 0, counts, np.nan), dtype=np.float64)


def _finite_or_nan(bound: Array) -> Array:
    return np.where(np.isfinite(bound), bound, np.nan)


def metric(result: ResultTables, qdisc: str, name: str, points: int) -> TimeSeries | None:
    """A metric of the bottleneck over time, warm-up included."""
    return series(rows(bottleneck(result, ColumnArrays.of(result, "intervals")), qdisc=qdisc, metric=name), points)


def bottleneck(result: ResultTables, table: Any) -> Any:
    """The rows of the bottleneck, in a table with a row for each link."""
    link, direction = result.scenario.bottleneck
    return rows(table, link=link, direction=direction)


def gauges(result: ResultTables, qdisc: str, points: int) -> dict[str, TimeSeries]:
    """The discipline's own gauges over time, by name."""
    table = rows(bottleneck(result, ColumnArrays.of(result, "intervals")), qdisc=qdisc)
    names = sorted(name for name in set(table.words("metric")) if name.startswith(GAUGE))
    drawn = {name.removeprefix(GAUGE): series(rows(table, metric=name), points) for name in names}
    return {name: line for name, line in drawn.items() if line is not None}


def delay(result: ResultTables, qdisc: str, **of: str) -> Cdf | None:
    """The distribution of the queueing delay at the bottleneck; None if no packet was sent.

    `of` selects packets, as in `group="calls", kind="udp"`.
    """
    table = rows(bottleneck(result, ColumnArrays.of(result, "delays")), qdisc=qdisc, measure="queue_delay", **of)
    delays = histogram(table, "delay_ms")
    if not len(delays.values):
        return None
    return Cdf(delays.values, np.cumsum(delays.counts))


def delay_goodput(result: ResultTables, qdisc: str, scale: float) -> Array:
    """A row for each seed: the mean queueing delay at the bottleneck in ms, and the goodput of its flows over `scale`.

    Flows of the opposite direction do not count. Seeds in which no packet was sent are left out.
    """
    delays = values(rows(bottleneck(result, ColumnArrays.of(result, "links")), qdisc=qdisc), "queue_delay_ms_mean")
    flows = values(rows(ColumnArrays.of(result, "flows"), qdisc=qdisc), "goodput_bps").reshape(len(delays), -1)
    mine = bottleneck_way(result.scenario).groups
    counted = np.repeat(
        [group in mine for group in result.scenario.groups], [each.flows for each in result.scenario.groups]
    )
    points = np.stack([delays, flows[:, counted].sum(axis=1) / scale], axis=1)
    return np.asarray(points[np.isfinite(delays)], dtype=np.float64)


def transfers(result: ResultTables, qdisc: str) -> Transfers:
    """The transfers that began after the warm-up, of all seeds."""
    table = rows(ColumnArrays.of(result, "transfers"), qdisc=qdisc)
    warm = values(table, "start_ns") >= result.scenario.warmup_s * 1e9
    return Transfers(values(table, "bytes")[warm] / 1e3, values(table, "completion_ms")[warm] / 1e3)


def packet_ms(result: ResultTables) -> float | None:
    """The transmission time of a packet of mean size, in ms; None if no packet was queued."""
    table = bottleneck(result, ColumnArrays.of(result, "links"))
    packets, octets = values(table, "queue_packets_mean"), values(table, "queue_bytes_mean")
    waiting = float(packets.sum())
    return 8000 * float(octets.sum()) / waiting / result.scenario.rate_bps if waiting > 0 else None
