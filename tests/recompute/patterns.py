"""Histograms and lists recomputed: delays, loss patterns (RFC 3357), transfers, Jain's index, events."""

from collections import Counter, defaultdict
from functools import cache
from statistics import fmean
from typing import Any

from tests.recompute.flows import deliveries, in_window, useful_bytes
from tests.recompute.journeys import Journeys, Visit
from tests.recompute.links import left_at, quantile
from tests.recompute.network import SECOND
from tests.recompute.shares import Shares, starts

#: Time scales of Jain's index, in nanoseconds.
SCALES = (SECOND // 10, SECOND, 10 * SECOND)

Place = tuple[str | None, ...]


@cache
def delays(journeys: Journeys) -> dict[Place, list[float]]:
    """Ascending delays in ms by measure, link, direction and group. Replies belong to no group."""
    network = journeys.network
    lists = defaultdict[Place, list[float]](list)
    for hop in network.compared():
        for visit in journeys.visits[hop.key]:
            if visit.started is not None and in_window(network, visit.started):
                group = visit.packet.group.name if visit.packet.is_data else None
                lists["queue_delay", *hop.key, group].append((visit.started - visit.arrived) / 1e6)
    for packet, _ in deliveries(journeys):
        if packet.arrived is not None and in_window(network, packet.arrived):
            place = "one_way_delay", None, None, packet.group.name
            lists[place].append((packet.arrived - packet.handed) / 1e6)
    return {place: sorted(values) for place, values in lists.items()}


@cache
def losses(journeys: Journeys) -> dict[Place, list[float]]:
    """Ascending runs, distances and intervals of losses by measure, link, direction and group."""
    network = journeys.network
    lists = defaultdict[Place, list[float]](list)
    for hop in network.compared():
        by_flow = defaultdict[int, list[Visit]](list)
        for visit in journeys.visits[hop.key]:
            if visit.packet.is_data:
                by_flow[visit.packet.flow].append(visit)
        for visits in by_flow.values():
            place = (*hop.key, visits[0].packet.group.name)
            lost = [
                (number, visit.dropped if visit.dropped is not None else visit.started)
                for number, visit in enumerate(visits)
                if in_window(network, visit.dropped) or (visit.was_lost and in_window(network, visit.started))
            ]
            run = 0
            for (number, at), (before, earlier) in zip(lost, [lost[0], *lost] if lost else [], strict=False):
                if run and number - before > 1:
                    lists["run_packets", *place].append(run)
                    run = 0
                run += 1
                if number > before:
                    lists["distance_packets", *place].append(number - before)
                    lists["interval_ms", *place].append(((at or 0) - (earlier or 0)) / 1e6)
            if run:
                lists["run_packets", *place].append(run)
    return {place: sorted(values) for place, values in lists.items()}


@cache
def transfers(journeys: Journeys) -> dict[int, dict[str, Any]]:
    """The row of each transfer: a flow has one."""
    network, begin = journeys.network, starts(journeys)
    complete, got = dict[int, int](), Counter[int]()
    for packet, new in deliveries(journeys):
        got[packet.flow] += new
        if got[packet.flow] == packet.group.size:
            complete.setdefault(packet.flow, packet.arrived or 0)
    table = {}
    for group in network.groups:
        for flow in group.numbers if group.size is not None else ():
            end = complete.get(flow)
            table[flow] = {
                "group": group.name,
                "kind": group.kind,
                "start_ns": begin[flow],
                "bytes": group.size,
                "end_ns": end,
                "completion_ms": None if end is None else (end - begin[flow]) / 1e6,
            }
    return table


@cache
def fairness(journeys: Journeys) -> dict[float, dict[str, Any]]:
    """Jain's index on each scale, over whole slots from the end of the warm-up.

    Data counts once, in the slot in which it leaves its last queue, or reaches the end of a link whose rate changes. A
    flow's fair share is its mean share in the slot. If hosts are the units, those of a host's flows are added.
    """
    network, shares = journeys.network, Shares(journeys)
    left = [(counted_at(visit), packet) for packet in journeys.data for visit in packet.visits[-1:] if at_end(visit)]
    left.sort(key=lambda pair: pair[0] or 0)
    brief = {group.name for group in network.groups if shares.is_brief(group)}
    table = {}
    for length in SCALES:
        slots, seen = defaultdict[int, Counter[int]](Counter), set()
        for at, packet in left:
            is_new = packet.group.kind == "udp" or (packet.flow, packet.number) not in seen
            seen.add((packet.flow, packet.number))
            if is_new and in_window(network, at) and at is not None:
                slots[(at - network.warmup) // length][packet.flow] += useful_bytes(packet)
        indices = []
        for slot in range(network.span // length):
            start = network.warmup + slot * length
            due, got = defaultdict[tuple[str, ...], float](float), Counter[tuple[str, ...]]()
            for flow in shares.active:
                if network.group_of(flow).name not in brief:
                    due[network.unit_of(flow)] += shares.mean(flow, start, start + length) or 0.0
                    got[network.unit_of(flow)] += slots[slot][flow]
            ratios = [got[unit] * 8 * SECOND / length / share for unit, share in due.items() if share]
            if len(ratios) > 1 and any(ratios):
                indices.append(sum(ratios) ** 2 / (len(ratios) * sum(x * x for x in ratios)))
        indices.sort()
        table[length / SECOND] = {
            "slots": len(indices),
            "jain_mean": fmean(indices) if indices else None,
            "jain_min": min(indices, default=None),
            "jain_p05": quantile(indices, 0.05),
            "jain_p50": quantile(indices, 0.5),
        }
    return table


def counted_at(visit: Visit) -> int | None:
    """When the data of a packet that leaves its last queue counts in Jain's index."""
    return visit.sent + visit.hop.delay if visit.hop.varies else visit.started


def at_end(visit: Visit) -> bool:
    """Whether a packet leaves the last queue of its route in this visit."""
    return visit.started is not None and visit.hop is visit.packet.group.route[-1]


@cache
def fates(journeys: Journeys) -> Counter[tuple[Any, ...]]:
    """Every packet at a compared queue before the end: its arrival, flow and bytes, and how and when it left."""
    found: Counter[tuple[Any, ...]] = Counter()
    for hop in journeys.network.compared():
        for visit in journeys.visits[hop.key]:
            way, at = ("sent", visit.started) if visit.dropped is None else ("dropped", visit.dropped)
            left = (way, at) if at is not None and at < journeys.network.end else None
            found[*hop.key, visit.arrived, visit.packet.flow, visit.packet.length, left] += 1
    return found


def events(journeys: Journeys) -> tuple[Counter[tuple[Any, ...]], dict[tuple[Any, ...], tuple[int, int]]]:
    """Events at compared queues, and the queue's packets and bytes after the last event of each moment."""
    network = journeys.network
    found: Counter[tuple[Any, ...]] = Counter()
    queues: dict[tuple[Any, ...], tuple[int, int]] = {}
    for hop in network.compared():
        changes = defaultdict[int, list[int]](lambda: [0, 0])
        for visit in journeys.visits[hop.key]:
            about = visit.packet.flow, visit.packet.length
            found[*hop.key, visit.arrived, "arrived", None, *about] += 1
            if visit.started is not None:
                found[*hop.key, visit.started, "sent", None, *about] += 1
                if visit.was_marked:
                    found[*hop.key, visit.started, "marked", "sojourn", *about] += 1
                if visit.was_lost:
                    found[*hop.key, visit.started, "lost", "link_loss", *about] += 1
            if visit.dropped is not None:
                found[*hop.key, visit.dropped, "dropped", visit.reason, *about] += 1
            for at, sign in ((visit.arrived, 1), (left_at(visit), -1)):
                changes[at][0] += sign
                changes[at][1] += sign * visit.packet.length
        packets = size = 0
        for at in sorted(changes):
            packets, size = packets + changes[at][0], size + changes[at][1]
            if at < network.end:
                queues[*hop.key, at] = packets, size
    return found, queues
