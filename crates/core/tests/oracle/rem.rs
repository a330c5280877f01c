//! REM: the paper's price, updated at every period by a timer, and ns-2's average of the arrivals.

use std::collections::VecDeque;

use aqm::disciplines::{Rem, RemConfig};
use aqm::{Discipline, LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

struct Plain {
    limit: usize,
    gamma: f64,
    alpha: f64,
    phi: f64,
    b_star: f64,
    /// In nanoseconds.
    period: u64,
    inw: f64,
    /// Mean packet in bytes, if queue and arrivals are counted in bytes.
    bytes: Option<f64>,
    /// Packets per period.
    c: f64,
    /// Whether dropped packets count, as in the paper and in ns-2.
    offered: bool,
    updates: u64,
    count: f64,
    x: f64,
    price: f64,
    queue: VecDeque<Arrival>,
}

/// The paper's settings at 10 Mbit/s and 1000 bytes.
const PAPER: Plain = Plain {
    limit: 120,
    gamma: 0.001,
    alpha: 0.1,
    phi: 1.001,
    b_star: 20.0,
    period: 2_000_000,
    inw: 1.0,
    bytes: None,
    c: 2.5,
    offered: true,
    updates: 0,
    count: 0.0,
    x: 0.0,
    price: 0.0,
    queue: VecDeque::new(),
};

impl Plain {
    fn size(&self, packet: &Arrival) -> f64 {
        self.bytes.map_or(1.0, |mean| f64::from(packet.bytes) / mean)
    }

    fn probability(&self) -> f64 {
        1.0 - self.phi.powf(-self.price)
    }

    fn timer(&mut self, now: f64) {
        while (self.updates + 1) * self.period <= (now * 1e9).round() as u64 {
            self.updates += 1;
            let b: f64 = self.queue.iter().map(|packet| self.size(packet)).sum();
            self.x = (1.0 - self.inw) * self.x + self.inw * self.count;
            self.count = 0.0;
            self.price += self.gamma * (self.alpha * (b - self.b_star) + self.x - self.c);
            if self.price < 0.0 {
                self.price = 0.0;
            }
        }
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.timer(now);
        let mut decisions = Vec::new();
        if self.queue.len() == self.limit {
            decisions.push(Decision::Dropped(packet.number, Why::Overflow));
        } else {
            let p = self.probability() * self.size(&packet);
            // Draws only if the outcome is open.
            if p > 0.0 && (p >= 1.0 || rng.unit() < p) {
                let made = if packet.ect() { Decision::Marked } else { Decision::Dropped };
                decisions.push(made(packet.number, Why::Early));
            }
        }
        let dropped = matches!(decisions[..], [Decision::Dropped(..)]);
        if self.offered || !dropped {
            self.count += self.size(&packet);
        }
        if !dropped {
            self.queue.push_back(packet);
        }
        decisions
    }

    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        self.timer(now);
        self.queue.pop_front().map(|packet| Decision::Sent(packet.number)).into_iter().collect()
    }

    fn state(&self) -> NamedState {
        vec![
            entry("price", self.price),
            entry("probability", self.probability()),
            entry("x", self.x),
            entry("packets", self.queue.len() as u32),
        ]
    }
}

fn look(rem: &Rem<usize>, _: Time) -> NamedState {
    vec![
        entry("price", rem.price),
        entry("probability", rem.probability),
        entry("x", rem.input),
        entry("packets", rem.backlog().packets),
    ]
}

#[test]
fn rem_updates_the_papers_price_in_every_period() {
    let paper = (&[("limit", "120p"), ("preset", "athuraliya2001")][..], PAPER);
    let averaging = [
        ("limit", "120p"),
        ("gamma", "0.001"),
        ("inw", "0.02"),
        ("tupdate", "10ms"),
        ("phi", "1.01"),
        ("bstar", "10p"),
    ];
    let averaging = (
        &averaging[..],
        Plain { offered: false, inw: 0.02, period: 10_000_000, c: 12.5, phi: 1.01, b_star: 10.0, ..PAPER },
    );
    let bytes = [("limit", "120p"), ("byte_mode", "on"), ("gamma", "0.01"), ("alpha", "0.2"), ("mean_packet", "500B")];
    let bytes = (&bytes[..], Plain { offered: false, bytes: Some(500.0), gamma: 0.01, alpha: 0.2, c: 5.0, ..PAPER });
    for (settings, plain) in [paper, averaging, bytes] {
        let config = RemConfig::from_settings(settings).unwrap();
        let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
        agree(Rem::new(config, &link).unwrap(), plain, look, TrafficMix::mixed(1));
    }
}
