//! An access link in one direction: rate, delay and an unlimited queue.
//!
//! No other flow shares it, so a packet's exit time is known on entry and its transit needs no event.

use std::sync::Arc;

use aqm::{Rate, Span, Time};
use headgate_scenario::{Access, FlowGroup, Scenario};

/// Properties shared by a group's wires. Most packets have one size.
#[derive(Clone, Copy, Debug)]
pub struct WireProperties {
    rate: Rate,
    /// The usual packet size in bytes, and its transmission time.
    bytes: u32,
    transmit: Span,
    /// Propagation delay; zero if each flow draws its own, which [`DrawnDelays`] holds.
    delay: Span,
}

impl WireProperties {
    /// A wire of `access` for packets of `bytes`.
    pub fn new(access: &Access, bytes: u32) -> WireProperties {
        let delay = access.delay.fixed().unwrap_or(Span::ZERO);
        WireProperties { rate: access.rate, bytes, transmit: access.rate.transmit(bytes), delay }
    }

    #[inline]
    fn transmit(&self, bytes: u32) -> Span {
        if bytes == self.bytes { self.transmit } else { self.rate.transmit(bytes) }
    }
}

/// The delays that a group's flows drew, to be added to the exit times from their wires.
#[derive(Clone, Debug, Default)]
pub struct DrawnDelays {
    /// Number of the group's first flow.
    first: u32,
    /// By flow: the delays at the sender's and the receiver's end, zero where the delay is fixed. Without entries if
    /// both are.
    flows: Arc<[[Span; 2]]>,
}

impl DrawnDelays {
    /// The draws of `group` in the run of `seed`; its flows are numbered from `first`.
    fn new<S>(group: &FlowGroup<S>, seed: u64, first: u32) -> DrawnDelays {
        let fixed = [&group.sender, &group.receiver].map(|access| access.delay.fixed().unwrap_or(Span::ZERO));
        let drawn = |[sender, receiver]: [Span; 2]| [sender - fixed[0], receiver - fixed[1]];
        let flows = group.draws_delays().then(|| group.access_delays(seed).map(drawn).collect());
        DrawnDelays { first, flows: flows.unwrap_or_default() }
    }

    /// The drawn delays of `flow` at the sender's and the receiver's end.
    #[inline]
    pub fn of_flow(&self, flow: u32) -> [Span; 2] {
        self.flows.get(flow.wrapping_sub(self.first) as usize).copied().unwrap_or_default()
    }
}

/// The draws of all groups, TCP before UDP, in the run of `seed`.
pub fn drawn_delays(scenario: &Scenario, seed: u64) -> Vec<DrawnDelays> {
    let (mut next, mut all) = (0, Vec::new());
    for group in &scenario.tcp {
        all.push(DrawnDelays::new(group, seed, next));
        next += group.flows;
    }
    for group in &scenario.udp {
        all.push(DrawnDelays::new(group, seed, next));
        next += group.flows;
    }
    all
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

    /// When all packets will have left the sender's end, if more than `packets` of the usual size wait there at `now`.
    #[inline]
    pub fn queue_until(&self, packets: u64, now: Time, properties: &WireProperties) -> Option<Time> {
        (self.free_at > now + properties.transmit * packets).then_some(self.free_at)
    }

    /// When the transmission of the last packet, of the usual size, began or will begin.
    #[inline]
    pub fn last_began(&self, properties: &WireProperties) -> Time {
        Time::from_nanos(self.free_at.as_nanos().saturating_sub(properties.transmit.as_nanos()))
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
