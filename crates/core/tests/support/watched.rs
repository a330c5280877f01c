//! One queue that can be looked at with every arrival, and senders at it: constant, bursty, and such that slow down when
//! they lose packets. Their round-trip time is constant: queueing does not add to it.

#![allow(dead_code, reason = "each test uses what it needs")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headgate_core::{Counts, Discipline, FlowId, Ledger, Packet, Port, Rate, Rng, Span, Time, Why};

/// A flow's way to send packets of 1000 bytes. Rates are in packets a second, times in seconds.
#[derive(Clone, Copy, Debug)]
pub enum Sender {
    /// `rate` from `from` to `to`, gaps even in 0 to twice their mean.
    Constant { rate: f64, from: f64, to: f64 },
    /// `rate` for `on` of each `period`, which begins at a random moment.
    Bursts { rate: f64, on: f64, period: f64 },
    /// Additive increase, multiplicative decrease: one packet more each `rtt`, half the window when packets are lost, at
    /// most once an `rtt`; packets are paced.
    Aimd { rtt: f64 },
}

/// `rate` for all the time.
pub fn constant(rate: f64) -> Sender {
    Sender::Constant { rate, from: 0.0, to: f64::INFINITY }
}

/// What happened to each flow after the warm-up.
#[derive(Clone, Debug, Default)]
pub struct Flows(pub Vec<Counts>);

impl Flows {
    fn count(&mut self, packet: &Packet<()>, write: impl Fn(&mut Counts)) {
        write(&mut self.0[packet.flow.0 as usize]);
    }

    /// Packets dropped or marked for `reasons`.
    pub fn dropped(&self, reasons: &[Why]) -> u64 {
        self.0.iter().flat_map(|flow| reasons.iter().map(|why| flow.drops[*why as usize])).sum()
    }

    /// Packets that arrived.
    pub fn arrived(&self) -> u64 {
        self.0.iter().map(|flow| flow.arrived).sum()
    }
}

impl Ledger<()> for Flows {
    fn arrived(&mut self, packet: &Packet<()>, _: Time) {
        self.count(packet, |flow| flow.arrived += 1);
    }
    fn sent(&mut self, packet: &Packet<()>, _: Time) {
        self.count(packet, |flow| flow.sent += 1);
    }
    fn dropped(&mut self, packet: &Packet<()>, why: Why, _: Time) {
        self.count(packet, |flow| flow.drops[why as usize] += 1);
    }
    fn marked(&mut self, packet: &Packet<()>, why: Why, _: Time) {
        self.count(packet, |flow| flow.marks[why as usize] += 1);
    }
}

/// The state of a sender.
struct Source {
    sender: Sender,
    rng: Rng,
    /// The window in packets, and until when a further loss does not count.
    window: f64,
    deaf: Time,
    phase: f64,
}

impl Source {
    fn new(sender: Sender, flow: usize, seed: u64) -> Source {
        let mut rng = Rng::named(seed, &format!("sender {flow}"));
        let phase = rng.unit();
        Source { sender, rng, window: 1.0, deaf: Time::ZERO, phase }
    }

    fn start(&mut self) -> Time {
        let start = match self.sender {
            Sender::Constant { from, rate, .. } => from + self.phase / rate,
            Sender::Bursts { period, .. } => self.phase * period,
            Sender::Aimd { rtt } => self.phase * rtt,
        };
        Time::ZERO + Span::from_secs_f64(start)
    }

    /// When the next packet goes, after one at `now`.
    fn next(&mut self, now: Time) -> Option<Time> {
        let jitter = self.rng.between(0.0, 2.0);
        let next = |gap: f64| now + Span::from_secs_f64(gap);
        match self.sender {
            Sender::Constant { rate, to, .. } => Some(next(jitter / rate)).filter(|next| next.as_secs_f64() < to),
            Sender::Bursts { rate, on, period } => {
                let then = next(jitter / rate);
                let into = (then.as_secs_f64() - self.phase * period).rem_euclid(period);
                Some(if into < on { then } else { then + Span::from_secs_f64(period - into) })
            }
            Sender::Aimd { rtt } => Some(next(jitter * rtt / self.window)),
        }
    }

    /// A round-trip time after a packet the sender learns whether it was `lost`; gives when, if it listens.
    fn hears(&self, now: Time) -> Option<Time> {
        match self.sender {
            Sender::Aimd { rtt } => Some(now + Span::from_secs_f64(rtt)),
            _ => None,
        }
    }

    fn learn(&mut self, lost: bool, now: Time) {
        let Sender::Aimd { rtt } = self.sender else { return };
        if !lost {
            self.window += 1.0 / self.window;
        } else if now >= self.deaf {
            self.window = (self.window / 2.0).max(1.0);
            self.deaf = now + Span::from_secs_f64(rtt);
        }
    }
}

/// In the order of their times, then of the flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Send(usize),
    Learn { flow: usize, lost: bool },
}

/// A queue in front of a link of `rate`, and who sends into it.
pub struct Run<'a> {
    pub rate: Rate,
    pub senders: &'a [Sender],
    pub seed: u64,
    /// What happens before is not counted. In seconds, as is the end.
    pub warmup: f64,
    pub end: f64,
}

impl Run<'_> {
    /// Runs `queue`; `watch` looks at it with every arrival.
    pub fn through<D: Discipline<()>>(&self, queue: D, mut watch: impl FnMut(Time, &D)) -> Flows {
        let flows = Flows(vec![Counts::default(); self.senders.len()]);
        let mut port = Port::with_ledger(queue, Rng::named(self.seed, "port"), flows.clone());
        let all = self.senders.iter().enumerate();
        let mut sources: Vec<Source> = all.map(|(flow, sender)| Source::new(*sender, flow, self.seed)).collect();
        let mut events: BinaryHeap<Reverse<(Time, Event)>> = BinaryHeap::new();
        for (flow, source) in sources.iter_mut().enumerate() {
            events.push(Reverse((source.start(), Event::Send(flow))));
        }
        let (mut free, mut warm) = (Time::ZERO, false);
        while let Some(Reverse((now, event))) = events.pop() {
            if now.as_secs_f64() >= self.end {
                break;
            }
            if !warm && now.as_secs_f64() >= self.warmup {
                (warm, *port.ledger_mut()) = (true, flows.clone());
            }
            // The link first: it sends whenever it falls free, until it finds nothing or catches up.
            while free <= now {
                let Some(packet) = port.dequeue(free, &mut ()) else { break };
                free += self.rate.transmit(packet.bytes);
            }
            free = free.max(now);
            let flow = match event {
                Event::Learn { flow, lost } => {
                    sources[flow].learn(lost, now);
                    continue;
                }
                Event::Send(flow) => flow,
            };
            let held = port.backlog().packets;
            port.enqueue(Packet::new(FlowId(flow as u64), 1000, ()), now, &mut ());
            let lost = port.backlog().packets == held;
            watch(now, port.discipline());
            if let Some(then) = sources[flow].hears(now) {
                events.push(Reverse((then, Event::Learn { flow, lost })));
            }
            if let Some(next) = sources[flow].next(now) {
                events.push(Reverse((next, Event::Send(flow))));
            }
        }
        port.ledger().clone()
    }

    /// Packets of `flow` a second that were sent.
    pub fn rate_of(&self, flows: &Flows, flow: usize) -> f64 {
        flows.0[flow].sent as f64 / (self.end - self.warmup)
    }
}
