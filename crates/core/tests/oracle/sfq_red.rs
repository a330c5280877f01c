//! SFQ-RED: a hash, figure 2 of Floyd and Jacobson in each bucket, and round robin.

use std::collections::VecDeque;

use aqm::disciplines::{SfqRed, SfqRedConfig};
use aqm::parts::keyed;
use aqm::{FlowId, LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};
use crate::oracle::red::{Figure2, PLAIN, Set};

const KEY: u64 = 7;

struct Plain {
    /// Limits in packets and in bytes.
    limit: (f64, f64),
    /// Bytes per turn; 0 for one packet.
    quantum: f64,
    buckets: Vec<Figure2>,
    /// Nonempty buckets in the order of their turns, with their credits.
    turns: VecDeque<(usize, f64)>,
    /// Whether the first bucket has received its quantum for this turn.
    paid: bool,
}

impl Plain {
    fn new(limit: (f64, f64), buckets: usize, quantum: f64, set: Set) -> Plain {
        let buckets = (0..buckets).map(|_| Figure2::new(set)).collect();
        Plain { limit, quantum, buckets, turns: VecDeque::new(), paid: false }
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        let at = (keyed(KEY, FlowId(packet.flow)) as f64 / 2f64.powi(64) * self.buckets.len() as f64) as usize;
        self.buckets[at].calculate_average(now);
        let all = || self.buckets.iter().flat_map(|red| &red.queue).map(|packet| f64::from(packet.bytes));
        if all().count() as f64 + 1.0 > self.limit.0 || all().sum::<f64>() + f64::from(packet.bytes) > self.limit.1 {
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        let empty = self.buckets[at].queue.is_empty();
        let decisions = self.buckets[at].judge(packet, rng);
        if empty && !self.buckets[at].queue.is_empty() {
            self.paid &= !self.turns.is_empty();
            self.turns.push_back((at, 0.0));
        }
        decisions
    }

    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        while let Some((at, credit)) = self.turns.front_mut() {
            if !self.paid {
                *credit += self.quantum.max(1.0);
                self.paid = true;
            }
            if *credit > 0.0 {
                let red = &mut self.buckets[*at];
                let packet = red.take(now).unwrap();
                *credit -= if self.quantum > 0.0 { f64::from(packet.bytes) } else { 1.0 };
                if red.queue.is_empty() {
                    // "when queue becomes empty, q_time <- time".
                    red.q_time = Some(now);
                    self.turns.pop_front();
                    self.paid = false;
                }
                return vec![Decision::Sent(packet.number)];
            }
            self.turns.rotate_left(1);
            self.paid = false;
        }
        Vec::new()
    }

    fn state(&self) -> NamedState {
        // By bucket, in order.
        let of = |(at, red): (usize, &Figure2)| {
            let credit = self.turns.iter().find(|(other, _)| *other == at).map_or(0.0, |(_, credit)| *credit);
            [("avg", red.avg), ("count", red.count as f64), ("packets", red.queue.len() as f64), ("credit", credit)]
                .map(|(name, value)| entry(name, value))
        };
        self.buckets.iter().enumerate().flat_map(of).collect()
    }
}

fn look(sfq_red: &SfqRed<usize>, _: Time) -> NamedState {
    let of = |at: usize| {
        let (red, credit) = (&sfq_red.buckets()[at], sfq_red.credit(at).unwrap_or(0) as f64);
        let (average, count) = (red.detector().average(), red.detector().count() as f64);
        [("avg", average), ("count", count), ("packets", f64::from(red.backlog().packets)), ("credit", credit)]
            .map(|(name, value)| entry(name, value))
    };
    (0..sfq_red.buckets().len()).flat_map(of).collect()
}

fn check(settings: &[(&str, &str)], plain: Plain, traffic: TrafficMix) {
    let config = SfqRedConfig::from_settings(settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, KEY);
    agree(SfqRed::new(config, &link).unwrap(), plain, look, traffic);
}

#[test]
fn sfq_red_is_a_red_in_each_bucket() {
    // 10 buckets of 12 packets; thresholds of 22 % and 89 % of a bucket.
    let packets = Set { room: (12, u64::MAX), minth: 2.64, maxth: 10.68, ..PLAIN };
    let settings = [("limit", "125p"), ("buckets", "10"), ("ecn", "off")];
    let off = Set { ecn: false, ..packets };
    check(&settings, Plain::new((125.0, f64::INFINITY), 10, 0.0, off), TrafficMix::even(1));

    let blue = Set {
        room: (usize::MAX, 9000),
        minth: 2000.0,
        maxth: 8000.0,
        maxp: 1.0,
        bytes: true,
        mark_above: true,
        ..PLAIN
    };
    let settings = [("preset", "blue"), ("buckets", "12"), ("limit", "108KB")];
    check(&settings, Plain::new((f64::INFINITY, 108_000.0), 12, 0.0, blue), TrafficMix::mixed(2));

    let quick = Set { room: (5, u64::MAX), minth: 1.0, maxth: 4.0, maxp: 0.2, wq: 0.25, gentle: true, ..PLAIN };
    let settings = [("limit", "40p"), ("buckets", "8"), ("quantum", "700B"), ("wq", "0.25"), ("gentle", "on")];
    let settings = [&settings[..], &[("maxp", "0.2"), ("minth", "1p"), ("maxth", "4p")]].concat();
    check(&settings, Plain::new((40.0, f64::INFINITY), 8, 700.0, quick), TrafficMix::mixed(3));

    // More buckets than packets of room: each bucket may hold a packet while the limit allows it.
    let crowded = Set { room: (1, u64::MAX), minth: 0.22, maxth: 0.89, ..PLAIN };
    let settings = [("limit", "9p"), ("buckets", "14")];
    check(&settings, Plain::new((9.0, f64::INFINITY), 14, 0.0, crowded), TrafficMix::mixed(4));
}
