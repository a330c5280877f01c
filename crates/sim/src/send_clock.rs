//! The resolution of send times, which packets carry in few bits.

use aqm::{Span, Time};

/// Bits of a number for a send time: the upper ones.
pub const SEND_TIME_BITS: u32 = 29;
const LOWEST_BIT: u32 = u64::BITS - SEND_TIME_BITS;
const SEND_TIME: u64 = u64::MAX << LOWEST_BIT;

/// The finest resolution: 2^10 ns, with which times repeat after 549.8 s.
const FINEST: u32 = 10;

/// Counts time in units of 2^10 ns, or in larger ones if a run is so long that its times would repeat.
///
/// Both fields are computed once: every packet needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendClock {
    /// The bits of a time without those below the unit.
    units: u64,
    /// Shifts a time so that its unit is the lowest bit of a send time.
    up: u32,
}

impl SendClock {
    /// The finest clock whose times are unique in a run of this `length`.
    pub fn of_run(length: Span) -> SendClock {
        let bits = u64::BITS - length.as_nanos().leading_zeros();
        SendClock::with_unit(bits.saturating_sub(SEND_TIME_BITS).max(FINEST))
    }

    /// A clock of units of 2^`bits` ns, at most 2^35.
    fn with_unit(bits: u32) -> SendClock {
        SendClock { units: u64::MAX << bits, up: LOWEST_BIT - bits }
    }

    fn unit_bits(self) -> u32 {
        LOWEST_BIT - self.up
    }

    /// The length of a unit.
    pub fn unit(self) -> Span {
        Span::from_nanos(1 << self.unit_bits())
    }

    /// The send time `at` in the upper bits, and zeros below.
    #[inline]
    pub(crate) fn upper_bits(self, at: Time) -> u64 {
        at.as_nanos() << self.up & SEND_TIME
    }

    /// The time from the send time in the upper bits of `of` to the unit of `now`: exact to a unit within one turn of the
    /// clock. The lower bits can be any.
    #[inline]
    pub(crate) fn age(self, of: u64, now: Time) -> Span {
        Span::from_nanos(((now.as_nanos() & self.units) << self.up).wrapping_sub(of & SEND_TIME) >> self.up)
    }

    /// The unit in which a packet of this age was sent.
    #[inline]
    pub(crate) fn sent(self, age: Span, now: Time) -> Time {
        Time::from_nanos((now.as_nanos() & self.units).saturating_sub(age.as_nanos()))
    }

    /// A time as a timestamp, rounded down.
    #[inline]
    pub fn timestamp(self, at: Time) -> Timestamp {
        Timestamp(at.as_nanos() & self.units | u64::from(self.unit_bits()))
    }
}

/// A time as TCP's timestamps have it (TSval, RFC 7323): rounded down to a unit of its clock. Below the unit, which is
/// 2^10 ns or more, the number has the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(u64);

impl Timestamp {
    fn clock(self) -> SendClock {
        SendClock::with_unit((self.0 & ((1 << FINEST) - 1)) as u32)
    }

    /// The time, a multiple of the unit.
    #[inline]
    pub fn time(self) -> Time {
        Time::from_nanos(self.0 >> FINEST << FINEST)
    }

    /// Whether the timestamp of `at` is greater.
    #[inline]
    pub fn is_before(self, at: Time) -> bool {
        self.time() < self.clock().timestamp(at).time()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_unit_grows_with_the_run_from_the_turn_of_the_finest_clock_on() {
        let unit = |seconds| SendClock::of_run(Span::from_secs(seconds)).unit().as_nanos();
        assert_eq!([1, 549, 550, 1099, 1100, 3600, 86_400].map(unit), [10, 10, 11, 11, 12, 13, 18].map(|n| 1 << n));
    }

    proptest! {
        #[test]
        fn an_age_within_a_run_is_right_to_a_unit(length in 1..=u64::MAX, sent: u64, age: u64) {
            let clock = SendClock::of_run(Span::from_nanos(length));
            let now = age % length;
            let sent = sent % (now + 1);
            let got = clock.age(clock.upper_bits(Time::from_nanos(sent)), Time::from_nanos(now)).as_nanos();
            prop_assert!(got.abs_diff(now - sent) < clock.unit().as_nanos());
        }

        #[test]
        fn timestamps_have_the_order_of_their_units(length in 1..=u64::MAX, sent: u64, other: u64) {
            let clock = SendClock::of_run(Span::from_nanos(length));
            let unit = clock.unit().as_nanos();
            let timestamp = clock.timestamp(Time::from_nanos(sent));
            prop_assert_eq!(timestamp.time().as_nanos(), sent / unit * unit);
            prop_assert_eq!(timestamp.is_before(Time::from_nanos(other)), sent / unit < other / unit);
        }
    }
}
