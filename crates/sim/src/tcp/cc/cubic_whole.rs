//! CUBIC's growth in whole packets, as in Linux 6.1 (`bictcp_update` and `tcp_cong_avoid_ai`).
//!
//! The sender counts delivered segments. When they reach a number (`needed`), the window grows by a packet. The curve and
//! Reno's window decide that number, at most every 1/32 s while the window stays the same. It is at least 2, so the window
//! grows by half per round trip at most. Until the first loss it is at most 20.
//!
//! | Linux 6.1 | here |
//! | --- | --- |
//! | cnt, snd_cwnd_cnt | `needed`, `counted` |
//! | ack_cnt, tcp_cwnd | `reno_counted`, `reno_window` |
//! | last_cwnd, last_time | `judged_window`, `judged_at` |

use aqm::{Span, Time};

/// The number of segments is computed again after this time (HZ / 32).
const INTERVAL: Span = Span::from_micros(31_250);
/// The most segments per packet of growth before the first loss.
const MOST_BEFORE_LOSS: u32 = 20;
/// Segments per packet of growth when the curve lies below the window, in windows.
const FLAT: u32 = 100;

#[derive(Clone, Copy, Debug, Default)]
pub struct WholeGrowth {
    counted: u32,
    needed: u32,
    reno_counted: u32,
    reno_window: u32,
    judged_window: u32,
    judged_at: Time,
}

impl WholeGrowth {
    /// The growth in packets of a window of `cwnd` for `delivered` segments. `target` is the curve's window in a round
    /// trip. `scale` is Reno's growth: a packet per `scale` / 8 windows. `lossless` before the first loss.
    pub fn grow(
        &mut self,
        (cwnd, delivered): (u32, u32),
        target: impl FnOnce() -> f64,
        (scale, lossless): (u32, bool),
        now: Time,
    ) -> u32 {
        self.reno_counted += delivered;
        if self.judged_window != cwnd || now - self.judged_at > INTERVAL {
            self.judge(cwnd, target() as u32, scale, lossless);
            (self.judged_window, self.judged_at) = (cwnd, now);
        }
        self.count(delivered)
    }

    fn judge(&mut self, cwnd: u32, target: u32, scale: u32, lossless: bool) {
        if self.needed == 0 {
            // The first acknowledgement of an epoch.
            self.reno_window = cwnd;
        }
        self.needed = if target > cwnd { cwnd / (target - cwnd) } else { FLAT * cwnd };
        if lossless {
            self.needed = self.needed.min(MOST_BEFORE_LOSS);
        }
        let per_packet = ((cwnd * scale) >> 3).max(1);
        while self.reno_counted > per_packet {
            self.reno_counted -= per_packet;
            self.reno_window += 1;
        }
        if self.reno_window > cwnd {
            self.needed = self.needed.min(cwnd / (self.reno_window - cwnd));
        }
        self.needed = self.needed.max(2);
    }

    fn count(&mut self, delivered: u32) -> u32 {
        // A number that has fallen below the count gives one packet.
        let late = u32::from(self.counted >= self.needed);
        self.counted = if late > 0 { 0 } else { self.counted } + delivered;
        let packets = self.counted / self.needed;
        self.counted %= self.needed;
        late + packets
    }
}

/// Reno's growth for a window reduced to `beta`: a packet per this many eighths of a window (`beta_scale`).
pub fn reno_scale(beta: f64) -> u32 {
    let beta = (beta * 1024.0) as u32;
    8 * (1024 + beta) / 3 / (1024 - beta)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn the_kernels_beta_gives_its_scale() {
        // 8 x 1741 / 3 / 307.
        assert_eq!(reno_scale(717.0 / 1024.0), 15);
    }

    #[test]
    fn a_flat_curve_before_a_loss_needs_twenty_segments() {
        // Reno's window is one packet larger after 40 x 15 / 8 = 75 segments, too late to matter.
        let mut growth = WholeGrowth::default();
        let grown: Vec<u32> = (0..40).map(|n| growth.grow((40, 1), || 40.0, (15, true), at(n))).collect();
        let packets: Vec<_> = (1..).zip(&grown).filter(|(_, by)| **by > 0).collect();
        assert_eq!(packets, [(20, &1), (40, &1)]);
    }

    #[test]
    fn a_steep_curve_adds_a_packet_per_two_segments() {
        // The target is four windows: 40 / 120 = 0, at least 2.
        let mut growth = WholeGrowth::default();
        assert_eq!(growth.grow((40, 5), || 160.0, (15, false), at(0)), 2);
    }

    #[test]
    fn the_number_holds_for_a_thirty_second_part_of_a_second() {
        let mut growth = WholeGrowth::default();
        assert_eq!(growth.grow((40, 1), || 40.0, (15, false), at(0)), 0);
        assert_eq!(growth.grow((40, 30), || 80.0, (15, false), at(31)), 0, "still 4000");
        assert_eq!(growth.grow((40, 1), || 80.0, (15, false), at(32)), 1, "2, below the count: one packet");
    }

    #[test]
    fn a_larger_window_of_reno_lowers_the_number() {
        // 7 x 15 / 8 = 13: after 14 segments Reno's window is 8, and the number 7 / 1.
        let mut growth = WholeGrowth::default();
        let grown: Vec<u32> = (0..14).map(|n| growth.grow((7, 1), || 7.0, (15, true), at(40 * n))).collect();
        assert_eq!((grown.iter().sum::<u32>(), grown[13]), (1, 1));
        // 13 more segments make Reno's window 9: 7 / 2.
        (14..27).for_each(|n| _ = growth.grow((7, 1), || 7.0, (15, true), at(40 * n)));
        assert_eq!((growth.reno_window, growth.needed), (9, 3));
    }
}
