//! The loss event rate `p` (RFC 5348, sections 5.2 to 5.5).
//!
//! Losses within one round-trip time form one loss event. The packets between the first losses of two events form a
//! loss interval. `p` is the inverse of the weighted mean of the last eight intervals; recent intervals weigh more.

use aqm::{Span, Time};

/// Intervals in the mean (`n` of section 5.4).
const INTERVALS: usize = 8;

/// Their weights, newest first (section 5.4).
const WEIGHTS: [f64; INTERVALS] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// The smallest factor by which a long new interval discounts the older ones (section 5.5).
const THRESHOLD: f64 = 0.5;

/// The loss intervals of a flow.
#[derive(Clone, Debug, Default)]
pub struct LossHistory {
    /// `I_1` to `I_n` in packets, newest first.
    intervals: [f64; INTERVALS],
    /// `DF_1` to `DF_n`: the discount of each interval's weight.
    discounts: [f64; INTERVALS],
    /// Closed intervals; 0 before the first loss.
    closed: usize,
    /// The first packet of the last loss event, and when it would have arrived.
    start: u32,
    at: Time,
}

impl LossHistory {
    /// Whether there was a loss event.
    pub fn has_losses(&self) -> bool {
        self.closed > 0
    }

    /// Packet `seq` was lost or marked at `at`. Returns whether that begins a loss event. `first` gives the interval
    /// before the first event (section 6.3.1), which cannot be counted.
    pub fn on_loss(&mut self, seq: u32, at: Time, rtt: Span, first: impl FnOnce() -> f64) -> bool {
        if self.has_losses() && at <= self.at + rtt {
            return false;
        }
        let closed = if self.has_losses() { self.current(seq) } else { first() };
        let discount = self.discount(closed);
        self.discounts.iter_mut().for_each(|factor| *factor *= discount);
        self.intervals.rotate_right(1);
        self.discounts.rotate_right(1);
        (self.intervals[0], self.discounts[0]) = (closed.max(1.0), 1.0);
        self.closed = (self.closed + 1).min(INTERVALS);
        (self.start, self.at) = (seq, at);
        true
    }

    /// The loss event rate `p` when all packets before `next` are accounted for; 0 before the first loss.
    ///
    /// The open interval counts only if it lowers `p` (section 5.4). If it exceeds twice the mean of the others,
    /// these count less (section 5.5).
    pub fn rate(&self, next: u32) -> f64 {
        if !self.has_losses() {
            return 0.0;
        }
        let current = self.current(next);
        let discount = self.discount(current);
        let with = self.sums(1, discount);
        let (sum, weight) = (WEIGHTS[0] * current + with.0, WEIGHTS[0] + with.1);
        let without = self.sums(0, 1.0);
        (weight / sum).min(without.1 / without.0).min(1.0)
    }

    /// The weighted mean of the closed intervals in packets; `None` before the first loss.
    pub fn closed_interval(&self) -> Option<f64> {
        let (sum, weight) = self.sums(0, 1.0);
        self.has_losses().then(|| sum / weight)
    }

    /// `I_0`: packets since the last loss event began.
    fn current(&self, next: u32) -> f64 {
        f64::from(next.saturating_sub(self.start))
    }

    /// `DF`: the discount of the older intervals beside one of `current` packets.
    fn discount(&self, current: f64) -> f64 {
        let (sum, weight) = self.sums(0, 1.0);
        if current * weight <= 2.0 * sum { 1.0 } else { (2.0 * sum / (weight * current)).max(THRESHOLD) }
    }

