"""Joins the captures of all links: each packet's way from its sender over the queues of its route to its receiver.

A capture has a packet when its transmission begins, or when it is dropped. Its arrival at the next queue follows from
the rate and the delay of the link. Behind a medium with jitter or losses it does not: there the next link of the
scenario is a tap, so fast that a packet which arrives is transmitted, and captured, at once. The first link of a
route is such a tap too.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.evidence.pcapng import packets as captured_packets
from tests.recompute.headers import Header, header
from tests.recompute.network import NEVER, Direction, Group, Network, transmission

#: Taps have the greatest rate of a link: packets that meet there start at most so much later. Nanoseconds.
MEETING = 20_000


@dataclass(slots=True)
class Packet:
    """A packet between its hosts."""

    flow: int
    group: Group
    is_data: bool
    number: int
    length: int
    payload: int
    #: Bytes that an acknowledgement selects beyond `number`.
    sacked: int
    #: When the transport handed it to its host's access link.
    handed: int = 0
    #: When it reached the other host; `None` if it did not.
    arrived: int | None = None
    visits: "list[Visit]" = field(default_factory=list)


@dataclass(slots=True)
class Visit:
    """A packet at one queue and the medium behind it."""

    hop: Direction
    packet: Packet
    arrived: int
    is_marked: bool
    #: Start of the transmission; `None` if the packet was dropped or is still queued.
    started: int | None = None
    #: When the last bit was sent.
    sent: int = NEVER
    dropped: int | None = None
    reason: str = ""
    #: Whether this queue marked it.
    was_marked: bool = False
    was_lost: bool = False


@dataclass(slots=True)
class Sighting:
    """A packet in a capture."""

    nanos: int
    header: Header
    reason: str


class Journeys:
    """All packets of a run."""

    def __init__(self, network: Network, captures: dict[str, Path]) -> None:
        self.network = network
        self.data: list[Packet] = []
        self.replies: list[Packet] = []
        self.visits: dict[tuple[str, str], list[Visit]] = {key: [] for key in network.directions}
        sightings = read_captures(captures)
        for group in network.groups:
            back = [network.directions[key] for key in group.back]
            for flow in group.numbers:
                self.data += self.joined(group, flow, True, group.route, sightings)
                if group.kind == "tcp":
                    self.replies += self.joined(group, flow, False, back, sightings)
        for visits in self.visits.values():
            visits.sort(key=lambda visit: visit.arrived)
        self.data.sort(key=lambda packet: packet.handed)

    def joined(
        self,
        group: Group,
        flow: int,
        is_data: bool,
        route: list[Direction],
        sightings: dict[tuple[str, str, int, bool], list[Sighting]],
    ) -> list[Packet]:
        """Packets of one flow in one direction, in the order of their sending."""
        seen = [sightings.pop((*hop.key, flow, is_data), []) for hop in route]
        sent = []
        for sighting in seen[0]:
            fields = sighting.header
            # An ACK with SACK blocks is longer in a capture than it was in the simulation.
            length = fields.length if is_data else group.ack
            packet = Packet(flow, group, is_data, fields.number, length, fields.payload, fields.sacked)
            packet.visits.append(Visit(route[0], packet, sighting.nanos, fields.is_marked))
            sent.append(packet)
        hand_over(sent, group)
        waiting = [packet.visits[0] for packet in sent]
        for hop, at_hop in zip(route, seen, strict=True):
            waiting = list(arrivals_behind(hop, waiting, at_hop, route, self.network.end))
        deliver(waiting, group)
        for packet in sent:
            for visit in packet.visits:
                self.visits[visit.hop.key].append(visit)
        return sent


def read_captures(captures: dict[str, Path]) -> dict[tuple[str, str, int, bool], list[Sighting]]:
    """Packets in all captures by link, direction, flow and kind, in order of time. Handshakes were not simulated."""
    sightings: dict[tuple[str, str, int, bool], list[Sighting]] = defaultdict(list)
    for link, file in captures.items():
        for packet in captured_packets(file):
            if packet.comment.startswith("not simulated"):
                continue
            direction = packet.interface.split()[1]
            seen = header(packet.data, packet.length)
            reason = packet.comment.removeprefix("dropped: ")
            sightings[link, direction, seen.flow, seen.is_data].append(Sighting(packet.nanos, seen, reason))
    return sightings


def arrivals_behind(
    hop: Direction, waiting: list[Visit], sightings: list[Sighting], route: list[Direction], end: int
) -> Iterator[Visit]:
    """Completes the visits at a hop by its capture; yields the visits of the packets at the next one."""
    queued: dict[tuple[int, int], deque[Visit]] = defaultdict(deque)
    for visit in waiting:
        queued[visit.packet.number, visit.packet.payload].append(visit)
    tail = route[route.index(hop) + 1 :]
    before = route[route.index(hop) - 1] if route.index(hop) else None
    for sighting in sightings:
        visit = take(queued[sighting.header.number, sighting.header.payload], sighting, before)
        visit.was_marked = sighting.header.is_marked and not visit.is_marked
        if sighting.reason:
            visit.dropped, visit.reason = sighting.nanos, sighting.reason
            continue
        visit.started, visit.sent = sighting.nanos, hop.transmitted(sighting.nanos, visit.packet.length)
        arrives = visit.sent + hop.delay
        following = Visit(tail[0] if tail else hop, visit.packet, arrives, sighting.header.is_marked)
        if tail and arrives < end:
            visit.packet.visits.append(following)
        if arrives < end:
            yield following
    if before is not None and not before.exact:
        for visit in (visit for left in queued.values() for visit in left):
            # It never came out of the medium before this hop.
            visit.packet.visits.pop()
            visit.packet.visits[-1].was_lost = visit.arrived + before.spread + MEETING < end


def take(queued: "deque[Visit]", sighting: Sighting, before: Direction | None) -> Visit:
    """Takes the visit of a captured packet out of its flow's queue, in which equal packets keep their order.

    A packet dropped as it arrives is the arriving one. Any other dropped packet is the first of its flow.
    """
    present = [visit for visit in queued if visit.arrived <= sighting.nanos]
    if sighting.reason:
        visit = next((visit for visit in present if visit.arrived == sighting.nanos), present[0])
    elif before is None or before.exact:
        visit = present[0]
    else:
        visit = next(visit for visit in present if visit.arrived + before.spread + MEETING >= sighting.nanos)
        visit.arrived = sighting.nanos
    queued.remove(visit)
    return visit


def hand_over(packets: list[Packet], group: Group) -> None:
    """When the transport handed each packet to the access link. Packets of a burst follow each other there."""
    rate, delay = group.access[0 if packets and packets[0].is_data else 1]
    previous: Packet | None = None
    for packet in packets:
        on_wire = transmission(packet.length, rate)
        arrived = packet.visits[0].arrived
        packet.handed = arrived - delay - on_wire
        if previous is not None and arrived - previous.visits[0].arrived == on_wire:
            packet.handed = previous.handed
        previous = packet


def deliver(leaving: Iterable[Visit], group: Group) -> None:
    """Packets that leave the last link cross the other host's access link, in the order in which they reach it."""
    free = 0
    for visit in sorted(leaving, key=lambda visit: visit.arrived):
        rate, delay = group.access[1 if visit.packet.is_data else 0]
        free = max(free, visit.arrived) + transmission(visit.packet.length, rate)
        visit.packet.arrived = free + delay
