"""The table of links and the rows over time, recomputed: counts, queue lengths, utilization, delays, losses."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from functools import cache
from statistics import fmean
from typing import Any

from tests.recompute.flows import IDENTIFYING, counts, deliveries, in_window
from tests.recompute.journeys import Journeys, Visit
from tests.recompute.network import NEVER, SECOND, Direction, Group, Network, transmission

Row = dict[str, Any]


def busy(hop: Direction, visits: list[Visit], start: int, end: int) -> int:
    """Bits sent from `start` to `end`, times 10^9. A packet's bits leave at the link's rate."""
    sent = 0
    for visit in visits:
        if visit.started is None or visit.started >= end or visit.sent <= start:
            continue
        if start <= visit.started and visit.sent <= end:
            sent += visit.packet.length * 8 * SECOND
        else:
            sent += hop.capacity(max(visit.started, start), min(visit.sent, end))
    return sent


def left_at(visit: Visit) -> int:
    """When a packet leaves the queue: its transmission starts, or it is dropped."""
    if visit.started is not None:
        return visit.started
    return visit.dropped if visit.dropped is not None else NEVER


def queue_means(visits: list[Visit], start: int, end: int) -> tuple[float, float]:
    """Packets and bytes in the queue, averaged over a time."""
    packets = size = 0
    for visit in visits:
        waited = min(left_at(visit), end) - max(visit.arrived, start)
        if waited > 0:
            packets += waited
            size += waited * visit.packet.length
    return packets / (end - start), size / (end - start)


def ambient(visits: list[Visit], start: int, end: int) -> float | None:
    """Drop rate without the drops that target identified flows; packets of such drops do not count at all."""
    arrived = sum(start <= visit.arrived < end for visit in visits)
    drops = Counter(visit.reason for visit in visits if visit.dropped is not None and start <= visit.dropped < end)
    targeted = sum(drops[reason] for reason in IDENTIFYING)
    left = arrived - targeted
    return (drops.total() - targeted) / left if left > 0 else None


def utilization(hop: Direction, visits: list[Visit], start: int, end: int) -> float | None:
    """Bits sent over the bits that the link could have carried; null if it could carry none."""
    capacity = hop.capacity(start, end)
    return busy(hop, visits, start, end) / capacity if capacity else None


def delays(network: Network, visits: list[Visit]) -> list[int]:
    """Queueing delays in ascending order, in nanoseconds."""
    return sorted(v.started - v.arrived for v in visits if v.started is not None and in_window(network, v.started))


def quantile(values: Sequence[float], share: float) -> float | None:
    """The value below which `share` of the ascending values lie: number floor(share n), counted from 0."""
    return values[min(int(share * len(values)), len(values) - 1)] if values else None


@cache
def rows(journeys: Journeys) -> dict[tuple[str, str], Row]:
    """The recomputed row of each direction."""
    network = journeys.network
    first_compared = network.compared()[0].key
    table = {}
    for key, hop in network.directions.items():
        visits = journeys.visits[key]
        window = network.warmup, network.end
        sent = [visit for visit in visits if in_window(network, visit.started)]
        waits = delays(network, visits)
        packets, size = queue_means(visits, *window)
        quantiles = {"min": 0.0, "p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
        compared = [each for direction in network.compared() for each in journeys.visits[direction.key]]
        whole = sum(visit.started is not None for visit in compared)
        table[key] = {
            "compared": hop.compared,
            "arrived": sum(in_window(network, visit.arrived) for visit in visits),
            "sent": len(sent),
            "sent_bytes": sum(visit.packet.length for visit in sent),
            **counts(network, visits),
            # The scenarios of these tests neither duplicate nor remark packets (network/media.rs does).
            "link_duplicates": 0,
            "link_remarks": 0,
            "utilization": utilization(hop, visits, *window),
            "queue_packets_mean": packets,
            "queue_bytes_mean": size,
            "queue_delay_ms_mean": fmean(waits) / 1e6 if waits else None,
            **{f"queue_delay_ms_{name}": in_ms(quantile(waits, share)) for name, share in quantiles.items()},
            "ambient_drop_rate": ambient(visits, *window),
            **synchronization(network, visits),
            "packets": whole if key == first_compared else None,
        }
    return table


def in_ms(nanos: float | None) -> float | None:
    """A time in milliseconds, if there is one."""
    return None if nanos is None else nanos / 1e6


def base_round_trip(group: Group, network: Network) -> int:
    """Least round-trip time of a flow, over access links and links, without queues."""
    sizes = (group.packet, group.ack)
    ends = sum(delay + transmission(size, rate) for rate, delay in group.access for size in sizes)
    back = [network.directions[key] for key in group.back]
    links = sum(transmission(group.packet, hop.rates[0][1]) + hop.delay for hop in group.route)
    return ends + links + sum(transmission(group.ack, hop.rates[0][1]) + hop.delay for hop in back)


def synchronization(network: Network, visits: list[Visit]) -> Row:
    """Loss events, and the shares of flows that lose together (docs/reference/tables.md, losses)."""
    data = [visit for visit in visits if visit.packet.is_data and visit.packet.group.kind == "tcp"]
    tcp = [group for group in network.groups if group.kind == "tcp"]
    flows = sum(group.flows for group in tcp)
    length = sum(group.flows * base_round_trip(group, network) for group in tcp) // max(flows, 1)
    present = len({visit.packet.flow for visit in data if in_window(network, visit.arrived)})
    drops = sorted((v.dropped, v.packet.flow) for v in data if v.dropped is not None and in_window(network, v.dropped))
    events: list[set[int]] = []
    until = -1
    for at, flow in drops:
        if at >= until:
            until = at + length
            events.append(set())
        events[-1].add(flow)
    if not events or present < 2:
        return {"loss_events": len(events), "loss_sync_global": None, "loss_sync_pairwise": None}
    sizes = [len(event) for event in events]
    pairs = sum(m * (m - 1) / (present - 1) for m in sizes)
    return {
        "loss_events": len(events),
        "loss_sync_global": fmean(m / present for m in sizes),
        "loss_sync_pairwise": pairs / sum(sizes),
    }


def over_time(journeys: Journeys) -> dict[tuple[Any, ...], float]:
    """Rows of links over time: (end of the interval in ns, metric, link, direction) to value."""
    network, table = journeys.network, {}
    for hop in network.compared():
        visits = journeys.visits[hop.key]
        for start, end in intervals(network):
            near = [visit for visit in visits if visit.arrived < end and max(left_at(visit), visit.sent) >= start]
            packets, size = queue_means(near, start, end)
            values = {
                "queue_packets": packets,
                "queue_bytes": size,
                "utilization": utilization(hop, near, start, end),
                "ambient_drop_rate": ambient(near, start, end),
            }
            for metric, value in values.items():
                if value is not None:
                    table[end, metric, *hop.key] = value
    return table


def intervals(network: Network) -> list[tuple[int, int]]:
    """Start and end of each interval of a run; the last one ends with it."""
    starts = range(0, network.end, network.interval)
    return [(at, min(at + network.interval, network.end)) for at in starts]


@cache
def intervals_of_all(journeys: Journeys) -> dict[tuple[Any, ...], float]:
    """All rows over time: (end in ns, metric, link, direction, group) to value."""
    of_links = {(*key, None): value for key, value in over_time(journeys).items()}
    return of_links | {
        (end, metric, None, None, group): value for (end, metric, group), value in of_groups(journeys).items()
    }


def of_groups(journeys: Journeys) -> dict[tuple[int, str, str], float]:
    """Rows of groups over time: (end in ns, metric, group) to value."""
    bounds = intervals(journeys.network)
    starts = [start for start, _ in bounds]
    sums: Counter[tuple[int, str, str]] = Counter()

    def add(at: int | None, metric: str, group: Group, amount: int = 1) -> None:
        sums[bisect_right(starts, at or 0) - 1, metric, group.name] += amount

    for packet, new in deliveries(journeys):
        add(packet.arrived, "goodput_bps", packet.group, new)
    for visit in (visit for packet in journeys.data for visit in packet.visits):
        if visit.dropped is not None:
            add(visit.dropped, "drops", visit.packet.group)
        if visit.was_marked:
            add(visit.started, "marks", visit.packet.group)
    table = {}
    for place, (start, end) in enumerate(bounds):
        for group in journeys.network.groups:
            for metric in ("goodput_bps", "drops", "marks"):
                scale = 8 * SECOND / (end - start) if metric == "goodput_bps" else 1
                table[end, metric, group.name] = sums[place, metric, group.name] * scale
    return table
