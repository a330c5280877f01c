"""The numbers of one flow under one discipline and seed. They are of the time after the warm-up."""

from collections import Counter
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.errors import UsageError
from headgate.results import Result
from headgate.scenario import Group, RunKey
from headgate.why import senders
from headgate.why.senders import TcpTrace, TfrcTrace

#: Drops and marks less than this apart, in seconds, belong to one burst.
BURST_S = 0.1


@dataclass(frozen=True)
class PacketCounts:
    """Packet counts of some flows together, and their rates in bit/s."""

    flows: int
    arrived: int
    sent_bytes: int
    dropped: int
    marked: int
    link_losses: int
    goodput_bps: float
    fair_share_bps: float
    timeouts: int

    @classmethod
    def of(cls, rows: pa.Table) -> Self:
        """The totals over these rows of the table `flows`."""
        return cls(rows.num_rows, *(_total(rows, each.name) for each in fields(cls)[1:]))

    def over_arrived(self, count: int) -> float:
        """`count` as a share of arrived packets, 0 to 1."""
        return count / self.arrived if self.arrived else 0.0


@dataclass(frozen=True)
class ReasonCounts:
    """Packets that were dropped or marked for one reason: of the flow, and of all other flows."""

    reason: str
    dropped: int
    marked: int
    others_dropped: int
    others_marked: int

    @property
    def mine(self) -> int:
        """The flow's packets."""
        return self.dropped + self.marked

    @property
    def of_all_flows(self) -> int:
        """The packets of all flows."""
        return self.mine + self.others_dropped + self.others_marked


@dataclass(frozen=True)
class SignalTimes:
    """Times of the flow's drops and marks, in seconds from the start of the run.

    `quiet_from_s` and `quiet_to_s` are the ends of the longest interval without one. The second from `worst_s` on has
    the most. `in_bursts` counts the drops and marks in all bursts.
    """

    count: int
    first_s: float
    last_s: float
    quiet_from_s: float
    quiet_to_s: float
    bursts: int
    in_bursts: int
    worst_s: float
    worst_count: int


@dataclass(frozen=True)
class GaugeMeans:
    """Means of a gauge at the flow's drops and marks, and at those of all other flows; None without any."""

    name: str
    of_flow: bool
    mine: float | None
    others: float | None


@dataclass(frozen=True)
class DropLocation:
    """A direction of a link, and the number of the flow's packets dropped or marked there."""

    link: str
    direction: str
    count: int


@dataclass(frozen=True)
class FlowFacts:
    """The numbers of one flow; None where the scenario does not record them.

    `peers` are the other flows of its group, `others` all other flows. `reply_link_losses` counts link losses of
    acknowledgements and reports, of all flows. `constant` flows are unresponsive; `governed` flows have congestion
    control. `trace` is set for TCP, `rates` for TFRC.
    """

    flow: int
    group: str
    index: int
    kind: str
    constant: bool
    governed: bool
    qdisc: str
    seed: int
    warmup_s: float
    span_s: float
    mine: PacketCounts
    peers: PacketCounts
    others: PacketCounts
    #: Flows of other groups that share the link in the same direction.
    beside: PacketCounts
    retransmits: int
    queue_delay_ms: float | None
    others_queue_delay_ms: float | None
    reply_link_losses: int
    reasons: list[ReasonCounts]
    times: SignalTimes | None
    places: list[DropLocation] | None
    gauges: list[GaugeMeans] | None
    trace: TcpTrace | None
    rates: TfrcTrace | None


def facts(result: Result, run: RunKey, flow: int) -> FlowFacts:
    """The numbers of flow number `flow` in a run; `UsageError` if there is no such flow."""
    flows = result.run("flows", run)
    if not 0 <= flow < flows.num_rows:
        last = flows.num_rows - 1
        raise UsageError(f"there is no flow {flow}: this result has {f'flows 0 to {last}' if last else 'only flow 0'}")
    is_mine = pc.equal(flows["flow"], flow)
    mine, others = flows.filter(is_mine), flows.filter(pc.invert(is_mine))
    row: dict[str, Any] = mine.to_pylist()[0]
    traced = senders.traced(result, run, flow)
    group = next(group for group in result.scenario.groups if group.name == row["group"])
    peers = others.filter(pc.equal(others["group"], group.name))
    signals = _signals(result, run)
    return FlowFacts(
        flow=flow,
        group=group.name,
        index=flow - pc.min(flows.filter(pc.equal(flows["group"], group.name))["flow"]).as_py(),
        kind=row["kind"],
        constant=group.rate_bps is not None,
        governed=group.responsive,
        qdisc=run.qdisc,
        seed=run.seed,
        warmup_s=result.scenario.warmup_s,
        span_s=result.scenario.duration_s - result.scenario.warmup_s,
        mine=PacketCounts.of(mine),
        peers=PacketCounts.of(peers),
        others=PacketCounts.of(others),
        beside=PacketCounts.of(_beside(result, others, group)),
        retransmits=row["retransmits"],
        queue_delay_ms=row["queue_delay_ms_mean"],
        others_queue_delay_ms=pc.mean(others["queue_delay_ms_mean"]).as_py(),
        reply_link_losses=_total(result.run("links", run), "link_losses") - _total(flows, "link_losses"),
        reasons=_reasons(row, others),
        times=None if signals is None else _times(signals, flow),
        places=None if signals is None else _places(signals, flow),
        gauges=None if signals is None else _gauges(signals, flow),
        trace=senders.tcp_trace(traced) if traced is not None and row["kind"] == "tcp" else None,
        rates=senders.tfrc_trace(traced) if traced is not None and row["kind"] == "udp" else None,
    )


