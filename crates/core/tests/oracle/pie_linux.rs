//! PIE as Linux 6.1 computes it (`net/sched/sch_pie.c`, `include/net/pie.h`). Probabilities are integers in units of
//! 2^-56, times are in ticks of 64 ns.
//!
//! Headgate computes in floating point and nanoseconds. Decisions must be the same, and numbers must agree to within
//! [`near`].

use std::cell::RefCell;
use std::collections::VecDeque;

use aqm::Rng;
use aqm::disciplines::Pie;

use super::codel::nanos;
use super::pie::{Plain, PlainController, discipline, look};
use crate::oracle::harness::{NamedState, TrafficMix, agree_within, entry};

/// A probability of 1 (`MAX_PROB`). A `u64` wraps only at 256 times this.
const MAX_PROB: u64 = u64::MAX >> 8;
const TICKS_PER_SECOND: u64 = 1_000_000_000 >> 6;
const TARGET: u64 = ticks(15);
const BURST: u64 = ticks(150);
const MTU: u64 = 1514;
/// alpha and beta, in sixteenths.
const FACTORS: [u64; 2] = [2, 20];

const fn ticks(ms: u64) -> u64 {
    (ms * 1_000_000) >> 6
}

fn tick(seconds: f64) -> u64 {
    (nanos(seconds) as u64) >> 6
}

/// `pie_vars`, with timestamps for the delay (`dq_rate_estimator` off).
#[derive(Clone)]
pub struct LinuxPie {
    qdelay: u64,
    qdelay_old: u64,
    burst_time: u64,
    dq_tstamp: Option<u64>,
    prob: u64,
    accu_prob: u64,
    /// Updates so far.
    updates: u64,
    bytemode: bool,
}

impl LinuxPie {
    pub fn new(bytemode: bool) -> LinuxPie {
        let (qdelay, qdelay_old, prob, accu_prob, updates) = (0, 0, 0, 0, 0);
        let (burst_time, dq_tstamp) = (BURST, None);
        LinuxPie { qdelay, qdelay_old, burst_time, dq_tstamp, prob, accu_prob, updates, bytemode }
    }

    /// `pie_calculate_probability`.
    fn calculate(&mut self, backlog: u64) {
        let (delay, old, before) = (self.qdelay, self.qdelay_old, self.prob);
        let mut factors = FACTORS.map(|factor| (factor * (MAX_PROB / TICKS_PER_SECOND)) >> 4);
        if before < MAX_PROB / 10 {
            factors = factors.map(|factor| factor >> 1);
            let mut power = 100;
            while before < MAX_PROB / power && power <= 1_000_000 {
                factors = factors.map(|factor| factor >> 2);
                power *= 10;
            }
        }
        let [alpha, beta] = factors.map(|factor| factor as i64);
        let mut delta = alpha * (delay as i64 - TARGET as i64) + beta * (delay as i64 - old as i64);
        if delta > (MAX_PROB / 50) as i64 && before >= MAX_PROB / 10 {
            delta = (MAX_PROB / 100 * 2) as i64;
        }
        if delay > ticks(250) {
            delta += (MAX_PROB / 50) as i64;
        }
        let mut decays = delay != 0 || backlog == 0;
        self.prob = before.wrapping_add_signed(delta);
        if delta > 0 && self.prob < before {
            self.prob = MAX_PROB;
            decays = false;
        } else if delta <= 0 && self.prob > before {
            self.prob = 0;
        }
        if delay == 0 && old == 0 && decays {
            self.prob -= self.prob / 64;
        }
        if delay < TARGET / 2 && old < TARGET / 2 && self.prob == 0 {
            (self.burst_time, self.dq_tstamp, self.accu_prob) = (BURST, None, 0);
        }
        self.qdelay_old = delay;
    }

    /// The random number of `pie_drop_early`, drawn only if the outcome is open.
    fn draw(prob: u64, rng: &mut Rng) -> bool {
        prob >= MAX_PROB || ((rng.unit() * 2f64.powi(56)) as u64) < prob
    }
}

impl PlainController for LinuxPie {
    fn timer(&mut self, bytes: f64, now: f64) {
        while 500_000_000 + self.updates as i64 * 15_000_000 <= nanos(now) {
            self.updates += 1;
            self.calculate(bytes as u64);
        }
    }

