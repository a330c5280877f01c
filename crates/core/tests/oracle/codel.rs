//! CoDel: the pseudocode of RFC 8289, section 5, which only drops. Marks follow Linux's `codel_dequeue`.

use std::collections::VecDeque;

use aqm::disciplines::{Codel, CodelConfig};
use aqm::{LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

/// The control loop. Times are in nanoseconds. As in the pseudocode, 0 in `first_above_time` means never.
#[derive(Clone, Debug)]
pub struct PlainCodelLoop {
    pub target: i64,
    pub interval: i64,
    pub maxpacket: u64,
    pub ecn: bool,
    pub newton: bool,
    pub ce_threshold: i64,
    pub first_above_time: i64,
    pub drop_next: i64,
    pub count: u32,
    pub lastcount: u32,
    pub dropping: bool,
    pub rec_inv_sqrt: u16,
}

/// A packet with its arrival time.
pub type TimedArrival = (Arrival, i64);

/// The queue that the loop controls.
pub trait Queue {
    fn deque(&mut self) -> Option<TimedArrival>;
    fn bytes(&self) -> u64;
}

impl PlainCodelLoop {
    pub fn new(target_ms: f64, interval_ms: f64) -> PlainCodelLoop {
        PlainCodelLoop {
            target: (target_ms * 1e6) as i64,
            interval: (interval_ms * 1e6) as i64,
            maxpacket: 1514,
            ecn: true,
            newton: false,
            ce_threshold: i64::MAX,
            first_above_time: 0,
            drop_next: 0,
            count: 0,
            lastcount: 0,
            dropping: false,
            rec_inv_sqrt: 0,
        }
    }

    fn control_law(&self, t: i64) -> i64 {
        if self.newton {
            return t + ((self.interval as i128 * self.rec_inv_sqrt as i128) >> 16) as i64;
        }
        t + (self.interval as f64 / f64::from(self.count).sqrt()) as i64
    }

    /// codel_Newton_step, in Q0.32, of which 16 bits are stored.
    fn newton_step(&mut self) {
        let invsqrt = (self.rec_inv_sqrt as u64) << 16;
        let invsqrt2 = (invsqrt * invsqrt) >> 32;
        let val = (3_u64 << 32).wrapping_sub((self.count as u64).wrapping_mul(invsqrt2));
        self.rec_inv_sqrt = (((val >> 2).wrapping_mul(invsqrt)) >> 31 >> 16) as u16;
    }

    fn dodequeue(&mut self, queue: &mut impl Queue, now: i64) -> (Option<TimedArrival>, bool) {
        let Some(packet) = queue.deque() else {
            self.first_above_time = 0;
            return (None, false);
        };
        let sojourn_time = now - packet.1;
        let mut ok_to_drop = false;
        if sojourn_time < self.target || queue.bytes() <= self.maxpacket {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = now + self.interval;
        } else if now >= self.first_above_time {
            ok_to_drop = true;
        }
        (Some(packet), ok_to_drop)
    }

    /// Returns the packet to send and appends drops and marks to `said`.
    pub fn deque(&mut self, queue: &mut impl Queue, now: i64, said: &mut Vec<Decision>) -> Option<TimedArrival> {
        let (mut packet, mut ok_to_drop) = self.dodequeue(queue, now);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.count += 1;
                self.newton_step();
                let (head, _) = packet.unwrap();
                if self.ecn && head.ect() {
                    said.push(Decision::Marked(head.number, Why::Sojourn));
                    self.drop_next = self.control_law(self.drop_next);
                    break;
                }
                said.push(Decision::Dropped(head.number, Why::Sojourn));
                (packet, ok_to_drop) = self.dodequeue(queue, now);
                if !ok_to_drop {
                    self.dropping = false;
                } else {
                    self.drop_next = self.control_law(self.drop_next);
                }
            }
        } else if ok_to_drop {
            let (head, _) = packet.unwrap();
            if self.ecn && head.ect() {
                said.push(Decision::Marked(head.number, Why::Sojourn));
            } else {
                said.push(Decision::Dropped(head.number, Why::Sojourn));
                (packet, _) = self.dodequeue(queue, now);
            }
            self.dropping = true;
            let delta = self.count - self.lastcount;
            if delta > 1 && now - self.drop_next < 16 * self.interval {
                self.count = delta;
                self.newton_step();
            } else {
                self.count = 1;
                self.rec_inv_sqrt = u16::MAX;
            }
            self.lastcount = self.count;
            self.drop_next = self.control_law(now);
        }
        if let Some((head, came)) = packet
            && self.ecn
            && head.ect()
            && now - came > self.ce_threshold
        {
            said.push(Decision::Marked(head.number, Why::Sojourn));
        }
        packet
    }

    pub fn state(&self) -> NamedState {
        vec![
            entry("first_above", self.first_above_time as f64),
            entry("drop_next", self.drop_next as f64),
            entry("count", self.count),
            entry("last_count", self.lastcount),
            entry("dropping", u8::from(self.dropping)),
        ]
    }
}

