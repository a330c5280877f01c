//! PI: the paper's difference equation, made at every sample by a timer.

use std::collections::VecDeque;

use aqm::disciplines::{Pi, PiConfig};
use aqm::{Discipline, LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

struct Plain {
    limit: usize,
    a: f64,
    b: f64,
    q_ref: f64,
    /// Time between samples, in whole nanoseconds.
    period: u64,
    samples: u64,
    p: f64,
    q_old: f64,
    queue: VecDeque<Arrival>,
}

impl Plain {
    fn new(limit: usize, gains: (f64, f64), q_ref: f64, w: f64) -> Plain {
        let (a, b) = gains;
        let period = (1e9 / w).round() as u64;
        Plain { limit, a, b, q_ref, period, samples: 0, p: 0.0, q_old: 0.0, queue: VecDeque::new() }
    }

    fn timer(&mut self, now: f64) {
        while (self.samples + 1) * self.period <= (now * 1e9).round() as u64 {
            self.samples += 1;
            let q = self.queue.len() as f64;
            // p(kT) = a (q(kT) - q_ref) - b (q((k - 1)T) - q_ref) + p((k - 1)T).
            let p = self.a * (q - self.q_ref) - self.b * (self.q_old - self.q_ref) + self.p;
            self.p = p.clamp(0.0, 1.0);
            self.q_old = q;
        }
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.timer(now);
        if self.queue.len() == self.limit {
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        // Draws only if the outcome is open.
        if self.p > 0.0 && (self.p >= 1.0 || rng.unit() < self.p) {
            if !packet.ect() {
                return vec![Decision::Dropped(packet.number, Why::Early)];
            }
            self.queue.push_back(packet);
            return vec![Decision::Marked(packet.number, Why::Early)];
        }
        self.queue.push_back(packet);
        Vec::new()
    }

    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        self.timer(now);
        self.queue.pop_front().map(|packet| Decision::Sent(packet.number)).into_iter().collect()
    }

    fn state(&self) -> NamedState {
        vec![entry("p", self.p), entry("q_old", self.q_old), entry("packets", self.queue.len() as u32)]
    }
}

fn look(pi: &Pi<usize>, _: Time) -> NamedState {
    vec![entry("p", pi.probability), entry("q_old", pi.q_old), entry("packets", pi.backlog().packets)]
}

#[test]
fn pi_makes_the_papers_update_at_every_sample() {
    const PAPER: (f64, f64) = (1.822e-5, 1.816e-5);
    let quick = [("limit", "200p"), ("qref", "30p"), ("a", "0.0018"), ("b", "0.0017"), ("w", "170")];
    for (settings, plain) in [
        (&[("limit", "300p"), ("preset", "hollot2001"), ("qref", "25%")][..], Plain::new(300, PAPER, 75.0, 160.0)),
        (&[("limit", "300p"), ("preset", "ns2"), ("ecn", "on")], Plain::new(300, PAPER, 50.0, 170.0)),
        (&quick, Plain::new(200, (0.0018, 0.0017), 30.0, 170.0)),
    ] {
        let config = PiConfig::from_settings(settings).unwrap();
        let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
        agree(Pi::new(config, &link).unwrap(), plain, look, TrafficMix::mixed(1));
    }
}
