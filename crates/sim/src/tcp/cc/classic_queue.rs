//! Whether marks come from a classic queue: the score of Prague's fall-back (RFC 9331, section 4.3).
//!
//! A queue for L4S stays short and marks at once. A classic one varies and is long, so the round-trip times of a flow that
//! shares it do too. At the end of each round trip with a known mark, the score rises by
//!
//! lg(mdev / 750 us) / 2 + lg(max(depth / 2 ms, 1)) / 2
//!
//! and may fall by the first term. `mdev` is the mean deviation of round-trip times, and `depth` their mean above the
//! minimum, both with small gains. Below 8 the queue counts as one for L4S; above 9 as a classic one.
//!
//! Sources: B. Briscoe, A. S. Ahmed, *TCP Prague Fall-back on Detection of a Classic ECN AQM*, arXiv 1911.00710;
//! parameters of `tcp_prague.c` 0.6 (L4STeam's Linux: `prague_classic_ecn_detection`).
//!
//! Deviations: logarithms are of real numbers, where Linux carries the rests of whole ones. The minimum is that of the
//! connection instead of five minutes.

use aqm::Span;

/// The mean deviation and the queueing delay that leave the score alone.
const REFERENCE_DEVIATION: f64 = 750e-6;
const REFERENCE_DEPTH: f64 = 2e-3;
/// Weights of both terms.
const WEIGHT: f64 = 0.5;
/// Up to here the queue is one for L4S; one more, and it is a classic queue.
const STICKY: f64 = 8.0;
/// The score at which a queue stays classic for as long as one for L4S stays one.
const GREATEST: f64 = 2.0 * STICKY + 1.0;
/// The smallest gain of the mean is 2^-18.
const SMALLEST_GAIN: u32 = 18;
/// The part of the window that falls with a mark of a classic queue is this by 2, about Reno's and CUBIC's with marks.
const CLASSIC_ALPHA: f64 = 0.625;

/// The score of one flow. Times are in seconds.
#[derive(Clone, Debug, Default)]
pub struct ClassicQueue {
    score: f64,
    least: Option<f64>,
    mean: f64,
    deviation: f64,
}

impl ClassicQueue {
    /// Takes a round-trip time. The gains fall with `ssthresh`, in segments.
    pub fn on_rtt(&mut self, rtt: Span, ssthresh: f64) {
        let rtt = rtt.as_secs_f64();
        let Some(least) = self.least else {
            (self.least, self.mean, self.deviation) = (Some(rtt), rtt, 1e-6);
            return;
        };
        self.least = Some(least.min(rtt));
        let octaves = (ssthresh as u64).max(1).ilog2();
        let gain = 1.0 / f64::from(1 << (octaves + octaves / 2 + 1).min(SMALLEST_GAIN));
        let error = rtt - self.mean;
        self.mean += gain * error;
        self.deviation += gain / 2.0 * (error.abs() - self.deviation);
    }

    /// The least round-trip time in seconds.
    pub fn least_rtt(&self) -> Option<f64> {
        self.least
    }

    /// A round trip ends in a connection that has seen a mark.
    pub fn end_round(&mut self) {
        let Some(least) = self.least else { return };
        let varies = libm::log2(self.deviation.max(1e-6) / REFERENCE_DEVIATION);
        let is_long = libm::log2(((self.mean - least) / REFERENCE_DEPTH).max(1.0));
        self.score = (self.score + WEIGHT * (varies + is_long)).clamp(0.0, GREATEST);
    }

    /// The least `alpha` with which the window is to fall: 0 for a queue for L4S.
    pub fn least_alpha(&self) -> f64 {
        CLASSIC_ALPHA * (self.score - STICKY).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The score after `rounds` round trips of 100 samples each.
    fn after(rounds: u32, rtt_us: impl Fn(u64) -> u64) -> ClassicQueue {
        let mut queue = ClassicQueue::default();
        for round in 0..rounds {
            for sample in 0..100 {
                queue.on_rtt(Span::from_micros(rtt_us(u64::from(round) * 100 + sample)), 32.0);
            }
            queue.end_round();
        }
        queue
    }

    #[test]
    fn a_short_queue_that_varies_little_is_one_for_l4s() {
        let queue = after(500, |n| 20_000 + n % 3 * 400);
        assert_eq!((queue.score, queue.least_alpha()), (0.0, 0.0));
    }

    #[test]
    fn a_sawtooth_of_fifteen_milliseconds_is_a_classic_queue() {
        let queue = after(60, |n| 20_000 + n % 1000 * 15);
        assert_eq!(queue.least_alpha(), CLASSIC_ALPHA);
    }

    #[test]
    fn the_score_moves_by_half_the_logarithms() {
        let mut queue = ClassicQueue { score: 4.0, least: Some(0.02), mean: 0.028, deviation: 0.0015 };
        queue.end_round();
        assert_eq!(queue.score, 4.0 + 0.5 + 1.0, "twice the deviation, four times the depth");
        queue.deviation = 750e-6 / 4.0;
        queue.mean = 0.021;
        queue.end_round();
        assert_eq!(queue.score, 4.5, "a shallow queue does not lower it");
    }

    #[test]
    fn the_transition_takes_one_unit_of_the_score() {
        let alpha = |score| ClassicQueue { score, ..ClassicQueue::default() }.least_alpha();
        assert_eq!([7.9, 8.0, 8.5, 9.0, 17.0].map(alpha), [0.0, 0.0, 0.3125, 0.625, 0.625]);
    }
}
