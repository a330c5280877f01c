//! DualPI2: two coupled queues, with shallow marking for scalable (L4S) flows and PI2 for classic flows.
//!
//! Scalable congestion control works with a very short queue and frequent marks. Classic TCP needs a longer queue and
//! rare drops. DualPI2 gives each its own queue, and couples their drop and mark probabilities so that flows of both
//! kinds get about the same rate.
//!
//! On arrival, ECT(1) and CE packets join the low latency queue, all others the Classic queue. A packet that does not
//! fit is dropped. Every `tupdate`, a PI controller sets a base probability p' from the oldest queued packet's delay
//! and its growth ([`Pi2Controller`]).
//!
//! On departure, a weighted scheduler chooses the queue, with priority for low latency. A Classic packet is dropped or
//! marked with probability p'^2. A low latency packet is marked with the larger of two probabilities: k p', and a ramp
//! that rises from 0 to 1 once the packet's own queueing delay exceeds `min_th`. A Classic flow's rate is inversely
//! proportional to the square root of its probability, a Scalable flow's to the probability itself. The square
//! therefore makes their rates about equal.
//!
//! Once k p' reaches 1, marks no longer suffice, and both queues drop with probability p'^2 (`drop_on_overload`).
//!
//! Source: K. De Schepper, B. Briscoe, G. White, "Dual-Queue Coupled Active Queue Management (AQM) for Low Latency, Low
//! Loss, and Scalable Throughput (L4S)", RFC 9332, 2023, appendix A. Deviations are listed in
//! docs/disciplines/dualpi2.md.
//!
//! | RFC 9332 | here |
//! | --- | --- |
//! | lq, cq | `low`, `classic` |
//! | p', prev_q | [`Pi2Controller::probability`], [`Pi2Controller::delay`] |
//! | p_C, p_CL | p'^2 and k p', [`Dualpi2::probabilities`] |
//! | p_Cmax, p_Lmax | min(1/k^2, 1) and 1: overload |
//! | minTh, range, Th_len | `min_th`, `range`, `min_qlen_step` (Th_len + 1) |
//! | recur(), lq.count, cq.count | `signals`, [`Dualpi2::counts`] |

use core::ops::Bound;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{Backlog, Packet};
use crate::params::{BuildError, Bytes};
use crate::parts::{Fifo, Pi2Controller, Pi2Settings};
use crate::reason::Why;
use crate::rng::Rng;
use crate::time::{Span, Time};
use crate::units::Limit;

crate::choice! {
    /// Which queue sends next if both hold packets.
    pub enum DualScheduler {
        /// Weighted round robin by bytes.
        Wrr = "wrr",
        /// The packet with the longest queueing delay, less `tshift` for a Classic packet.
        TsFifo = "ts_fifo",
    }
}

crate::choice! {
    /// How a probability becomes drops and marks.
    pub enum SignalMethod {
        /// Probabilities are summed; each time the sum passes 1, a packet is dropped or marked.
        Recur = "recur",
        /// At random, independently for each packet.
        Random = "random",
    }
}

