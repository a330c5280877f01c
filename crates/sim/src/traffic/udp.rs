//! UDP flows: datagrams leave as the source writes them, without congestion control.

use headgate_core::{Ecn, Rng, Time};
use headgate_link::{Wire, WireProperties};
use headgate_scenario::UdpGroup;
use headgate_traffic::{FlowSource, WriteAmount, WriteStart};

use super::{capable, first, packet, stops};
use crate::segment::{Segment, SimPacket};

/// Settings shared by the UDP flows of a group.
pub struct UdpKind {
    /// Payload of a full datagram, in bytes.
    pub payload: u32,
    /// Headers of any datagram on the wire, in bytes.
    pub header: u32,
    /// The number of the route's first link.
    pub link: u16,
    ecn: Ecn,
    stop: Time,
    up: WireProperties,
    down: WireProperties,
}

pub struct UdpFlow {
    up: Wire,
    down: Wire,
    source: FlowSource,
    rng: Rng,
    /// When the last write began; before the first, the flow's start.
    began: Time,
    /// Unsent bytes of the last write.
    left: u64,
    /// Datagrams emitted; the last one's send time may lie ahead.
    pub sent: u64,
    /// Datagrams delivered, dropped or lost.
    gone: u64,
    /// The source has finished.
    over: bool,
    /// Useful bytes delivered since the last reset.
    pub delivered: u64,
    /// Index into the groups of its kind.
    pub group: u16,
}

impl UdpKind {
    pub fn new(group: &UdpGroup) -> UdpKind {
        UdpKind {
            payload: group.packet - group.header,
            header: group.header,
            link: first(&group.route),
            ecn: capable(group.ecn),
            stop: stops(group.stop),
            up: WireProperties::new(&group.sender, group.packet),
            down: WireProperties::new(&group.receiver, group.packet),
        }
    }
}

impl UdpFlow {
    pub fn new(group: u16, start: Time, source: FlowSource, rng: Rng) -> UdpFlow {
        let (up, down) = (Wire::default(), Wire::default());
        UdpFlow { up, down, source, rng, began: start, left: 0, sent: 0, gone: 0, over: false, delivered: 0, group }
    }

    /// Emits the next datagram, with its arrival time at the first link. The network cannot change that time, so a
    /// datagram needs no other event.
    #[inline]
    pub fn emit(&mut self, id: u32, kind: &UdpKind) -> Option<(Time, SimPacket)> {
        if self.left == 0 && self.write().is_none() {
            self.over = true;
            return None;
        }
        if self.began >= kind.stop {
            return None;
        }
        self.sent += 1;
        let data = self.left.min(kind.payload.into()) as u32;
        self.left -= u64::from(data);
        let bytes = data + kind.header;
        let segment = Segment::DATAGRAM.sent_at(self.began);
        let arrives = self.up.pass_sized(self.began, bytes, &kind.up);
        Some((arrives, packet(id, bytes, kind.ecn, segment)))
    }

    /// Counts a datagram that was delivered, dropped or lost; returns whether it was the flow's last.
    #[inline]
    pub fn is_gone(&mut self) -> bool {
        self.gone += 1;
        self.over && self.gone == self.sent
    }

    /// Whether the last emitted datagram is sent only at `now` or later.
    pub fn is_ahead(&self, now: Time) -> bool {
        self.began >= now
    }

    /// Begins the source's next write; `None` if it has finished.
    #[inline]
    fn write(&mut self) -> Option<()> {
        let write = self.source.next(&mut self.rng)?;
        // UDP has no replies. A closed-loop source, which scenarios exclude, would be done at once.
        let (WriteStart::AfterStart(gap) | WriteStart::AfterDelivery(gap)) = write.after;
        let WriteAmount::Bytes(bytes) = write.data else { return None };
        self.began += gap;
        self.left = bytes;
        Some(())
    }

    /// A datagram leaves the last router at `now`: its arrival time, and whether it queues behind others on the wire.
    /// If not, it counts as delivered at once, as in TCP.
    #[inline]
    pub fn receive(&mut self, bytes: u32, kind: &UdpKind, now: Time) -> (Time, bool) {
        let arrives = self.down.pass_sized(now, bytes, &kind.down);
        (arrives, arrives > kind.down.alone(now, bytes))
    }
}
