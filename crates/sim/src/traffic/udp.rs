//! Flows that send at a constant rate, whatever happens to their packets.

use headgate_core::{Ecn, Rng, Span, Time};
use headgate_scenario::UdpGroup;

use super::{capable, first, packet, stops};
use crate::segment::{Segment, SimPacket};
use crate::wire::{Wire, WireKind};

/// What the UDP flows of a group have in common.
pub struct UdpKind {
    /// A packet on the wire, in bytes.
    pub packet: u32,
    /// The part of it that is not headers.
    pub payload: u32,
    /// The number of the first link on their way.
    pub link: u16,
    ecn: Ecn,
    /// Between two datagrams: the least time, and what may come to it by chance.
    least_gap: Span,
    random_gap: Span,
    stop: Time,
    up: WireKind,
    down: WireKind,
}

/// One flow.
pub struct UdpFlow {
    up: Wire,
    down: Wire,
    next: Time,
    rng: Rng,
    /// Useful bytes delivered since they were last reset.
    pub delivered: u64,
    /// The flow's group: an index into the groups of its kind.
    pub group: u16,
}

impl UdpKind {
    /// What the scenario says of `group`.
    pub fn new(group: &UdpGroup) -> UdpKind {
        let gap = group.rate.unwrap_or(group.sender.rate).transmit(group.packet);
        let jitter = Span::from_secs_f64(gap.as_secs_f64() * group.jitter);
        UdpKind {
            packet: group.packet,
            payload: group.packet - group.header,
            link: first(&group.route),
            ecn: capable(group.ecn),
            least_gap: gap - jitter,
            random_gap: jitter * 2,
            stop: stops(group.stop),
            up: WireKind::new(&group.sender, group.packet),
            down: WireKind::new(&group.receiver, group.packet),
        }
    }
}

impl UdpFlow {
    /// A flow that starts at `start`.
    pub fn new(group: u16, start: Time, rng: Rng) -> UdpFlow {
        UdpFlow { up: Wire::default(), down: Wire::default(), next: start, rng, delivered: 0, group }
    }

    /// The flow's next datagram, and when it reaches its first link. Nothing that happens in the network changes when
    /// that is, so this arrival is the only event a datagram needs.
    #[inline]
    pub fn emit(&mut self, id: u32, kind: &UdpKind) -> Option<(Time, SimPacket)> {
        if self.next >= kind.stop {
            return None;
        }
        let segment = Segment::DATAGRAM.sent_at(self.next);
        let arrives = self.up.pass(self.next, &kind.up);
        self.next += kind.least_gap + self.rng.span_below(kind.random_gap);
        Some((arrives, packet(id, kind.packet, kind.ecn, segment)))
    }

    /// A datagram leaves the last router for the receiver at `now`: when it arrives, and whether it must wait for others
    /// on the wire before it. If not, it counts as delivered at once, as TCP's segments do.
    #[inline]
    pub fn receive(&mut self, kind: &UdpKind, now: Time) -> (Time, bool) {
        let arrives = self.down.pass(now, &kind.down);
        (arrives, arrives > kind.down.alone(now))
    }
}
