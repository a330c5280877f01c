//! One queue that a test observes at every arrival, with constant, bursty and AIMD senders. Round-trip times are
//! constant: queueing does not add to them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use aqm::{Counts, Discipline, FlowId, Ledger, Packet, Port, Rate, Rng, Span, Time, Why};

/// A flow's pattern of packets of 1000 bytes. Rates are in packets a second, times in seconds.
#[derive(Clone, Copy, Debug)]
pub enum SendPattern {
    /// `rate` from `from` to `to`, with gaps uniform in 0 to twice their mean.
    Constant { rate: f64, from: f64, to: f64 },
    /// `rate` for `on` of each `period`. The first period begins at a random time.
    Bursts { rate: f64, on: f64, period: f64 },
    /// Additive increase, multiplicative decrease: adds a packet to the window per `rtt`, and halves the window after
    /// losses, at most once per `rtt`. Packets are paced.
    Aimd { rtt: f64 },
    /// `burst` packets at once, `pause` after the last of its packets has left the queue.
    Refills { burst: u32, pause: f64 },
}

/// A constant `rate`.
pub fn constant(rate: f64) -> SendPattern {
    SendPattern::Constant { rate, from: 0.0, to: f64::INFINITY }
}

/// Each flow's counts after the warm-up.
#[derive(Clone, Debug, Default)]
pub struct FlowTotals(pub Vec<Counts>);

impl FlowTotals {
    fn count(&mut self, packet: &Packet<()>, write: impl Fn(&mut Counts)) {
        write(&mut self.0[packet.flow.0 as usize]);
    }

    /// Packets dropped or marked for `reasons`.
    pub fn dropped(&self, reasons: &[Why]) -> u64 {
        self.0.iter().flat_map(|flow| reasons.iter().map(|why| flow.drops(*why))).sum()
    }

    /// Packets that arrived.
    pub fn arrived(&self) -> u64 {
        self.0.iter().map(|flow| flow.arrived).sum()
    }
}

impl Ledger<()> for FlowTotals {
    fn arrived(&mut self, packet: &Packet<()>, _: Time) {
        self.count(packet, |flow| flow.arrived += 1);
    }
    fn sent(&mut self, packet: &Packet<()>, _: Time) {
        self.count(packet, |flow| flow.sent += 1);
    }
    fn dropped(&mut self, packet: &Packet<()>, why: Why, _: Time) {
        self.count(packet, |flow| flow.signals.entry(why).drops += 1);
    }
    fn marked(&mut self, packet: &Packet<()>, why: Why, _: Time) {
        self.count(packet, |flow| flow.signals.entry(why).marks += 1);
    }
}

/// The state of a sender.
struct PatternState {
    sender: SendPattern,
    rng: Rng,
    /// The window in packets, and the time until which further losses do not count.
    window: f64,
    ignores_losses_until: Time,
    phase: f64,
}

impl PatternState {
    fn new(sender: SendPattern, flow: usize, seed: u64) -> PatternState {
        let mut rng = Rng::named(seed, &format!("sender {flow}"));
        let phase = rng.unit();
        PatternState { sender, rng, window: 1.0, ignores_losses_until: Time::ZERO, phase }
    }

    fn start(&mut self) -> Time {
        let start = match self.sender {
            SendPattern::Constant { from, rate, .. } => from + self.phase / rate,
            SendPattern::Bursts { period, .. } => self.phase * period,
            SendPattern::Aimd { rtt } => self.phase * rtt,
            SendPattern::Refills { .. } => 0.0,
        };
        Time::ZERO + Span::from_secs_f64(start)
    }

    /// Time of the next packet after one at `now`. `waiting` tells whether the flow has packets queued.
    fn next(&mut self, now: Time, waiting: bool) -> Option<Time> {
        let jitter = self.rng.between(0.0, 2.0);
        let next = |gap: f64| now + Span::from_secs_f64(gap);
        match self.sender {
            SendPattern::Constant { rate, to, .. } => Some(next(jitter / rate)).filter(|next| next.as_secs_f64() < to),
            SendPattern::Bursts { rate, on, period } => {
                let then = next(jitter / rate);
                let into = (then.as_secs_f64() - self.phase * period).rem_euclid(period);
                Some(if into < on { then } else { then + Span::from_secs_f64(period - into) })
            }
            SendPattern::Aimd { rtt } => Some(next(jitter * rtt / self.window)),
            // All packets of the burst were dropped: repeat it a millisecond later.
            SendPattern::Refills { .. } => Some(next(1e-3)).filter(|_| !waiting),
        }
    }

    /// Number of packets sent at once.
    fn burst(&self) -> u32 {
        if let SendPattern::Refills { burst, .. } = self.sender { burst } else { 1 }
    }

    /// Time of its next burst, if the flow's last queued packet left at `now`.
    fn on_empty_queue(&self, now: Time) -> Option<Time> {
        match self.sender {
            SendPattern::Refills { pause, .. } => Some(now + Span::from_secs_f64(pause)),
            _ => None,
        }
    }

