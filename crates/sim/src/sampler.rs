//! Measurement of a run: one row per interval, and totals per flow, link and group at the end.
//!
//! All counts of the totals restart when the warm-up ends. The intervals continue.

use aqm::{Span, Time};
use headgate_measure::{
    Balance, IntervalRow, LinkRow, Outcome, SampledCounters, flow_rows, group_rows, record_run_totals,
};
use headgate_scenario::{Hop, Scenario};

use crate::event::SimEvent;
use crate::event_queue::EventQueue;
use crate::link::{Downstream, SimLink};
use crate::net::Net;

pub struct Sampler {
    interval: Span,
    /// The start of the current interval.
    since: Time,
    warmup_end: Time,
    rows: Vec<IntervalRow>,
    /// Drops and marks by group.
    drops_and_marks: Vec<SampledCounters>,
    /// Packets sent at the compared links during the warm-up.
    packets: u64,
}

impl Sampler {
    pub fn new(scenario: &Scenario) -> Sampler {
        Sampler {
            interval: scenario.record.interval,
            since: Time::ZERO,
            warmup_end: Time::ZERO,
            rows: Vec::new(),
            drops_and_marks: vec![SampledCounters::default(); scenario.groups().count()],
            packets: 0,
        }
    }

    /// Ends an interval; returns the end of the next.
    pub fn sample(&mut self, net: &mut Net, now: Time, queue: &mut EventQueue<SimEvent>) -> Time {
        settle(net, now, queue);
        for link in &mut net.links {
            let backlog = link.port().backlog();
            let (discipline, ledger) = link.port_mut().parts();
            ledger.sample(backlog, now, discipline, &mut self.rows);
        }
        self.write_groups(net, now);
        self.since = now;
        now + self.interval
    }

    /// Ends the warm-up: totals restart, intervals continue.
    pub fn restart(&mut self, net: &mut Net, now: Time, queue: &mut EventQueue<SimEvent>) {
        settle(net, now, queue);
        let seen = drops_and_marks_by_group(net, self.drops_and_marks.len());
        self.drops_and_marks.iter_mut().zip(seen).for_each(|(counters, seen)| counters.restart(seen));
        self.warmup_end = now;
        self.packets = packets_sent(net);
        for link in &mut net.links {
            let backlog = link.port().backlog();
            link.port_mut().ledger_mut().restart(backlog, now);
        }
        net.hosts.restart(now);
    }

    pub fn finish(&mut self, net: &mut Net, now: Time, queue: &mut EventQueue<SimEvent>) {
        if self.since < now {
            self.sample(net, now, queue);
        }
    }

    fn write_groups(&mut self, net: &mut Net, now: Time) {
        let delivered = net.hosts.receiver_metrics.take_interval();
        let seen = drops_and_marks_by_group(net, self.drops_and_marks.len());
        for (group, ((counters, seen), bytes)) in (0..).zip(self.drops_and_marks.iter_mut().zip(seen).zip(delivered)) {
            self.rows.extend(group_rows((now, now - self.since), group, bytes, counters.increments(seen)));
        }
    }

    pub fn outcome(self, scenario: &Scenario, net: &mut Net, end: Time, events: u64) -> Outcome {
        let fairness = net.hosts.receiver_metrics.fairness(end);
        let packets = self.packets + packets_sent(net);
        let row = |link: &SimLink| link.port().ledger().row(scenario, link.port().backlog());
        let mut links: Vec<LinkRow> = net.links.iter().map(row).collect();
        record_run_totals(&mut links, packets, events);
        let ledger = |hop: &Hop| net.links[usize::from(hop.number())].port().ledger();
        Outcome {
            fairness,
            one_way: net.hosts.receiver_metrics.delays().to_vec(),
            packets,
            flows: flow_rows(
                scenario,
                [self.warmup_end, end],
                &net.hosts.receiver_metrics,
                net.hosts.transport_counts(end),
                ledger,
            ),
            transfers: net.hosts.transfers(),
            links,
            intervals: self.rows,
            events,
            balance: Balance::default(),
        }
    }
}

/// Completes the link measurements up to `now`.
fn settle(net: &mut Net, now: Time, queue: &mut EventQueue<SimEvent>) {
    let Net { links, hosts, .. } = net;
    for (number, link) in (0..).zip(links) {
        link.report_idle(now, &mut Downstream { number, hosts, queue });
        let (backlog, sending) = (link.port().backlog(), (link.remaining(now), link.medium().used(now)));
        link.port_mut().ledger_mut().settle(backlog, sending, now);
    }
}

/// Packets sent at the compared links.
fn packets_sent(net: &Net) -> u64 {
    let compared = net.links.iter().map(|link| link.port().ledger()).filter(|ledger| ledger.compared());
    compared.map(|ledger| ledger.counts().sent).sum()
}

/// Data packets dropped and marked so far, by group.
fn drops_and_marks_by_group(net: &Net, groups: usize) -> Vec<(u64, u64)> {
    let mut sums = vec![(0, 0); groups];
    for link in &net.links {
        for (sum, seen) in sums.iter_mut().zip(link.port().ledger().drops_and_marks()) {
            *sum = (sum.0 + seen.0, sum.1 + seen.1);
        }
    }
    sums
}
