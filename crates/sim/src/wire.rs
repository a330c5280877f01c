//! A flow's own link between its host and the router: a rate, a delay, and a queue without limit.
//!
//! Nothing else shares it, so when a packet comes out is known when it goes in, and no event is needed for its way.

use headgate_core::{Rate, Span, Time};
use headgate_scenario::Access;

/// What all wires of a group have in common, for packets of one size.
#[derive(Clone, Copy, Debug)]
pub struct WireKind {
    transmit: Span,
    delay: Span,
}

impl WireKind {
    /// A wire of `access` for packets of `bytes`.
    pub fn new(access: &Access, bytes: u32) -> WireKind {
        WireKind { transmit: access.rate.transmit(bytes), delay: access.delay }
    }

    /// When a packet given at `now` comes out if it need not wait for another.
    pub fn alone(&self, now: Time) -> Time {
        now + self.transmit + self.delay
    }
}

/// One direction of one flow's wire.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wire {
    free_at: Time,
}

impl Wire {
    /// When a packet given at `now` comes out at the other end.
    #[inline]
    pub fn pass(&mut self, now: Time, kind: &WireKind) -> Time {
        self.free_at = self.free_at.max(now) + kind.transmit;
        self.free_at + kind.delay
    }
}

/// Rate and delay of a path without queues: the least round-trip time of a flow.
pub fn base_rtt(rate: Rate, delay: Span, sender: &Access, receiver: &Access, data: u32, ack: u32) -> Span {
    let sending = |bytes| sender.rate.transmit(bytes) + rate.transmit(bytes) + receiver.rate.transmit(bytes);
    sending(data) + sending(ack) + (sender.delay + delay + receiver.delay) * 2
}