crate::params! {
    /// Settings of [`Dualpi2`].
    pub struct Dualpi2Config {
        /// Buffer size of both queues together. An arriving packet that does not fit is dropped. `auto`: what the link
        /// sends in 250 ms.
        limit: Option<Limit> = None;
        /// Target queueing delay of the Classic queue.
        target: Span = Span::from_millis(15);
        /// Largest expected round-trip time, for the `auto` values below.
        max_rtt: Span = Span::from_millis(100), in (Bound::Excluded(Span::ZERO), Bound::Unbounded), also "RTT_max";
        /// Time between two updates of the probability. `auto`: `target`, at most a third of `max_rtt`.
        tupdate: Option<Span> = None, in (Bound::Excluded(Span::ZERO), Bound::Unbounded), also "Tupdate";
        /// Increase of the probability per update for each second of delay above the target, in Hz. `auto`: 0.1 tupdate
        /// / max_rtt^2.
        alpha: Option<f64> = None, in 0.0..=1e6;
        /// Increase of the probability per update for each second of delay growth, in Hz. `auto`: 0.3 / max_rtt.
        beta: Option<f64> = None, in 0.0..=1e6;
        /// Factor k from the base probability to that of the low latency queue. Classic packets get the square of the
        /// base probability.
        coupling_factor: f64 = 2.0, in (Bound::Excluded(0.0), Bound::Included(1000.0)), also "k";
        /// Queueing delay above which the low latency queue marks on its own.
        min_th: Span = Span::from_micros(800), also "minTh" "step_thresh";
        /// Further delay over which that marking probability rises to 1. 0: a step.
        range: Span = Span::from_micros(400);
        /// Minimum packets in the low latency queue for that marking: the RFC's Th_len plus one.
        min_qlen_step: u32 = 2;
        /// Minimum bytes in both queues together for drops and marks by the base probability.
        min_backlog: Bytes = Bytes(0);
        /// Which queue sends next if both hold packets: `wrr`, weighted round robin, or `ts_fifo`, the packet with the
        /// longest delay.
        scheduler: DualScheduler = DualScheduler::Wrr;
        /// Minimum share of the link for the Classic queue, for `scheduler=wrr`.
        classic_protection: f64 = 0.0625, in 0.0..=1.0;
        /// Extra delay that a Classic packet must have to be sent first, for `scheduler=ts_fifo`.
        tshift: Span = Span::from_millis(50);
        /// How a probability becomes drops and marks: `recur`, evenly spaced, or `random`.
        signals: SignalMethod = SignalMethod::Recur;
        /// Drops from both queues once the coupled probability reaches 1. Off: low latency packets are only marked, and
        /// dropped only at the limit.
        drop_on_overload: bool = true, also "drop_overload";
        /// Treats ECT(0) packets as Scalable too, as in a data center.
        any_ect: bool = false;
        /// Marks ECN-capable packets instead of dropping them. Off: all packets are Classic.
        ecn: bool = true;
    }
    presets {
        "rfc" "RFC 9332, appendix A (the defaults)" {}
        "linux" "sch_dualpi2 of Linux 6.18 with tc's defaults, as far as parameters express it" {
            "limit" = "10000p", "tupdate" = "16ms", "alpha" = "0.16", "beta" = "3.2", "min_th" = "1ms", "range" = "0s",
            "min_qlen_step" = "0", "min_backlog" = "3028B", "classic_protection" = "0.1", "signals" = "random",
        }
    }
    reasons { Overflow, Forced, Sojourn }
    gauges {
        Gauge::new("probability", "probability", "p': base probability.");
        Gauge::new("probability_classic", "probability", "p'^2: drop or mark probability of Classic packets.");
        Gauge::new("probability_coupled", "probability", "k p': coupled marking probability of the low latency queue, at most 1.");
        Gauge::new("low_packets", "packets", "Packets in the low latency queue.");
        Gauge::new("classic_packets", "packets", "Packets in the Classic queue.");
        Gauge::new("delay_ms", "ms", "Longest queueing delay at the last update.");
    }
}

/// The low latency and the Classic queue, their scheduler and controller.
pub struct Dualpi2<T> {
    config: Dualpi2Config,
    limit: Limit,
    low: Fifo<T>,
    classic: Fifo<T>,
    /// The controller.
    pub controller: Pi2Controller,
    /// The value of p_C from which the link counts as overloaded.
    overload_probability: f64,
    /// The RFC's lq.count and cq.count.
    low_count: f64,
    classic_count: f64,
    /// Credit of weighted round robin, in weighted bytes. While it is 0 or negative, the low latency queue is next.
    pub credit: f64,
    first_credit: f64,
}

/// The probabilities of both queues, coupled by p'.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoupledProbabilities {
    /// p_C: drop or mark probability of a Classic packet.
    pub classic: f64,
    /// p_CL: coupled marking probability of a low latency packet.
    pub low: f64,
}

