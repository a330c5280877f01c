//! A windowed maximum in constant space.
//!
//! Kathleen Nichols' algorithm, as in Linux (`lib/win_minmax.c`), keeps three samples: the best, the best after it, and
//! the best after the second. The result is always a sample of the window. It is below the true maximum if the maximum
//! was discarded while a larger sample, expired since, was kept.

/// A windowed maximum, over a window that is counted in rounds.
#[derive(Clone, Copy, Debug)]
pub struct MaxFilter {
    /// Values never rise and rounds never fall from the first to the last.
    best: [(u32, f64); 3],
}

impl MaxFilter {
    /// A filter that has seen `value` in round `now`.
    pub fn new(now: u32, value: f64) -> MaxFilter {
        MaxFilter { best: [(now, value); 3] }
    }

    #[inline]
    pub fn get(&self) -> f64 {
        self.best[0].1
    }

    /// Adds a sample of round `now`, which never decreases; the window reaches from `now - window` to `now`.
    pub fn update(&mut self, window: u32, now: u32, value: f64) {
        let sample = (now, value);
        if value >= self.best[0].1 || now - self.best[2].0 > window {
            self.best = [sample; 3]; // the greatest so far, or all earlier samples have expired
            return;
        }
        if value >= self.best[1].1 {
            (self.best[1], self.best[2]) = (sample, sample);
        } else if value >= self.best[2].1 {
            self.best[2] = sample;
        }
        self.age(window, sample);
    }

    /// Drops the best sample when it leaves the window, and spreads the others over the window.
    fn age(&mut self, window: u32, sample: (u32, f64)) {
        let [first, second, third] = self.best;
        let since = sample.0 - first.0;
        if since > window {
            self.best = [second, third, sample];
            if sample.0 - self.best[0].0 > window {
                self.best = [third, sample, sample];
            }
            return;
        }
        if second.0 == first.0 && 4 * since > window {
            (self.best[1], self.best[2]) = (sample, sample); // a quarter of the window went by
        } else if third.0 == second.0 && 2 * since > window {
            self.best[2] = sample; // half of it
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_greatest_is_forgotten_when_the_window_has_passed() {
        let mut filter = MaxFilter::new(0, 0.0);
        filter.update(10, 1, 9.0);
        for round in 2..=11 {
            filter.update(10, round, 5.0);
            assert_eq!(filter.get(), 9.0, "round {round} is within ten of the first");
        }
        filter.update(10, 12, 5.0);
        assert_eq!(filter.get(), 5.0);
    }

    #[test]
    fn after_a_silence_longer_than_the_window_only_the_latest_counts() {
        let mut filter = MaxFilter::new(0, 0.0);
        filter.update(10, 1, 9.0);
        filter.update(10, 30, 1.0);
        assert_eq!(filter.get(), 1.0);
    }

    proptest! {
        #[test]
        fn the_maximum_is_a_sample_of_the_window_that_no_later_sample_exceeds(
            samples in prop::collection::vec((0u32..3, 0u32..100), 1..200),
        ) {
            let window = 12;
            let mut filter = MaxFilter::new(0, 0.0);
            let mut seen: Vec<(u32, f64)> = vec![(0, 0.0)];
            let mut now = 0;
            for (later, value) in samples {
                now += later;
                seen.push((now, f64::from(value)));
                filter.update(window, now, f64::from(value));
                // Not always the greatest: a sample hidden by an expired one was not kept.
                let given = filter.get();
                let last = seen.iter().rposition(|(_, value)| *value == given).expect("it was seen");
                prop_assert!(seen[last].0 + window >= now);
                prop_assert!(seen[last..].iter().all(|(_, value)| *value <= given));
            }
        }
    }
}
