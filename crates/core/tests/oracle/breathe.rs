//! BREATHe: Chang and Lin 2008, section 3, with RED of Floyd and Jacobson 1993, figure 2. The set follows algorithm 1
//! of the journal's HTML edition, and Karp, Shenker and Papadimitriou 2003: a list of counters and a loop over the
//! list.

use std::collections::VecDeque;

use aqm::disciplines::{Breathe, BreatheConfig};
use aqm::{Discipline, LinkInfo, Params, Rate, Rng, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

/// The link of the traffic, in bits per second, and its mean packet in bytes.
const RATE: f64 = 10e6;
const MEAN: f64 = 1000.0;

struct Plain {
    /// In packets, or in bytes.
    limit: f64,
    minth: f64,
    maxth: f64,
    maxp: f64,
    wq: f64,
    counters: usize,
    bytes: bool,
    ecn: bool,
    queue: VecDeque<Arrival>,
    avg: f64,
    count: f64,
    idle_since: Option<f64>,
    hhs: Vec<(u64, f64)>,
}

impl Plain {
    fn length(&self) -> f64 {
        if self.bytes { self.queue.iter().map(|packet| f64::from(packet.bytes)).sum() } else { self.queue.len() as f64 }
    }

    fn update_average(&mut self, now: f64) {
        match self.idle_since {
            Some(since) if self.queue.is_empty() => {
                let slot = MEAN * 8.0 / RATE;
                self.avg *= (1.0 - self.wq).powf((now - since) / slot);
                self.idle_since = Some(now);
            }
            _ => self.avg = (1.0 - self.wq) * self.avg + self.wq * self.length(),
        }
    }

    /// Whether RED drops this packet between the thresholds.
    fn red(&mut self, packet: &Arrival, rng: &mut Rng) -> bool {
        self.count += 1.0;
        let mut pb = self.maxp * (self.avg - self.minth) / (self.maxth - self.minth);
        if self.bytes {
            pb *= f64::from(packet.bytes) / MEAN;
        }
        let pa = if self.count * pb < 1.0 { (pb / (1.0 - self.count * pb)).min(1.0) } else { 1.0 };
        let hit = rng.chance(pa);
        if hit {
            self.count = 0.0;
        }
        hit
    }

    fn count_served(&mut self, packet: &Arrival) {
        let mut weight = if self.bytes { f64::from(packet.bytes) } else { 1.0 };
        let known = self.hhs.iter().any(|(flow, _)| *flow == packet.flow);
        if !known && self.hhs.len() == self.counters {
            let least = self.hhs.iter().map(|(_, count)| *count).fold(f64::INFINITY, f64::min);
            let taken = least.min(weight);
            for (_, count) in &mut self.hhs {
                *count -= taken;
            }
            self.hhs.retain(|(_, count)| *count > 0.0);
            weight -= taken;
        }
        if weight > 0.0 {
            match self.hhs.iter_mut().find(|(flow, _)| *flow == packet.flow) {
                Some((_, count)) => *count += weight,
                None => self.hhs.push((packet.flow, weight)),
            }
        }
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.update_average(now);
        let (number, size) = (packet.number, if self.bytes { f64::from(packet.bytes) } else { 1.0 });
        let mut decided = Vec::new();
        let between = self.minth <= self.avg && self.avg < self.maxth;
        if between && self.hhs.iter().any(|(flow, _)| *flow == packet.flow) {
            return vec![Decision::Dropped(number, Why::HeavyHitter)];
        }
        if self.length() + size > self.limit {
            self.count = 0.0;
            return vec![Decision::Dropped(number, Why::Overflow)];
        }
        if self.avg < self.minth {
            self.count = -1.0;
        } else if self.avg >= self.maxth {
            self.count = 0.0;
            return vec![Decision::Dropped(number, Why::Forced)];
        } else if self.red(&packet, rng) {
            if !(self.ecn && packet.ect()) {
                return vec![Decision::Dropped(number, Why::Early)];
            }
            decided.push(Decision::Marked(number, Why::Early));
        }
        self.count_served(&packet);
        self.queue.push_back(packet);
        decided
    }

    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        match self.queue.pop_front() {
            Some(packet) => {
                self.idle_since = None;
                vec![Decision::Sent(packet.number)]
            }
            None => {
                self.idle_since.get_or_insert(now);
                Vec::new()
            }
        }
    }

    fn state(&self) -> NamedState {
        let mut hhs = self.hhs.clone();
        hhs.sort_by_key(|(flow, _)| *flow);
        let flows = hhs.iter().map(|(flow, count)| entry(format!("counter of {flow}"), *count));
        let red = [entry("average", self.avg), entry("count", self.count)];
        red.into_iter().chain([entry("packets", self.queue.len() as u32)]).chain(flows).collect()
    }
}

fn look(queue: &Breathe<usize>) -> NamedState {
    let mut flows: Vec<_> = queue.heavy_hitters().collect();
    flows.sort();
    let flows = flows.iter().map(|(flow, count)| entry(format!("counter of {}", flow.0), *count as f64));
    let red = [entry("average", queue.detector().average()), entry("count", queue.detector().count() as f64)];
    red.into_iter().chain([entry("packets", queue.backlog().packets)]).chain(flows).collect()
}

fn case(settings: &[(&str, &str)], plain: Plain, traffic: TrafficMix) {
    let config = BreatheConfig::from_settings(settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(RATE as u64), MEAN as u32, 7);
    agree(Breathe::new(config, &link).unwrap(), plain, |queue, _| look(queue), traffic);
}

/// The defaults, with a buffer of `limit`.
fn plain(limit: f64, counters: usize) -> Plain {
    let (minth, maxth) = (limit / 4.0, limit / 2.0);
    let (queue, hhs) = (VecDeque::new(), Vec::new());
    let (avg, count, idle_since) = (0.0, -1.0, None);
    let (maxp, wq, bytes, ecn) = (0.1, 0.002, false, true);
    Plain { limit, minth, maxth, maxp, wq, counters, bytes, ecn, queue, avg, count, idle_since, hhs }
}

#[test]
fn breathe_with_the_papers_parameters() {
    case(&[("limit", "100p")], plain(100.0, 5), TrafficMix::mixed(1));
}

#[test]
fn breathe_with_three_counters_a_quick_average_and_no_marks() {
    let plain = Plain { wq: 0.05, minth: 10.0, maxth: 35.0, maxp: 0.5, ecn: false, ..plain(40.0, 3) };
    let settings =
        [("limit", "40p"), ("r_limit", "4Mbit/s"), ("wq", "0.05"), ("minth", "10p"), ("maxth", "35p"), ("maxp", "0.5")];
    case(&[&settings[..], &[("ecn", "off")]].concat(), plain, TrafficMix::even(2));
}

#[test]
fn breathe_in_byte_mode() {
    let traffic = TrafficMix { flows: 60, sizes: &[1500, 1000, 576, 40], ..TrafficMix::mixed(3) };
    let settings = [("limit", "80KB"), ("r_limit", "600kbit/s"), ("wq", "0.01"), ("byte_mode", "on")];
    case(&settings, Plain { wq: 0.01, bytes: true, ..plain(80e3, 17) }, traffic);
}
