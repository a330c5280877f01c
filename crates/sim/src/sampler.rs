//! Measurement of a run: one row per interval, and totals per flow, link and group at the end.
//!
//! All counts of the totals restart when the warm-up ends. The intervals continue.

use headgate_core::{Span, Time};
use headgate_measure::{Balance, IntervalRow, LinkRow, Outcome, SampledCounters, flow_rows, group_rows, note_run};
use headgate_scenario::{Hop, Scenario};

use crate::event::SimEvent;
use crate::link::{Downstream, SimLink};
use crate::net::Net;
use crate::queue::EventQueue;

pub struct Sampler {
    interval: Span,
    /// The start of the current interval.
    since: Time,
    warm: Time,
    rows: Vec<IntervalRow>,
    /// Drops and marks by group.
    told: Vec<SampledCounters>,
    /// Packets sent at the compared links during the warm-up.
    packets: u64,
}

impl Sampler {
    pub fn new(scenario: &Scenario) -> Sampler {
        Sampler {
            interval: scenario.record.interval,
            since: Time::ZERO,
            warm: Time::ZERO,
            rows: Vec::new(),
            told: vec![SampledCounters::default(); scenario.groups().count()],
            packets: 0,
        }
    }

    /// Ends an interval; returns the end of the next.
    pub fn sample(&mut self, net: &mut Net, now: Time, queue: &mut EventQueue<SimEvent>) -> Time {
        settle(net, now, queue);
        for link in &mut net.links {
            let held = link.port().backlog();
            let (discipline, ledger) = link.port_mut().parts();
            ledger.sample(held, now, discipline, &mut self.rows);
        }
        self.write_groups(net, now);
        self.since = now;
        now + self.interval
    }

    /// Ends the warm-up: totals restart, intervals continue.
    pub fn restart(&mut self, net: &mut Net, now: Time, queue: &mut EventQueue<SimEvent>) {
        settle(net, now, queue);
        let seen = by_group(net, self.told.len());
        self.told.iter_mut().zip(seen).for_each(|(told, seen)| told.restart(seen));
        self.warm = now;
        self.packets = sent(net);
        for link in &mut net.links {
            let held = link.port().backlog();
            link.port_mut().ledger_mut().restart(held, now);
        }
        net.hosts.restart(now);
    }

    pub fn end(&mut self, net: &mut Net, now: Time, queue: &mut EventQueue<SimEvent>) {
        if self.since < now {
            self.sample(net, now, queue);
        }
    }

    fn write_groups(&mut self, net: &mut Net, now: Time) {
        let delivered = net.hosts.take_delivered();
        let seen = by_group(net, self.told.len());
        for (group, ((told, seen), bytes)) in (0..).zip(self.told.iter_mut().zip(seen).zip(delivered)) {
            self.rows.extend(group_rows((now, now - self.since), group, bytes, told.increments(seen)));
        }
    }

    pub fn outcome(self, scenario: &Scenario, net: &mut Net, end: Time, events: u64) -> Outcome {
        let fairness = net.hosts.ends.fairness(end);
        let packets = self.packets + sent(net);
        let row = |link: &SimLink| link.port().ledger().row(scenario, link.port().backlog());
        let mut links: Vec<LinkRow> = net.links.iter().map(row).collect();
        note_run(&mut links, packets, events);
        let ledger = |hop: &Hop| net.links[usize::from(hop.number())].port().ledger();
        Outcome {
            fairness,
            one_way: net.hosts.ends.delays().to_vec(),
            packets,
            flows: flow_rows(scenario, [self.warm, end], &net.hosts.ends, net.hosts.transported(end), ledger),
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
        let (held, ahead) = (link.port().backlog(), link.remaining(now));
        link.port_mut().ledger_mut().settle(held, ahead, now);
    }
}

/// Packets sent at the compared links.
fn sent(net: &Net) -> u64 {
    let compared = net.links.iter().map(|link| link.port().ledger()).filter(|ledger| ledger.compared());
    compared.map(|ledger| ledger.counts().sent).sum()
}

/// Data packets dropped and marked so far, by group.
fn by_group(net: &Net, groups: usize) -> Vec<(u64, u64)> {
    let mut sums = vec![(0, 0); groups];
    for link in &net.links {
        for (sum, seen) in sums.iter_mut().zip(link.port().ledger().lost_and_marked()) {
            *sum = (sum.0 + seen.0, sum.1 + seen.1);
        }
    }
    sums
}
