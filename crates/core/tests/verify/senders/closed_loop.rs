//! A link with senders that respond to drops and marks by additive increase and multiplicative decrease, without the
//! rest of TCP.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use aqm::{Ecn, FlowId, LinkInfo, Packet, Port, Rate, Rng, Sink, Span, Time, Totals, registry};

/// Bytes of each AIMD sender's packets.
const BYTES: u32 = 1500;
/// End of the warm-up: counting starts here.
pub const WARMUP: Time = Time::from_nanos(10_000_000_000);

/// A sender.
#[derive(Clone, Copy, Debug)]
pub enum LoopSender {
    /// Adds one packet to its window per round trip, and halves the window after a drop or mark, at most once per round
    /// trip. `rtt` excludes the queue; `ect` makes its packets ECN-capable.
    Aimd { rtt: Span, ect: bool },
    /// Like `Aimd`, but each mark reduces the window by half a packet, and packets are ECT(1). This is a Scalable
    /// control (RFC 9332, section 1.2), like DCTCP with evenly spaced marks.
    Scalable { rtt: Span },
    /// Unresponsive: sends packets of `bytes` at `rate` a second, with gaps uniform in 0 to 2 times the mean.
    Constant { rate: f64, bytes: u32 },
}

impl LoopSender {
    /// Its round-trip time, if it responds.
    fn rtt(self) -> Option<Span> {
        match self {
            LoopSender::Aimd { rtt, .. } | LoopSender::Scalable { rtt } => Some(rtt),
            LoopSender::Constant { .. } => None,
        }
    }

    fn ecn(self) -> Ecn {
        match self {
            LoopSender::Aimd { ect: true, .. } => Ecn::Ect0,
            LoopSender::Scalable { .. } => Ecn::Ect1,
            LoopSender::Aimd { .. } | LoopSender::Constant { .. } => Ecn::NotEct,
        }
    }
}

/// Measurements after the warm-up.
pub struct LoopMeasurements {
    /// Queueing delays of sent packets in ms, by flow.
    delays: Vec<Vec<f64>>,
    /// Each flow's share of the link.
    pub shares: Vec<f64>,
    /// All counts since the start.
    pub totals: Totals,
    pub gauges: Vec<(&'static str, f64)>,
}

impl LoopMeasurements {
    /// Utilization of the link.
    pub fn used(&self) -> f64 {
        self.shares.iter().sum()
    }

    /// The `part` quantile of the queueing delay, in ms.
    pub fn delay(&self, part: f64) -> f64 {
        let mut all = self.delays.concat();
        all.sort_by(f64::total_cmp);
        all[(part * (all.len() - 1) as f64) as usize]
    }

    /// The `part` quantile of one flow's queueing delay, in ms.
    pub fn delay_of(&self, flow: usize, part: f64) -> f64 {
        let mut own = self.delays[flow].clone();
        own.sort_by(f64::total_cmp);
        own[(part * (own.len() - 1) as f64) as usize]
    }

    /// The mean queueing delay in ms.
    pub fn mean_delay(&self) -> f64 {
        let all = self.delays.concat();
        all.iter().sum::<f64>() / all.len() as f64
    }

