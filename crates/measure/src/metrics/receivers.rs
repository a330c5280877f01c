//! Measurements at the receivers: one-way delays, Jain's fairness index and the flows' milestones.

use aqm::parts::Histogram;
use aqm::{Span, Time, Why};
use headgate_scenario::Scenario;

use super::fairness::{FairnessMeter, FairnessRow, GroupFairShare};
use super::milestones::{MilestoneMeter, Milestones};
use super::reordering::{ReorderingMeter, SendingOrder};
use super::response::{SLACK, WatchedFlow, excess_periods};
use crate::fair_share::{FairShare, fair_shares};
use crate::path::base_one_way;

/// One-way delays of packets between transports, access links included (RFC 7928, section 2.6; RFC 7679).
///
/// Stored as excess over the path's base delay, so that a variation of milliseconds stays exact on a long path. The
/// packet delay variation of RFC 5481, section 4.2, is this excess less its minimum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OneWayDelays {
    /// Delay of a full packet without queues.
    pub base: Span,
    /// Delay above `base` in nanoseconds, off by at most 2^10 ns and 0.8 %.
    pub excess: Histogram,
}

/// All metrics at the receivers.
pub struct ReceiverMetrics {
    fairness: FairnessMeter,
    milestones: MilestoneMeter,
    delays: Vec<OneWayDelays>,
    /// Reordered packets of each flow.
    pub reordering: ReorderingMeter,
}

impl ReceiverMetrics {
    /// Empty metrics for `scenario`.
    pub fn new(scenario: &Scenario) -> ReceiverMetrics {
        let fair_shares = fair_shares(scenario);
        let stops = scenario.tcp.iter().map(|group| group.stop).chain(scenario.udp.iter().map(|group| group.stop));
        let stops: Vec<Time> = stops.map(|stop| stop.map_or(Time::NEVER, |at| Time::ZERO + at)).collect();
        // Brief flows do not count: their goodput shows their demand, not how evenly the link was shared.
        let fair = |due: &FairShare| if due.is_brief() { 0.0 } else { due.fair_bps };
        let shares =
            fair_shares.iter().zip(&stops).map(|(due, stop)| GroupFairShare { fair_bps: fair(due), stop: *stop });
        let flows = scenario.total_flows() as usize;
        ReceiverMetrics {
            fairness: FairnessMeter::new(flows, shares),
            milestones: MilestoneMeter::new(flows, watched_flows(scenario, &fair_shares, &stops)),
            delays: one_way_delays(scenario),
            reordering: ReorderingMeter::new(flows),
        }
    }

    /// A flow will begin to send at `at`.
    pub fn flow_begins(&mut self, flow: usize, group: usize, at: Time) {
        self.milestones.began(flow, at);
        self.fairness.flow_begins(group, at);
    }

    /// A flow of `group` has nothing more to send and nothing in flight.
    pub fn flow_ends(&mut self, group: usize, now: Time) {
        self.fairness.flow_ends(group, now);
    }

    /// A packet reaches its receiver `age` after it was sent, with the place `sent` in the order of sending.
    #[inline(always)]
    pub fn packet_arrives(&mut self, (flow, group): (usize, usize), age: Span, sent: SendingOrder) {
        self.reordering.packet_arrives(flow, sent);
        let OneWayDelays { base, excess } = &mut self.delays[group];
        excess.record(age.as_nanos().saturating_sub(base.as_nanos()));
    }

    /// `bytes` useful bytes leave the last queue at `now` and reach the receiver at `arrives`.
    #[inline(always)]
    pub fn bytes_delivered(&mut self, flow: usize, group: usize, bytes: u64, now: Time, arrives: Time) {
        if self.fairness.deliver(flow, group, bytes, now) {
            self.milestones.delivered_first(flow, arrives);
        }
        self.milestones.delivered(flow, bytes, now);
    }

    /// A data packet is dropped.
    pub fn packet_dropped(&mut self, flow: usize, why: Why, now: Time) {
        self.milestones.dropped(flow, why, now);
    }

    /// Ends the warm-up: restarts all metrics but the milestones.
    pub fn restart(&mut self, now: Time) {
        self.fairness.restart(now);
        self.delays.iter_mut().for_each(|delay| delay.excess = Histogram::default());
        self.reordering.restart();
    }

    /// Jain's index on each time scale, up to `now`.
    pub fn fairness(&mut self, now: Time) -> Vec<FairnessRow> {
        self.fairness.rows(now)
    }

    /// The one-way delays by group.
    pub fn delays(&self) -> &[OneWayDelays] {
        &self.delays
    }

    /// The milestones of a flow by `now`.
    pub fn milestones(&self, flow: usize, now: Time) -> Milestones {
        self.milestones.of_flow(flow, now)
    }
}

/// UDP flows that offer more than their fair share plus the slack. TCP and TFRC respond by themselves.
fn watched_flows(scenario: &Scenario, fair_shares: &[FairShare], stops: &[Time]) -> Vec<Option<WatchedFlow>> {
    let tcp = scenario.tcp.len();
    let limits = scenario.udp.iter().zip(&fair_shares[tcp..]).zip(&stops[tcp..]);
    let watched = limits.flat_map(|((group, due), stop)| {
        let greedy = !due.responsive && due.demand_bps > due.fair_bps * SLACK;
        let excess_periods = || excess_periods(&group.source, due.fair_bps).into();
        let limits =
            greedy.then(|| WatchedFlow { fair_bps: due.fair_bps, stop: *stop, excess_periods: excess_periods() });
        (0..group.flows).map(move |_| limits.clone())
    });
    watched.collect()
}

/// Empty one-way delays of all groups, TCP before UDP.
pub fn one_way_delays(scenario: &Scenario) -> Vec<OneWayDelays> {
    let tcp = scenario.tcp.iter().map(|group| (&group.sender, &group.receiver, group.packet));
    let udp = scenario.udp.iter().map(|group| (&group.sender, &group.receiver, group.packet));
    let ends = tcp.chain(udp).zip(scenario.routes());
    ends.map(|((sender, receiver, bytes), route)| OneWayDelays {
        base: base_one_way(scenario, route, [sender, receiver], bytes),
        excess: Histogram::default(),
    })
    .collect()
}
