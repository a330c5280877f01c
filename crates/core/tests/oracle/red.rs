//! RED: Floyd, Jacobson, "Random early detection gateways for congestion avoidance", IEEE/ACM ToN 1(4), 1993, figure 2,
//! with the variants that docs/disciplines/red.md names.

use std::collections::VecDeque;

use aqm::disciplines::{Red, RedConfig};
use aqm::{Discipline, Ecn, FlowId, LinkInfo, Packet, Params, Port, Rate, Rng, Span, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

/// The settings in numbers. Thresholds and weight are computed by hand for each case.
#[derive(Clone, Copy)]
pub struct Set {
    /// The limit in packets and in bytes.
    pub room: (usize, u64),
    pub minth: f64,
    pub maxth: f64,
    pub maxp: f64,
    pub wq: f64,
    /// Transmission time of a mean packet in seconds, and its bytes.
    pub s: f64,
    pub mean: f64,
    /// Byte mode: q counts bytes.
    pub bytes: bool,
    pub by_size: bool,
    pub gentle: bool,
    pub wait: bool,
    pub spare_first: bool,
    pub spare_below: usize,
    pub ecn: bool,
    pub mark_above: bool,
}

/// A buffer of 150 packets with thresholds of 50 and 100, and the values of 1993. Packets have 1000 B, the link 10
/// Mbit/s.
pub const PLAIN: Set = Set {
    room: (150, u64::MAX),
    minth: 50.0,
    maxth: 100.0,
    maxp: 0.02,
    wq: 0.002,
    s: 0.0008,
    mean: 1000.0,
    bytes: false,
    by_size: false,
    gentle: false,
    wait: false,
    spare_first: false,
    spare_below: 0,
    ecn: true,
    mark_above: false,
};

/// The paper's figure 2, with a list of packets as queue.
pub struct Figure2 {
    pub set: Set,
    pub queue: VecDeque<Arrival>,
    pub avg: f64,
    pub count: i64,
    /// Start of the idle time, if the queue is empty.
    pub q_time: Option<f64>,
    /// The paper's maxp, which variants change.
    pub maxp: f64,
}

impl Figure2 {
    pub fn new(set: Set) -> Figure2 {
        Figure2 { set, queue: VecDeque::new(), avg: 0.0, count: -1, q_time: None, maxp: set.maxp }
    }

    pub fn q(&self) -> f64 {
        if self.set.bytes { self.queue.iter().map(|p| f64::from(p.bytes)).sum() } else { self.queue.len() as f64 }
    }

    /// "calculate the new average queue size avg".
    pub fn calculate_average(&mut self, now: f64) {
        if let (true, Some(q_time)) = (self.queue.is_empty(), self.q_time) {
            let m = (now - q_time) / self.set.s;
            self.avg *= (1.0 - self.set.wq).powf(m);
            // A dropped packet does not end the idle time.
            self.q_time = Some(now);
        } else {
            self.avg = (1.0 - self.set.wq) * self.avg + self.set.wq * self.q();
        }
    }

    pub fn pb(&self) -> f64 {
        let Set { minth, maxth, gentle, .. } = self.set;
        if self.avg < minth {
            0.0
        } else if self.avg < maxth {
            self.maxp * (self.avg - minth) / (maxth - minth)
        } else if gentle && self.avg < 2.0 * maxth {
            self.maxp + (1.0 - self.maxp) * (self.avg - maxth) / maxth
        } else {
            1.0
        }
    }

    fn pa(&self, pb: f64) -> f64 {
        let count = self.count as f64;
        if self.set.wait {
            match count * pb {
                used if used < 1.0 => 0.0,
                used if used < 2.0 => (pb / (2.0 - used)).min(1.0),
                _ => 1.0,
            }
        } else if count * pb < 1.0 {
            (pb / (1.0 - count * pb)).min(1.0)
        } else {
            1.0
        }
    }

    pub fn has_room(&self, packet: &Arrival) -> bool {
        let held: u64 = self.queue.iter().map(|p| u64::from(p.bytes)).sum();
        self.queue.len() < self.set.room.0 && held + u64::from(packet.bytes) <= self.set.room.1
    }

    /// Drops, marks or stores a packet, for the updated average.
    pub fn judge(&mut self, packet: Arrival, rng: &mut Rng) -> Vec<Decision> {
        if !self.has_room(&packet) {
            self.count = 0;
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        let top = if self.set.gentle { 2.0 * self.set.maxth } else { self.set.maxth };
        let marks = self.set.ecn && packet.ect();
        let mut decisions = Vec::new();
        if self.avg < self.set.minth || self.queue.len() < self.set.spare_below {
            self.count = -1;
        } else if self.avg < top {
            self.count += 1;
            let size = if self.set.by_size { f64::from(packet.bytes) / self.set.mean } else { 1.0 };
            let spared = self.set.spare_first && self.count == 0;
            let pa = if spared { 0.0 } else { self.pa(self.pb() * size) };
            if rng.chance(pa) {
                self.count = 0;
                if !marks {
                    return vec![Decision::Dropped(packet.number, Why::Early)];
                }
                decisions.push(Decision::Marked(packet.number, Why::Early));
            }
        } else {
            self.count = 0;
            if !(marks && self.set.mark_above) {
                return vec![Decision::Dropped(packet.number, Why::Forced)];
            }
            decisions.push(Decision::Marked(packet.number, Why::Forced));
        }
        self.queue.push_back(packet);
        decisions
    }

    pub fn take(&mut self, now: f64) -> Option<Arrival> {
        let packet = self.queue.pop_front();
        match packet {
            Some(_) => self.q_time = None,
            None => self.q_time = self.q_time.or(Some(now)),
        }
        packet
    }
}

impl Oracle for Figure2 {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.calculate_average(now);
        self.judge(packet, rng)
    }
    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        self.take(now).map(|packet| Decision::Sent(packet.number)).into_iter().collect()
    }
    fn state(&self) -> NamedState {
        let held: f64 = self.queue.iter().map(|p| f64::from(p.bytes)).sum();
        vec![
            entry("avg", self.avg),
            entry("count", self.count as f64),
            entry("pb", self.pb()),
            entry("packets", self.queue.len() as u32),
            entry("bytes", held),
        ]
    }
}

