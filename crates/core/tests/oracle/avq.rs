//! AVQ: the paper's code for each arrival (figure 2 of the paper: "AVQ algorithm"), with the accepted rate instead of
//! the offered rate where packets are dropped, as in the authors' `vq.cc` of ns-2.

use std::collections::VecDeque;

use aqm::disciplines::{Avq, AvqConfig};
use aqm::{Discipline, LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

/// Bytes, and seconds.
struct Plain {
    limit: usize,
    b: f64,
    c: f64,
    alpha: f64,
    gamma: f64,
    offered: bool,
    c_tilde: f64,
    vq: f64,
    s: f64,
    queue: VecDeque<Arrival>,
}

impl Plain {
    /// On a link of 10 Mbit/s.
    fn new(limit: usize, b: f64) -> Plain {
        let c = 1_250_000.0;
        let (alpha, gamma, c_tilde) = (0.15, 0.98, 0.8 * c);
        Plain { limit, b, c, alpha, gamma, offered: false, c_tilde, vq: 0.0, s: -1.0, queue: VecDeque::new() }
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, t: f64, _: &mut Rng) -> Vec<Decision> {
        let b = f64::from(packet.bytes);
        if self.s < 0.0 {
            self.s = t;
        }
        self.vq = f64::max(self.vq - self.c_tilde * (t - self.s), 0.0);
        let mut decisions = Vec::new();
        if self.queue.len() == self.limit {
            decisions.push(Decision::Dropped(packet.number, Why::Overflow));
        } else if self.vq + b > self.b {
            let why = Why::VirtualOverflow;
            let mark = packet.ect();
            decisions.push(if mark {
                Decision::Marked(packet.number, why)
            } else {
                Decision::Dropped(packet.number, why)
            });
        } else {
            self.vq += b;
        }
        let dropped = matches!(decisions[..], [Decision::Dropped(..)]);
        self.c_tilde = f64::min(self.c_tilde + self.alpha * self.gamma * self.c * (t - self.s), self.c);
        if self.offered || !dropped {
            self.c_tilde = f64::max(self.c_tilde - self.alpha * b, 0.0);
        }
        self.s = t;
        if !dropped {
            self.queue.push_back(packet);
        }
        decisions
    }

    fn depart(&mut self, _: f64, _: &mut Rng) -> Vec<Decision> {
        self.queue.pop_front().map(|packet| Decision::Sent(packet.number)).into_iter().collect()
    }

    fn state(&self) -> NamedState {
        vec![
            entry("virtual capacity in MB/s", self.c_tilde / 1e6),
            entry("virtual queue in MB", self.vq / 1e6),
            entry("last", self.s),
            entry("packets", self.queue.len() as u32),
        ]
    }
}

fn look(avq: &Avq<usize>, _: Time) -> NamedState {
    vec![
        entry("virtual capacity in MB/s", avq.virtual_capacity / 1e6),
        entry("virtual queue in MB", avq.virtual_queue / 1e6),
        entry("last", avq.last.map_or(-1.0, Time::as_secs_f64)),
        entry("packets", avq.backlog().packets),
    ]
}

#[test]
fn avq_does_what_the_papers_code_does_for_each_arrival() {
    let quick = [("limit", "60p"), ("B", "20KB"), ("alpha", "3"), ("gamma", "0.9"), ("ecnlim_", "1")];
    let quick_plain = Plain { alpha: 3.0, gamma: 0.9, c_tilde: 1_250_000.0, ..Plain::new(60, 20_000.0) };
    let literal = [("limit", "100p"), ("count_drops", "on")];
    for (settings, plain) in [
        (&[("limit", "100p")][..], Plain::new(100, 100_000.0)),
        (&quick, quick_plain),
        (&literal, Plain { offered: true, ..Plain::new(100, 100_000.0) }),
    ] {
        let config = AvqConfig::from_settings(settings).unwrap();
        let link = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
        agree(Avq::new(config, &link).unwrap(), plain, look, TrafficMix::mixed(1));
    }
}
