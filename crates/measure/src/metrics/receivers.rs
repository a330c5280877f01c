//! Measurements at the receivers: one-way delays, Jain's fairness index and the flows' milestones.

use aqm::{Span, Time, Why};
use headgate_scenario::Scenario;

use super::arrivals::{Arrivals, RunPhase};
use super::calls::CallMeters;
use super::fairness::{FairnessMeter, FairnessRow};
use super::group_slots::IndexedGroup;
use super::milestones::{MilestoneMeter, Milestones};
use super::one_way::{OneWayDelays, one_way_delays};
use super::reordering::{ReorderingMeter, SendingOrder};
use super::response::{SLACK, WatchedFlow, excess_periods};
use crate::cohorts::Cohorts;
use crate::fair_share::{FairShare, fair_shares, long_run_shares};
use crate::shared_links::{SharedLinks, stop_times};

/// Send times are rounded, by less than this.
const SEND_TIME_ERROR: Span = Span::from_nanos(2048);

/// All metrics at the receivers.
pub struct ReceiverMetrics {
    arrivals: Arrivals,
    fairness: FairnessMeter,
    milestones: MilestoneMeter,
    delays: Vec<OneWayDelays>,
    /// Reordered packets of each flow.
    pub reordering: ReorderingMeter,
    /// Frames of the calls among the flows.
    pub calls: CallMeters,
}

impl ReceiverMetrics {
    /// Empty metrics for `scenario`.
    pub fn new(scenario: &Scenario) -> ReceiverMetrics {
        let fair_shares = fair_shares(scenario);
        let stops = stop_times(scenario);
        // Brief flows do not count: their goodput shows their demand, not how evenly the link was shared.
        let groups = fair_shares.iter().zip(&stops);
        let groups: Vec<IndexedGroup> =
            groups.map(|(due, stop)| IndexedGroup { counts: !due.is_brief(), stop: *stop }).collect();
        let cohorts = Cohorts::stated(scenario);
        let links = SharedLinks::new(scenario, &cohorts);
        let flows = scenario.total_flows() as usize;
        let window = [scenario.warmup, scenario.duration].map(|span| Time::ZERO + span);
        let delays = one_way_delays(scenario);
        ReceiverMetrics {
            calls: CallMeters::new(scenario, &delays),
            arrivals: Arrivals::new(window, scenario.record.interval, [flows, fair_shares.len()]),
            milestones: MilestoneMeter::new(flows, watched_flows(scenario, &cohorts, &fair_shares, &stops)),
            fairness: FairnessMeter::by_cohorts(cohorts, &groups, links),
            delays,
            reordering: ReorderingMeter::new(flows),
        }
    }

    /// A flow will begin to send at `at`.
    pub fn flow_begins(&mut self, flow: usize, group: usize, at: Time) {
        self.milestones.began(flow, at);
        self.fairness.flow_begins(flow, group, at);
    }

    /// `flow` of `group` has nothing more to send and nothing in flight.
    pub fn flow_ends(&mut self, flow: usize, group: usize, now: Time) {
        self.milestones.ended(flow, now);
        self.fairness.flow_ends(flow, group, now);
    }

    /// A packet of a flow (flow, group) with `bytes` useful bytes, which its receiver has not got before, leaves its last
    /// queue and reaches the receiver at these times. The latter is `age` after it was sent, in the place `sent` of its flow.
    #[inline(always)]
    pub fn packet_delivered(
        &mut self,
        of: (usize, usize),
        (bytes, age, sent): (u64, Span, SendingOrder),
        [left, arrives]: [Time; 2],
    ) {
        let phase = self.arrivals.phase(arrives);
        self.reordering.packet_arrives(of.0, sent, phase == RunPhase::Measured);
        if phase == RunPhase::Measured {
            let OneWayDelays { base, excess } = &mut self.delays[of.1];
            debug_assert!(age + SEND_TIME_ERROR >= *base, "a packet took {age}, and its path takes {base}");
            excess.record(age.as_nanos().saturating_sub(base.as_nanos()));
        }
        if bytes > 0 {
            self.add_bytes(of, bytes, left, (arrives, phase));
        }
    }

    /// The same of data without packets: `bytes` useful bytes at `now`.
    pub fn bytes_delivered(&mut self, of: (usize, usize), bytes: u64, now: Time) {
        self.add_bytes(of, bytes, now, (now, self.arrivals.phase(now)));
    }

    #[inline(always)]
    fn add_bytes(&mut self, (flow, group): (usize, usize), bytes: u64, left: Time, arrives: (Time, RunPhase)) {
        self.arrivals.add((flow, group), bytes, arrives);
        if self.fairness.deliver(flow, group, bytes, left) && arrives.1 != RunPhase::AfterEnd {
            self.milestones.delivered_first(flow, arrives.0);
        }
        self.milestones.delivered(flow, bytes, left);
    }

    /// A data packet is dropped.
    pub fn packet_dropped(&mut self, flow: usize, why: Why, now: Time) {
        self.milestones.dropped(flow, why, now);
    }

    /// Ends the warm-up: restarts the fairness index. Arrivals know its time, and milestones include the warm-up.
    pub fn restart(&mut self, now: Time) {
        self.fairness.restart(now);
    }

    /// Useful bytes of `flow` that arrived after the warm-up.
    pub fn measured_bytes(&self, flow: usize) -> u64 {
        self.arrivals.measured(flow)
    }

    /// Useful bytes of every flow since the start.
    pub fn bytes_by_flow(&self) -> impl Iterator<Item = u64> {
        self.arrivals.by_flow()
    }

    /// Ends an interval of the time series: useful bytes that arrived in it, by group.
    pub fn take_interval(&mut self) -> Vec<u64> {
        self.arrivals.take_interval()
    }

    /// When each flow begins and ends, in order; [`Time::NEVER`] if it does not.
    pub fn lifetimes(&self) -> impl Iterator<Item = [Time; 2]> {
        self.milestones.lifetimes()
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

/// UDP flows that offer more than their fair share plus the slack. Flows with congestion control respond by themselves.
fn watched_flows(
    scenario: &Scenario,
    cohorts: &Cohorts,
    of_groups: &[FairShare],
    stops: &[Time],
) -> Vec<Option<WatchedFlow>> {
    let watched = |(group, fair_bps): (&usize, f64)| {
        let (due, udp) = (&of_groups[*group], &scenario.udp[group.checked_sub(scenario.tcp.len())?]);
        let greedy = !due.responsive && due.demand_bps > fair_bps * SLACK;
        let excess_periods = || excess_periods(&udp.source, fair_bps).into();
        greedy.then(|| WatchedFlow { fair_bps, stop: stops[*group], excess_periods: excess_periods() })
    };
    let of_cohorts: Vec<Option<WatchedFlow>> =
        cohorts.groups.iter().zip(long_run_shares(scenario, cohorts)).map(watched).collect();
    let tcp_flows: u32 = scenario.tcp.iter().map(|group| group.flows).sum();
    cohorts.of_flow[tcp_flows as usize..].iter().map(|cohort| of_cohorts[*cohort as usize].clone()).collect()
}
