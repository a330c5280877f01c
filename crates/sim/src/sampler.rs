//! The tables: one row an interval while the run goes, one row a flow when it ends.

use headgate_core::parts::Histogram;
use headgate_core::{Counts, Discipline, Span, Time, Totals};
use headgate_scenario::Scenario;

use crate::hosts::Hosts;
use crate::meter::{FlowLedger, Occupancy};
use crate::outcome::{FlowRow, IntervalRow, LinkRow, Outcome};
use crate::segment::Segment;
use crate::share::max_min;
use crate::wire::base_rtt;
use crate::world::{ForwardLink, Net};

/// Collects what the tables need.
pub struct Sampler {
    interval: Span,
    /// The start of the interval under way.
    since: Time,
    /// The forward queue in the interval under way, and both queues since the warm-up.
    partial: Occupancy,
    forward: Occupancy,
    reverse: Occupancy,
    warm: Time,
    rows: Vec<IntervalRow>,
    /// Drops and marks by group up to the last sample, since the ledger last began anew.
    told: Vec<(u64, u64)>,
    /// Packets sent through the forward bottleneck during the warm-up.
    packets: u64,
}

impl Sampler {
    /// Nothing yet, for `groups` groups.
    pub fn new(interval: Span, groups: usize) -> Sampler {
        Sampler {
            interval,
            since: Time::ZERO,
            partial: Occupancy::default(),
            forward: Occupancy::default(),
            reverse: Occupancy::default(),
            warm: Time::ZERO,
            rows: Vec::new(),
            told: vec![(0, 0); groups],
            packets: 0,
        }
    }

    /// An interval ends; says when the next does.
    pub fn sample<D: Discipline<Segment>, R: Discipline<Segment>>(&mut self, net: &mut Net<D, R>, now: Time) -> Time {
        self.account(net, now);
        let Net { forward, reverse: _, hosts } = net;
        self.write_link(forward, now);
        self.write_groups(forward.port().ledger(), hosts, now);
        self.partial = Occupancy::starting(now, forward.port().backlog(), Span::ZERO);
        self.since = now;
        now + self.interval
    }

    /// The warm-up ends: the totals begin anew, the intervals go on.
    pub fn restart<D: Discipline<Segment>, R: Discipline<Segment>>(&mut self, net: &mut Net<D, R>, now: Time) {
        self.account(net, now);
        let Net { forward, reverse, hosts } = net;
        let seen = by_group(forward.port().ledger(), hosts, self.told.len());
        // What the interval has seen so far leaves the ledger: owe it to the interval's end.
        for (told, seen) in self.told.iter_mut().zip(seen) {
            *told = (told.0.wrapping_sub(seen.0), told.1.wrapping_sub(seen.1));
        }
        self.forward = Occupancy::starting(now, forward.port().backlog(), Span::ZERO);
        self.reverse = Occupancy::starting(now, reverse.port().backlog(), Span::ZERO);
        self.warm = now;
        self.packets = forward.port().ledger().counts().sent;
        forward.ledger_mut().restart();
        *reverse.ledger_mut() = Totals::default();
        hosts.restart(now);
    }

    /// The run ends.
    pub fn end<D: Discipline<Segment>, R: Discipline<Segment>>(&mut self, net: &mut Net<D, R>, now: Time) {
        if self.since < now {
            self.sample(net, now);
        }
    }

    fn account<D: Discipline<Segment>, R: Discipline<Segment>>(&mut self, net: &mut Net<D, R>, now: Time) {
        let Net { forward, reverse, hosts } = net;
        forward.settle(now, hosts);
        reverse.settle(now, hosts);
        let seen = forward.occupancy(now);
        self.partial.add(&seen);
        self.forward.add(&seen);
        self.reverse.add(&reverse.occupancy(now));
    }

    fn write_link<D: Discipline<Segment>>(&mut self, forward: &ForwardLink<D>, now: Time) {
        let (packets, bytes, busy) = self.partial.means();
        let time_s = now.as_secs_f64();
        let mut write = |metric, is_gauge, value| {
            self.rows.push(IntervalRow { time_s, metric, is_gauge, group: None, value });
        };
        write("queue_packets", false, packets);
        write("queue_bytes", false, bytes);
        write("utilisation", false, busy);
        forward.port().discipline().observe(&mut |name, value| write(name, true, value));
    }

