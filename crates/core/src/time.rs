//! Time as integer nanoseconds: [`Time`] is a moment, [`Span`] a length.
//!
//! Both saturate instead of wrapping. A discipline whose clock jumps by hours or stands still may decide badly, but
//! never panics.

use core::fmt;
use core::ops::{Add, AddAssign, Mul, Sub};

use crate::scaled::{parse_scaled, show_scaled};

/// A moment, in nanoseconds since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A length of time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

const UNITS: &[(&str, f64)] = &[("h", 3.6e12), ("min", 6e10), ("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)];
/// Hours and minutes are parsed but not printed: `90s` is clearer than `1.5min`.
const SHOWN: &[(&str, f64)] = &[("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)];

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than any time of a run.
    pub const NEVER: Time = Time(u64::MAX);

    /// `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The time since `earlier`; zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// A span of zero.
    pub const ZERO: Span = Span(0);
    /// The longest span, about 584 years.
    pub const MAX: Span = Span(u64::MAX);

    /// `n` nanoseconds.
    pub const fn from_nanos(n: u64) -> Span {
        Span(n)
    }

    /// `n` microseconds.
    pub const fn from_micros(n: u64) -> Span {
        Span(n.saturating_mul(1_000))
    }

    /// `n` milliseconds.
    pub const fn from_millis(n: u64) -> Span {
        Span(n.saturating_mul(1_000_000))
    }

    /// `n` seconds.
    pub const fn from_secs(n: u64) -> Span {
        Span(n.saturating_mul(1_000_000_000))
    }

    /// `seconds` rounded to nanoseconds; zero if negative or NaN.
    pub fn from_secs_f64(seconds: f64) -> Span {
        // The cast saturates and maps NaN to 0. `core` has no `round`.
        Span((seconds * 1e9 + 0.5) as u64)
    }

    /// Nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Parses `"32ms"`, `"1.5s"`, `"20us"`, `"2min"`.
    ///
    /// # Errors
    /// The expected form, if the text is not a number with a unit of time.
    pub fn parse(text: &str) -> Result<Span, &'static str> {
        let expected = "a time with its unit, such as \"32ms\" (ns, us, ms, s, min, h)";
        parse_scaled(text, UNITS, None).map(Span).ok_or(expected)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show_scaled(self.0, SHOWN, "s", f)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Span(self.0), f)
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, by: Span) -> Time {
        Time(self.0.saturating_add(by.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, by: Span) {
        *self = *self + by;
    }
}

impl Sub for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        self.since(earlier)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, by: u64) -> Span {
        Span(self.0.saturating_mul(by))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn spans_are_read_and_written_with_their_unit() {
        for (text, nanos, shown) in [
            ("32ms", 32_000_000, "32ms"),
            ("1.5s", 1_500_000_000, "1.5s"),
            ("2min", 120_000_000_000, "120s"),
            ("0s", 0, "0s"),
            ("13ns", 13, "13ns"),
            ("409.6us", 409_600, "409.6us"),
        ] {
            let span = Span::parse(text).unwrap();
            assert_eq!((span.as_nanos(), span.to_string().as_str()), (nanos, shown));
        }
        for bad in ["32", "ms", "-1ms", "1 parsec", "", "nans", "infs"] {
            assert!(Span::parse(bad).is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn time_saturates_instead_of_wrapping() {
        assert_eq!(Time::ZERO - Time::from_nanos(5), Span::ZERO);
        assert_eq!(Time::NEVER + Span::from_secs(1), Time::NEVER);
        assert_eq!(Span::from_secs_f64(-1.0), Span::ZERO);
        assert_eq!(Span::from_secs_f64(f64::NAN), Span::ZERO);
    }
}
