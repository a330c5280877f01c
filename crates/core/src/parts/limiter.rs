use super::fair_share::FairShareLimiter;
use super::token_bucket::TokenBucket;
use crate::packet::FlowId;
use crate::rng::Rng;
use crate::time::{Span, Time};

/// A limit on packets of unresponsive flows, together or for each flow.
#[derive(Clone, Debug)]
pub enum Limiter {
    /// A common rate, with a burst.
    Rate(TokenBucket),
    /// One packet per interval, of any flow.
    Interval {
        /// The length of an interval.
        every: Span,
        /// Whether each interval is drawn uniformly from [0, 2] times `every`.
        random: bool,
        /// Time from which the next packet may pass.
        opens: Time,
    },
    /// A rate for each flow.
    Each(FairShareLimiter),
}

impl Limiter {
    /// Counts an arrival of `flow`, limited or not.
    #[inline]
    pub fn count_arrival(&mut self, flow: FlowId, now: Time) {
        if let Limiter::Each(fair) = self {
            fair.count_arrival(flow, now);
        }
    }

    /// Whether a packet of `bytes` of an unresponsive flow with these `bins` may be queued now.
    #[inline]
    pub fn admits(&self, bins: &[u16], bytes: u32, now: Time) -> bool {
        match self {
            Limiter::Rate(bucket) => bucket.admits(bytes, now),
            Limiter::Interval { opens, .. } => now >= *opens,
            Limiter::Each(fair) => fair.admits(bins, bytes, now),
        }
    }

    /// Charges a queued packet to the limit.
    #[inline]
    pub fn charge(&mut self, bins: &[u16], bytes: u32, now: Time, rng: &mut Rng) {
        match self {
            Limiter::Rate(bucket) => bucket.take(bytes, now),
            Limiter::Interval { every, random, opens } => {
                let interval =
                    if *random { Span::from_secs_f64(every.as_secs_f64() * rng.between(0.0, 2.0)) } else { *every };
                *opens = now + interval;
            }
            Limiter::Each(fair) => fair.charge(bins, bytes, now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed_in_100_seconds(random: bool) -> u32 {
        let mut penalty = Limiter::Interval { every: Span::from_millis(50), random, opens: Time::ZERO };
        let mut rng = Rng::new(3);
        let mut passed = 0;
        for us in 0..1_000_000 {
            let now = Time::ZERO + Span::from_micros(100 * us);
            if penalty.admits(&[], 1000, now) {
                penalty.charge(&[], 1000, now, &mut rng);
                passed += 1;
            }
        }
        passed
    }

    #[test]
    fn one_packet_passes_in_each_interval() {
        assert_eq!(passed_in_100_seconds(false), 2000);
    }

    #[test]
    fn random_intervals_have_the_same_mean() {
        // 2000 uniform intervals of standard deviation 0.58 of the mean: 26 packets. The tolerance is four of them.
        assert!(passed_in_100_seconds(true).abs_diff(2000) < 104);
    }
}
