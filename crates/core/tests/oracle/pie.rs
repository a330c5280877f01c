//! PIE: the pseudocode of RFC 8033, with the optional elements of its section 5. A comment marks the one deviation: an
//! empty queue has no delay.

use std::collections::VecDeque;

use aqm::disciplines::{Pie, PieConfig};
use aqm::{Discipline, LinkInfo, Params, Rate, Rng, Time, Why};

use crate::oracle::harness::{Arrival, Decision, NamedState, Oracle, TrafficMix, agree, entry};

const DQ_THRESHOLD: f64 = 16384.0;

/// The controller, for one queue. Times in seconds.
#[derive(Clone, Debug)]
pub struct PlainPieController {
    pub qdelay_ref: f64,
    pub t_update: f64,
    pub alpha: f64,
    pub beta: f64,
    pub max_burst: f64,
    pub mean_pktsize: f64,
    pub derandomize: bool,
    pub cap: bool,
    pub high: f64,
    pub bytemode: bool,
    pub estimate_rate: bool,
    pub drop_prob: f64,
    pub accu_prob: f64,
    pub current_qdelay: f64,
    pub qdelay_old: f64,
    pub burst_allowance: f64,
    pub updates: u64,
    pub in_measurement: bool,
    pub measurement_start: f64,
    pub dq_count: f64,
    pub avg_dq_time: f64,
}

impl PlainPieController {
    pub fn new() -> PlainPieController {
        PlainPieController {
            qdelay_ref: 0.015,
            t_update: 0.015,
            alpha: 0.125,
            beta: 1.25,
            max_burst: 0.15,
            mean_pktsize: 1000.0,
            derandomize: false,
            cap: false,
            high: f64::INFINITY,
            bytemode: false,
            estimate_rate: false,
            drop_prob: 0.0,
            accu_prob: 0.0,
            current_qdelay: 0.0,
            qdelay_old: 0.0,
            burst_allowance: 0.0,
            updates: 0,
            in_measurement: false,
            measurement_start: 0.0,
            dq_count: 0.0,
            avg_dq_time: 0.0,
        }
        .with_burst()
    }

    fn with_burst(mut self) -> PlainPieController {
        self.burst_allowance = self.max_burst;
        self
    }

    fn calculate_drop_prob(&mut self, bytes: f64) {
        if self.estimate_rate {
            self.current_qdelay = bytes * self.avg_dq_time / DQ_THRESHOLD;
        }
        let mut p =
            self.alpha * (self.current_qdelay - self.qdelay_ref) + self.beta * (self.current_qdelay - self.qdelay_old);
        if self.drop_prob < 0.000001 {
            p /= 2048.0;
        } else if self.drop_prob < 0.00001 {
            p /= 512.0;
        } else if self.drop_prob < 0.0001 {
            p /= 128.0;
        } else if self.drop_prob < 0.001 {
            p /= 32.0;
        } else if self.drop_prob < 0.01 {
            p /= 8.0;
        } else if self.drop_prob < 0.1 {
            p /= 2.0;
        }
        if self.cap && self.drop_prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        if self.current_qdelay > self.high {
            p += 0.02;
        }
        self.drop_prob += p;
        if self.current_qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = self.current_qdelay;
        self.burst_allowance -= self.t_update;
        if self.burst_allowance < 1e-12 {
            self.burst_allowance = 0.0;
        }
    }

    fn drop_early(&mut self, bytes: f64, packet: f64, rng: &mut Rng) -> bool {
        if (self.qdelay_old < self.qdelay_ref / 2.0 && self.drop_prob < 0.2) || bytes <= 2.0 * self.mean_pktsize {
            return false;
        }
        let mut p = self.drop_prob;
        if self.bytemode && packet <= self.mean_pktsize {
            p *= packet / self.mean_pktsize;
        }
        if self.derandomize {
            if p == 0.0 {
                self.accu_prob = 0.0;
            }
            self.accu_prob += p;
            if self.accu_prob < 0.85 {
                return false;
            }
            if self.accu_prob >= 8.5 {
                self.accu_prob = 0.0;
                return true;
            }
        }
        // The discipline draws only if the outcome is open.
        let drop = p >= 1.0 || (p > 0.0 && rng.unit() < p);
        if drop {
            self.accu_prob = 0.0;
        }
        drop
    }
}

/// The controller of one queue, from the RFC or from Linux.
pub trait PlainController {
    /// Makes every update that was due by `now`, for a queue that has held `bytes` since the last call.
    fn timer(&mut self, bytes: f64, now: f64);
    /// Decides whether to drop or mark an arrival.
    fn hit(&mut self, bytes: f64, packet: f64, rng: &mut Rng) -> bool;
    /// Whether to mark a hit packet if it is ECN-capable.
    fn marks(&self) -> bool;
    /// The arrival was dropped.
    fn lost(&mut self);
    /// A packet left after `delay` seconds, with `bytes` still queued.
    fn left(&mut self, packet: f64, delay: f64, bytes: f64, now: f64);
    fn state(&self) -> NamedState;
}

impl PlainController for PlainPieController {
    fn timer(&mut self, bytes: f64, now: f64) {
        // The tolerance is half a nanosecond, for times in whole nanoseconds.
        while (self.updates + 1) as f64 * self.t_update <= now + 0.5e-9 {
            self.updates += 1;
            self.calculate_drop_prob(bytes);
        }
    }

    fn hit(&mut self, bytes: f64, packet: f64, rng: &mut Rng) -> bool {
        if self.drop_prob == 0.0
            && self.current_qdelay < self.qdelay_ref / 2.0
            && self.qdelay_old < self.qdelay_ref / 2.0
        {
            self.burst_allowance = self.max_burst;
        }
        self.burst_allowance == 0.0 && self.drop_early(bytes, packet, rng)
    }

