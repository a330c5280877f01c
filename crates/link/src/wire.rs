//! A flow's own link between its host and the router: a rate, a delay, and a queue without limit.
//!
//! Nothing else shares it, so when a packet comes out is known when it goes in, and no event is needed for its way.

use headgate_core::{Rate, Span, Time};
use headgate_scenario::Access;

/// What all wires of a group have in common, for packets of which most have one size.
#[derive(Clone, Copy, Debug)]
pub struct WireKind {
    rate: Rate,
    /// The usual size in bytes, and how long it takes to send.
    bytes: u32,
    transmit: Span,
    delay: Span,
}

impl WireKind {
    /// A wire of `access` for packets of `bytes`.
    pub fn new(access: &Access, bytes: u32) -> WireKind {
        WireKind { rate: access.rate, bytes, transmit: access.rate.transmit(bytes), delay: access.delay }
    }

    /// When a packet of `bytes` given at `now` comes out if it need not wait for another.
    #[inline]
    pub fn alone(&self, now: Time, bytes: u32) -> Time {
        now + self.transmit(bytes) + self.delay
    }

    #[inline]
    fn transmit(&self, bytes: u32) -> Span {
        if bytes == self.bytes { self.transmit } else { self.rate.transmit(bytes) }
    }
}

/// One direction of one flow's wire.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wire {
    free_at: Time,
}

impl Wire {
    /// When a packet of the usual size given at `now` comes out at the other end.
    #[inline]
    pub fn pass(&mut self, now: Time, kind: &WireKind) -> Time {
        self.free_at = self.free_at.max(now) + kind.transmit;
        self.free_at + kind.delay
    }

    /// The same for a packet of any size.
    #[inline]
    pub fn pass_sized(&mut self, now: Time, bytes: u32, kind: &WireKind) -> Time {
        self.free_at = self.free_at.max(now) + kind.transmit(bytes);
        self.free_at + kind.delay
    }
}
