//! How much acknowledgements come in lumps: the most that was acknowledged beyond what the estimated bandwidth would have
//! delivered (draft-ietf-ccwg-bbr-06, section 5.5.9).

use headgate_core::Time;

use super::MaxFilter;

/// Rounds that the maximum looks back on, once the pipe has been full; before, one.
const WINDOW: u32 = 10;
/// The window is not raised by more than is sent in this many seconds (Linux: `bbr_extra_acked_max_us`; the draft has
/// `cwnd` for the only bound).
const LONGEST: f64 = 0.1;

/// The estimate of aggregation.
#[derive(Clone, Copy, Debug)]
pub struct ExtraAcked {
    since: Time,
    delivered: u32,
    most: MaxFilter,
}

/// An acknowledgement and what was known before it.
pub struct Epoch {
    /// Segments it newly acknowledges.
    pub segments: u32,
    /// When it came.
    pub now: Time,
    /// The number of the round.
    pub round: u32,
    /// The estimated bandwidth in segments a second.
    pub bandwidth: f64,
    /// The window in segments.
    pub cwnd: f64,
    /// Whether the pipe has ever been full.
    pub full: bool,
}

impl ExtraAcked {
    /// Nothing was acknowledged yet.
    pub fn new(now: Time) -> ExtraAcked {
        ExtraAcked { since: now, delivered: 0, most: MaxFilter::new(0, 0.0) }
    }

    /// Begins to count at `now`, after a silence.
    pub fn restart(&mut self, now: Time) {
        (self.since, self.delivered) = (now, 0);
    }

    /// Takes an acknowledgement.
    pub fn on_ack(&mut self, acked: &Epoch) {
        let mut expected = acked.bandwidth * (acked.now - self.since).as_secs_f64();
        if f64::from(self.delivered) <= expected {
            self.restart(acked.now);
            expected = 0.0;
        }
        self.delivered = self.delivered.saturating_add(acked.segments);
        let extra = (f64::from(self.delivered) - expected).min(acked.cwnd);
        self.most.update(if acked.full { WINDOW } else { 1 }, acked.round, extra);
    }

    /// Segments to allow in flight beyond what the path holds.
    pub fn get(&self, bandwidth: f64) -> f64 {
        self.most.get().min(bandwidth * LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headgate_core::Span;

    /// The estimate after `acks` of (milliseconds, segments) at a bandwidth of 1000 segments a second.
    fn after(acks: impl IntoIterator<Item = (u64, u32)>) -> f64 {
        let mut extra = ExtraAcked::new(Time::ZERO);
        for (ms, segments) in acks {
            let now = Time::ZERO + Span::from_millis(ms);
            extra.on_ack(&Epoch { segments, now, round: 1, bandwidth: 1000.0, cwnd: 500.0, full: true });
        }
        extra.get(1000.0)
    }

    #[test]
    fn acknowledgements_at_the_bandwidths_pace_are_one_segment_extra_at_most() {
        assert_eq!(after((1..100).map(|ms| (ms, 1))), 1.0);
    }

    #[test]
    fn a_lump_is_extra_by_what_came_too_early() {
        // 40 at once every 40 ms: each lump is 40 ahead of what 1000 a second would have brought by then.
        assert_eq!(after((1..10).map(|n| (n * 40, 40))), 40.0);
    }

    #[test]
    fn no_more_is_allowed_than_a_tenth_of_a_second_brings() {
        assert_eq!(after([(1, 400)]), 100.0);
    }
}
