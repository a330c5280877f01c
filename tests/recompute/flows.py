"""The table of flows, recomputed: counts, rates and moments of each flow, from its packets' journeys."""

from collections import Counter, defaultdict
from functools import cache
from statistics import fmean
from typing import Any

from tests.recompute.journeys import Journeys, Packet, Visit
from tests.recompute.network import SECOND, Group, Network
from tests.recompute.senders import retransmissions, timeouts
from tests.recompute.shares import Shares, starts

#: Reasons for drops that only identified flows get (docs/reference/tables.md, milestones).
IDENTIFYING = ("unresponsive", "prefilter", "heavy_hitter")
#: A flow within this multiple of its fair share is held to it (docs/reference/tables.md, milestones).
SLACK = 1.1

Row = dict[str, Any]


def useful_bytes(packet: Packet) -> int:
    """Data in a packet. A transfer's last segment has what is left of it, however long the packet is."""
    size = packet.group.size
    return packet.payload if size is None else max(0, min(packet.payload, size - packet.number))


@cache
def deliveries(journeys: Journeys) -> list[tuple[Packet, int]]:
    """Packets that reach their receivers before the run ends, by time, with their new data: each segment once."""
    end = journeys.network.end
    arrived = [packet for packet in journeys.data if packet.arrived is not None and packet.arrived < end]
    arrived.sort(key=lambda packet: packet.arrived or 0)
    seen, result = set(), []
    for packet in arrived:
        is_new = packet.group.kind == "udp" or (packet.flow, packet.number) not in seen
        seen.add((packet.flow, packet.number))
        result.append((packet, useful_bytes(packet) if is_new else 0))
    return result


def reordered(journeys: Journeys) -> Counter[int]:
    """Packets in the window that arrive after one sent later, by flow (RFC 4737, section 3.3), end to end."""
    order = {id(packet): place for place, packet in enumerate(journeys.data)}
    latest, count = defaultdict[int, int](int), Counter[int]()
    for packet, _ in deliveries(journeys):
        place = order[id(packet)]
        if place < latest[packet.flow] and (packet.arrived or 0) >= journeys.network.warmup:
            count[packet.flow] += 1
        latest[packet.flow] = max(latest[packet.flow], place)
    return count


def in_window(network: Network, at: int | None) -> bool:
    """Whether a moment lies in the measured window."""
    return at is not None and network.warmup <= at < network.end


def counts(network: Network, visits: list[Visit]) -> Row:
    """Drops and marks of these visits, in all and by reason."""
    drops = [visit.reason for visit in visits if in_window(network, visit.dropped)]
    # CoDel marks when a packet leaves (RFC 8289), and for one reason.
    marks = [visit for visit in visits if visit.was_marked and in_window(network, visit.started)]
    reasons = {f"dropped_{reason}": count for reason, count in Counter(drops).items()}
    marked = {"marked_sojourn": len(marks)} if marks else {}
    lost = [visit for visit in visits if visit.was_lost and in_window(network, visit.started)]
    return {"dropped": len(drops), "marked": len(marks), "link_losses": len(lost), **reasons, **marked}


@cache
def rows(journeys: Journeys) -> dict[int, Row]:
    """The recomputed row of each flow."""
    network, shares, begin = journeys.network, Shares(journeys), starts(journeys)
    by_flow = defaultdict[int, list[Packet]](list)
    for packet in journeys.data:
        by_flow[packet.flow].append(packet)
    delivered, first = Counter[int](), dict[int, int]()
    for packet, new in deliveries(journeys):
        at = packet.arrived or 0
        first.setdefault(packet.flow, at)
        delivered[packet.flow] += new if at >= network.warmup else 0
    late, resent, expired = reordered(journeys), retransmissions(journeys), timeouts(journeys)
    table = {}
    for group in network.groups:
        for flow in group.numbers:
            goodput = delivered[flow] * 8 * SECOND / network.span
            share = shares.mean(flow, network.warmup, network.end)
            since, until = shares.active[flow]
            begun = since < min(until, network.end)
            visits = [visit for packet in by_flow[flow] for visit in packet.visits]
            table[flow] = {
                "group": group.name,
                "kind": group.kind,
                **counts(network, visits),
                **at_ends_of_route(network, group, visits),
                "reordered": late[flow],
                "goodput_bps": goodput,
                "active_from_ns": since if begun else None,
                "active_until_ns": until if begun and until < network.end else None,
                "fair_share_bps": share,
                "share_of_fair": goodput / share if share else None,
                "retransmits": resent[flow],
                "timeouts": expired[flow],
                "startup_ms": (first[flow] - begin[flow]) / 1e6 if flow in first else None,
                **response(journeys, shares, flow, begin[flow]),
            }
    return table


