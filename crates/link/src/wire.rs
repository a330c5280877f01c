//! An access link in one direction: rate, delay and an unlimited queue.
//!
//! No other flow shares it, so a packet's exit time is known on entry and its transit needs no event.

use headgate_core::{Rate, Span, Time};
use headgate_scenario::Access;

/// Properties shared by a group's wires. Most packets have one size.
#[derive(Clone, Copy, Debug)]
pub struct WireProperties {
    rate: Rate,
    /// The usual packet size in bytes, and its transmission time.
    bytes: u32,
    transmit: Span,
    delay: Span,
}

impl WireProperties {
    /// A wire of `access` for packets of `bytes`.
    pub fn new(access: &Access, bytes: u32) -> WireProperties {
        WireProperties { rate: access.rate, bytes, transmit: access.rate.transmit(bytes), delay: access.delay }
    }

    /// Exit time of a packet that enters the idle wire at `now`.
    #[inline]
    pub fn exit_if_idle(&self, now: Time, bytes: u32) -> Time {
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
    /// Whether an earlier packet has not left the sender's end at `now`.
    #[inline]
    pub fn is_busy(&self, now: Time) -> bool {
        self.free_at > now
    }

    /// Exit time of a packet of the usual size that enters at `now`.
    #[inline]
    pub fn pass(&mut self, now: Time, properties: &WireProperties) -> Time {
        self.free_at = self.free_at.max(now) + properties.transmit;
        self.free_at + properties.delay
    }

    /// Exit time of a packet of any size.
    #[inline]
    pub fn pass_sized(&mut self, now: Time, bytes: u32, properties: &WireProperties) -> Time {
        self.free_at = self.free_at.max(now) + properties.transmit(bytes);
        self.free_at + properties.delay
    }
}
