use crate::time::{Span, Time};

/// An exponential average of the rate of a flow or link.
///
/// For a packet of l bytes, T after the last one, r <- (1 - e^(-T/K)) l/T + e^(-T/K) r, with averaging time K. The
/// result depends little on packet spacing. The first packet, and packets at the same time, use the limit for T = 0: r
/// <- l/K + r.
///
/// Source: I. Stoica, S. Shenker, H. Zhang, "Core-stateless fair queueing", ACM SIGCOMM 1998, equation 3.
#[derive(Clone, Copy, Debug)]
pub struct RateAverage {
    rate: f64,
    /// [`Time::NEVER`] before the first update: no time has then passed since.
    last: Time,
}

impl Default for RateAverage {
    fn default() -> RateAverage {
        RateAverage { rate: 0.0, last: Time::NEVER }
    }
}

/// The averaging time K of one or more averages, converted once for all updates.
#[derive(Clone, Copy, Debug)]
pub struct AveragingTime {
    seconds: f64,
}

impl AveragingTime {
    /// A `constant` above zero.
    pub fn new(constant: Span) -> AveragingTime {
        AveragingTime { seconds: constant.as_secs_f64() }
    }
}

/// The time between two updates of an average.
#[derive(Clone, Copy, Debug)]
pub enum AveragingStep {
    /// No time has passed.
    Together {
        /// K in seconds.
        constant: f64,
    },
    /// Time has passed.
    Apart {
        /// T in seconds.
        time: f64,
        /// 1 - e^(-T/K): the weight of the rate in that time.
        weight: f64,
    },
}

impl RateAverage {
    /// Updates the rate with `bytes` at `now`; `constant` is the paper's K. Zero bytes only let time pass.
    #[inline]
    pub fn update(&mut self, bytes: u32, now: Time, constant: AveragingTime) -> f64 {
        let step = self.step(now, constant);
        self.apply(bytes, now, step)
    }

    /// The step from the last update to `now`. Averages with the same times of update and the same `constant` can share
    /// it: the exponential is the greatest part of an update.
    #[inline]
    pub fn step(&self, now: Time, constant: AveragingTime) -> AveragingStep {
        let time = (now - self.last).as_secs_f64();
        if time > 0.0 {
            AveragingStep::Apart { time, weight: -libm::expm1(-time / constant.seconds) }
        } else {
            AveragingStep::Together { constant: constant.seconds }
        }
    }

    /// Updates the rate with `bytes` at `now`, which `step` leads to.
    #[inline]
    pub fn apply(&mut self, bytes: u32, now: Time, step: AveragingStep) -> f64 {
        self.last = now;
        let bytes = f64::from(bytes);
        self.rate += match step {
            AveragingStep::Together { constant } => bytes / constant,
            AveragingStep::Apart { time, weight } => weight * (bytes / time - self.rate),
        };
        self.rate
    }

    /// The rate in bytes per second at the last update.
    #[inline]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// When the rate was last updated; [`Time::NEVER`] before the first update.
    #[inline]
    pub fn last(&self) -> Time {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const K: Span = Span::from_millis(100);

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    #[test]
    fn the_estimate_of_a_constant_rate_does_not_depend_on_packet_sizes() {
        for (bytes, gap) in [(1000, 1000), (40, 40), (9000, 9000)] {
            let mut average = RateAverage::default();
            // After ten K the initial value has weight e^-10.
            (0..1_000_000 / gap).for_each(|n| {
                average.update(bytes, at(n * gap), AveragingTime::new(K));
            });
            assert!((average.rate() / 1e6 - 1.0).abs() < 1e-4, "{bytes}: {}", average.rate());
        }
    }

    #[test]
    fn after_a_silence_the_old_estimate_decays_by_e_in_each_k() {
        let mut average = RateAverage::default();
        average.update(1000, at(0), AveragingTime::new(K));
        // 1000 B in 0.1 s.
        assert!((average.rate() - 1e4).abs() < 1e-6);
        average.update(0, at(100_000), AveragingTime::new(K));
        assert!((average.rate() - 1e4 / core::f64::consts::E).abs() < 1e-6, "{}", average.rate());
    }

    #[test]
    fn packets_at_one_moment_count_as_packets_a_moment_apart() {
        let [mut together, mut apart] = [RateAverage::default(); 2];
        for n in 0..50 {
            together.update(1000, at(7), AveragingTime::new(K));
            apart.update(1000, Time::from_nanos(7000 + n), AveragingTime::new(K));
        }
        assert!((together.rate() / apart.rate() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn it_stays_finite_when_time_stands_still_or_ends() {
        let mut average = RateAverage::default();
        for now in [Time::ZERO, Time::ZERO, Time::from_nanos(1), Time::NEVER, Time::NEVER] {
            for constant in [Span::from_nanos(1), Span::MAX].map(AveragingTime::new) {
                assert!(average.update(u32::MAX, now, constant).is_finite());
            }
        }
    }
}
