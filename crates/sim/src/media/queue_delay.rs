//! SCReAM's estimate of the queueing delay, and of the window reduction that it calls for (SCReAM version 2, "virtual
//! L4S": delay-based congestion control).

use aqm::{Span, Time};

/// Weight of a sample above the average; a lower one is taken at once.
const WEIGHT: f64 = 0.25;

#[derive(Clone, Debug, Default)]
pub struct QueueDelay {
    /// The least one-way delay.
    base: Option<Span>,
    /// The latest queueing delay, and a slower average, in seconds.
    latest: f64,
    average: f64,
    updated: Option<Time>,
}

impl QueueDelay {
    /// A packet took `delay` one way.
    pub fn add(&mut self, delay: Span) {
        let base = self.base.map_or(delay, |base| base.min(delay));
        self.base = Some(base);
        self.latest = (delay - base).as_secs_f64();
    }

    /// Updates the average, at most once in `interval`.
    pub fn update(&mut self, interval: Span, now: Time) {
        if self.updated.is_some_and(|last| now < last + interval) {
            return;
        }
        self.updated = Some(now);
        let weight = if self.latest < self.average { 1.0 } else { WEIGHT };
        self.average += weight * (self.latest - self.average);
    }

    /// The part of packets that a marking bottleneck would mark at this delay: 0 up to half of `target`, 1 from `target`
    /// on. `None` if it would mark none.
    pub fn virtual_marks(&self, target: Span) -> Option<f64> {
        let half = target.as_secs_f64() / 2.0;
        (self.average > half).then(|| ((self.average - half) / half).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_begin_at_half_of_the_target() {
        let target = Span::from_millis(60);
        let marks = |average: f64| QueueDelay { average, ..QueueDelay::default() }.virtual_marks(target);
        assert_eq!(marks(0.030), None);
        assert!((marks(0.045).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(marks(0.090), Some(1.0));
    }

    #[test]
    fn the_average_rises_slowly_and_falls_at_once() {
        let mut delay = QueueDelay::default();
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        delay.add(Span::from_millis(20));
        delay.update(Span::from_millis(30), at(0));
        delay.add(Span::from_millis(100));
        delay.update(Span::from_millis(30), at(29));
        assert_eq!(delay.average, 0.0);
        delay.update(Span::from_millis(30), at(30));
        assert!((delay.average - 0.020).abs() < 1e-12);
        delay.add(Span::from_millis(25));
        delay.update(Span::from_millis(30), at(60));
        assert!((delay.average - 0.005).abs() < 1e-12);
    }
}
