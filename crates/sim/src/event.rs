//! The events of a run.

use headgate_core::{FlowId, Packet};

use crate::segment::{Segment, SimPacket};

/// An event. A plain triple is cheaper to copy in and out of the queue than an enum with packets inside.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub what: What,
    /// Number of the link that the packet reaches, if any.
    pub link: u16,
    /// The packet; for a timer or a start, any packet of the flow.
    pub packet: SimPacket,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A packet reaches the first link of its route.
    FromSender,
    /// An acknowledgement or report reaches the first link of the reverse route.
    FromReceiver,
    /// A packet arrives from another link.
    FromLink,
    /// A packet leaves a link whose departure time was not known in advance.
    OutOfLink,
    /// An acknowledgement or report reaches its sender.
    ToSender,
    SenderTimer,
    ReceiverTimer,
    Start,
    /// Pacing releases a flow's next segment.
    Departure,
    /// A flow's application writes.
    Write,
    /// A write of limited duration ends.
    Close,
    /// A datagram that queued on its last wire reaches its receiver.
    Delivered,
    /// An interval of the time series ends.
    Sample,
    /// The warm-up ends.
    Warm,
}

impl Event {
    /// An event of `packet`, at `link` where that matters.
    #[inline]
    pub fn packet(what: What, link: u16, packet: SimPacket) -> Event {
        Event { what, link, packet }
    }

    pub const fn flow(what: What, flow: u32) -> Event {
        Event { what, link: 0, packet: Packet::new(FlowId(flow as u64), 0, Segment::DATAGRAM) }
    }
}
