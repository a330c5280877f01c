//! PIE's controller for one queue: the probability of dropping or marking an arrival.
//!
//! Every `tupdate` the probability changes with the queueing delay's distance from the target and with its growth. A
//! smaller probability takes smaller steps. Delays are in seconds to match alpha and beta (1/s).
//!
//! Source: R. Pan, P. Natarajan, F. Baker, G. White, "Proportional Integral Controller Enhanced (PIE)", RFC 8033, 2017:
//! sections 4 and 5 and its pseudocode.

use super::polled_timer::PolledTimer;
use crate::cx::Cx;
use crate::packet::Packet;
use crate::reason::Why;
use crate::rng::Rng;
use crate::time::{Span, Time};

/// The settings of one or more controllers.
#[derive(Clone, Copy, Debug)]
pub struct PieSettings {
    /// QDELAY_REF, in seconds.
    pub target: f64,
    /// T_UPDATE.
    pub tupdate: Span,
    /// Increase per second of delay above the target.
    pub alpha: f64,
    /// Increase per second of delay growth since the last update.
    pub beta: f64,
    /// MAX_BURST.
    pub max_burst: Span,
    /// Section 5.4: spaces drops and marks.
    pub derandomize: bool,
    /// Section 5.5: from a probability of 0.1, limits increases to 0.02 per update.
    pub cap_increase: bool,
    /// Delay in seconds above which each update adds 0.02.
    pub high_delay: f64,
    /// Scales the probability by the packet's size over `packet`.
    pub byte_mode: bool,
    /// A typical packet in bytes. Two or fewer queued packets of this size cause no drops or marks.
    pub packet: f64,
    /// Section 5.2: estimates delay by Little's law from the departure rate, instead of timestamps.
    pub dq_rate_estimator: bool,
    /// MAX_ECNTH: below this probability packets are marked; 0 without ECN.
    pub marks_below: f64,
}

/// Bytes per measurement of the departure rate (DQ_THRESHOLD, section 5.2).
const THRESHOLD: u64 = 1 << 14;
/// A measurement's weight in the average: 2^14 / 2^16 (section 5.2).
const WEIGHT: f64 = 0.25;
/// Maximum number of missed updates that are made up after a silence: a minute's worth by default. In a silence the
/// delay is constant. The probability therefore settles in fewer updates, unless the delay is within 3 ms of the
/// target.
const MAX_UPDATES: u64 = 4096;

/// A controller's state.
#[derive(Clone, Debug)]
pub struct PieController {
    timer: PolledTimer,
    /// The probability after the last update.
    pub probability: f64,
    /// `current_qdelay`: the estimated queueing delay in seconds.
    pub delay: f64,
    /// `qdelay_old_`: the estimate at the last update, in seconds.
    pub delay_old: f64,
    /// Remaining time without drops or marks.
    pub burst_allowance: Span,
    /// `accu_prob_`: sum of probabilities since the last drop or mark, for spacing.
    pub accumulated: f64,
    departures: DepartureRate,
}

/// Estimates the time in which [`THRESHOLD`] bytes leave.
#[derive(Clone, Debug, Default)]
struct DepartureRate {
    /// Start of the current measurement, and the bytes since.
    measured: Option<(Time, u64)>,
    /// In seconds; 0 before the first measurement.
    average: f64,
}

impl PieController {
    /// A controller in its initial state.
    pub fn new(rules: &PieSettings) -> PieController {
        PieController {
            timer: PolledTimer::new(rules.tupdate, Time::ZERO),
            probability: 0.0,
            delay: 0.0,
            delay_old: 0.0,
            burst_allowance: rules.max_burst,
            accumulated: 0.0,
            departures: DepartureRate::default(),
        }
    }

    /// Makes the updates due since the last call (`calculate_drop_prob`), assuming `bytes` queued throughout.
    #[inline]
    pub fn catch_up(&mut self, rules: &PieSettings, bytes: u64, now: Time) {
        let due = self.timer.advance(now);
        if due > 0 {
            self.updates(rules, bytes, due);
        }
    }

    /// Drops, marks or accepts an arrival for a queue of `bytes`. Returns the packet unless dropped.
    // Always inlined: a call would pass the packet through memory and make PIE cost half as much again.
    #[inline(always)]
    pub fn admit<T>(
        &mut self,
        rules: &PieSettings,
        bytes: u64,
        fits: bool,
        packet: Packet<T>,
        cx: &mut Cx<'_, T>,
    ) -> Option<Packet<T>> {
        self.catch_up(rules, bytes, cx.now);
        if !fits {
            self.accumulated = 0.0;
            cx.drop(packet, Why::Overflow);
            return None;
        }
        let hit = self.signals(rules, bytes, packet.bytes, cx.rng);
        cx.signal_if(hit, packet, Why::Sojourn, self.probability < rules.marks_below)
    }