def _beside(result: Result, flows: pa.Table, group: Group) -> pa.Table:
    way = next(way for way in result.scenario.ways if group in way.groups)
    names = [each.name for each in way.groups if each.name != group.name]
    return flows.filter(pc.is_in(flows["group"], value_set=pa.array(names, pa.string())))


def _total(rows: pa.Table, name: str) -> Any:
    return pc.sum(rows[name]).as_py() or 0


def _reasons(row: dict[str, Any], others: pa.Table) -> list[ReasonCounts]:
    """The reasons with drops or marks; the flow's most frequent reason is first."""
    names = (column.removeprefix("dropped_") for column in row if column.startswith("dropped_"))
    columns = ((name, (f"dropped_{name}", f"marked_{name}")) for name in names)
    counts = [
        ReasonCounts(name, *(row[each] or 0 for each in both), *(_total(others, each) for each in both))
        for name, both in columns
    ]
    return sorted((each for each in counts if each.of_all_flows), key=lambda each: -each.mine)


def _signals(result: Result, run: RunKey) -> pa.Table | None:
    """Drops and marks after the warm-up, if they are recorded."""
    if "events" not in result.scenario.records:
        return None
    events = result.run("events", run)
    signal = pc.is_in(events["event"].cast(pa.string()), pa.array(["dropped", "marked"]))
    return events.filter(pc.and_(signal, pc.greater_equal(events["time_ns"], round(result.scenario.warmup_s * 1e9))))


def _times(signals: pa.Table, flow: int) -> SignalTimes | None:
    times = signals.filter(pc.equal(signals["flow"], flow))["time_ns"].to_numpy() / 1e9
    if len(times) == 0:
        return None
    gaps = np.diff(times)
    quiet = int(np.argmax(gaps)) if len(gaps) else 0
    sizes = np.diff(np.concatenate([[0], np.flatnonzero(gaps > BURST_S) + 1, [len(times)]]))
    seconds, counts = np.unique(np.floor(times), return_counts=True)
    worst = int(np.argmax(counts))
    return SignalTimes(
        count=len(times),
        first_s=float(times[0]),
        last_s=float(times[-1]),
        quiet_from_s=float(times[quiet]),
        quiet_to_s=float(times[min(quiet + 1, len(times) - 1)]),
        bursts=int((sizes > 1).sum()),
        in_bursts=int(sizes[sizes > 1].sum()),
        worst_s=float(seconds[worst]),
        worst_count=int(counts[worst]),
    )


def _places(signals: pa.Table, flow: int) -> list[DropLocation]:
    mine = signals.filter(pc.equal(signals["flow"], flow))
    counts = Counter(zip(mine["link"].to_pylist(), mine["direction"].to_pylist(), strict=True))
    return [
        DropLocation(*place, count) for place, count in sorted(counts.items(), key=lambda each: (-each[1], *each[0]))
    ]


def _gauges(signals: pa.Table, flow: int) -> list[GaugeMeans] | None:
    """The gauges of the discipline; None unless decisions are recorded."""
    is_mine = pc.equal(signals["flow"], flow)
    mine, others = signals.filter(is_mine), signals.filter(pc.invert(is_mine))
    gauge_columns = [name for name in signals.column_names if name.startswith(("gauge:", "flow:"))]

    def gauge(column: str) -> GaugeMeans:
        of, _, name = column.partition(":")
        return GaugeMeans(name, of == "flow", pc.mean(mine[column]).as_py(), pc.mean(others[column]).as_py())

    return [gauge(column) for column in gauge_columns] or None
