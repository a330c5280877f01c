//! Adaptive RED: RED that adapts `maxp` to keep the average queue midway between its thresholds.
//!
//! RED with a constant maxp holds the average near minth under light load and near maxth under heavy load. Adaptive RED
//! changes maxp slowly until the average lies in a target range: the middle fifth between the thresholds.
//!
//! Every `interval`, the average is compared with that range. Above the range, maxp grows by `alpha` until it exceeds
//! `top`. Below the range, maxp is multiplied by `beta` until it is less than `bottom`. Arrivals and departures are
//! handled by RED ([`RedQueue`]).
//!
//! By default, `wq`, `minth` and `maxth` are derived from the link's rate and `target_delay`. No timer runs: an arrival
//! first applies the intervals that have ended.
//!
//! Source: S. Floyd, R. Gummadi, S. Shenker, "Adaptive RED: an algorithm for increasing the robustness of RED's active
//! queue management", ICSI technical report, 2001. It improves on `feng_red`. Deviations are listed in
//! docs/disciplines/ared.md.
//!
//! | paper | here |
//! | --- | --- |
//! | target, [minth + 0.4 (maxth - minth), minth + 0.6 (maxth - minth)] | [`Ared::target`] |
//! | alpha = min(0.01, maxp/4), beta | `alpha`, `beta` |

use core::cmp::Ordering;
use core::ops::Bound;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::Packet;
use crate::params::BuildError;
use crate::parts::{PolledTimer, RedDetector, RedQueue, RedSettings, Thresholds};
use crate::time::{Span, Time};

crate::choice! {
    /// When maxp changes.
    pub enum AdaptTrigger {
        /// Every interval, with or without arrivals (the paper; Linux's timer).
        Timer = "timer",
        /// At the first arrival with the average out of range, an interval after the last change (ns-2).
        Arrivals = "arrivals",
    }
}

crate::params! {
    /// Settings of [`Ared`].
    pub struct AredConfig with red: RedSettings {
        red { limit, minth = None, maxth = None }
        /// Initial drop or mark probability just below `maxth`, before spacing.
        maxp: f64 = 0.1, in (Bound::Excluded(0.0), Bound::Included(1.0)),
            also "max_p" "probability" "cur_max_p_", inverse "linterm_" "LInterm";
        /// Increase of maxp when the average is above its target range; at most a quarter of maxp.
        alpha: f64 = 0.01, in 0.0001..=0.25, also "alpha_" "Alpha";
        /// Factor by which maxp is multiplied when the average is below its target range.
        beta: f64 = 0.9, in 0.5..=0.99, also "beta_" "Beta";
        /// Time between two changes of maxp.
        interval: Span = Span::from_millis(500), in Span::from_millis(1).., also "interval_" "Interval";
        /// Upper bound: maxp is not increased while above it.
        top: f64 = 0.5, in 0.0001..=1.0, also "top_" "Top";
        /// Lower bound: maxp is not decreased while below it. `auto`: 1/W for a TCP connection alone on the link with
        /// 1000 B packets and a round-trip time of 100 ms, at most 0.01.
        bottom: Option<f64> = Some(0.01), in 0.0001..=1.0, also "bottom_" "Bottom";
        /// When maxp changes: `timer`, every interval; `arrivals`, at the first arrival that requires it.
        adapts: AdaptTrigger = AdaptTrigger::Timer;
        red {
            wq = None, burst, target_delay, spacing, gentle = true, byte_mode, ignore_size, spare_first, spare_below,
            mark_above_maxth, ecn, mean_packet
        }
    }
    presets {
        "paper" "Floyd, Gummadi, Shenker 2001 (the defaults): wq, minth and maxth from the link and the target delay" {}
        "ns2" "ns-2 2.35, ns-default.tcl with adaptive_ 1" {
            "maxp" = "0.1", "bottom" = "auto", "adapts" = "arrivals", "spacing" = "wait", "byte_mode" = "on",
            "spare_first" = "on", "spare_below" = "1", "ecn" = "off", "mean_packet" = "500B"
        }
        "linux" "sch_red of Linux 6 with `adaptive` and iproute2's defaults, 1 to 50 % every 500 ms" {
            "minth" = "8.3333%", "maxth" = "25%", "maxp" = "0.02", "burst" = "auto", "gentle" = "off",
            "byte_mode" = "on", "ignore_size" = "on", "spare_first" = "on", "mark_above_maxth" = "on", "ecn" = "off",
            "mean_packet" = "1000B"
        }
    }
    reasons { Overflow, Early, Forced }
    gauges {
        Gauge::AVERAGE;
        Gauge::PROBABILITY;
        Gauge::MAXP;
    }
    fixed {
        "adaptive_" "ARED" "AdaptMaxP" = true, "red";
        "feng_adaptive_" "FengAdaptive" = false, "feng_red";
    }
}