const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);

fn look(red: &Red<usize>, _: Time) -> NamedState {
    let (detector, held) = (red.detector(), red.backlog());
    vec![
        entry("avg", detector.average()),
        entry("count", detector.count() as f64),
        entry("pb", detector.probability()),
        entry("packets", held.packets),
        entry("bytes", held.bytes as f64),
    ]
}

fn compare(settings: &str, set: Set, traffic: TrafficMix) {
    let settings: Vec<(&str, &str)> = settings.split(',').filter_map(|pair| pair.split_once('=')).collect();
    let config = RedConfig::from_settings(&settings).unwrap();
    agree(Red::new(config, &LINK).unwrap(), Figure2::new(set), look, traffic);
}

#[test]
fn red_of_1993_packet_by_packet() {
    compare("limit=150p,minth=50p,maxth=100p", PLAIN, TrafficMix::even(1));
    let fast = Set { minth: 5.0, maxth: 15.0, wq: 0.02, maxp: 0.1, ecn: false, ..PLAIN };
    compare("limit=150p,minth=5p,maxth=15p,wq=0.02,maxp=0.1,ecn=off", fast, TrafficMix::mixed(2));
    let small = Set { room: (20, u64::MAX), minth: 4.0, maxth: 19.0, maxp: 0.5, wq: 0.2, mark_above: true, ..PLAIN };
    compare("limit=20p,minth=4p,maxth=19p,maxp=0.5,wq=0.2,mark_above_maxth=on", small, TrafficMix::mixed(3));
}

#[test]
fn red_in_bytes_gentle_and_spaced_as_in_ns2() {
    // For 10 Mbit/s and 500 B: C = 2500, minth 2.5 ms of it = 6.25 packets, maxth 18.75; wq = 1 - exp(-1/2500).
    let wq = 1.0 - (-1.0f64 / 2500.0).exp();
    let (minth, maxth) = (6.25 * 500.0, 18.75 * 500.0);
    let ns2 = Set { room: (100, u64::MAX), minth, maxth, maxp: 0.1, wq, s: 0.0004, mean: 500.0, ecn: false, ..PLAIN };
    let bytes = Set { bytes: true, by_size: true, gentle: true, wait: true, spare_first: true, spare_below: 1, ..ns2 };
    compare("preset=ns2,limit=100p", bytes, TrafficMix::mixed(4));
    compare("preset=ns2,limit=100p,ecn=on,wq=0.05", Set { ecn: true, wq: 0.05, ..bytes }, TrafficMix::mixed(5));
}

