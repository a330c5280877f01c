//! A link of 1000 packets a second with one queue, AIMD senders and unresponsive senders, to test the papers' claims.

use std::collections::{BTreeMap, VecDeque};

use aqm::{Counts, FlowId, LinkInfo, Packet, Port, Rate, Rng, Sink, Span, Time, Why, registry};

pub const PACKET: u32 = 1000;
/// Packets that the link sends per second.
pub const CAPACITY: f64 = 1000.0;
pub const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), PACKET, 7);
/// Time from a packet's departure or drop until its sender learns of it.
pub const RTT: Span = Span::from_millis(50);
pub const WARMUP: Time = Time::from_nanos(20_000_000_000);
pub const END: Time = Time::from_nanos(100_000_000_000);
const TICK: Span = Span::from_millis(10);

/// A sender: an approximation of TCP's congestion avoidance, or a constant rate.
pub enum QueueSender {
    /// Keeps `window` packets in flight. The window grows by one per round trip and is halved after a loss, at most
    /// once per round trip.
    Responsive { window: f64, in_flight: u32, deaf_until: Time },
    /// Sends at `rate` packets a second, with gaps uniform in 0.5 to 1.5 times the mean.
    Steady { rate: f64, next: Time },
}

pub fn responsive(flows: usize) -> Vec<QueueSender> {
    (0..flows).map(|_| QueueSender::Responsive { window: 2.0, in_flight: 0, deaf_until: Time::ZERO }).collect()
}

pub fn steady(rate: f64) -> QueueSender {
    QueueSender::Steady { rate, next: Time::ZERO }
}

impl QueueSender {
    /// Time of its next packet, if it does not wait for feedback.
    fn next(&self, now: Time) -> Time {
        match *self {
            QueueSender::Responsive { window, in_flight, .. } if f64::from(in_flight) + 1.0 <= window => now,
            QueueSender::Responsive { .. } => Time::NEVER,
            QueueSender::Steady { next, .. } => next,
        }
    }

    fn sent(&mut self, rng: &mut Rng) {
        match self {
            QueueSender::Responsive { in_flight, .. } => *in_flight += 1,
            QueueSender::Steady { rate, next } => *next += Span::from_secs_f64(rng.between(0.5, 1.5) / *rate),
        }
    }

    fn on_feedback(&mut self, lost: bool, now: Time) {
        let QueueSender::Responsive { window, in_flight, deaf_until } = self else { return };
        *in_flight -= 1;
        if !lost {
            *window += 1.0 / *window;
        } else if now >= *deaf_until {
            *window = (*window / 2.0).max(1.0);
            *deaf_until = now + RTT;
        }
    }
}

/// Acknowledgements and losses that have not reached their senders.
#[derive(Default)]
struct Feedback(VecDeque<(Time, FlowId, bool)>);

impl Sink<()> for Feedback {
    fn dropped(&mut self, packet: Packet<()>, _: Why, now: Time) {
        self.0.push_back((now + RTT, packet.flow, true));
    }
    fn marked(&mut self, _: &Packet<()>, _: Why, _: Time) {}
}

/// Measurements after the warm-up.
#[derive(Default)]
pub struct QueueTotals {
    /// Packets sent, by flow.
    pub sent: Vec<u64>,
    pub counts: Counts,
    /// Every gauge, and the queue length in packets, once per tick.
    pub gauges: BTreeMap<&'static str, Vec<f64>>,
}

impl QueueTotals {
    pub fn share(&self, flow: usize) -> f64 {
        self.sent[flow] as f64 / self.sent.iter().sum::<u64>() as f64
    }
    pub fn utilization(&self) -> f64 {
        self.sent.iter().sum::<u64>() as f64 / (CAPACITY * (END - WARMUP).as_secs_f64())
    }
    pub fn mean(&self, gauge: &str) -> f64 {
        self.gauges[gauge].iter().sum::<f64>() / self.gauges[gauge].len() as f64
    }
    pub fn part(&self, gauge: &str, holds: impl Fn(f64) -> bool) -> f64 {
        self.gauges[gauge].iter().filter(|value| holds(**value)).count() as f64 / self.gauges[gauge].len() as f64
    }
}

/// Runs `senders` through `qdisc`, written like `red:maxp=0.1,wq=0.002`.
pub fn run(qdisc: &str, mut senders: Vec<QueueSender>) -> QueueTotals {
    let (name, settings) = qdisc.split_once(':').unwrap_or((qdisc, ""));
    let settings: Vec<(&str, &str)> = settings.split(',').filter_map(|pair| pair.split_once('=')).collect();
    let mut port = Port::new(registry::boxed::<()>(name, &settings, &LINK).unwrap(), Rng::named(1, "port"));
    let (mut back, mut rng) = (Feedback::default(), Rng::named(1, "senders"));
    let mut seen = QueueTotals { sent: vec![0; senders.len()], ..QueueTotals::default() };
    let (mut now, mut free, mut tick, mut idle) = (Time::ZERO, Time::ZERO, WARMUP, false);
    loop {
        let flow = (0..senders.len()).min_by_key(|flow| senders[*flow].next(now)).unwrap();
        let arrival = senders[flow].next(now);
        let news = back.0.front().map_or(Time::NEVER, |(due, ..)| *due);
        let departure = if idle { Time::NEVER } else { free };
        now = arrival.min(news).min(departure);
        if now >= END {
            break;
        }
        while tick <= now {
            seen.gauges.entry("queue").or_default().push(f64::from(port.backlog().packets));
            port.gauges().into_iter().for_each(|(name, value)| seen.gauges.entry(name).or_default().push(value));
            tick += TICK;
        }
        if now == news {
            let (_, flow, lost) = back.0.pop_front().unwrap();
            senders[flow.0 as usize].on_feedback(lost, now);
            continue;
        }
        if now == arrival {
            port.enqueue(Packet::new(FlowId(flow as u64), PACKET, ()), now, &mut back);
            senders[flow].sent(&mut rng);
            // An idle link dequeues at each arrival, a busy link when it becomes free.
            if !idle {
                continue;
            }
        }
        let packet = port.dequeue(now, &mut back);
        idle = packet.is_none();
        if let Some(packet) = packet {
            free = now + LINK.rate.transmit(packet.bytes);
            seen.sent[packet.flow.0 as usize] += u64::from(now >= WARMUP);
            back.0.push_back((now + RTT, packet.flow, false));
        }
    }
    seen.counts = port.totals().counts().clone();
    seen
}

/// Ten responsive senders, and one that sends `times` the link's rate.
pub fn flood(times: f64) -> Vec<QueueSender> {
    let mut senders = responsive(10);
    senders.push(steady(times * CAPACITY));
    senders
}

pub const FLOOD: usize = 10;
