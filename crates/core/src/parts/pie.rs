//! PIE's controller for one queue: the probability of dropping or marking an arrival.
//!
//! Every `tupdate` the probability changes with the queueing delay's distance from the target and with its growth. A
//! smaller probability takes smaller steps. Delays are in seconds to match alpha and beta (1/s).
//!
//! Source: R. Pan, P. Natarajan, F. Baker, G. White, "Proportional Integral Controller Enhanced (PIE)", RFC 8033, 2017:
//! sections 4 and 5 and its pseudocode. Linux 6.1, `net/sched/sch_pie.c` and `include/net/pie.h`.

mod departures;

use self::departures::DepartureRate;
use super::polled_timer::PolledTimer;
use crate::cx::Cx;
use crate::packet::Packet;
use crate::reason::Why;
use crate::rng::Rng;
use crate::time::{Span, Time};

crate::choice! {
    /// Whose details PIE follows where RFC 8033 and Linux differ.
    pub enum PieDetails {
        /// Those of RFC 8033.
        Rfc = "rfc",
        /// Those of Linux 6.1, `sch_pie.c`.
        Linux = "linux",
    }
}

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
    /// A probability that would exceed this becomes 1.
    pub max_probability: f64,
    /// Whether Linux's details replace the RFC's.
    pub linux: bool,
}

/// In Linux, when the first update comes (`pie_init`: HZ / 2).
const FIRST_UPDATE: Span = Span::from_millis(500);
/// Maximum number of missed updates that are made up after a silence: a minute's worth by default. In a silence the
/// delay is constant. The probability therefore settles in fewer updates, unless the delay is within 3 ms of the
/// target, or the probability winds up beyond 1.
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

impl PieController {
    /// A controller in its initial state.
    pub fn new(rules: &PieSettings) -> PieController {
        // Linux's first period is longer.
        let start = if rules.linux { FIRST_UPDATE - rules.tupdate } else { Span::ZERO };
        PieController {
            timer: PolledTimer::new(rules.tupdate, Time::ZERO + start),
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
        let admitted = cx.signal_if(hit, packet, Why::Early, self.probability < rules.marks_below);
        if admitted.is_none() {
            self.accumulated = 0.0;
        }
        admitted
    }

    /// Whether to drop or mark an arrival that fits. Draws one number if the outcome is open.
    #[inline(always)]
    fn signals(&mut self, rules: &PieSettings, bytes: u64, packet: u32, rng: &mut Rng) -> bool {
        if !rules.linux && self.is_calm(rules) {
            self.burst_allowance = rules.max_burst;
        }
        self.burst_allowance == Span::ZERO && self.early(rules, bytes, packet, rng)
    }

    /// Whether the probability is 0 and delays are far below the target: the next burst is then spared again.
    #[inline]
    fn is_calm(&self, rules: &PieSettings) -> bool {
        self.probability == 0.0 && self.delay < rules.target / 2.0 && self.delay_old < rules.target / 2.0
    }

    #[inline(always)]
    fn early(&mut self, rules: &PieSettings, bytes: u64, packet: u32, rng: &mut Rng) -> bool {
        let delay = if rules.linux { self.delay } else { self.delay_old };
        let gentle = delay < rules.target / 2.0 && self.probability < 0.2;
        // The RFC spares an arrival to exactly two packets, too.
        let (held, floor) = (bytes as f64, 2.0 * rules.packet);
        if gentle || held < floor || (held == floor && !rules.linux) {
            return false;
        }
        let size = if rules.byte_mode { (f64::from(packet) / rules.packet).min(1.0) } else { 1.0 };
        let probability = self.probability * size;
        if rules.derandomize { self.spaced(rules, probability, rng) } else { rng.chance(probability) }
    }

    /// Section 5.4: at least 0.85/p and at most 8.5/p packets between drops or marks. In Linux a mark that was certain
    /// does not end the sum.
    fn spaced(&mut self, rules: &PieSettings, probability: f64, rng: &mut Rng) -> bool {
        self.accumulated = if probability == 0.0 { 0.0 } else { self.accumulated + probability };
        if self.accumulated < 0.85 {
            return false;
        }
        let certain = self.accumulated >= 8.5;
        let hit = certain || rng.chance(probability);
        if hit && !(certain && rules.linux) {
            self.accumulated = 0.0;
        }
        hit
    }

    /// Records the departure of a packet of `packet` bytes after a queueing delay of `waited`, with `bytes` still
    /// queued. Call [`catch_up`](PieController::catch_up) first.
    #[inline]
    pub fn departed(&mut self, rules: &PieSettings, packet: u32, waited: Span, bytes: u64, now: Time) {
        if rules.dq_rate_estimator {
            let measured = self.departures.left(packet, bytes, now, rules.linux);
            return self.spend_allowance(rules, measured);
        }
        // The pseudocode keeps the last packet's delay while the queue is empty, so one long delay before a silence
        // would drive the probability to 1. By Little's law an empty queue has no delay (section 4.3).
        self.delay = if bytes == 0 { 0.0 } else { waited.as_secs_f64() };
        if rules.linux {
            let since = self.departures.since_last(now);
            self.spend_allowance(rules, since);
        }
    }

    /// Linux's burst allowance shrinks with the time between departures (`pie_process_dequeue`).
    #[inline]
    fn spend_allowance(&mut self, rules: &PieSettings, time: Span) {
        if rules.linux {
            self.burst_allowance = self.burst_allowance - time;
        }
    }

    /// Makes `due` updates with constant inputs.
    #[cold]
    fn updates(&mut self, rules: &PieSettings, bytes: u64, due: u64) {
        if rules.dq_rate_estimator {
            self.delay = self.departures.delay_of(bytes);
        }
        for _ in 0..due.min(MAX_UPDATES) {
            let before = (self.probability, self.delay_old, self.burst_allowance);
            self.update(rules, bytes);
            if before == (self.probability, self.delay_old, self.burst_allowance) {
                break;
            }
        }
    }

    fn update(&mut self, rules: &PieSettings, bytes: u64) {
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
            self.probability *= rules.decay(bytes);
        }
        let exceeds = self.probability > rules.max_probability;
        self.probability = if exceeds { 1.0 } else { self.probability.max(0.0) };
        if rules.linux {
            self.start_anew_if_calm(rules);
        } else {
            self.burst_allowance = self.burst_allowance - rules.tupdate;
        }
        self.delay_old = self.delay;
    }

    /// Linux's `pie_vars_init` at the end of an update.
    fn start_anew_if_calm(&mut self, rules: &PieSettings) {
        if self.is_calm(rules) && (!rules.dq_rate_estimator || self.dq_time() > 0.0) {
            self.burst_allowance = rules.max_burst;
            self.accumulated = 0.0;
            self.departures = DepartureRate::default();
        }
    }

    /// The average time in which 16 KiB leave, in seconds; 0 before the first measurement.
    pub fn dq_time(&self) -> f64 {
        self.departures.time()
    }
}

impl PieSettings {
    /// Factor of the probability in an update without delay. Linux leaves it as it is if `bytes` are queued.
    fn decay(&self, bytes: u64) -> f64 {
        match self.linux {
            true if bytes > 0 => 1.0,
            true => 1.0 - 1.0 / 64.0,
            false => 0.98,
        }
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

#[cfg(test)]
mod tests;
