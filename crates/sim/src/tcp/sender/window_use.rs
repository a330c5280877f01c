//! Use of the congestion window by a sender with `recent_use`.

/// How far data has filled the window within the last round trip (`tcp_cwnd_validate` in Linux).
///
/// | Linux | here |
/// | --- | --- |
/// | is_cwnd_limited, max_packets_out | `filled`, `most` |
/// | cwnd_usage_seq | `round_end` |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowUse {
    filled: bool,
    /// The most segments outstanding; not updated once the window was filled.
    most: u32,
    /// The round trip ends when all segments before this one are acknowledged.
    round_end: u32,
}

impl WindowUse {
    /// Records the segments from `una` to `next` as outstanding. `filled` tells whether they fill the window.
    pub fn record(&mut self, filled: bool, una: u32, next: u32) {
        let more = !self.filled && next - una > self.most;
        if una >= self.round_end || filled || more {
            *self = WindowUse { filled, most: next - una, round_end: next };
        }
    }

    /// Whether the window was filled, or in slow start more than half of it (`tcp_is_cwnd_limited`).
    pub fn permits_growth(&self, cwnd: u32, in_slow_start: bool) -> bool {
        self.filled || in_slow_start && cwnd < 2 * self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_window_counts_until_its_segments_are_acknowledged() {
        let mut window_use = WindowUse::default();
        window_use.record(true, 0, 10);
        window_use.record(false, 9, 12);
        assert!(window_use.permits_growth(10, false));
        window_use.record(false, 10, 12);
        assert!(!window_use.permits_growth(10, false));
    }

    #[test]
    fn slow_start_looks_at_the_most_segments_of_a_round_trip() {
        let mut window_use = WindowUse::default();
        window_use.record(false, 0, 6);
        window_use.record(false, 4, 7);
        assert!(window_use.permits_growth(11, true) && !window_use.permits_growth(12, true));
        window_use.record(false, 6, 8);
        assert!(!window_use.permits_growth(4, true));
    }
}