#[test]
fn red_with_tcs_defaults() {
    // 120 KB: max 30 000, min 8.3333 % = 9999.96; burst (2 x 10 + 30)/3 = 16, 7 <= 8 (1 - (7/8)^16) = 7.05, so W = 3.
    let tc = Set { room: (usize::MAX, 120_000), minth: 9999.96, maxth: 30_000.0, wq: 0.125, bytes: true, ..PLAIN };
    let tc = Set { spare_first: true, ecn: false, mark_above: true, ..tc };
    compare("preset=linux,limit=120KB", tc, TrafficMix::mixed(6));
    compare("preset=linux,limit=120KB,ecn=on", Set { ecn: true, ..tc }, TrafficMix::mixed(7));
}
/// One line of the trace, computed by hand.
#[derive(Clone, Copy)]
enum TraceLine {
    /// An arrival: the average and the count after it, and its outcome.
    Arrives(f64, i64, TracedOutcome),
    /// The same for an ECN-capable packet.
    ArrivesEct(f64, i64, TracedOutcome),
    /// A dequeue at this millisecond, and whether a packet was queued.
    Departs(u64, bool),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum TracedOutcome {
    Queued,
    Marked,
    Early,
    Forced,
}

/// minth 2, maxth 6, maxp 1/2, wq 1/2, so pb = (avg - 2)/8; 1000 B take 1 ms. The stream of seed 3 begins 0.051, 0.648,
/// 0.867, 0.845, 0.627, 0.111, 0.180, 0.625, 0.555, 0.025.
#[rustfmt::skip]
const BY_HAND: [TraceLine; 32] = {
    use TraceLine::*;
    use TracedOutcome::*;
    [
        Arrives(0.0, -1, Queued),                 // q 0: avg 0, below minth
        Arrives(0.5, -1, Queued),                 // q 1: avg (0 + 1)/2
        Arrives(1.25, -1, Queued),                // q 2: avg (0.5 + 2)/2
        Arrives(2.125, 0, Queued),                // q 3: pb 1/64, count 0: pa 0.016, draw 0.051
        Arrives(3.0625, 1, Queued),               // q 4: pb 0.133, count 1: pa 0.133/0.867 = 0.153, draw 0.648
        Arrives(4.03125, 2, Queued),              // q 5: pb 0.254, count 2: pa 0.254/0.492 = 0.516, draw 0.867
        Arrives(5.015625, 0, Early),            // q 6: pb 0.377, count 3: 1 - 3 pb < 0, certain, no draw
        Arrives(5.5078125, 1, Queued),            // q 6: pb 0.438, count 1: pa 0.438/0.562 = 0.781, draw 0.845
        Arrives(6.25390625, 0, Forced),         // q 7: above maxth
        Departs(0, true), Departs(1, true), Departs(2, true), Departs(3, true),
        Arrives(4.626953125, 1, Queued),          // q 3: pb 0.328, count 1: pa 0.328/0.672 = 0.489, draw 0.627
        Arrives(4.3134765625, 0, Early),        // q 4: pb 0.289, count 2: pa 0.289/0.422 = 0.686, draw 0.111
        ArrivesEct(4.15673828125, 0, Marked),   // q 4: pb 0.270, count 1: pa 0.270/0.730 = 0.369, draw 0.180
        Arrives(4.578369140625, 1, Queued),       // q 5: pb 0.322, count 1: pa 0.322/0.678 = 0.476, draw 0.625
        Arrives(5.2891845703125, 0, Early),     // q 6: pb 0.411, count 2: 1 - 2 pb = 0.178 < pb, certain, no draw
        Departs(4, true), Departs(5, true), Departs(6, true), Departs(7, true), Departs(8, true), Departs(9, true),
        Departs(10, false),                     // the link becomes idle
        Departs(13, false),                     // dequeued again: idle since 10 ms
        Arrives(0.6611480712890625, -1, Queued),  // 3 ms idle are 3 packets: 5.289/2^3
        Departs(13, true),
        Arrives(0.33057403564453125, -1, Queued), // q 0, but the link is busy: avg (0.661 + 0)/2
        Arrives(0.6652870178222656, -1, Queued),  // q 1
        Arrives(1.3326435089111328, -1, Queued),  // q 2
        Arrives(2.1663217544555664, 0, Queued),   // q 3: pb 0.021, count 0: pa 0.021, draw 0.555; the next draw is 0.025
    ]
};

#[test]
fn red_follows_a_trace_computed_by_hand() {
    let settings = [("limit", "20p"), ("minth", "2p"), ("maxth", "6p"), ("maxp", "0.5"), ("wq", "0.5")];
    let link = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
    let red = Red::<()>::new(RedConfig::from_settings(&settings).unwrap(), &link).unwrap();
    let (mut port, mut now) = (Port::new(red, Rng::new(3)), Time::ZERO);
    for (line, call) in BY_HAND.into_iter().enumerate() {
        let (ecn, average, count, verdict) = match call {
            TraceLine::Arrives(average, count, verdict) => (Ecn::NotEct, average, count, verdict),
            TraceLine::ArrivesEct(average, count, verdict) => (Ecn::Ect0, average, count, verdict),
            TraceLine::Departs(ms, found) => {
                now = Time::ZERO + Span::from_millis(ms);
                assert_eq!(port.dequeue(now, &mut ()).is_some(), found, "line {line}");
                continue;
            }
        };
        let before = port.totals().counts().clone();
        port.enqueue(Packet { ecn, ..Packet::new(FlowId(1), 1000, ()) }, now, &mut ());
        let counts = port.totals().counts();
        let seen = if counts.drops(Why::Forced) > before.drops(Why::Forced) {
            TracedOutcome::Forced
        } else if counts.drops(Why::Early) > before.drops(Why::Early) {
            TracedOutcome::Early
        } else if counts.marked() > before.marked() {
            TracedOutcome::Marked
        } else {
            TracedOutcome::Queued
        };
        let detector = port.discipline().detector();
        assert_eq!((detector.average(), detector.count(), seen), (average, count, verdict), "line {line}");
    }
}
