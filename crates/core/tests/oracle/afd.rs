//! AFD: Pan, Breslau, Prabhakar and Shenker 2003, section 2. d_i = max(0, 1 - m_fair/m_i), where m_i counts flow i in a
//! list of b sampled arrivals. At fixed times m_fair changes with the previous and the current queue length, between 0
//! and b.

use std::collections::VecDeque;

use aqm::disciplines::{Afd, AfdConfig};
use aqm::{Discipline, FlowId, LinkInfo, Params, Rate, Rng, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

const RATE: f64 = 10e6;

struct Plain {
    limit: usize,
    b: usize,
    s: f64,
    q_target: f64,
    alpha: f64,
    beta: f64,
    /// Whole nanoseconds, so that oracle and discipline act at the same times.
    interval: u64,
    queue: VecDeque<Arrival>,
    shadow: VecDeque<u64>,
    m_fair: f64,
    q_old: f64,
    changes: u64,
    flows: u64,
}

impl Plain {
    fn m(&self, flow: u64) -> f64 {
        self.shadow.iter().filter(|other| **other == flow).count() as f64
    }

    fn catch_up(&mut self, now: f64) {
        while (now * 1e9).round() as u64 >= (self.changes + 1) * self.interval {
            self.changes += 1;
            let q = self.queue.len() as f64;
            self.m_fair += self.alpha * (self.q_old - self.q_target) - self.beta * (q - self.q_target);
            self.m_fair = self.m_fair.max(0.0).min(self.b as f64);
            self.q_old = q;
        }
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.catch_up(now);
        if self.s == 1.0 || rng.unit() < 1.0 / self.s {
            self.shadow.push_back(packet.flow);
            if self.shadow.len() > self.b {
                self.shadow.pop_front();
            }
        }
        let m = self.m(packet.flow);
        let d = if m > self.m_fair { 1.0 - self.m_fair / m } else { 0.0 };
        if rng.chance(d) {
            return vec![Decision::Dropped(packet.number, Why::Early)];
        }
        if self.queue.len() == self.limit {
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        self.queue.push_back(packet);
        Vec::new()
    }

    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        self.catch_up(now);
        self.queue.pop_front().into_iter().map(|packet| Decision::Sent(packet.number)).collect()
    }

    fn state(&self) -> NamedState {
        let m = (0..=self.flows).map(|flow| entry(format!("m of {flow}"), self.m(flow)));
        let rest = [entry("m_fair", self.m_fair), entry("packets", self.queue.len() as u32)];
        rest.into_iter().chain(m).collect()
    }
}

fn look(queue: &Afd<usize>, flows: u64) -> NamedState {
    let m = (0..=flows).map(|flow| entry(format!("m of {flow}"), queue.matches(FlowId(flow))));
    let rest = [entry("m_fair", queue.fair), entry("packets", queue.backlog().packets)];
    rest.into_iter().chain(m).collect()
}

/// The defaults, with `shadow` packets remembered.
fn case(settings: &[(&str, &str)], limit: usize, shadow: usize, change: impl Fn(Plain) -> Plain, traffic: TrafficMix) {
    let config = AfdConfig::from_settings(&[settings, &[("shadow", &*shadow.to_string())]].concat()).unwrap();
    let link = LinkInfo::new(Rate::from_bits(RATE as u64), 1000, 7);
    let plain = Plain {
        limit,
        b: shadow,
        s: 5.0,
        q_target: limit as f64 / 4.0,
        alpha: 1.7,
        beta: 1.8,
        interval: 6_250_000,
        queue: VecDeque::new(),
        shadow: VecDeque::new(),
        m_fair: shadow as f64,
        q_old: 0.0,
        changes: 0,
        flows: traffic.flows,
    };
    agree(Afd::new(config, &link).unwrap(), change(plain), |queue, _| look(queue, traffic.flows), traffic);
}

#[test]
fn afd_with_the_papers_parameters() {
    case(&[("limit", "150p")], 150, 200, |plain| plain, TrafficMix::mixed(1));
}

#[test]
fn afd_that_remembers_every_arrival() {
    // The gains sum without rounding. m_fair reaches whole numbers, and a rounding error there would decide whether a
    // number is drawn.
    let change = |plain| Plain { s: 1.0, q_target: 10.0, alpha: 1.75, beta: 1.875, ..plain };
    let settings = [("limit", "60p"), ("sample", "1"), ("target", "10p"), ("alpha", "1.75"), ("beta", "1.875")];
    case(&settings, 60, 100, change, TrafficMix::even(2));
}

#[test]
fn afd_with_other_gains_and_a_small_buffer() {
    let change = |plain| Plain { s: 2.5, alpha: 0.5, beta: 0.7, interval: 20_000_000, ..plain };
    let settings = [("limit", "20p"), ("sample", "2.5"), ("alpha", "0.5"), ("beta", "0.7"), ("interval", "20ms")];
    case(&settings, 20, 60, change, TrafficMix { flows: 8, hog: 0.5, ..TrafficMix::mixed(3) });
}