    /// Time at which the sender learns whether a packet was lost: one round trip after `now`; `None` if unresponsive.
    fn feedback_at(&self, now: Time) -> Option<Time> {
        match self.sender {
            SendPattern::Aimd { rtt } => Some(now + Span::from_secs_f64(rtt)),
            _ => None,
        }
    }

    fn learn(&mut self, lost: bool, now: Time) {
        let SendPattern::Aimd { rtt } = self.sender else { return };
        if !lost {
            self.window += 1.0 / self.window;
        } else if now >= self.ignores_losses_until {
            self.window = (self.window / 2.0).max(1.0);
            self.ignores_losses_until = now + Span::from_secs_f64(rtt);
        }
    }
}

/// Events; at equal times they happen in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum WatchedEvent {
    /// The link has sent a packet.
    Free,
    Learn {
        flow: usize,
        lost: bool,
    },
    Send(usize),
}

/// A queue in front of a link of `rate`, and its senders.
pub struct WatchedRun<'a> {
    pub rate: Rate,
    pub senders: &'a [SendPattern],
    pub seed: u64,
    /// End of the warm-up, which is not counted, and end of the run, in seconds.
    pub warmup: f64,
    pub end: f64,
}

impl WatchedRun<'_> {
    /// Runs `queue` and calls `watch` at every arrival.
    pub fn through<D: Discipline<()>>(&self, queue: D, watch: impl FnMut(Time, &D)) -> FlowTotals {
        let flows = FlowTotals(vec![Counts::default(); self.senders.len()]);
        let all = self.senders.iter().enumerate();
        let mut world = WatchedLink {
            port: Port::with_ledger(queue, Rng::named(self.seed, "port"), flows.clone()),
            rate: self.rate,
            sources: all.map(|(flow, sender)| PatternState::new(*sender, flow, self.seed)).collect(),
            held: vec![0; self.senders.len()],
            events: BinaryHeap::new(),
            busy: false,
            watch,
        };
        for flow in 0..self.senders.len() {
            world.events.push(Reverse((world.sources[flow].start(), WatchedEvent::Send(flow))));
        }
        let mut warm = false;
        while let Some(Reverse((now, event))) =
            world.events.pop().filter(|Reverse((now, _))| now.as_secs_f64() < self.end)
        {
            if !warm && now.as_secs_f64() >= self.warmup {
                (warm, *world.port.ledger_mut()) = (true, flows.clone());
            }
            match event {
                WatchedEvent::Free => world.transmit(now),
                WatchedEvent::Learn { flow, lost } => world.sources[flow].learn(lost, now),
                WatchedEvent::Send(flow) => world.send(flow, now),
            }
        }
        world.port.ledger().clone()
    }

    /// Packets of `flow` a second that were sent.
    pub fn rate_of(&self, flows: &FlowTotals, flow: usize) -> f64 {
        flows.0[flow].sent as f64 / (self.end - self.warmup)
    }
}

struct WatchedLink<D, W> {
    port: Port<(), D, FlowTotals>,
    rate: Rate,
    sources: Vec<PatternState>,
    /// Packets queued, by flow.
    held: Vec<u32>,
    events: BinaryHeap<Reverse<(Time, WatchedEvent)>>,
    busy: bool,
    watch: W,
}

impl<D: Discipline<()>, W: FnMut(Time, &D)> WatchedLink<D, W> {
    fn send(&mut self, flow: usize, now: Time) {
        for _ in 0..self.sources[flow].burst() {
            self.arrive(flow, now);
        }
        if let Some(next) = self.sources[flow].next(now, self.held[flow] > 0) {
            self.events.push(Reverse((next, WatchedEvent::Send(flow))));
        }
    }

    fn arrive(&mut self, flow: usize, now: Time) {
        let before = self.port.backlog().packets;
        self.port.enqueue(Packet::new(FlowId(flow as u64), 1000, ()), now, &mut ());
        let stored = self.port.backlog().packets - before;
        self.held[flow] += stored;
        (self.watch)(now, self.port.discipline());
        if let Some(then) = self.sources[flow].feedback_at(now) {
            self.events.push(Reverse((then, WatchedEvent::Learn { flow, lost: stored == 0 })));
        }
        if !self.busy {
            self.transmit(now);
        }
    }

    /// The link sends the next packet, or becomes idle.
    fn transmit(&mut self, now: Time) {
        let packet = self.port.dequeue(now, &mut ());
        self.busy = packet.is_some();
        let Some(packet) = packet else { return };
        self.events.push(Reverse((now + self.rate.transmit(packet.bytes), WatchedEvent::Free)));
        let flow = packet.flow.0 as usize;
        self.held[flow] -= 1;
        let emptied = if self.held[flow] == 0 { self.sources[flow].on_empty_queue(now) } else { None };
        self.events.extend(emptied.map(|then| Reverse((then, WatchedEvent::Send(flow)))));
    }
}
