//! The events of a run: a packet that reaches a place, a timer, or a step of the measurement.

use headgate_core::{FlowId, Packet};

use crate::segment::{Segment, SimPacket};

/// An event. A plain triple is cheaper to copy in and out of the queue than an enum with packets inside.
#[derive(Clone, Copy, Debug)]
pub struct SimEvent {
    pub kind: EventKind,
    /// Number of the link that the packet reaches, if any.
    pub link: u16,
    /// The packet; for a timer or a start, any packet of the flow.
    pub packet: SimPacket,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A packet reaches the first link of its route.
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
    /// A datagram that queued on its last wire reaches its receiver.
    DatagramArrival,
    /// An interval of the time series ends.
    IntervalEnd,
    /// The warm-up ends.
    WarmupEnd,
}

impl SimEvent {
    /// An event of `packet`, at `link` where that matters.
    #[inline]
    pub fn of_packet(kind: EventKind, link: u16, packet: SimPacket) -> SimEvent {
        SimEvent { kind, link, packet }
    }

    pub const fn of_flow(kind: EventKind, flow: u32) -> SimEvent {
        SimEvent { kind, link: 0, packet: Packet::new(FlowId(flow as u64), 0, Segment::DATAGRAM) }
    }
}