    fn write_groups(&mut self, ledger: &FlowLedger, hosts: &mut Hosts, now: Time) {
        let seconds = (now - self.since).as_secs_f64();
        let delivered = hosts.take_delivered();
        let seen = by_group(ledger, hosts, self.told.len());
        for (group, bytes) in delivered.into_iter().enumerate() {
            let (told, seen) = (self.told[group], seen[group]);
            let figures = [
                ("goodput_bps", bytes as f64 * 8.0 / seconds),
                ("drops", seen.0.wrapping_sub(told.0) as f64),
                ("marks", seen.1.wrapping_sub(told.1) as f64),
            ];
            self.rows.extend(figures.map(|(metric, value)| IntervalRow {
                time_s: now.as_secs_f64(),
                metric,
                is_gauge: false,
                group: Some(group as u32),
                value,
            }));
        }
        self.told = seen;
    }

    /// Everything the run gave.
    pub fn outcome<D: Discipline<Segment>, R: Discipline<Segment>>(
        self,
        scenario: &Scenario,
        net: &Net<D, R>,
        end: Time,
        events: u64,
    ) -> Outcome {
        let Net { forward, reverse, hosts } = net;
        let ledger = forward.port().ledger();
        let counts = ledger.counts();
        let back = reverse.port().ledger();
        Outcome {
            packets: self.packets + counts.sent,
            flows: flow_rows(scenario, ledger, hosts, self.warm, end),
            intervals: self.rows,
            forward: link_row(counts, ledger.sojourn(), &self.forward),
            reverse: link_row(back.counts().clone(), back.sojourn(), &self.reverse),
            events,
        }
    }
}

fn link_row(counts: Counts, delay: &Histogram, occupancy: &Occupancy) -> LinkRow {
    let (queue_packets_mean, queue_bytes_mean, utilisation) = occupancy.means();
    LinkRow { counts, utilisation, queue_packets_mean, queue_bytes_mean, delay: delay.clone() }
}

fn flow_rows(scenario: &Scenario, ledger: &FlowLedger, hosts: &Hosts, warm: Time, end: Time) -> Vec<FlowRow> {
    let span = end - warm;
    let rows = hosts.deeds(end).zip(fair_goodputs(scenario)).enumerate();
    rows.map(|(flow, (deeds, fair_share_bps))| FlowRow {
        flow: flow as u32,
        group: deeds.group,
        counts: ledger.of_flow(flow),
        goodput_bps: deeds.bytes as f64 * 8.0 / span.as_secs_f64(),
        fair_share_bps,
        retransmits: deeds.retransmits,
        timeouts: deeds.timeouts,
        cwnd_mean: deeds.cwnd_area.map(|area| area / span.as_nanos() as f64),
        delay_ms_mean: ledger.delay_ms(flow),
    })
    .collect()
}

/// Each flow's max-min fair share of the bottleneck's rate, less the headers in it. A TCP flow wants what its window
/// and its access links allow; a UDP flow wants its rate.
fn fair_goodputs(scenario: &Scenario) -> Vec<f64> {
    let link = &scenario.link;
    let mut wants = Vec::new();
    let mut useful = Vec::new();
    for group in &scenario.tcp {
        let rtt = base_rtt(link.rate, link.delay, &group.sender, &group.receiver, group.packet, group.ack);
        let window = f64::from(group.window) * f64::from(group.packet) * 8.0 / rtt.as_secs_f64();
        let access = group.sender.rate.min(group.receiver.rate).as_bits() as f64;
        wants.extend((0..group.flows).map(|_| window.min(access)));
        useful.extend((0..group.flows).map(|_| f64::from(group.packet - group.header) / f64::from(group.packet)));
    }
    for group in &scenario.udp {
        let access = group.sender.rate.min(group.receiver.rate);
        wants.extend((0..group.flows).map(|_| group.rate.min(access).as_bits() as f64));
        useful.extend((0..group.flows).map(|_| f64::from(group.packet - group.header) / f64::from(group.packet)));
    }
    let shares = max_min(link.rate.as_bits() as f64, &wants);
    shares.iter().zip(useful).map(|(share, useful)| share * useful).collect()
}

/// Drops and marks so far, by group.
fn by_group(ledger: &FlowLedger, hosts: &Hosts, groups: usize) -> Vec<(u64, u64)> {
    let mut sums = vec![(0, 0); groups];
    for (flow, (drops, marks)) in ledger.lost_and_marked().enumerate() {
        let sum = &mut sums[hosts.group_of(flow)];
        *sum = (sum.0 + drops, sum.1 + marks);
    }
    sums
}
