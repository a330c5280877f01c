//! Clocks. No other module reads one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::time::{ClockId, Timespec, clock_gettime};

use aqm::{Span, Time};

/// The monotonic clock (`CLOCK_MONOTONIC`), with zero at its creation. Copies share the zero.
#[derive(Clone, Copy, Debug)]
pub struct Monotonic {
    origin: u64,
}

impl Monotonic {
    /// A clock whose zero is now.
    #[expect(clippy::new_without_default, reason = "each has a moment of its own")]
    pub fn new() -> Monotonic {
        Monotonic { origin: nanos(clock_gettime(ClockId::Monotonic)) }
    }

    /// Time since zero.
    #[inline]
    pub fn now(&self) -> Time {
        Time::from_nanos(nanos(clock_gettime(ClockId::Monotonic)).saturating_sub(self.origin))
    }

    /// Unix time of this clock's zero, in nanoseconds, by the current wall clock.
    pub fn unix_nanos(&self) -> u64 {
        nanos(clock_gettime(ClockId::Realtime)).saturating_sub(self.now().as_nanos())
    }
}

/// A start time shared between threads; [`Time::NEVER`] until it is set.
#[derive(Clone, Debug)]
pub(crate) struct StartTime(Arc<AtomicU64>);

impl StartTime {
    pub(crate) fn unset() -> StartTime {
        StartTime(Arc::new(AtomicU64::new(Time::NEVER.as_nanos())))
    }

    pub(crate) fn set(&self, time: Time) {
        self.0.store(time.as_nanos(), Ordering::Release);
    }

    #[inline]
    pub(crate) fn get(&self) -> Time {
        Time::from_nanos(self.0.load(Ordering::Acquire))
    }
}

/// CPU time used by the calling thread.
pub fn thread_cpu() -> Span {
    Span::from_nanos(nanos(clock_gettime(ClockId::ThreadCPUTime)))
}

#[inline]
fn nanos(time: Timespec) -> u64 {
    // Negative only for a wall clock set before 1970.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Converts to the kernel's form.
pub(crate) fn timespec(span: Span) -> Timespec {
    let nanos = span.as_nanos();
    Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as _ }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_decreases_and_copies_agree() {
        let clock = Monotonic::new();
        let copy = clock;
        let (first, second, third) = (clock.now(), copy.now(), clock.now());
        assert!(first <= second && second <= third);
    }

    #[test]
    fn spans_become_seconds_and_nanoseconds() {
        let time = timespec(Span::from_nanos(3_000_000_007));
        assert_eq!((time.tv_sec, time.tv_nsec), (3, 7));
    }
}