impl<T> Dualpi2<T> {
    /// Two empty queues.
    ///
    /// # Errors
    /// None: every configuration is valid.
    pub fn new(config: Dualpi2Config, link: &LinkInfo) -> Result<Self, BuildError> {
        let tupdate = config.tupdate.unwrap_or(config.target.min(Span::from_nanos(config.max_rtt.as_nanos() / 3)));
        let (rtt, k) = (config.max_rtt.as_secs_f64(), config.coupling_factor);
        let rules = Pi2Settings {
            target: config.target,
            tupdate: tupdate.max(Span::from_nanos(1)),
            alpha: config.alpha.unwrap_or(0.1 * tupdate.as_secs_f64() / (rtt * rtt)),
            beta: config.beta.unwrap_or(0.3 / rtt),
            // Without overload drops, the base probability rises only until the coupled probability is 1.
            most: if config.drop_on_overload { 1.0 } else { (1.0 / k).min(1.0) },
        };
        let quarter = Limit::Bytes((link.rate.as_bits() / 32).max(2 * u64::from(link.mean_packet)));
        let unbounded = || Fifo::new(Limit::Bytes(u64::MAX));
        // Up to a packet's worth of credit in favor of the queue with the larger weight, as in Linux.
        let first_credit = f64::from(link.mean_packet) * (2.0 * config.classic_protection - 1.0);
        Ok(Dualpi2 {
            limit: config.limit.unwrap_or(quarter),
            config,
            low: unbounded(),
            classic: unbounded(),
            controller: Pi2Controller::new(rules),
            overload_probability: (1.0 / (k * k)).min(1.0),
            low_count: 0.0,
            classic_count: 0.0,
            credit: first_credit,
            first_credit,
        })
    }

    /// p_C and p_CL, as of the last update.
    #[inline]
    pub fn probabilities(&self) -> CoupledProbabilities {
        let base = self.controller.probability;
        CoupledProbabilities { classic: base * base, low: (self.config.coupling_factor * base).min(1.0) }
    }

    /// Probability accumulated towards the next drop or mark, in the low latency and the Classic queue.
    pub fn counts(&self) -> [f64; 2] {
        [self.low_count, self.classic_count]
    }

    /// Backlogs of the low latency and the Classic queue.
    pub fn backlogs(&self) -> [Backlog; 2] {
        [self.low.backlog(), self.classic.backlog()]
    }

    #[inline]
    fn is_low_latency(&self, packet: &Packet<T>) -> bool {
        // ECT(1) and CE are the codepoints with the lower bit set (section 2.3 of the RFC).
        self.config.ecn && (packet.ecn.bits() & 1 == 1 || (self.config.any_ect && packet.ecn.is_capable()))
    }

    #[inline]
    fn update(&mut self, now: Time) {
        if self.controller.is_due(now) {
            self.catch_up(now);
        }
    }

    #[cold]
    fn catch_up(&mut self, now: Time) {
        let arrived = |queue: &Fifo<T>| queue.head().map(|packet| packet.arrived);
        let oldest = [arrived(&self.low), arrived(&self.classic)].into_iter().flatten().min();
        self.controller.catch_up(oldest, now);
    }

    /// Whether the low latency queue is next, and the change of credit per byte sent; `None` if both queues are empty.
    #[inline]
    fn turn(&self, now: Time) -> Option<(bool, f64)> {
        let (low, classic) = match (self.low.head(), self.classic.head()) {
            (Some(low), Some(classic)) => (low, classic),
            // Credit changes only while both queues hold packets.
            (Some(_), None) => return Some((true, 0.0)),
            (None, Some(_)) => return Some((false, 0.0)),
            (None, None) => return None,
        };
        let low_first = match self.config.scheduler {
            DualScheduler::Wrr => self.credit <= 0.0,
            DualScheduler::TsFifo => now - classic.arrived <= (now - low.arrived) + self.config.tshift,
        };
        let weight = self.config.classic_protection;
        Some((low_first, if low_first { weight } else { weight - 1.0 }))
    }

    #[inline]
    fn judge_low(&mut self, packet: Packet<T>, coupled: CoupledProbabilities, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let signals = self.config.signals;
        if self.config.drop_on_overload && coupled.low >= 1.0 {
            // Every packet would be marked: drop with the Classic queue's probability, and mark all other packets.
            if signals.hit(&mut self.low_count, coupled.classic, cx.rng) {
                cx.drop(packet, Why::Sojourn);
                return None;
            }
            let hit = signals.hit(&mut self.low_count, coupled.low, cx.rng);
            return cx.signal_if(hit, packet, Why::Sojourn, true);
        }
        let enough = self.low.backlog().packets >= self.config.min_qlen_step;
        let native = if enough { self.native(cx.now - packet.arrived) } else { 0.0 };
        let hit = signals.hit(&mut self.low_count, native.max(coupled.low), cx.rng);
        let why = if native > coupled.low { Why::Forced } else { Why::Sojourn };
        cx.signal_if(hit, packet, why, true)
    }