    /// `pie_drop_early`.
    fn hit(&mut self, bytes: f64, packet: f64, rng: &mut Rng) -> bool {
        let low = self.qdelay < TARGET / 2 && self.prob < MAX_PROB / 5;
        if self.burst_time > 0 || low || (bytes as u64) < 2 * MTU {
            return false;
        }
        let scaled = self.bytemode && packet as u64 <= MTU;
        let prob = if scaled { packet as u64 * (self.prob / MTU) } else { self.prob };
        self.accu_prob = if prob == 0 { 0 } else { self.accu_prob + prob };
        if self.accu_prob < MAX_PROB / 100 * 85 {
            return false;
        }
        if self.accu_prob >= MAX_PROB / 2 * 17 {
            return true;
        }
        let hit = LinuxPie::draw(prob, rng);
        if hit {
            self.accu_prob = 0;
        }
        hit
    }

    fn marks(&self) -> bool {
        self.prob <= MAX_PROB / 10
    }

    fn lost(&mut self) {
        self.accu_prob = 0;
    }

    /// `pie_process_dequeue`.
    fn left(&mut self, _: f64, delay: f64, bytes: f64, now: f64) {
        let (now, came) = (tick(now), tick(now - delay));
        self.qdelay = if bytes > 0.0 { now - came } else { 0 };
        let since = self.dq_tstamp.replace(now).map_or(0, |last| now - last);
        self.burst_time = self.burst_time.saturating_sub(since);
    }

    fn state(&self) -> NamedState {
        let share = |prob: u64| prob as f64 / MAX_PROB as f64;
        let seconds = |ticks: u64| ticks as f64 / TICKS_PER_SECOND as f64;
        vec![
            entry("probability", share(self.prob)),
            entry("delay", seconds(self.qdelay)),
            entry("delay_old", seconds(self.qdelay_old)),
            entry("burst_allowance", seconds(self.burst_time)),
            entry("accumulated", share(self.accu_prob)),
            entry("dq_time", 0.0),
        ]
    }
}

/// Ticks round times to 64 ns, and integers round alpha and beta. The error is up to 4 parts in a million at the
/// smallest probability.
pub fn near(value: f64, should: f64) -> bool {
    (value - should).abs() <= 2e-5 * value.abs().max(should.abs()).max(0.05)
}

/// Runs both with the same traffic. Returns the sequence of different probabilities of the discipline.
fn check(settings: &[(&str, &str)], limit: usize, ecn: bool, traffic: TrafficMix) -> Vec<f64> {
    let settings = [&[("preset", "linux")], settings].concat();
    let bytemode = settings.contains(&("byte_mode", "on"));
    let plain = Plain { limit, ecn, queue: VecDeque::new(), pie: LinuxPie::new(bytemode) };
    let seen = RefCell::new(Vec::new());
    let watched = |pie: &Pie<usize>, now| {
        let probability = pie.state().probability;
        if seen.borrow().last() != Some(&probability) {
            seen.borrow_mut().push(probability);
        }
        look(pie, now)
    };
    agree_within(discipline(&settings, traffic), plain, watched, traffic, near);
    seen.into_inner()
}

#[test]
fn pie_with_linux_settings_decides_as_linux_does() {
    check(&[], 1000, false, TrafficMix::mixed(4));
    check(&[("ecn", "on")], 1000, true, TrafficMix { spell: 2.0, ..TrafficMix::mixed(5) });
    check(&[("ecn", "on"), ("byte_mode", "on"), ("limit", "60p")], 60, true, TrafficMix::mixed(6));
}

/// A load that PIE cannot hold to its target: two queued packets exceed it, and Linux always admits a third.
const HOPELESS: TrafficMix =
    TrafficMix { sizes: &[1514], rate: 100e3, loads: &[6.0], spell: 1e6, packets: 10_000, ..TrafficMix::mixed(7) };

#[test]
fn the_probability_winds_up_beyond_one_and_starts_again_at_one_from_256() {
    let seen = check(&[], 1000, false, HOPELESS);
    let highest = seen.iter().copied().fold(0.0, f64::max);
    let restarts = seen.windows(2).filter(|two| two[0] > 255.0 && two[1] < 2.0).count();
    assert!(highest > 255.9 && highest <= 256.0 && restarts == 1, "{highest} {restarts}");
}