    /// Whether to drop or mark an arrival that fits. Draws one number if the outcome is open.
    #[inline]
    fn signals(&mut self, rules: &PieSettings, bytes: u64, packet: u32, rng: &mut Rng) -> bool {
        let calm = self.delay < rules.target / 2.0 && self.delay_old < rules.target / 2.0;
        if self.probability == 0.0 && calm {
            self.burst_allowance = rules.max_burst;
        }
        self.burst_allowance == Span::ZERO && self.early(rules, bytes, packet, rng)
    }

    fn early(&mut self, rules: &PieSettings, bytes: u64, packet: u32, rng: &mut Rng) -> bool {
        let gentle = self.delay_old < rules.target / 2.0 && self.probability < 0.2;
        if gentle || bytes as f64 <= 2.0 * rules.packet {
            return false;
        }
        let size = if rules.byte_mode { (f64::from(packet) / rules.packet).min(1.0) } else { 1.0 };
        let probability = self.probability * size;
        let hit = if rules.derandomize { self.spaced(probability, rng) } else { rng.chance(probability) };
        if hit {
            self.accumulated = 0.0;
        }
        hit
    }

    /// Section 5.4: at least 0.85/p and at most 8.5/p packets between drops or marks.
    fn spaced(&mut self, probability: f64, rng: &mut Rng) -> bool {
        self.accumulated = if probability == 0.0 { 0.0 } else { self.accumulated + probability };
        self.accumulated >= 8.5 || (self.accumulated >= 0.85 && rng.chance(probability))
    }

    /// Records the departure of a packet of `packet` bytes after a queueing delay of `waited`, with `bytes` still
    /// queued. Call [`catch_up`](PieController::catch_up) first.
    #[inline]
    pub fn departed(&mut self, rules: &PieSettings, packet: u32, waited: Span, bytes: u64, now: Time) {
        if rules.dq_rate_estimator {
            self.departures.left(packet, bytes, now);
        } else {
            // The pseudocode keeps the last packet's delay while the queue is empty, so one long delay before a silence
            // would drive the probability to 1. By Little's law an empty queue has no delay (section 4.3).
            self.delay = if bytes == 0 { 0.0 } else { waited.as_secs_f64() };
        }
    }

    /// Makes `due` updates with constant inputs.
    #[cold]
    fn updates(&mut self, rules: &PieSettings, bytes: u64, due: u64) {
        if rules.dq_rate_estimator {
            self.delay = bytes as f64 * self.departures.average / THRESHOLD as f64;
        }
        for _ in 0..due.min(MAX_UPDATES) {
            let before = (self.probability, self.delay_old, self.burst_allowance);
            self.update(rules);
            if before == (self.probability, self.delay_old, self.burst_allowance) {
                break;
            }
        }
    }

    fn update(&mut self, rules: &PieSettings) {
        let step = rules.alpha * (self.delay - rules.target) + rules.beta * (self.delay - self.delay_old);
        let mut step = step / scale(self.probability);
        if rules.cap_increase && self.probability >= 0.1 {
            step = step.min(0.02);
        }
        if self.delay > rules.high_delay {
            step += 0.02;
        }
        self.probability += step;
        if self.delay == 0.0 && self.delay_old == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.delay_old = self.delay;
        self.burst_allowance = self.burst_allowance - rules.tupdate;
    }

    /// The average time in which 16 KiB leave, in seconds; 0 before the first measurement.
    pub fn dq_time(&self) -> f64 {
        self.departures.average
    }
}

/// Section 4.2: a smaller probability takes smaller steps.
fn scale(probability: f64) -> f64 {
    match probability {
        p if p < 0.000_001 => 2048.0,
        p if p < 0.000_01 => 512.0,
        p if p < 0.000_1 => 128.0,
        p if p < 0.001 => 32.0,
        p if p < 0.01 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    }
}

