"""Retransmissions, timeouts and data in flight of TCP senders, from the packets on both directions' captures.

A sender with `cc = "reno"` and without pacing sends only when it starts, when an acknowledgement arrives, and when
its retransmission timer expires. A retransmission at any other moment than an acknowledgement's arrival is therefore
a timeout's. At such a moment it is one if it repeats the first outstanding segment after the least timeout.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cache

from tests.recompute.journeys import MEETING, Journeys, Packet
from tests.recompute.network import SECOND

#: The least retransmission timeout (RFC 6298, 2.4).
MIN_RTO = SECOND


@dataclass
class Sender:
    """What one TCP sender sent and heard, each in order of time."""

    sent: list[Packet] = field(default_factory=list)
    #: Arrivals of acknowledgements and the next byte that each expects.
    heard: list[tuple[int, int]] = field(default_factory=list)
    #: Segments that the sender had sent before.
    retransmitted: list[Packet] = field(default_factory=list)
    #: Bytes beyond the first gap that the acknowledgement of each moment reports.
    sacked: dict[int, int] = field(default_factory=dict)
    #: Arrivals that acknowledge new data, and the bytes acknowledged then.
    advances: list[tuple[int, int]] = field(default_factory=list)
    timeouts: list[int] = field(default_factory=list)

    def complete(self) -> None:
        """Derives the other lists from the packets."""
        highest = -1
        for packet in self.sent:
            if packet.number <= highest:
                self.retransmitted.append(packet)
            highest = max(highest, packet.number)
        self.heard.sort()
        for at, number in self.heard:
            if number > (self.advances[-1][1] if self.advances else 0):
                self.advances.append((at, number))
        self.timeouts = self.timeout_moments()

    def timeout_moments(self) -> list[int]:
        """When the retransmission timer expired."""
        times, moments = [at for at, _ in self.heard], list[int]()
        for packet in self.retransmitted:
            place = bisect_left(times, packet.handed - MEETING)
            hears = place < len(times) and times[place] <= packet.handed + MEETING
            before = [advance for advance in self.advances if advance[0] < packet.handed - MEETING]
            since, first = before[-1] if before else (0, 0)
            if not hears or (packet.number == first and packet.handed - since >= MIN_RTO):
                moments.append(packet.handed)
        return moments

    def acknowledged(self, now: int) -> int:
        """Bytes acknowledged by `now`."""
        place = bisect_right(self.advances, now, key=lambda advance: advance[0])
        return self.advances[place - 1][1] if place else 0

    def next_new(self, now: int) -> int:
        """The number of the first byte not sent by `now`."""
        return max((p.number + p.payload for p in self.sent if p.handed <= now), default=0)


@cache
def senders(journeys: Journeys) -> dict[int, Sender]:
    """Every TCP sender by its flow."""
    found = defaultdict[int, Sender](Sender)
    for packet in journeys.data:
        if packet.group.kind == "tcp":
            found[packet.flow].sent.append(packet)
    for reply in journeys.replies:
        if reply.arrived is not None and reply.arrived < journeys.network.end:
            found[reply.flow].heard.append((reply.arrived, reply.number))
            found[reply.flow].sacked[reply.arrived] = reply.sacked
    for sender in found.values():
        sender.complete()
    return found


def retransmissions(journeys: Journeys) -> Counter[int]:
    """Retransmissions in the window, by flow."""
    warmup = journeys.network.warmup
    found = senders(journeys).items()
    return Counter({flow: sum(packet.handed >= warmup for packet in each.retransmitted) for flow, each in found})


def timeouts(journeys: Journeys) -> Counter[int]:
    """Retransmission timeouts in the window, by flow."""
    warmup = journeys.network.warmup
    return Counter({flow: sum(at >= warmup for at in each.timeouts) for flow, each in senders(journeys).items()})
