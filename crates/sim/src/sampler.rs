//! The tables: one row an interval while the run goes, one row a flow when it ends.

use headgate_core::{Counts, Discipline, Span, Time};
use headgate_scenario::{Hop, Scenario};

use crate::link::Link;
use crate::meter::Occupancy;
use crate::outcome::{FlowRow, IntervalRow, LinkRow, Outcome};
use crate::share::max_min;
use crate::wire::base_rtt;
use crate::world::Net;

/// Collects what the tables need.
pub struct Sampler {
    interval: Span,
    /// The start of the interval under way.
    since: Time,
    /// By link.
    queues: Vec<Measured>,
    warm: Time,
    rows: Vec<IntervalRow>,
    /// Drops and marks by group up to the last sample, since the ledgers last began anew.
    told: Vec<(u64, u64)>,
    /// Packets sent where disciplines are compared during the warm-up.
    packets: u64,
}

/// How full a queue and how busy its link was.
struct Measured {
    /// Disciplines are compared there: it has rows over time.
    compared: bool,
    /// In the interval under way.
    partial: Occupancy,
    /// Since the warm-up.
    total: Occupancy,
}

impl Sampler {
    /// Nothing yet.
    pub fn new(scenario: &Scenario) -> Sampler {
        let measured = |hop| Measured {
            compared: scenario.simplex(hop).qdisc.is_none(),
            partial: Occupancy::default(),
            total: Occupancy::default(),
        };
        Sampler {
            interval: scenario.record.interval,
            since: Time::ZERO,
            queues: scenario.hops().map(measured).collect(),
            warm: Time::ZERO,
            rows: Vec::new(),
            told: vec![(0, 0); scenario.groups().count()],
            packets: 0,
        }
    }

    /// An interval ends; says when the next does.
    pub fn sample(&mut self, net: &mut Net, now: Time) -> Time {
        self.account(net, now);
        for (number, link) in net.links.iter().enumerate() {
            if self.queues[number].compared {
                self.write_link(number as u16, link, now);
            }
            self.queues[number].partial = Occupancy::starting(now, link.port().backlog(), Span::ZERO);
        }
        self.write_groups(net, now);
        self.since = now;
        now + self.interval
    }

    /// The warm-up ends: the totals begin anew, the intervals go on.
    pub fn restart(&mut self, net: &mut Net, now: Time) {
        self.account(net, now);
        let seen = by_group(net, self.told.len());
        // What the interval has seen so far leaves the ledgers: owe it to the interval's end.
        for (told, seen) in self.told.iter_mut().zip(seen) {
            *told = (told.0.wrapping_sub(seen.0), told.1.wrapping_sub(seen.1));
        }
        self.warm = now;
        self.packets = self.sent(net);
        for (queue, link) in self.queues.iter_mut().zip(&mut net.links) {
            queue.total = Occupancy::starting(now, link.port().backlog(), Span::ZERO);
            link.ledger_mut().restart();
        }
        net.hosts.restart(now);
    }

    /// The run ends.
    pub fn end(&mut self, net: &mut Net, now: Time) {
        if self.since < now {
            self.sample(net, now);
        }
    }

    fn account(&mut self, net: &mut Net, now: Time) {
        for (queue, link) in self.queues.iter_mut().zip(&mut net.links) {
            link.settle(now, &mut net.hosts);
            let seen = link.occupancy(now);
            queue.partial.add(&seen);
            queue.total.add(&seen);
        }
    }

    /// Packets sent where disciplines are compared.
    fn sent(&self, net: &Net) -> u64 {
        let compared = self.queues.iter().zip(&net.links).filter(|(queue, _)| queue.compared);
        compared.map(|(_, link)| link.ledger().counts().sent).sum()
    }

    fn write_link(&mut self, number: u16, link: &Link, now: Time) {
        let (packets, bytes, busy) = self.queues[usize::from(number)].partial.means();
        let time_s = now.as_secs_f64();
        let mut write = |metric, is_gauge, value| {
            self.rows.push(IntervalRow { time_s, metric, is_gauge, link: Some(number), group: None, value });
        };
        write("queue_packets", false, packets);
        write("queue_bytes", false, bytes);
        write("utilisation", false, busy);
        link.port().discipline().observe(&mut |name, value| write(name, true, value));
    }