    pub fn gauge(&self, name: &str) -> f64 {
        self.gauges.iter().find(|(gauge, _)| *gauge == name).expect("a gauge of this name").1
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LoopEvent {
    Free,
    /// The sender learns the outcome of the packet that it sent at `sent`.
    Heard {
        flow: usize,
        sent: Time,
        signal: bool,
    },
    Due {
        flow: usize,
    },
}

struct LoopFlow {
    sender: LoopSender,
    window: f64,
    in_flight: u32,
    slow_start: bool,
    /// Ignores drops and marks of packets sent before this time.
    cut: Time,
}

/// Dropped packets, to report to their senders.
#[derive(Default)]
struct LostPackets(Vec<(usize, Time)>);

impl Sink<Time> for LostPackets {
    fn dropped(&mut self, packet: Packet<Time>, _: aqm::Why, _: Time) {
        self.0.push((packet.flow.0 as usize, packet.handle));
    }
    fn marked(&mut self, _: &Packet<Time>, _: aqm::Why, _: Time) {}
}

struct ClosedLoop {
    port: Port<Time>,
    rate: Rate,
    flows: Vec<LoopFlow>,
    events: BinaryHeap<Reverse<(Time, u64, LoopEvent)>>,
    count: u64,
    busy: bool,
    rng: Rng,
    delays: Vec<Vec<f64>>,
    bytes: Vec<f64>,
}

/// `senders` through `qdisc`, as in `codel:target=5ms`, on a link of `rate`, for `seconds` after the warm-up.
pub fn run(qdisc: &str, rate: Rate, senders: &[LoopSender], seconds: u64) -> LoopMeasurements {
    let (name, settings) = qdisc.split_once(':').unwrap_or((qdisc, ""));
    let settings: Vec<(&str, &str)> = settings.split(',').filter_map(|pair| pair.split_once('=')).collect();
    let discipline = registry::boxed(name, &settings, &LinkInfo::new(rate, BYTES, 7)).unwrap();
    let new = |sender: &LoopSender| LoopFlow {
        sender: *sender,
        window: 2.0,
        in_flight: 0,
        slow_start: true,
        cut: Time::ZERO,
    };
    let mut the = ClosedLoop {
        port: Port::new(discipline, Rng::named(1, "port")),
        rate,
        flows: senders.iter().map(new).collect(),
        events: BinaryHeap::new(),
        count: 0,
        busy: false,
        rng: Rng::named(1, "senders"),
        delays: vec![Vec::new(); senders.len()],
        bytes: vec![0.0; senders.len()],
    };
    for flow in 0..senders.len() {
        let first = Time::ZERO + Span::from_micros(the.rng.bits() % 100_000);
        the.schedule(first, LoopEvent::Due { flow });
    }
    let end = WARMUP + Span::from_secs(seconds);
    while let Some(Reverse((now, _, event))) = the.events.pop().filter(|Reverse((now, ..))| *now < end) {
        the.handle_event(now, event);
    }
    let capacity = rate.as_bits() as f64 / 8.0 * seconds as f64;
    let shares = the.bytes.iter().map(|bytes| bytes / capacity).collect();
    LoopMeasurements { delays: the.delays, shares, totals: the.port.totals().clone(), gauges: the.port.gauges() }
}

impl ClosedLoop {
    fn schedule(&mut self, at: Time, event: LoopEvent) {
        self.count += 1;
        self.events.push(Reverse((at, self.count, event)));
    }

    fn handle_event(&mut self, now: Time, event: LoopEvent) {
        match event {
            LoopEvent::Free => {
                self.busy = false;
                self.send(now);
            }
            LoopEvent::Due { flow } => match self.flows[flow].sender {
                LoopSender::Aimd { .. } | LoopSender::Scalable { .. } => self.fill(flow, now),
                LoopSender::Constant { rate, bytes } => {
                    self.arrive(Packet::new(FlowId(flow as u64), bytes, now), now);
                    let gap = Span::from_secs_f64(self.rng.between(0.0, 2.0) / rate);
                    self.schedule(now + gap, LoopEvent::Due { flow });
                }
            },
            LoopEvent::Heard { flow, sent, signal } => {
                let sender = &mut self.flows[flow];
                sender.in_flight -= 1;
                if signal && matches!(sender.sender, LoopSender::Scalable { .. }) {
                    (sender.window, sender.slow_start) = ((sender.window - 0.5).max(2.0), false);
                } else if signal {
                    if sent > sender.cut {
                        sender.window = (sender.window / 2.0).max(2.0);
                        (sender.cut, sender.slow_start) = (now, false);
                    }
                } else {
                    sender.window += if sender.slow_start { 1.0 } else { 1.0 / sender.window };
                }
                self.fill(flow, now);
            }
        }
    }

    /// Sends all packets that the window allows.
    fn fill(&mut self, flow: usize, now: Time) {
        let ecn = self.flows[flow].sender.ecn();
        while f64::from(self.flows[flow].in_flight) + 1.0 <= self.flows[flow].window {
            self.flows[flow].in_flight += 1;
            self.arrive(Packet { ecn, ..Packet::new(FlowId(flow as u64), BYTES, now) }, now);
        }
    }

    fn arrive(&mut self, packet: Packet<Time>, now: Time) {
        let mut lost = LostPackets::default();
        self.port.enqueue(packet, now, &mut lost);
        self.report_drops(lost, now);
        if !self.busy {
            self.send(now);
        }
    }

    fn send(&mut self, now: Time) {
        let mut lost = LostPackets::default();
        let packet = self.port.dequeue(now, &mut lost);
        self.report_drops(lost, now);
        let Some(packet) = packet else { return };
        self.busy = true;
        self.schedule(now + self.rate.transmit(packet.bytes), LoopEvent::Free);
        let flow = packet.flow.0 as usize;
        if now >= WARMUP {
            self.delays[flow].push((now - packet.arrived).as_secs_f64() * 1000.0);
            self.bytes[flow] += f64::from(packet.bytes);
        }
        if let Some(rtt) = self.flows[flow].sender.rtt() {
            let signal = packet.ecn == Ecn::Ce;
            self.schedule(now + rtt, LoopEvent::Heard { flow, sent: packet.handle, signal });
        }
    }

    /// A sender learns of a drop one round trip later, as by duplicate acknowledgements.
    fn report_drops(&mut self, lost: LostPackets, now: Time) {
        for (flow, sent) in lost.0 {
            if let Some(rtt) = self.flows[flow].sender.rtt() {
                self.schedule(now + rtt, LoopEvent::Heard { flow, sent, signal: true });
            }
        }
    }
}
