use crate::time::{Span, Time};
use crate::units::Rate;

/// A token bucket in bytes: limits traffic to `rate`, after an initial burst.
///
/// It stores only `full_at`, the time at which the bucket will be full again. The bucket lacks (full_at - now) x rate
/// bytes. No timer is needed, and integer nanoseconds do not drift. This is the virtual scheduling of the generic cell
/// rate algorithm (ITU-T I.371, annex A).
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    rate: Rate,
    /// Time to fill an empty bucket.
    depth: Span,
    full_at: Time,
}

impl TokenBucket {
    /// A full bucket of `burst` bytes with a `rate` above zero.
    pub fn new(rate: Rate, burst: u32) -> TokenBucket {
        TokenBucket { rate, depth: rate.transmit(burst), full_at: Time::ZERO }
    }

    /// Time until the bucket is full.
    #[inline]
    pub fn time_to_full(&self, now: Time) -> Span {
        self.full_at - now
    }

    /// Whether a packet of `bytes` may pass. A packet larger than the burst needs a full bucket, which then goes into
    /// debt.
    #[inline]
    pub fn admits(&self, bytes: u32, now: Time) -> bool {
        let time_to_full = self.time_to_full(now);
        time_to_full == Span::ZERO || time_to_full + self.rate.transmit(bytes) <= self.depth
    }

    /// When a packet of `bytes` may pass, if no other passes before.
    #[inline]
    pub fn ready_at(&self, bytes: u32, now: Time) -> Time {
        // The bucket may lack this much and still pay for the packet.
        let spare = self.depth - self.rate.transmit(bytes);
        now + ((self.full_at - now) - spare)
    }

    /// Charges a packet of `bytes`.
    #[inline]
    pub fn take(&mut self, bytes: u32, now: Time) {
        self.full_at = self.full_at.max(now) + self.rate.transmit(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_burst_passes_at_once_and_then_the_rate() {
        // 8 kbit/s is one byte a millisecond.
        let mut bucket = TokenBucket::new(Rate::from_bits(8000), 300);
        let mut passed = 0;
        for ms in 0..1000 {
            if bucket.admits(100, at(ms)) {
                bucket.take(100, at(ms));
                passed += 1;
            }
        }
        // The burst of 300, and a packet each 100 ms in the following 999 ms.
        assert_eq!(passed, 3 + 9);
    }

    #[test]
    fn a_packet_above_the_burst_passes_a_full_bucket_and_owes_the_rest() {
        let mut bucket = TokenBucket::new(Rate::from_bits(8000), 300);
        assert!(bucket.admits(9000, at(0)));
        bucket.take(9000, at(0));
        assert!(!bucket.admits(1, at(8700)));
        assert!(bucket.admits(1, at(8701)));
        assert!(!bucket.admits(9000, at(8999)));
        assert!(bucket.admits(9000, at(9000)));
    }

    #[test]
    fn ready_at_is_the_first_time_at_which_the_bucket_admits_the_packet() {
        let mut bucket = TokenBucket::new(Rate::from_bits(8000), 300);
        assert_eq!(bucket.ready_at(100, at(5)), at(5));
        bucket.take(250, at(5));
        assert_eq!([50, 51, 100, 300, 9000].map(|bytes| bucket.ready_at(bytes, at(5))), [5, 6, 55, 255, 255].map(at));
        for bytes in [51, 100, 300, 9000] {
            let ready = bucket.ready_at(bytes, at(5));
            assert!(bucket.admits(bytes, ready) && !bucket.admits(bytes, Time::from_nanos(ready.as_nanos() - 1)));
        }
    }

    #[test]
    fn a_clock_that_jumps_hours_fills_the_bucket_and_no_more() {
        let mut bucket = TokenBucket::new(Rate::from_bits(8000), 300);
        (0..3).for_each(|_| bucket.take(100, at(0)));
        let later = at(36_000_000);
        (0..3).for_each(|_| {
            assert!(bucket.admits(100, later));
            bucket.take(100, later);
        });
        assert!(!bucket.admits(100, later));
        bucket.take(u32::MAX, Time::NEVER);
        assert!(bucket.admits(1, Time::NEVER));
    }
}