    /// Marking probability of the low latency queue's own AQM (the RFC's laqm): 0 up to minTh, 1 from minTh + range on.
    #[inline]
    fn native(&self, delay: Span) -> f64 {
        let (min, range) = (self.config.min_th, self.config.range);
        if delay >= min + range {
            1.0
        } else if delay <= min {
            0.0
        } else {
            (delay - min).as_nanos() as f64 / range.as_nanos() as f64
        }
    }

    #[inline]
    fn judge_classic(
        &mut self,
        packet: Packet<T>,
        coupled: CoupledProbabilities,
        cx: &mut Cx<'_, T>,
    ) -> Option<Packet<T>> {
        let hit = self.config.signals.hit(&mut self.classic_count, coupled.classic, cx.rng);
        let overload = self.config.drop_on_overload && coupled.classic >= self.overload_probability;
        cx.signal_if(hit, packet, Why::Sojourn, self.config.ecn && !overload)
    }
}

impl SignalMethod {
    /// Whether to drop or mark a packet with this probability: the RFC's recur().
    #[inline]
    fn hit(self, count: &mut f64, probability: f64, rng: &mut Rng) -> bool {
        if self == SignalMethod::Random {
            return rng.chance(probability);
        }
        *count += probability;
        let hit = *count > 1.0;
        *count -= f64::from(u8::from(hit));
        hit
    }
}

impl<T> Discipline<T> for Dualpi2<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        self.update(cx.now);
        if !self.limit.admits(self.backlog(), packet.bytes) {
            return cx.drop(packet, Why::Overflow);
        }
        let queue = if self.is_low_latency(&packet) { &mut self.low } else { &mut self.classic };
        queue.push(packet, cx);
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        self.update(cx.now);
        while let Some((low, weight)) = self.turn(cx.now) {
            let packet = if low { self.low.pop() } else { self.classic.pop() }?;
            let bytes = packet.bytes;
            let quiet = self.backlog().bytes < self.config.min_backlog.0;
            let coupled = if quiet { CoupledProbabilities { classic: 0.0, low: 0.0 } } else { self.probabilities() };
            let judged =
                if low { self.judge_low(packet, coupled, cx) } else { self.judge_classic(packet, coupled, cx) };
            if judged.is_some() {
                self.credit += weight * f64::from(bytes);
                return judged;
            }
        }
        self.credit = self.first_credit;
        None
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        let [low, classic] = self.backlogs();
        Backlog { packets: low.packets + classic.packets, bytes: low.bytes + classic.bytes }
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        let (coupled, [low, classic]) = (self.probabilities(), self.backlogs());
        gauge("probability", self.controller.probability);
        gauge("probability_classic", coupled.classic);
        gauge("probability_coupled", coupled.low);
        gauge("low_packets", f64::from(low.packets));
        gauge("classic_packets", f64::from(classic.packets));
        gauge("delay_ms", 1000.0 * self.controller.delay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{FlowId, Port, Rate};

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

    #[test]
    fn the_constants_follow_from_target_and_round_trip_as_in_the_rfc() {
        // Appendix A.1: Tupdate 15 ms, alpha 0.15 Hz, beta 3 Hz, p_Cmax 1/4, and 250 ms of buffer.
        let dual = Dualpi2::new(Dualpi2Config::default(), &LINK).unwrap();
        let mut port = Port::new(dual, Rng::new(3));
        assert_eq!(port.discipline().limit, Limit::Bytes(250_000));
        assert_eq!(port.discipline().overload_probability, 0.25);
        for ms in [0, 30] {
            port.enqueue(Packet::new(FlowId(1), 1000, ()), Time::ZERO + Span::from_millis(ms), &mut ());
        }
        // 3 x 0.015, then 0.15 x 0.015 + 3 x 0.015.
        assert!((port.discipline().controller.probability - 0.09225).abs() < 1e-12);
        let CoupledProbabilities { classic, low } = port.discipline().probabilities();
        assert!((low - 0.1845).abs() < 1e-12 && (classic - 0.09225 * 0.09225).abs() < 1e-12);
    }

    #[test]
    fn every_preset_builds() {
        for preset in Dualpi2Config::presets() {
            let config = Dualpi2Config::from_settings(&[("preset", preset.name)]).unwrap();
            assert!(Dualpi2::<()>::new(config, &LINK).is_ok(), "{}", preset.name);
        }
    }
}