    fn marks(&self) -> bool {
        self.drop_prob < 0.1
    }

    fn lost(&mut self) {
        self.accu_prob = 0.0;
    }

    fn left(&mut self, packet: f64, delay: f64, bytes: f64, now: f64) {
        if !self.estimate_rate {
            self.current_qdelay = delay;
            // Departs from the RFC, whose current_qdelay keeps its value while the queue is empty.
            if bytes == 0.0 {
                self.current_qdelay = 0.0;
            }
            return;
        }
        if self.in_measurement {
            self.dq_count += packet;
            if self.dq_count >= DQ_THRESHOLD {
                let dq_time = now - self.measurement_start;
                let weight = DQ_THRESHOLD / 65536.0;
                self.avg_dq_time = if self.avg_dq_time == 0.0 {
                    dq_time
                } else {
                    dq_time * weight + self.avg_dq_time * (1.0 - weight)
                };
                self.in_measurement = false;
            }
        }
        if bytes >= DQ_THRESHOLD && !self.in_measurement {
            self.in_measurement = true;
            self.measurement_start = now;
            self.dq_count = 0.0;
        }
    }

    fn state(&self) -> NamedState {
        vec![
            entry("probability", self.drop_prob),
            entry("delay", self.current_qdelay),
            entry("delay_old", self.qdelay_old),
            entry("burst_allowance", self.burst_allowance),
            entry("accumulated", self.accu_prob),
            entry("dq_time", self.avg_dq_time),
        ]
    }
}

/// The state of the discipline under test.
pub fn seen(state: &aqm::parts::PieController) -> NamedState {
    vec![
        entry("probability", state.probability),
        entry("delay", state.delay),
        entry("delay_old", state.delay_old),
        entry("burst_allowance", state.burst_allowance.as_secs_f64()),
        entry("accumulated", state.accumulated),
        entry("dq_time", state.dq_time()),
    ]
}

/// One queue with a controller.
pub struct Plain<C> {
    pub limit: usize,
    pub ecn: bool,
    pub queue: VecDeque<(Arrival, f64)>,
    pub pie: C,
}

impl<C> Plain<C> {
    fn bytes(&self) -> f64 {
        self.queue.iter().map(|(packet, _)| f64::from(packet.bytes)).sum()
    }
}

impl<C: PlainController> Oracle for Plain<C> {
    fn arrive(&mut self, packet: Arrival, now: f64, rng: &mut Rng) -> Vec<Decision> {
        self.pie.timer(self.bytes(), now);
        if self.queue.len() == self.limit {
            self.pie.lost();
            return vec![Decision::Dropped(packet.number, Why::Overflow)];
        }
        let mut said = Vec::new();
        if self.pie.hit(self.bytes(), f64::from(packet.bytes), rng) {
            if !(self.ecn && packet.ect() && self.pie.marks()) {
                self.pie.lost();
                return vec![Decision::Dropped(packet.number, Why::Early)];
            }
            said.push(Decision::Marked(packet.number, Why::Early));
        }
        self.queue.push_back((packet, now));
        said
    }
    fn depart(&mut self, now: f64, _: &mut Rng) -> Vec<Decision> {
        self.pie.timer(self.bytes(), now);
        let Some((packet, came)) = self.queue.pop_front() else { return Vec::new() };
        self.pie.left(f64::from(packet.bytes), now - came, self.bytes(), now);
        vec![Decision::Sent(packet.number)]
    }
    fn state(&self) -> NamedState {
        let mut state = self.pie.state();
        state.extend([entry("packets", self.queue.len() as u32), entry("bytes", self.bytes())]);
        state
    }
}

/// The discipline with these settings.
pub fn discipline(settings: &[(&str, &str)], traffic: TrafficMix) -> Pie<usize> {
    let config = PieConfig::from_settings(settings).unwrap();
    Pie::new(config, &LinkInfo::new(Rate::from_bits(traffic.rate as u64), 1000, 7)).unwrap()
}

pub fn look(pie: &Pie<usize>, _: Time) -> NamedState {
    let held = pie.backlog();
    let mut state = seen(pie.state());
    state.extend([entry("packets", held.packets), entry("bytes", held.bytes as f64)]);
    state
}

fn check(settings: &[(&str, &str)], limit: usize, pie: PlainPieController, traffic: TrafficMix) {
    let plain = Plain { limit, ecn: true, queue: VecDeque::new(), pie };
    agree(discipline(settings, traffic), plain, look, traffic);
}

#[test]
fn pie_does_what_the_rfc_writes() {
    check(&[], 1000, PlainPieController::new(), TrafficMix::mixed(1));
    let quick = PlainPieController { qdelay_ref: 0.005, t_update: 0.004, max_burst: 0.03, ..PlainPieController::new() };
    let quick = PlainPieController { cap: true, alpha: 0.25, beta: 2.5, bytemode: true, ..quick }.with_burst();
    let settings = [("limit", "60p"), ("target", "5ms"), ("tupdate", "4ms"), ("max_burst", "30ms"), ("alpha", "0.25")];
    let more = [("beta", "2.5"), ("cap_increase", "on"), ("byte_mode", "on")];
    check(&[&settings[..], &more].concat(), 60, quick, TrafficMix { spell: 0.15, ..TrafficMix::mixed(2) });
    let estimating = PlainPieController { estimate_rate: true, derandomize: true, ..PlainPieController::new() };
    let settings = [("limit", "300p"), ("dq_rate_estimator", "on"), ("derandomize", "on")];
    check(&settings, 300, estimating, TrafficMix::mixed(3));
}