/// RED with a maxp that follows the load.
pub struct Ared<T> {
    red: RedQueue<T>,
    step: MaxpStep,
    target: Thresholds,
    clock: AdaptTimer,
}

#[derive(Clone, Copy, Debug)]
struct MaxpStep {
    alpha: f64,
    beta: f64,
    top: f64,
    bottom: f64,
}

impl MaxpStep {
    /// maxp after the paper's step. `side` tells whether the average is above, below or within the target range.
    fn adapted(self, maxp: f64, side: Ordering) -> f64 {
        match side {
            Ordering::Greater if maxp <= self.top => maxp + self.alpha.min(maxp / 4.0),
            Ordering::Less if maxp >= self.bottom => maxp * self.beta,
            _ => maxp,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum AdaptTimer {
    Timer(PolledTimer, Span),
    Arrivals { last: Time, interval: Span },
}

impl<T> Ared<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if minth is not below maxth, maxth is above the limit, or no weight suits the burst.
    pub fn new(config: AredConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let red = RedQueue::new(RedSettings { maxp: config.maxp, ..config.red }, link)?;
        let Thresholds { min, max } = red.detector().thresholds();
        let target = Thresholds { min: min + 0.4 * (max - min), max: min + 0.6 * (max - min) };
        // ns-2: W = 0.1 s x rate / 8000 bit.
        let bottom = config.bottom.unwrap_or((80_000.0 / link.rate.as_bits().max(1) as f64).min(0.01));
        let step = MaxpStep { alpha: config.alpha, beta: config.beta, top: config.top, bottom };
        let clock = match config.adapts {
            AdaptTrigger::Timer => AdaptTimer::Timer(PolledTimer::new(config.interval, Time::ZERO), config.interval),
            AdaptTrigger::Arrivals => AdaptTimer::Arrivals { last: Time::ZERO, interval: config.interval },
        };
        Ok(Ared { red, step, target, clock })
    }

    /// RED's state: average, probability and the spacing of drops and marks.
    pub fn detector(&self) -> &RedDetector {
        self.red.detector()
    }

    /// The target range: averages that leave maxp unchanged.
    pub fn target(&self) -> Thresholds {
        self.target
    }

    fn side_of_target(&self, average: f64) -> Ordering {
        if average > self.target.max {
            Ordering::Greater
        } else if average < self.target.min {
            Ordering::Less
        } else {
            Ordering::Equal
        }
    }

    /// Adapts maxp and returns whether it changed.
    fn adapt(&mut self, side: Ordering) -> bool {
        let maxp = self.red.detector().maxp();
        let adapted = self.step.adapted(maxp, side);
        self.red.detector_mut().set_maxp(adapted);
        adapted != maxp
    }

    /// Applies the timer's changes since the last arrival. Between arrivals the average never rises, so it passes the
    /// target range at most once. maxp therefore climbs at most to `top` and then falls at most to `bottom`, which
    /// bounds the number of steps.
    #[cold]
    fn catch_up(&mut self, first: Time, interval: Span, ended: u64) {
        let length = self.red.length();
        let average =
            |ared: &Self, k: u64| ared.side_of_target(ared.red.detector().decayed_to(length, first + interval * k));
        let mut k = 0;
        while k < ended {
            let side = average(self, k);
            if self.adapt(side) {
                k += 1;
                continue;
            }
            // maxp is constant until the average leaves this side: bisect for that interval.
            let (mut low, mut high) = (k + 1, ended);
            while low < high {
                let middle = low + (high - low) / 2;
                if average(self, middle) == side { low = middle + 1 } else { high = middle }
            }
            k = low;
        }
    }

    /// Adapts maxp by the timer, before the arrival enters the average.
    #[inline]
    fn adapt_on_timer(&mut self, now: Time) {
        if let AdaptTimer::Timer(every, interval) = &mut self.clock {
            let (first, interval, ended) = (every.next_end(), *interval, every.advance(now));
            if ended > 0 {
                self.catch_up(first, interval, ended);
            }
        }
    }

    /// Adapts maxp by arrivals, after the arrival has entered the average.
    #[inline]
    fn adapt_on_arrival(&mut self, now: Time) {
        let AdaptTimer::Arrivals { last, interval } = self.clock else { return };
        if now > last + interval && self.adapt(self.side_of_target(self.red.detector().average())) {
            self.clock = AdaptTimer::Arrivals { last: now, interval };
        }
    }
}

impl<T> Discipline<T> for Ared<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        self.adapt_on_timer(cx.now);
        let zone = self.red.update(cx);
        self.adapt_on_arrival(cx.now);
        self.red.offer(zone, packet, cx);
    }

