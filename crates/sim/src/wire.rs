//! A flow's own link between its host and the router: a rate, a delay, and a queue without limit.
//!
//! Nothing else shares it, so when a packet comes out is known when it goes in, and no event is needed for its way.

use headgate_core::{Rate, Span, Time};
use headgate_scenario::{Access, Hop, Scenario};

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

/// The least time a packet of `bytes` takes from sender to receiver over `route`.
pub fn base_one_way(scenario: &Scenario, route: &[Hop], [sender, receiver]: [&Access; 2], bytes: u32) -> Span {
    let access = sender.rate.transmit(bytes) + sender.delay + receiver.rate.transmit(bytes) + receiver.delay;
    route.iter().fold(access, |sum, hop| {
        sum + scenario.simplex(*hop).rate.transmit(bytes) + scenario.links[usize::from(hop.link)].delay
    })
}

/// The mean of the least round-trip times of all TCP flows; zero if there are none.
pub fn mean_base_rtt(scenario: &Scenario) -> Span {
    let rtts = scenario.tcp.iter().map(|group| {
        let ends = [&group.sender, &group.receiver];
        let rtt = base_rtt(scenario, &group.route, ends, [group.packet, group.ack]);
        (u128::from(group.flows), u128::from(group.flows) * u128::from(rtt.as_nanos()))
    });
    let (flows, nanos) = rtts.fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
    Span::from_nanos((nanos / flows.max(1)) as u64)
}
