//! A flow's own link between its host and the router: a rate, a delay, and a queue without limit.
//!
//! Nothing else shares it, so when a packet comes out is known when it goes in, and no event is needed for its way.

use headgate_core::{Span, Time};
use headgate_scenario::{Access, Hop, Scenario};

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

/// The least round-trip time of a flow of `scenario` that goes over `route`: what it takes without queues.
pub fn base_rtt(scenario: &Scenario, route: &[Hop], [sender, receiver]: [&Access; 2], [data, ack]: [u32; 2]) -> Span {
    let sending = |bytes| sender.rate.transmit(bytes) + receiver.rate.transmit(bytes);
    let access = sending(data) + sending(ack) + (sender.delay + receiver.delay) * 2;
    route.iter().fold(access, |sum, hop| {
        let link = &scenario.links[usize::from(hop.link)];
        let rate = |hop| scenario.simplex(hop).rate;
        sum + rate(*hop).transmit(data) + rate(hop.back()).transmit(ack) + link.delay * 2
    })
}
