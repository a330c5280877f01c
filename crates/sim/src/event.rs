//! What can happen in a run, and to which packet or flow.

use headgate_core::{FlowId, Packet};

use crate::segment::{Segment, SimPacket};

/// What can happen, and to which packet or flow.
///
/// A plain triple rather than an enum with packets inside: events are copied in and out of the queue, and this one is
/// copied whole, whatever it is.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// What happens.
    pub what: What,
    /// The number of the link that the packet reaches, if it reaches one.
    pub link: u16,
    /// The packet; for a timer or a start, any packet of the flow.
    pub packet: SimPacket,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A packet comes from its sender's access link to the first link of its route.
    FromSender,
    /// An acknowledgement or a report comes from its receiver's access link to the first link on its way back.
    FromReceiver,
    /// A packet comes from another link.
    FromLink,
    /// A packet comes out of a link, where that could not be told before.
    OutOfLink,
    /// An acknowledgement or a report reaches its sender.
    ToSender,
    /// A sender's timer.
    SenderTimer,
    /// A receiver's timer.
    ReceiverTimer,
    /// A flow starts.
    Start,
    /// Pacing lets a flow's next segment go.
    Departure,
    /// A flow's application writes.
    Write,
    /// A write that sends for a time is over.
    Close,
    /// A datagram that had to wait on its last wire is with its receiver.
    Delivered,
    /// An interval of the tables over time ends.
    Sample,
    /// The warm-up ends.
    Warm,
}

impl Event {
    /// It happens to `packet`; at `link`, where that counts.
    #[inline]
    pub fn packet(what: What, link: u16, packet: SimPacket) -> Event {
        Event { what, link, packet }
    }

    /// It happens to a flow.
    pub const fn flow(what: What, flow: u32) -> Event {
        Event { what, link: 0, packet: Packet::new(FlowId(flow as u64), 0, Segment::DATAGRAM) }
    }
}