/// The state of the discipline under test.
pub fn seen(state: &aqm::parts::CodelLoop) -> NamedState {
    vec![
        entry("first_above", state.first_above.unwrap_or(Time::ZERO).as_nanos() as f64),
        entry("drop_next", state.drop_next.as_nanos() as f64),
        entry("count", state.count),
        entry("last_count", state.last_count),
        entry("dropping", u8::from(state.dropping)),
    ]
}

pub fn nanos(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

struct Plain {
    limit: usize,
    queue: Fifo,
    codel: PlainCodelLoop,
}

struct Fifo(VecDeque<TimedArrival>);

impl Queue for Fifo {
    fn deque(&mut self) -> Option<TimedArrival> {
        self.0.pop_front()
    }
    fn bytes(&self) -> u64 {
        self.0.iter().map(|(packet, _)| u64::from(packet.bytes)).sum()
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, _: &mut Rng) -> Vec<Decision> {
        if self.queue.0.len() == self.limit {
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        self.queue.0.push_back((packet, nanos(now)));
        Vec::new()
    }
    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        let mut said = Vec::new();
        let packet = self.codel.deque(&mut self.queue, nanos(now), &mut said);
        said.extend(packet.map(|(packet, _)| Decision::Sent(packet.number)));
        said
    }
    fn state(&self) -> NamedState {
        let mut state = self.codel.state();
        state.extend([entry("packets", self.queue.0.len() as u32), entry("bytes", self.queue.bytes() as f64)]);
        state
    }
}

fn check(settings: &[(&str, &str)], limit: usize, codel: PlainCodelLoop, traffic: TrafficMix) {
    let config = CodelConfig::from_settings(settings).unwrap();
    let discipline = Codel::new(config, &LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7)).unwrap();
    let look = |codel: &Codel<usize>, _| {
        let held = aqm::Discipline::<usize>::backlog(codel);
        let mut state = seen(codel.state());
        state.extend([entry("packets", held.packets), entry("bytes", held.bytes as f64)]);
        state
    };
    agree(discipline, Plain { limit, queue: Fifo(VecDeque::new()), codel }, look, traffic);
}

#[test]
fn codel_does_what_the_rfc_writes() {
    check(&[], 1000, PlainCodelLoop::new(5.0, 100.0), TrafficMix::mixed(1));
    // With shorter spells, the dropping state ends and begins often.
    let restless = TrafficMix { spell: 0.12, loads: &[0.0, 0.7, 1.1, 2.0], ..TrafficMix::mixed(2) };
    let quick = PlainCodelLoop { maxpacket: 600, ..PlainCodelLoop::new(1.0, 20.0) };
    check(&[("limit", "150p"), ("target", "1ms"), ("interval", "20ms"), ("mtu", "600B")], 150, quick, restless);
    let marking = PlainCodelLoop { ce_threshold: 30_000_000, ..PlainCodelLoop::new(5.0, 100.0) };
    check(
        &[("limit", "400p"), ("ce_threshold", "30ms")],
        400,
        marking,
        TrafficMix { ect: 1.0, ..TrafficMix::mixed(3) },
    );
}

#[test]
fn codel_with_linux_settings_does_what_linux_does() {
    let linux = PlainCodelLoop { ecn: false, newton: true, ..PlainCodelLoop::new(5.0, 100.0) };
    check(&[("preset", "linux")], 1000, linux.clone(), TrafficMix::mixed(4));
    let marking = PlainCodelLoop { ecn: true, ..linux };
    check(&[("preset", "linux"), ("ecn", "on")], 1000, marking, TrafficMix { spell: 0.12, ..TrafficMix::mixed(5) });
}
