//! CSFQ: Stoica, Shenker and Zhang 1998, figure 3 and section 2.2.2, with edge and core in one node. The figure leaves
//! alpha open before the first congestion and while the buffer is below its threshold. As in the authors' ns-2 module,
//! there is then no alpha, and no packet is dropped for its label. F is averaged over every arrival.

use std::collections::{BTreeMap, VecDeque};

use aqm::disciplines::{Csfq, CsfqConfig};
use aqm::{Discipline, FlowId, LinkInfo, Params, Rate, Rng, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

const RATE: f64 = 10e6;

/// An estimated rate in bytes per second, and the arrival time of its last packet.
#[derive(Clone, Copy, Default)]
struct Estimate {
    rate: f64,
    last: Option<f64>,
}

/// Equation 3. The first packet, and packets at the same time, use its limit for T = 0.
fn estimate_rate(estimate: &mut Estimate, bytes: f64, now: f64, k: f64) -> f64 {
    let t = estimate.last.map_or(0.0, |last| now - last);
    estimate.rate = if t > 0.0 {
        let fade = (-t / k).exp();
        (1.0 - fade) * bytes / t + fade * estimate.rate
    } else {
        bytes / k + estimate.rate
    };
    estimate.last = Some(now);
    estimate.rate
}

struct Plain {
    k: f64,
    k_alpha: f64,
    k_c: f64,
    /// In packets, or in bytes.
    limit: f64,
    threshold: f64,
    bytes: bool,
    queue: VecDeque<Arrival>,
    flows: BTreeMap<u64, Estimate>,
    a: Estimate,
    f: Estimate,
    congested: bool,
    /// Infinite while no packet is dropped for its label.
    alpha: f64,
    alpha_at_update: f64,
    tmp_alpha: f64,
    start_time: f64,
}

impl Plain {
    fn length(&self) -> f64 {
        if self.bytes { self.queue.iter().map(|packet| f64::from(packet.bytes)).sum() } else { self.queue.len() as f64 }
    }

    fn estimate_alpha(&mut self, bytes: f64, label: f64, dropped: bool, now: f64) {
        let c = RATE / 8.0;
        estimate_rate(&mut self.a, bytes, now, self.k_alpha);
        estimate_rate(&mut self.f, if dropped { 0.0 } else { bytes }, now, self.k_alpha);
        let below_threshold = self.length() < self.threshold;
        if self.a.rate >= c && (self.congested || !below_threshold) {
            if !self.congested {
                self.congested = true;
                self.start_time = now;
                if self.alpha.is_infinite() {
                    self.alpha = self.tmp_alpha.max(label);
                }
                self.alpha = self.alpha.min(c);
                self.alpha_at_update = self.alpha;
            } else if now > self.start_time + self.k_c {
                self.alpha = (self.alpha * c / self.f.rate).min(c);
                self.alpha_at_update = self.alpha;
                self.start_time = now;
            }
        } else if self.congested {
            self.congested = false;
            self.start_time = now;
            self.tmp_alpha = 0.0;
        } else if now <= self.start_time + self.k_c {
            self.tmp_alpha = self.tmp_alpha.max(label);
        } else {
            self.alpha = if below_threshold || self.tmp_alpha == 0.0 { f64::INFINITY } else { self.tmp_alpha.min(c) };
            self.alpha_at_update = self.alpha;
            self.start_time = now;
            self.tmp_alpha = 0.0;
        }
    }
}

impl Oracle for Plain {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        let bytes = f64::from(packet.bytes);
        let label = estimate_rate(self.flows.entry(packet.flow).or_default(), bytes, now, self.k);
        let prob = (1.0 - self.alpha / label).max(0.0);
        let unlucky = prob > 0.0 && rng.unit() < prob;
        let overflow = self.length() + if self.bytes { bytes } else { 1.0 } > self.limit;
        self.estimate_alpha(bytes, label, unlucky || overflow, now);
        if unlucky {
            return vec![Decision::Dropped(packet.number, Why::Early)];
        }
        if overflow {
            self.alpha = (self.alpha * 0.99).max(self.alpha_at_update * 0.75);
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        self.queue.push_back(packet);
        Vec::new()
    }

    fn depart(&mut self, _: f64, _: &mut Rng) -> Vec<Decision> {
        self.queue.pop_front().into_iter().map(|packet| Decision::Sent(packet.number)).collect()
    }

    fn state(&self) -> NamedState {
        let rates = self.flows.iter().map(|(flow, estimate)| entry(format!("rate of {flow}"), estimate.rate));
        let share = [
            entry("A", self.a.rate),
            entry("F", self.f.rate),
            entry("congested", f64::from(u8::from(self.congested))),
            entry("alpha", if self.alpha.is_infinite() { -1.0 } else { self.alpha }),
            entry("packets", self.queue.len() as u32),
        ];
        share.into_iter().chain(rates).collect()
    }
}

fn look(queue: &Csfq<usize>, flows: u64) -> NamedState {
    let [arriving, accepted] = queue.rates();
    let share = [
        entry("A", arriving),
        entry("F", accepted),
        entry("congested", f64::from(u8::from(queue.is_congested()))),
        entry("alpha", queue.alpha().unwrap_or(-1.0)),
        entry("packets", queue.backlog().packets),
    ];
    let rate = |flow| queue.flow_rate(FlowId(flow)).map(|rate| entry(format!("rate of {flow}"), rate));
    share.into_iter().chain((0..=flows).filter_map(rate)).collect()
}

/// `k`, `k_alpha` and `k_c` in seconds; `limit` and `threshold` in packets, or in bytes.
fn case(
    settings: &[(&str, &str)],
    [k, k_alpha, k_c]: [f64; 3],
    limit: f64,
    threshold: f64,
    bytes: bool,
    traffic: TrafficMix,
) {
    let config = CsfqConfig::from_settings(settings).unwrap();
    let link = LinkInfo::new(Rate::from_bits(RATE as u64), 1000, 7);
    let (none, alpha) = (Estimate::default(), f64::INFINITY);
    let plain = Plain {
        k,
        k_alpha,
        k_c,
        limit,
        threshold,
        bytes,
        queue: VecDeque::new(),
        flows: BTreeMap::new(),
        a: none,
        f: none,
        congested: false,
        alpha,
        alpha_at_update: alpha,
        tmp_alpha: 0.0,
        start_time: 0.0,
    };
    agree(Csfq::new(config, &link).unwrap(), plain, |queue, _| look(queue, traffic.flows), traffic);
}

#[test]
fn csfq_with_the_papers_parameters() {
    case(&[("limit", "100p")], [0.1, 0.2, 0.2], 100.0, 25.0, false, TrafficMix::mixed(1));
}

#[test]
fn csfq_as_in_ns2() {
    case(&[("preset", "ns2")], [0.1, 0.05, 0.05], 50e3, 10e3, true, TrafficMix::mixed(2));
}

#[test]
fn csfq_with_a_small_buffer_that_overflows_and_slow_estimates() {
    let settings = [("limit", "12p"), ("k", "500ms"), ("k_alpha", "1s"), ("k_c", "700ms"), ("threshold", "0p")];
    case(&settings, [0.5, 1.0, 0.7], 12.0, 0.0, false, TrafficMix { flows: 5, hog: 0.1, ..TrafficMix::even(3) });
}
