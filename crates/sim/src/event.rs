//! The events of a run: a packet that reaches a place, a timer, or a step of the measurement.

use aqm::{ClassId, Ecn, FlowId, Packet, Time};

use crate::segment::{Segment, SimPacket};

/// An event in 20 bytes, so that two nodes of the queue fill a cache line. It holds what a packet keeps between two
/// links: not its class, nor when it arrived at the last one.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimEvent {
    /// The halves of [`Segment::to_bits`]: a number of 64 bits would be aligned to 8 bytes.
    contents: [u32; 2],
    pub flow: u32,
    bytes: u32,
    /// Number of the link that the packet reaches, if any.
    pub link: u16,
    pub kind: EventKind,
    ecn: Ecn,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventKind {
    /// A packet reaches the first link of its route.
    #[default]
    FromSender,
    /// An acknowledgement or report reaches the first link of the reverse route.
    FromReceiver,
    /// A packet arrives from another link.
    FromLink,
    /// A packet reaches the far end of a link that reorders packets or changes its rate.
    ReachesFarEnd,
    /// An acknowledgement or report reaches its sender.
    ToSender,
    SenderTimer,
    ReceiverTimer,
    FlowStart,
    /// Pacing releases a flow's next segment.
    PacedSend,
    /// A flow's application writes.
    AppWrite,
    /// A write of limited duration ends.
    AppClose,
    /// An interval of the time series ends.
    IntervalEnd,
    /// The warm-up ends.
    WarmupEnd,
}

impl SimEvent {
    /// An event of `packet`, at `link` where that matters.
    #[inline]
    pub fn of_packet(kind: EventKind, link: u16, packet: SimPacket) -> SimEvent {
        let Packet { flow, bytes, ecn, handle, .. } = packet;
        let contents = handle.to_bits();
        SimEvent { contents: [contents as u32, (contents >> 32) as u32], flow: flow.0 as u32, bytes, link, kind, ecn }
    }

    /// A timer, a start, or another event of `flow` without a packet.
    pub const fn of_flow(kind: EventKind, flow: u32) -> SimEvent {
        SimEvent { contents: [0; 2], flow, bytes: 0, link: 0, kind, ecn: Ecn::NotEct }
    }

    /// The packet, if it is an event of one.
    #[inline]
    pub fn packet(&self) -> SimPacket {
        Packet {
            arrived: Time::ZERO,
            flow: FlowId(self.flow.into()),
            bytes: self.bytes,
            class: ClassId(0),
            ecn: self.ecn,
            handle: self.contents(),
        }
    }

    /// The contents of its packet.
    #[inline]
    pub fn contents(&self) -> Segment {
        let [low, high] = self.contents;
        Segment::from_bits(u64::from(high) << 32 | u64::from(low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::send_clock::SendClock;
    use aqm::Span;

    #[test]
    fn an_event_keeps_its_packet_and_fills_20_bytes() {
        let clock = SendClock::of_run(Span::from_secs(1));
        let handle = Segment::data(u32::MAX, true).with_send_time(Time::from_nanos(1 << 38), clock);
        let packet = Packet { ecn: Ecn::Ce, ..Packet::new(FlowId(7), u32::MAX, handle) };
        let event = SimEvent::of_packet(EventKind::FromLink, 3, packet);
        assert_eq!((event.packet(), event.link, event.kind), (packet, 3, EventKind::FromLink));
        assert_eq!(size_of::<SimEvent>(), 20);
    }
}