impl DepartureRate {
    fn left(&mut self, packet: u32, bytes: u64, now: Time) {
        if let Some((since, count)) = &mut self.measured {
            *count += u64::from(packet);
            if *count >= THRESHOLD {
                let took = (now - *since).as_secs_f64();
                self.average = if self.average == 0.0 { took } else { took * WEIGHT + self.average * (1.0 - WEIGHT) };
                self.measured = None;
            }
        }
        if self.measured.is_none() && bytes >= THRESHOLD {
            self.measured = Some((now, 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: PieSettings = PieSettings {
        target: 0.015,
        tupdate: Span::from_millis(15),
        alpha: 0.125,
        beta: 1.25,
        max_burst: Span::from_millis(150),
        derandomize: false,
        cap_increase: false,
        high_delay: f64::INFINITY,
        byte_mode: false,
        packet: 1000.0,
        dq_rate_estimator: false,
        marks_below: 0.1,
    };

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Probabilities after an update at each delay, in ms, repeated `held` times.
    fn probabilities(rules: &PieSettings, pie: &mut PieController, delays: &[u64]) -> alloc::vec::Vec<f64> {
        let each = delays.iter().map(|delay| {
            pie.departed(rules, 1000, Span::from_millis(*delay), *delay * 1000, Time::ZERO);
            pie.updates(rules, *delay * 1000, 1);
            pie.probability
        });
        each.collect()
    }

    fn close(found: &[f64], expected: &[f64]) {
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs();
        assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?} {expected:?}");
    }

    #[test]
    fn the_probability_follows_the_delay_in_steps_scaled_to_it() {
        let mut pie = PieController::new(&RULES);
        // Delay from 0 to 40 ms: (0.125 x 0.025 + 1.25 x 0.040)/2048 = 0.053125/2048 = 2.593994140625e-5.
        // At 40 ms again: 0.003125/128 more, for p is in 1e-5..1e-4: 2.44140625e-5, together 5.035400390625e-5.
        // To 60 ms: (0.005625 + 0.025)/128 = 2.392578125e-4: 2.8961181640625e-4.
        // To 90 ms, p in 1e-4..1e-3: (0.009375 + 0.0375)/32 = 1.46484375e-3: 1.754455566406250e-3.
        // To 140 ms, p in 1e-3..1e-2: (0.015625 + 0.0625)/8 = 9.765625e-3: 1.152008056640625e-2.
        // To 300 ms, p in 1e-2..1e-1: (0.035625 + 0.2)/2 = 0.1178125: 0.12933258056640625.
        // At 300 ms again, p above 0.1: 0.035625: 0.16495758056640625.
        // To 15 ms: 0 - 1.25 x 0.285 = -0.35625: below 0, so 0. Then 0 ms: below 0 again.
        let found = probabilities(&RULES, &mut pie, &[40, 40, 60, 90, 140, 300, 300, 15, 0]);
        let steps = [2.593994140625e-5, 2.44140625e-5, 2.392578125e-4, 1.46484375e-3, 9.765625e-3, 0.1178125, 0.035625];
        let mut sum = 0.0;
        let mut expected: alloc::vec::Vec<f64> = steps
            .iter()
            .map(|step| {
                sum += step;
                sum
            })
            .collect();
        expected.extend([0.0, 0.0]);
        close(&found, &expected);
    }

    #[test]
    fn the_options_cap_and_push_the_steps_and_calm_decays_the_probability() {
        let capped = PieSettings { cap_increase: true, high_delay: 0.25, ..RULES };
        let mut pie = PieController { probability: 0.5, delay_old: 0.2, ..PieController::new(&capped) };
        // 0.125 x 0.185 = 0.023125, capped at 0.02. At 260 ms: 0.030625 + 0.075, capped at 0.02, and 0.02 for the high delay.
        close(&probabilities(&capped, &mut pie, &[200, 260]), &[0.52, 0.56]);
        let mut pie = PieController { probability: 0.5, delay_old: 0.0, ..PieController::new(&RULES) };
        // Without delay: -0.125 x 0.015 = -0.001875, then times 0.98.
        close(&probabilities(&RULES, &mut pie, &[0, 0]), &[0.4881625, 0.98 * (0.4881625 - 0.001875)]);
    }

    #[test]
    fn a_burst_is_let_pass_once_and_again_after_the_congestion_has_gone() {
        let mut pie = PieController::new(&RULES);
        let mut rng = Rng::new(1);
        pie.departed(&RULES, 1000, Span::from_millis(400), 400_000, at(1));
        let mut signaled =
            |pie: &mut PieController| (0..1000).filter(|_| pie.signals(&RULES, 400_000, 1000, &mut rng)).count();
        // 150 ms are ten updates of 15 ms; the ninth leaves 15 ms of it.
        pie.catch_up(&RULES, 400_000, at(149));
        assert_eq!((pie.burst_allowance, signaled(&mut pie)), (Span::from_millis(15), 0));
        pie.catch_up(&RULES, 400_000, at(150));
        assert!(pie.burst_allowance == Span::ZERO && pie.probability > 0.1 && signaled(&mut pie) > 50);
        // Calm from 0.7: two updates leave (0.7 - 0.001875 - 1.25 x 0.4 - 0.001875) x 0.98. The allowance is renewed
        // only once the probability is 0.
        pie.probability = 0.7;
        pie.departed(&RULES, 1000, Span::ZERO, 0, at(151));
        pie.catch_up(&RULES, 0, at(180));
        assert!(
            (pie.probability - 0.192325).abs() < 1e-12 && signaled(&mut pie) == 0 && pie.burst_allowance == Span::ZERO
        );
        pie.catch_up(&RULES, 0, at(60_000));
        assert!(pie.probability == 0.0 && signaled(&mut pie) == 0 && pie.burst_allowance == RULES.max_burst);
    }

    #[test]
    fn two_packets_or_less_and_a_small_delay_are_left_alone() {
        let sure = PieController {
            probability: 1.0,
            delay_old: 1.0,
            burst_allowance: Span::ZERO,
            ..PieController::new(&RULES)
        };
        let mut rng = Rng::new(1);
        assert!(!sure.clone().signals(&RULES, 2000, 1000, &mut rng));
        assert!(sure.clone().signals(&RULES, 2001, 1000, &mut rng));
        let low = PieController { probability: 0.19, delay_old: 0.007, ..sure };
        assert!((0..1000).all(|_| !low.clone().signals(&RULES, 9000, 1000, &mut rng)));
    }

    #[test]
    fn spaced_signals_are_no_nearer_and_no_farther_than_the_bounds() {
        let rules = PieSettings { derandomize: true, ..RULES };
        let mut pie = PieController {
            probability: 0.05,
            delay_old: 1.0,
            burst_allowance: Span::ZERO,
            ..PieController::new(&rules)
        };
        let mut rng = Rng::new(3);
        let mut gaps = alloc::vec::Vec::new();
        let mut gap = 0;
        for _ in 0..200_000 {
            gap += 1;
            if pie.signals(&rules, 90_000, 1000, &mut rng) {
                gaps.push(gap);
                gap = 0;
            }
        }
        // 0.85/0.05 = 17 and 8.5/0.05 = 170 packets; the sums of 0.05 may round to either side.
        let (least, most) = (*gaps.iter().min().unwrap(), *gaps.iter().max().unwrap());
        assert!((17..=18).contains(&least) && (165..=171).contains(&most), "{least} {most}");
        // A probability of 0.05 from the 17th on: mean 16 + 20 = 36 packets, deviation 19.5 over some 5500 gaps.
        let mean = gaps.iter().sum::<u32>() as f64 / gaps.len() as f64;
        assert!((mean - 36.0).abs() < 1.5, "{mean}");
    }

    #[test]
    fn a_long_silence_is_made_up_for_as_if_every_update_had_come() {
        for (probability, waited, bytes) in [(0.7, 0, 0), (0.0, 90, 50_000), (0.3, 8, 4_000)] {
            let delay_old = f64::from(waited) / 1000.0;
            let start = PieController { probability, delay_old, delay: delay_old, ..PieController::new(&RULES) };
            let (mut once, mut often) = (start.clone(), start);
            once.catch_up(&RULES, bytes, at(60_000));
            (1..=60_000).for_each(|ms| often.catch_up(&RULES, bytes, at(ms)));
            assert_eq!((once.probability, once.burst_allowance), (often.probability, often.burst_allowance));
            assert!(once.probability == 0.0 || once.probability == 1.0);
        }
    }

    #[test]
    fn littles_law_gives_the_delay_from_the_rate_of_departures() {
        let rules = PieSettings { dq_rate_estimator: true, ..RULES };
        let mut pie = PieController::new(&rules);
        // A packet of 1024 B each ms, 32 KiB left: the first starts a measurement that ends 16 packets (16 ms) later.
        (0..=16).for_each(|ms| pie.departed(&rules, 1024, Span::ZERO, 32_768, at(ms)));
        assert!((pie.dq_time() - 0.016).abs() < 1e-12);
        pie.updates(&rules, 32_768, 1);
        assert!((pie.delay - 0.032).abs() < 1e-12);
        // At half the rate: 32 ms with weight 1/4: 0.016 x 3/4 + 0.032/4 = 0.020.
        (9..=24).for_each(|ms| pie.departed(&rules, 1024, Span::ZERO, 32_768, at(2 * ms)));
        assert!((pie.dq_time() - 0.020).abs() < 1e-12, "{}", pie.dq_time());
    }
}
