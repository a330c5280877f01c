//! Metrics at the receivers: one-way delay, and metrics of useful bytes.

use headgate_core::parts::Histogram;
use headgate_core::{Span, Time, Why};
use headgate_scenario::Scenario;

use super::fairness::{Fairness, FairnessRow, Shares};
use super::milestones::{MilestoneMeter, Milestones};
use super::response::{SLACK, WatchLimits, spells};
use crate::fair_share::{FairShare, fair_shares};
use crate::path::base_one_way;

/// One-way delays of packets between transports, access links included (RFC 7928, section 2.6; RFC 7679).
///
/// Stored as excess over the path's base delay, so that a variation of milliseconds stays exact on a long path. The
/// packet delay variation of RFC 5481, section 4.2, is this excess less its minimum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OneWay {
    /// Delay of a full packet without queues.
    pub base: Span,
    /// Delay above `base` in nanoseconds, off by at most 2^10 ns and 0.8 %.
    pub excess: Histogram,
}

/// All metrics at the receivers.
pub struct Ends {
    fairness: Fairness,
    firsts: MilestoneMeter,
    delays: Vec<OneWay>,
}

impl Ends {
    /// Empty metrics for `scenario`.
    pub fn new(scenario: &Scenario) -> Ends {
        let fair_shares = fair_shares(scenario);
        let stops = scenario.tcp.iter().map(|group| group.stop).chain(scenario.udp.iter().map(|group| group.stop));
        let stops: Vec<Time> = stops.map(|stop| stop.map_or(Time::NEVER, |at| Time::ZERO + at)).collect();
        // Goodputs of brief flows do not show how evenly time was shared.
        let fair = |due: &FairShare| if due.is_brief() { 0.0 } else { due.fair_bps };
        let shares = fair_shares.iter().zip(&stops).map(|(due, stop)| Shares { fair_bps: fair(due), stop: *stop });
        let flows = scenario.total_flows() as usize;
        Ends {
            fairness: Fairness::new(flows, shares),
            firsts: MilestoneMeter::new(flows, watched(scenario, &fair_shares, &stops)),
            delays: one_ways(scenario),
        }
    }

    /// A flow will begin to send at `at`.
    pub fn begins(&mut self, flow: usize, group: usize, at: Time) {
        self.firsts.began(flow, at);
        self.fairness.begin(group, at);
    }

    /// A flow of `group` has nothing more to send and nothing in flight.
    pub fn ends(&mut self, group: usize, now: Time) {
        self.fairness.end(group, now);
    }

    /// A packet reaches its receiver `age` after it was sent.
    #[inline]
    pub fn arrives(&mut self, group: usize, age: Span) {
        let OneWay { base, excess } = &mut self.delays[group];
        excess.record(age.as_nanos().saturating_sub(base.as_nanos()));
    }

    /// `bytes` useful bytes leave the last queue at `now` and reach the receiver at `arrives`.
    #[inline]
    pub fn delivers(&mut self, flow: usize, group: usize, bytes: u64, now: Time, arrives: Time) {
        if self.fairness.deliver(flow, group, bytes, now) {
            self.firsts.delivered_first(flow, arrives);
        }
        self.firsts.delivered(flow, bytes, now);
    }

    /// A data packet is dropped.
    pub fn dropped(&mut self, flow: usize, why: Why, now: Time) {
        self.firsts.dropped(flow, why, now);
    }

    /// Ends the warm-up: restarts all metrics but the milestones.
    pub fn restart(&mut self, now: Time) {
        self.fairness.restart(now);
        self.delays.iter_mut().for_each(|delay| delay.excess = Histogram::default());
    }

    /// Jain's index on each time scale, up to `now`.
    pub fn fairness(&mut self, now: Time) -> Vec<FairnessRow> {
        self.fairness.rows(now)
    }

    /// The one-way delays by group.
    pub fn delays(&self) -> &[OneWay] {
        &self.delays
    }

    /// The milestones of a flow by `now`.
    pub fn milestones(&self, flow: usize, now: Time) -> Milestones {
        self.firsts.of(flow, now)
    }
}

/// UDP flows that offer more than their fair share plus the slack. TCP and TFRC respond by themselves.
fn watched(scenario: &Scenario, fair_shares: &[FairShare], stops: &[Time]) -> Vec<Option<WatchLimits>> {
    let tcp = scenario.tcp.len();
    let limits = scenario.udp.iter().zip(&fair_shares[tcp..]).zip(&stops[tcp..]);
    let watched = limits.flat_map(|((group, due), stop)| {
        let greedy = !due.responsive && due.demand_bps > due.fair_bps * SLACK;
        let spells = || spells(&group.source, due.fair_bps).into();
        let limits = greedy.then(|| WatchLimits { fair_bps: due.fair_bps, stop: *stop, spells: spells() });
        (0..group.flows).map(move |_| limits.clone())
    });
    watched.collect()
}

/// Empty one-way delays of all groups, TCP before UDP.
pub fn one_ways(scenario: &Scenario) -> Vec<OneWay> {
    let tcp = scenario.tcp.iter().map(|group| (&group.sender, &group.receiver, group.packet));
    let udp = scenario.udp.iter().map(|group| (&group.sender, &group.receiver, group.packet));
    let ends = tcp.chain(udp).zip(scenario.routes());
    ends.map(|((sender, receiver, bytes), route)| OneWay {
        base: base_one_way(scenario, route, [sender, receiver], bytes),
        excess: Histogram::default(),
    })
    .collect()
}
