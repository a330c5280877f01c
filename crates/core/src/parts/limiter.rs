use super::fair_share::FairShareLimiter;
use super::token_bucket::TokenBucket;
use crate::packet::FlowId;
use crate::rng::Rng;
use crate::time::{Span, Time};

/// A limit on packets a second: a bucket of whole packets, as in Linux's sch_sfb (6.1, `sfb_rate_limit`).
///
/// Only a packet that finds the bucket empty fills it: with `rate` times the time since the last such packet, at most
/// 10 s. Fractions of a packet are lost. Packets that arrive faster than `rate` therefore soon find it always empty.
#[derive(Clone, Debug)]
pub struct PacketLimiter {
    rate: u32,
    burst: u32,
    tokens: u32,
    /// Arrival of the last packet that found the bucket empty.
    since: Time,
}

impl PacketLimiter {
    /// The longest time for which the bucket is filled.
    const MAX_FILL_TIME: Span = Span::from_secs(10);

    /// A full bucket of `burst` packets.
    pub fn new(rate: u32, burst: u32) -> PacketLimiter {
        PacketLimiter { rate, burst, tokens: burst, since: Time::ZERO }
    }

    /// Packets that may pass before the bucket is filled again.
    pub fn tokens(&self) -> u32 {
        self.tokens
    }

    fn admits(&mut self, now: Time) -> bool {
        if self.rate > 0 && self.tokens == 0 {
            let age = (now - self.since).min(Self::MAX_FILL_TIME).as_nanos();
            let due = u128::from(age) * u128::from(self.rate) / 1_000_000_000;
            self.tokens = due.min(u128::from(self.burst)) as u32;
            self.since = now;
        }
        self.rate > 0 && self.tokens > 0
    }
}

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
    /// A common number of packets a second.
    Packets(PacketLimiter),
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
    pub fn admits(&mut self, bins: &[u16], bytes: u32, now: Time) -> bool {
        match self {
            Limiter::Rate(bucket) => bucket.admits(bytes, now),
            Limiter::Interval { opens, .. } => now >= *opens,
            Limiter::Each(fair) => fair.admits(bins, bytes, now),
            Limiter::Packets(packets) => packets.admits(now),
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
            Limiter::Packets(packets) => packets.tokens -= 1,
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
    fn a_bucket_of_packets_is_filled_only_when_found_empty_and_never_by_a_flood() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let passed = |from: u64, to: u64, step: usize| {
            let mut limiter = Limiter::Packets(PacketLimiter::new(10, 20));
            let mut rng = Rng::new(3);
            let times = (from..to).step_by(step).map(at);
            times
                .filter(|now| limiter.admits(&[], 1, *now).then(|| limiter.charge(&[], 1, *now, &mut rng)).is_some())
                .count()
        };
        // The burst of 20 passes; at 0.2 s the 2 packets due since the start. From then on each arrival finds less than
        // one packet due.
        assert_eq!(passed(0, 10_000, 10), 22);
        // After 30 s the burst passes. The 10 s that count fill the bucket to the burst again, and 2 more packets pass.
        assert_eq!(passed(30_000, 40_000, 10), 42);
        // Every packet of a flow below the rate passes. A flow at 1/90 ms is 11 % above the rate: each bucket of n packets
        // lasts 90 n ms, in which 0.9 n are due, and parts are lost: 20, 18, 16, 14, 12, 10, 9, ..., 1, 0.
        assert_eq!((passed(0, 15_000, 150), passed(0, 90_000, 90)), (100, 135));
    }

    #[test]
    fn random_intervals_have_the_same_mean() {
        // 2000 uniform intervals of standard deviation 0.58 of the mean: 26 packets. The tolerance is four of them.
        assert!(passed_in_100_seconds(true).abs_diff(2000) < 104);
    }
}