def at_ends_of_route(network: Network, group: Group, visits: list[Visit]) -> Row:
    """Arrivals at the first queue, departures at the last, and the sum of the mean queueing delays."""
    arrived = [v for v in visits if v.hop is group.route[0] and in_window(network, v.arrived)]
    sent = [v for v in visits if v.hop is group.route[-1] and in_window(network, v.started)]
    size = sum(visit.packet.length for visit in sent)
    means: list[float | None] = []
    for hop in group.route:
        delays = [v.started - v.arrived for v in visits if v.hop is hop and in_window(network, v.started) and v.started]
        means.append(fmean(delays) / 1e6 if delays else None)
    known = [mean for mean in means if mean is not None]
    return {
        "arrived": len(arrived),
        "sent": len(sent),
        "sent_bytes": size,
        "throughput_bps": size * 8 * SECOND / network.span,
        "queue_delay_ms_mean": sum(known) if len(known) == len(means) else None,
    }


def response(journeys: Journeys, shares: Shares, flow: int, start: int) -> Row:
    """When an unresponsive flow was identified, held to its share and released, in its latest excess period."""
    network = journeys.network
    group = network.group_of(flow)
    fair = next((at[flow] for at in shares.at if flow in at), 0.0)
    drops = sorted(
        visit.dropped
        for packet in journeys.data
        if packet.flow == flow
        for visit in packet.visits
        if visit.dropped is not None and visit.reason in IDENTIFYING
    )
    nothing: Row = {"response_ms": None, "released_ms": None}
    if group.kind == "tcp" or group.rate is None or shares.useful(flow, group.rate) <= fair * SLACK:
        return {"identified_ms": (drops[0] - start) / 1e6 if drops else None, **nothing}
    periods = excess_periods(group, shares.useful(flow, 1) * SECOND, fair) if group.schedule else [(0, None)]
    begun = [period for period in periods if start + period[0] < network.end]
    since, until = begun[-1] if begun else periods[0]
    begins, ends = start + since, None if until is None else start + until
    drops = [at for at in drops if at >= begins]
    has_ended = ends is not None and ends <= network.end and ends < group.stop
    return {
        "identified_ms": (drops[0] - begins) / 1e6 if drops else None,
        "response_ms": held(journeys, flow, fair, begins, min(ends or group.stop, group.stop)),
        "released_ms": max(drops[-1] - ends, 0) / 1e6 if has_ended and ends is not None and drops else None,
    }


def excess_periods(group: Group, useful: float, fair: float) -> list[tuple[int, int | None]]:
    """Times after the start in which the schedule's rate is above the fair share and its slack."""
    periods: list[tuple[int, int | None]] = []
    for at, rate in group.schedule:
        is_above = rate * useful / SECOND > fair * SLACK
        is_open = bool(periods) and periods[-1][1] is None
        if is_open and not is_above:
            periods[-1] = (periods[-1][0], at)
        elif is_above and not is_open:
            periods.append((at, None))
    return periods


def held(journeys: Journeys, flow: int, fair: float, begins: int, ends: int) -> float | None:
    """Time to the end of the first whole second with at most the share and its slack."""
    second, got = begins + SECOND, Counter[int]()
    for packet, new in deliveries(journeys):
        if packet.flow == flow and (packet.arrived or 0) >= begins:
            got[((packet.arrived or 0) - begins) // SECOND] += new
    while second <= min(ends, journeys.network.end):
        if got[(second - begins) // SECOND - 1] * 8 <= fair * SLACK:
            return (second - begins) / 1e6
        second += SECOND
    return None