    crate::discipline::dequeue_from!(red);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        self.red.observe(gauge);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{FlowId, Port, Rate, Rng};

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
    // The average is the queue; its target is 14 to 16 packets.
    const EXACT: &[(&str, &str)] = &[("limit", "60p"), ("minth", "10p"), ("maxth", "20p"), ("wq", "1")];

    fn port(settings: &[(&str, &str)]) -> Port<(), Ared<()>> {
        let config = AredConfig::from_settings(&[EXACT, settings].concat()).unwrap();
        Port::new(Ared::new(config, &LINK).unwrap(), Rng::new(3))
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn arrive(port: &mut Port<(), Ared<()>>, ms: u64, queue: u32) -> f64 {
        while port.backlog().packets > queue {
            port.dequeue(at(ms), &mut ());
        }
        while port.backlog().packets <= queue {
            port.enqueue(Packet::new(FlowId(1), 1000, ()), at(ms), &mut ());
        }
        port.discipline().detector().maxp()
    }

    /// A queue of `packets` whose average is one less, without signals.
    fn filled(settings: &[(&str, &str)], packets: u32) -> Port<(), Ared<()>> {
        let mut port = port(&[&[("spare_below", "1000")], settings].concat());
        arrive(&mut port, 0, packets - 1);
        port
    }

    #[test]
    fn each_interval_maxp_moves_up_by_alpha_down_by_beta_or_not_at_all() {
        let mut port = filled(&[("maxp", "0.1")], 18);
        // Each interval ends with the average of its last arrival: 16, 14, 17, 13 packets.
        let seen = [(499, 16), (500, 14), (1000, 17), (1500, 13), (2000, 15)].map(|(ms, q)| arrive(&mut port, ms, q));
        let expected = [0.1, 0.1, 0.1, 0.11, 0.099];
        assert!(seen.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{seen:?}");
    }

    #[test]
    fn small_steps_are_a_quarter_of_maxp_and_the_bounds_hold() {
        // maxp 0.02: a step of 0.005, then 0.00625.
        let mut port = filled(&[("maxp", "0.02")], 18);
        assert!((arrive(&mut port, 500, 17) - 0.025).abs() < 1e-12);
        assert!((arrive(&mut port, 1000, 17) - 0.03125).abs() < 1e-12);
        // The link stops for an hour, and the average stays. maxp rises while it is at most 0.5.
        let maxp = arrive(&mut port, 3_600_000, 17);
        assert!((0.5..=0.51).contains(&maxp), "{maxp}");
    }

    #[test]
    fn idle_time_lowers_maxp_as_a_timer_would() {
        let mut port = filled(&[("maxp", "0.1"), ("wq", "0.01")], 18);
        while port.dequeue(Time::ZERO, &mut ()).is_some() {}
        // The average of 18 packets at 0.01 is below 2. Four intervals of idle time: 0.9^4.
        assert!((arrive(&mut port, 2000, 0) - 0.1 * 0.6561).abs() < 1e-12);
        while port.dequeue(at(2000), &mut ()).is_some() {}
        // 0.01 <= 0.1 x 0.9^k holds up to k = 21, so the last step is the 22nd.
        let bottom = arrive(&mut port, 100_000_000, 0);
        assert!((bottom - 0.1 * libm::pow(0.9, 22.0)).abs() < 1e-12, "{bottom}");
    }

    #[test]
    fn as_in_ns2_an_arrival_changes_maxp_at_most_once_however_long_the_silence() {
        let mut port = filled(&[("maxp", "0.1"), ("adapts", "arrivals")], 1);
        assert!((arrive(&mut port, 10_000, 1) - 0.09).abs() < 1e-12);
        assert!((arrive(&mut port, 10_500, 1) - 0.09).abs() < 1e-12, "not before more than an interval has passed");
        assert!((arrive(&mut port, 10_501, 1) - 0.081).abs() < 1e-12);
    }

    #[test]
    fn bottom_and_thresholds_follow_the_link() {
        let link = LinkInfo::new(Rate::from_bits(100_000_000), 1000, 7);
        let ared = |settings| Ared::<()>::new(AredConfig::from_settings(settings).unwrap(), &link).unwrap();
        // C = 12 500 packets a second; 2.5 ms of it are 31.25; wq = 1 - exp(-1/12 500).
        let paper = ared(&[]);
        assert_eq!(paper.detector().thresholds(), Thresholds { min: 31.25, max: 93.75 });
        assert_eq!((paper.target().min, paper.target().max), (56.25, 68.75));
        assert_eq!(ared(&[("bottom", "auto")]).step.bottom, 0.0008);
        assert_eq!(
            Ared::<()>::new(AredConfig::from_settings(&[("bottom", "auto")]).unwrap(), &LINK).unwrap().step.bottom,
            0.01
        );
    }
}
