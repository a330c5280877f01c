//! The only place where a clock is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::time::{ClockId, Timespec, clock_gettime};

use headgate_core::{Span, Time};

/// The machine's monotonic clock (`CLOCK_MONOTONIC`), counted from when this was made. Copies count from the same moment.
#[derive(Clone, Copy, Debug)]
pub struct Monotonic {
    origin: u64,
}

impl Monotonic {
    /// A clock that begins now.
    #[expect(clippy::new_without_default, reason = "each has a moment of its own")]
    pub fn new() -> Monotonic {
        Monotonic { origin: nanos(clock_gettime(ClockId::Monotonic)) }
    }

    /// The present moment.
    #[inline]
    pub fn now(&self) -> Time {
        Time::from_nanos(nanos(clock_gettime(ClockId::Monotonic)).saturating_sub(self.origin))
    }

    /// The Unix time at which this began, in nanoseconds, by what the clock on the wall says now.
    pub fn unix_nanos(&self) -> u64 {
        nanos(clock_gettime(ClockId::Realtime)).saturating_sub(self.now().as_nanos())
    }
}

/// When something begins, on a clock that several threads have; [`Time::NEVER`] until that is known. Copies tell the same.
#[derive(Clone, Debug)]
pub(crate) struct Begin(Arc<AtomicU64>);

impl Begin {
    pub(crate) fn unknown() -> Begin {
        Begin(Arc::new(AtomicU64::new(Time::NEVER.as_nanos())))
    }

    pub(crate) fn at(&self, time: Time) {
        self.0.store(time.as_nanos(), Ordering::Release);
    }

    #[inline]
    pub(crate) fn get(&self) -> Time {
        Time::from_nanos(self.0.load(Ordering::Acquire))
    }
}

/// The CPU time that the calling thread has used.
pub fn thread_cpu() -> Span {
    Span::from_nanos(nanos(clock_gettime(ClockId::ThreadCPUTime)))
}

#[inline]
fn nanos(time: Timespec) -> u64 {
    // Clocks that were ever right are not negative.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// `span` as system calls want it.
pub(crate) fn timespec(span: Span) -> Timespec {
    let nanos = span.as_nanos();
    Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as _ }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_does_not_go_back_and_copies_agree() {
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