    fn write_groups(&mut self, net: &mut Net, now: Time) {
        let seconds = (now - self.since).as_secs_f64();
        let delivered = net.hosts.take_delivered();
        let seen = by_group(net, self.told.len());
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
                link: None,
                group: Some(group as u32),
                value,
            }));
        }
        self.told = seen;
    }

    /// Everything the run gave.
    pub fn outcome(self, scenario: &Scenario, net: &Net, end: Time, events: u64) -> Outcome {
        Outcome {
            packets: self.packets + self.sent(net),
            flows: flow_rows(scenario, net, self.warm, end),
            links: scenario.hops().map(|hop| link_row(scenario, hop, net, &self.queues)).collect(),
            intervals: self.rows,
            events,
        }
    }
}

fn link_row(scenario: &Scenario, hop: Hop, net: &Net, queues: &[Measured]) -> LinkRow {
    let number = usize::from(hop.number());
    let ledger = net.links[number].ledger();
    let (queue_packets_mean, queue_bytes_mean, utilisation) = queues[number].total.means();
    LinkRow {
        link: scenario.links[usize::from(hop.link)].name.clone(),
        direction: hop.direction,
        compared: queues[number].compared,
        counts: ledger.counts(),
        utilisation,
        queue_packets_mean,
        queue_bytes_mean,
        delay: ledger.sojourn().clone(),
    }
}

fn flow_rows(scenario: &Scenario, net: &Net, warm: Time, end: Time) -> Vec<FlowRow> {
    let span = end - warm;
    let routes: Vec<&[Hop]> = scenario.routes().collect();
    let rows = net.hosts.deeds(end).zip(fair_goodputs(scenario)).enumerate();
    rows.map(|(flow, (deeds, fair_share_bps))| {
        let (counts, delay_ms_mean) = along(routes[deeds.group as usize], net, flow);
        FlowRow {
            flow: flow as u32,
            group: deeds.group,
            counts,
            goodput_bps: deeds.bytes as f64 * 8.0 / span.as_secs_f64(),
            fair_share_bps,
            retransmits: deeds.retransmits,
            timeouts: deeds.timeouts,
            cwnd_mean: deeds.cwnd_area.map(|area| area / span.as_nanos() as f64),
            delay_ms_mean,
        }
    })
    .collect()
}

/// What became of a flow's data along its route, and the mean of its queueing delays: the sum of those at each queue.
fn along(route: &[Hop], net: &Net, flow: usize) -> (Counts, Option<f64>) {
    let ledgers = || route.iter().map(|hop| net.links[usize::from(hop.number())].ledger());
    let mut all = Counts::default();
    let mut arrived = None;
    for counts in ledgers().map(|ledger| ledger.of_flow(flow)) {
        arrived.get_or_insert(counts.arrived);
        // The last queue's stand.
        (all.sent, all.sent_bytes) = (0, 0);
        all.add(&counts);
    }
    all.arrived = arrived.unwrap_or(0);
    (all, ledgers().map(|ledger| ledger.delay_ms(flow)).sum())
}

/// Each flow's max-min fair share of the bottleneck's rate, less the headers in it. A TCP flow wants what its window
/// and its access links allow; a UDP flow wants its rate.
fn fair_goodputs(scenario: &Scenario) -> Vec<f64> {
    let link = scenario.simplex(scenario.bottleneck());
    let mut wants = Vec::new();
    let mut useful = Vec::new();
    for group in &scenario.tcp {
        let rtt = base_rtt(scenario, &group.route, [&group.sender, &group.receiver], [group.packet, group.ack]);
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

/// Drops and marks of data so far, by group.
fn by_group(net: &Net, groups: usize) -> Vec<(u64, u64)> {
    let mut sums = vec![(0, 0); groups];
    for link in &net.links {
        for (flow, (drops, marks)) in link.ledger().lost_and_marked().enumerate() {
            let sum = &mut sums[net.hosts.group_of(flow)];
            *sum = (sum.0 + drops, sum.1 + marks);
        }
    }
    sums
}
