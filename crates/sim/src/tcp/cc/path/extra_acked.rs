//! Aggregation of acknowledgements: the largest number of segments acknowledged in excess of the estimated bandwidth
//! (draft-ietf-ccwg-bbr-06, section 5.5.9).

use aqm::Time;

use super::MaxFilter;

/// Rounds that the maximum covers once the pipe has been full. Before, it covers one round.
const WINDOW: u32 = 10;
/// The bound on the estimate, in seconds of sending (Linux: `bbr_extra_acked_max_us`; the draft bounds it only by
/// `cwnd`).
const MAX_SECONDS: f64 = 0.1;

#[derive(Clone, Copy, Debug)]
pub struct ExtraAcked {
    since: Time,
    delivered: u32,
    most: MaxFilter,
}

/// An acknowledgement and its context.
pub struct AggregationSample {
    /// Segments newly acknowledged.
    pub segments: u32,
    pub now: Time,
    pub round: u32,
    /// In segments per second.
    pub bandwidth: f64,
    /// In segments.
    pub cwnd: f64,
    /// The pipe has been full.
    pub pipe_filled: bool,
}

impl ExtraAcked {
    pub fn new(now: Time) -> ExtraAcked {
        ExtraAcked { since: now, delivered: 0, most: MaxFilter::new(0, 0.0) }
    }

    /// Restarts the count at `now`, after a pause.
    pub fn restart(&mut self, now: Time) {
        (self.since, self.delivered) = (now, 0);
    }

    pub fn on_ack(&mut self, acked: &AggregationSample) {
        let mut expected = acked.bandwidth * (acked.now - self.since).as_secs_f64();
        if f64::from(self.delivered) <= expected {
            self.restart(acked.now);
            expected = 0.0;
        }
        self.delivered = self.delivered.saturating_add(acked.segments);
        let extra = (f64::from(self.delivered) - expected).min(acked.cwnd);
        self.most.update(if acked.pipe_filled { WINDOW } else { 1 }, acked.round, extra);
    }

    /// Segments to allow in flight beyond the BDP.
    pub fn get(&self, bandwidth: f64) -> f64 {
        self.most.get().min(bandwidth * MAX_SECONDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::Span;

    /// The estimate after `acks` of (milliseconds, segments) at a bandwidth of 1000 segments a second.
    fn after(acks: impl IntoIterator<Item = (u64, u32)>) -> f64 {
        let mut extra = ExtraAcked::new(Time::ZERO);
        for (ms, segments) in acks {
            let now = Time::ZERO + Span::from_millis(ms);
            extra.on_ack(&AggregationSample {
                segments,
                now,
                round: 1,
                bandwidth: 1000.0,
                cwnd: 500.0,
                pipe_filled: true,
            });
        }
        extra.get(1000.0)
    }

    #[test]
    fn acknowledgements_at_the_bandwidths_pace_are_one_segment_extra_at_most() {
        assert_eq!(after((1..100).map(|ms| (ms, 1))), 1.0);
    }

    #[test]
    fn a_burst_of_acknowledgements_is_extra_beyond_the_bandwidth() {
        // 40 at once every 40 ms: each burst is 40 segments ahead of a steady 1000 a second.
        assert_eq!(after((1..10).map(|n| (n * 40, 40))), 40.0);
    }

    #[test]
    fn the_estimate_is_at_most_a_tenth_of_a_second_of_sending() {
        assert_eq!(after([(1, 400)]), 100.0);
    }
}
