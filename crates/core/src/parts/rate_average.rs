use crate::time::{Span, Time};

/// An exponential average of the rate of a flow or link.
///
/// For a packet of l bytes, T after the last one, r <- (1 - e^(-T/K)) l/T + e^(-T/K) r, with averaging time K. The
/// result depends little on packet spacing. The first packet, and packets at the same time, use the limit for T = 0: r
/// <- l/K + r.
///
/// Source: I. Stoica, S. Shenker, H. Zhang, "Core-stateless fair queueing", ACM SIGCOMM 1998, equation 3.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateAverage {
    rate: f64,
    last: Option<Time>,
}

/// The time between two updates of an average, and the weight of the rate in that time.
#[derive(Clone, Copy, Debug)]
pub struct AveragingStep {
    /// 1 - e^(-T/K); 0 if no time has passed.
    weight: f64,
    /// T in seconds; K if no time has passed.
    time: f64,
}

impl RateAverage {
    /// Updates the rate with `bytes` at `now`; `constant` is the paper's K, above zero. Zero bytes only let time pass.
    #[inline]
    pub fn update(&mut self, bytes: u32, now: Time, constant: Span) -> f64 {
        let step = self.step(now, constant);
        self.apply(bytes, now, step)
    }

    /// The step from the last update to `now`. Averages with the same times of update and the same `constant` can share
    /// it: the exponential is the greatest part of an update.
    #[inline]
    pub fn step(&self, now: Time, constant: Span) -> AveragingStep {
        let constant = constant.as_secs_f64();
        let since = self.last.map_or(Span::ZERO, |last| now - last).as_secs_f64();
        if since > 0.0 {
            AveragingStep { weight: -libm::expm1(-since / constant), time: since }
        } else {
            AveragingStep { weight: 0.0, time: constant }
        }
    }

    /// Updates the rate with `bytes` at `now`, which `step` leads to.
    #[inline]
    pub fn apply(&mut self, bytes: u32, now: Time, step: AveragingStep) -> f64 {
        self.last = Some(now);
        let rate = f64::from(bytes) / step.time;
        self.rate += if step.weight > 0.0 { step.weight * (rate - self.rate) } else { rate };
        self.rate
    }

    /// The rate in bytes per second at the last update.
    #[inline]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// When the rate was last updated.
    #[inline]
    pub fn last(&self) -> Option<Time> {
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
                average.update(bytes, at(n * gap), K);
            });
            assert!((average.rate() / 1e6 - 1.0).abs() < 1e-4, "{bytes}: {}", average.rate());
        }
    }

    #[test]
    fn after_a_silence_the_old_estimate_decays_by_e_in_each_k() {
        let mut average = RateAverage::default();
        average.update(1000, at(0), K);
        // 1000 B in 0.1 s.
        assert!((average.rate() - 1e4).abs() < 1e-6);
        average.update(0, at(100_000), K);
        assert!((average.rate() - 1e4 / core::f64::consts::E).abs() < 1e-6, "{}", average.rate());
    }

    #[test]
    fn packets_at_one_moment_count_as_packets_a_moment_apart() {
        let [mut together, mut apart] = [RateAverage::default(); 2];
        for n in 0..50 {
            together.update(1000, at(7), K);
            apart.update(1000, Time::from_nanos(7000 + n), K);
        }
        assert!((together.rate() / apart.rate() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn it_stays_finite_when_time_stands_still_or_ends() {
        let mut average = RateAverage::default();
        for now in [Time::ZERO, Time::ZERO, Time::from_nanos(1), Time::NEVER, Time::NEVER] {
            for constant in [Span::from_nanos(1), Span::MAX] {
                assert!(average.update(u32::MAX, now, constant).is_finite());
            }
        }
    }
}