    /// The weighted sum of the closed intervals, and the sum of their weights. `newest` is the index of the newest
    /// interval's weight: 1 if the open interval takes the first weight. The open interval then displaces the oldest
    /// one (section 5.4: `I_0` to `I_(n-1)`).
    fn sums(&self, newest: usize, discount: f64) -> (f64, f64) {
        // The oldest is left out even with fewer than `n` intervals, so that both means cover the same number of
        // intervals.
        let counted = self.closed - newest;
        let mut sums = (0.0, 0.0);
        for ((interval, factor), weight) in
            self.intervals[..counted].iter().zip(&self.discounts).zip(&WEIGHTS[newest..])
        {
            let weight = weight * factor * discount;
            sums = (sums.0 + interval * weight, sums.1 + weight);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RTT: Span = Span::from_millis(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Loss events at these packets, far apart in time, after a first interval of `first`.
    fn history(first: f64, events: &[u32]) -> LossHistory {
        let mut history = LossHistory::default();
        for (n, &seq) in events.iter().enumerate() {
            assert!(history.on_loss(seq, at(1000 * n as u64), RTT, || first));
        }
        history
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn there_is_no_loss_event_rate_before_a_loss() {
        assert_eq!(LossHistory::default().rate(1000), 0.0);
    }

    #[test]
    fn losses_within_a_round_trip_are_one_event() {
        let mut history = history(20.0, &[100]);
        assert!(!history.on_loss(101, at(1), RTT, || unreachable!()));
        assert!(!history.on_loss(110, at(100), RTT, || unreachable!()));
        assert!(history.on_loss(111, at(101), RTT, || unreachable!()));
        // Intervals 11 and 20: the second event starts at 111, and the others belong to the first.
        assert!(close(history.rate(112), 2.0 / 31.0));
    }

    #[test]
    fn the_open_interval_counts_only_if_it_lowers_the_rate() {
        let history = history(20.0, &[100]);
        assert!(close(history.rate(101), 1.0 / 20.0));
        assert!(close(history.rate(120), 1.0 / 20.0));
        // k = 1 closed interval: I_tot0 is I_0 alone.
        assert!(close(history.rate(130), 1.0 / 30.0));
    }

    #[test]
    fn eight_intervals_count_with_the_weights_of_section_5_4() {
        // The closed intervals, newest first: 80, 70 .. 10, and an older one that no longer counts.
        let starts = [1000, 1010, 1030, 1060, 1100, 1150, 1210, 1280, 1360];
        let history = history(1e6, &starts);
        let sum = 80.0 + 70.0 + 60.0 + 50.0 + 0.8 * 40.0 + 0.6 * 30.0 + 0.4 * 20.0 + 0.2 * 10.0;
        assert!(close(history.rate(1361), 6.0 / sum));
        // I_0 = 100 displaces the oldest interval. It is at most twice the mean of 53.3, so nothing is discounted.
        let sum = 100.0 + 80.0 + 70.0 + 60.0 + 0.8 * 50.0 + 0.6 * 40.0 + 0.4 * 30.0 + 0.2 * 20.0;
        assert!(close(history.rate(1460), 6.0 / sum));
    }

    #[test]
    fn equal_intervals_give_their_inverse() {
        let starts: Vec<u32> = (1..20).map(|n| n * 25).collect();
        assert!(close(history(25.0, &starts).rate(19 * 25 + 10), 1.0 / 25.0));
    }

    #[test]
    fn a_long_interval_discounts_the_older_ones() {
        let starts: Vec<u32> = (1..10).map(|n| n * 10).collect();
        let history = history(10.0, &starts);
        // I_mean = 10. I_0 = 25 is 2.5 times that: DF = 20/25, over seven older intervals whose weights sum to 5.
        assert!(close(history.rate(115), (1.0 + 5.0 * 0.8) / (25.0 + 50.0 * 0.8)));
        // I_0 = 100: DF would be 0.2, and the threshold holds it at 0.5.
        assert!(close(history.rate(190), (1.0 + 5.0 * 0.5) / (100.0 + 50.0 * 0.5)));
    }

    #[test]
    fn a_discount_remains_after_the_next_loss_event() {
        let starts: Vec<u32> = (1..10).map(|n| n * 10).collect();
        let mut history = history(10.0, &starts);
        history.on_loss(190, at(60_000), RTT, || unreachable!());
        // I_1 = 100 counts in full, the seven older intervals by half. Their weights 1 1 1 .8 .6 .4 .2 sum to 5.
        assert!(close(history.rate(191), (1.0 + 2.5) / (100.0 + 25.0)));
    }

    proptest! {
        #[test]
        fn the_rate_is_a_rate_and_only_an_event_raises_it(
            gaps in prop::collection::vec(1u32..500, 1..40),
            first in 1.0f64..1000.0,
        ) {
            let mut history = LossHistory::default();
            let (mut seq, mut ms) = (0, 0);
            for gap in gaps {
                let mut last = history.rate(seq);
                for next in seq..=seq + gap {
                    let rate = history.rate(next);
                    prop_assert!((0.0..=1.0).contains(&rate));
                    prop_assert!(rate <= last + 1e-15, "{rate} after {last} without a loss");
                    last = rate;
                }
                (seq, ms) = (seq + gap, ms + 1000);
                prop_assert!(history.on_loss(seq, at(ms), RTT, || first));
                prop_assert!(history.rate(seq + 1) > 0.0);
            }
        }
    }
}
