//! What limits each TCP flow. Flows that only the links of their route can limit have no clock, and cost nothing.

use aqm::{Span, Time};
use headgate_scenario::{Access, Hop, Scenario, TcpGroup};

use crate::traffic::{LimitClock, TcpFlow};

/// A flow beside others is taken to get at most this many times an equal share of its slowest link.
const MOST_SHARES: f64 = 5.0;

/// The clocks of all TCP flows by number, if anything but the links of its route may limit one of them.
#[derive(Default)]
pub struct LimitClocks {
    /// `None` for a flow that only the links can limit; empty if that is every flow.
    pub(super) clocks: Vec<Option<LimitClock>>,
    /// By group: when its flows stop.
    pub(super) stops: Vec<Time>,
    /// Whether the receiver's access link of any flow may have a queue.
    pub(super) at_receivers: bool,
}

impl LimitClocks {
    pub fn new(scenario: &Scenario, flows: &[TcpFlow]) -> LimitClocks {
        let route = |group| RouteBounds::new(scenario, flows, group);
        let limited: Vec<bool> = scenario.tcp.iter().map(|group| route(group).lets_others_limit(group)).collect();
        let clock = |flow: &TcpFlow| (limited[usize::from(flow.group)] || flow.may_lack_data()).then(LimitClock::new);
        let clocks: Vec<Option<LimitClock>> = flows.iter().map(clock).collect();
        if clocks.iter().all(Option::is_none) {
            return LimitClocks::default();
        }
        let stops = scenario.tcp.iter().map(|group| group.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop));
        let at_receivers = scenario.tcp.iter().any(|group| group.receiver.rate < group.sender.rate);
        LimitClocks { clocks, stops: stops.collect(), at_receivers }
    }

    pub(super) fn of_flow(&mut self, flow: usize) -> Option<&mut LimitClock> {
        self.clocks.get_mut(flow)?.as_mut()
    }
}

/// What the links of a group's route let one of its flows have.
struct RouteBounds {
    /// Rate in bit/s.
    rate: f64,
    /// Packets in flight.
    packets: f64,
}

impl RouteBounds {
    fn new(scenario: &Scenario, flows: &[TcpFlow], group: &TcpGroup) -> RouteBounds {
        let rate = |hop: &Hop| scenario.direction_settings(*hop).rate.as_bits() as f64;
        let slowest = group.route.iter().min_by(|a, b| rate(a).total_cmp(&rate(b))).expect("a route has a link");
        let rivals = flows.iter().filter(|flow| {
            let group = &scenario.tcp[usize::from(flow.group)];
            !flow.may_lack_data() && group.stop.is_none() && group.route.contains(slowest)
        });
        let part = (MOST_SHARES / rivals.count().max(1) as f64).min(1.0);
        RouteBounds { rate: part * rate(slowest), packets: part * most_in_flight(scenario, group) }
    }

    /// Whether the windows or the access links of the group's flows may limit them.
    fn lets_others_limit(&self, group: &TcpGroup) -> bool {
        let window = group.send_buffer.map_or(group.window, |_| group.window.min(group.buffered_segments()));
        group.sender.rate.min(group.receiver.rate).as_bits() as f64 <= self.rate || f64::from(window) <= self.packets
    }
}

/// An upper bound of the packets that the flows of a route can have in flight: full queues, and what the fastest link
/// sends within a round trip, full reverse queues included where data or slow links can fill them.
fn most_in_flight(scenario: &Scenario, group: &TcpGroup) -> f64 {
    let settings = |hop: &Hop| scenario.direction_settings(*hop);
    let fastest = group.route.iter().map(|hop| settings(hop).rate.as_bits()).max().unwrap_or(0) as f64;
    let queued: f64 = group.route.iter().map(|hop| settings(hop).limit.packets(group.packet)).sum();
    let reverse_wait = |hop: &Hop| {
        let (back, rate) = (hop.back(), settings(&hop.back()).rate.as_bits() as f64);
        let carries_data = scenario.groups().any(|group| group.route.contains(&back));
        let fills = carries_data || rate < fastest / 10.0;
        if fills { settings(&back).limit.bytes(scenario.mean_packet()) * 8.0 / rate.max(1.0) } else { 0.0 }
    };
    let links: f64 = group.route.iter().map(|hop| scenario.links[usize::from(hop.link)].delay.as_secs_f64()).sum();
    // A drawn delay may be of any length.
    let access = |access: &Access| access.delay.fixed().map_or(f64::INFINITY, Span::as_secs_f64);
    let round_trip = 2.0 * (links + access(&group.sender) + access(&group.receiver))
        + group.route.iter().map(reverse_wait).sum::<f64>();
    queued + fastest * round_trip / (8.0 * f64::from(group.packet))
}
