use alloc::boxed::Box;

use super::hash::keyed;
use super::polled_timer::PolledTimer;
use crate::packet::FlowId;
use crate::time::{Span, Time};

const BITS: u32 = 4096;

/// Estimates the number of distinct flows that sent a packet within a window, by linear counting in a bitmap.
///
/// Each flow sets one of m bits, chosen by a hash. n flows leave a bit unset with probability (1 - 1/m)^n, about
/// exp(-n/m). A share V of unset bits therefore means n = -m ln V. With t = n/m the standard deviation is sqrt(m (e^t -
/// t - 1)). This is 4.5 for 400 flows and 53 for 4000. The bitmap is full at 34 000 flows (m ln m).
///
/// Source: K.-Y. Whang, B. Vander-Zanden, H. Taylor, "A linear-time probabilistic counting algorithm for database
/// applications", ACM TODS 15(2), 1990.
#[derive(Clone, Debug)]
pub struct FlowCount {
    bits: Box<[u64; BITS as usize / 64]>,
    /// Bits unset in this window.
    unset: u32,
    /// Bits unset at the end of the previous window.
    unset_before: u32,
    window: PolledTimer,
    key: u64,
}

impl FlowCount {
    /// No flows yet. The first window of length `window` begins with the run; zero means one endless window.
    pub fn new(window: Span, key: u64) -> FlowCount {
        let bits = Box::new([0; BITS as usize / 64]);
        FlowCount { bits, unset: BITS, unset_before: BITS, window: PolledTimer::new(window, Time::ZERO), key }
    }

    /// Counts the flow of an arriving packet.
    #[inline]
    pub fn count_arrival(&mut self, flow: FlowId, now: Time) {
        let ended = self.window.advance(now);
        if ended > 0 {
            self.begin_window(ended);
        }
        let bit = keyed(self.key, flow) % u64::from(BITS);
        let (word, mask) = (&mut self.bits[bit as usize / 64], 1 << (bit % 64));
        self.unset -= u32::from(*word & mask == 0);
        *word |= mask;
    }

    /// The number of flows in the previous window, or in this one if already larger; at least 1.
    ///
    /// The key never changes: a flow sets the same bit in both windows, so taking the larger estimate adds no bias.
    pub fn estimate(&self) -> f64 {
        let unset = self.unset.min(self.unset_before).max(1);
        (f64::from(BITS) * libm::log(f64::from(BITS) / f64::from(unset))).max(1.0)
    }

    /// Ends `ended` windows and clears the bitmap for the next.
    #[cold]
    fn begin_window(&mut self, ended: u64) {
        // Windows that ended between two calls had no packet.
        self.unset_before = if ended == 1 { self.unset } else { BITS };
        self.unset = BITS;
        self.bits.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn the_estimate_errs_as_linear_counting_does() {
        for flows in [1u64, 10, 100, 400, 4000, 16_000] {
            let estimate = |key| {
                let mut count = FlowCount::new(Span::from_secs(1), key);
                (0..2 * flows).for_each(|packet| count.count_arrival(FlowId(packet % flows), at(0)));
                count.estimate()
            };
            let t = flows as f64 / f64::from(BITS);
            let deviation = libm::sqrt(f64::from(BITS) * (libm::exp(t) - t - 1.0));
            let errors: [f64; 100] = core::array::from_fn(|key| estimate(key as u64 * 31) - flows as f64);
            let mean = errors.iter().sum::<f64>() / 100.0;
            let spread = libm::sqrt(errors.iter().map(|e| e * e).sum::<f64>() / 100.0);
            // The paper's bias is (e^t - t - 1)/2: below 25 here. Tolerance: four deviations of the mean of 100, and
            // for the spread 7 % per deviation.
            let bias = (libm::exp(t) - t - 1.0) / 2.0;
            assert!((mean - bias).abs() < 0.4 * deviation + 0.01, "{flows}: {mean} {deviation}");
            assert!((spread - deviation).abs() < 0.3 * deviation + 0.5, "{flows}: {spread} {deviation}");
        }
    }

    #[test]
    fn flows_that_fall_silent_are_forgotten_a_window_later() {
        let mut count = FlowCount::new(Span::from_secs(1), 7);
        (0..1000).for_each(|flow| count.count_arrival(FlowId(flow), at(10)));
        let many = count.estimate();
        count.count_arrival(FlowId(1), at(1500));
        assert_eq!(count.estimate(), many, "the last window had these flows");
        count.count_arrival(FlowId(1), at(2500));
        assert!((count.estimate() - 1.0).abs() < 0.01, "{}", count.estimate());
        (0..1000).for_each(|flow| count.count_arrival(FlowId(flow), at(2600)));
        assert_eq!(count.estimate(), many, "new flows count at once, and known flows do not count twice");
        count.count_arrival(FlowId(1), at(3_600_000));
        assert!((count.estimate() - 1.0).abs() < 0.01, "an hour of silence");
    }

    #[test]
    fn a_flood_of_flows_fills_the_bitmap_and_no_more() {
        let mut count = FlowCount::new(Span::ZERO, 7);
        (0..1_000_000).for_each(|flow| count.count_arrival(FlowId(flow), Time::NEVER));
        assert!((count.estimate() - 4096.0 * libm::log(4096.0)).abs() < 1.0);
    }
}
