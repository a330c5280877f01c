//! Waiting for a packet's departure time: asleep first, then polling the clock.
//!
//! A timer wakes a thread tens of microseconds late. The default slack alone is 50 us (`PR_SET_TIMERSLACK`), and
//! leaving the CPU's idle state adds to it. At 100 Mbit/s a full packet takes 120 us, so this error would be visible.
//!
//! The sleep therefore ends a margin early, and the thread polls the clock for the rest. The lane's histogram records
//! the lateness that remains, for each departure. A thread with real-time priority also yields the CPU at intervals.
//! Otherwise the kernel would throttle it, and the link would stall.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::thread::set_current_timer_slack;

use aqm::{Span, Time};

use crate::io::clock::{Monotonic, thread_cpu, timespec};

/// Source of time for a forwarder.
pub trait Clock {
    /// Called once by the waiting thread; fails if the thread may not get the scheduling it needs.
    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// The present time; never decreases.
    fn now(&mut self) -> Time;

    /// Called at `now`, once in each turn: yields the CPU if other threads have had too little.
    fn yield_if_due(&mut self, _now: Time) -> io::Result<()> {
        Ok(())
    }

    /// Waits until `until`, or until one of `fds` is readable: two of the ends, one of the fabric. Returns for
    /// each end whether it may be readable.
    fn wait(&mut self, until: Time, fds: [Option<BorrowedFd<'_>>; 3]) -> io::Result<[bool; 2]>;

    /// CPU time used by the calling thread.
    fn cpu(&self) -> Span;
}

/// The machine's clock. It sleeps through most of a wait and polls through the last `margin`.
#[derive(Clone, Debug)]
pub struct PacedClock {
    clock: Monotonic,
    margin: Span,
    realtime: bool,
    busy: bool,
    /// Start of the current yield interval, and time slept in it.
    since: Time,
    slept: Span,
}

/// A real-time thread yields this long in each interval, so that ordinary threads get more than 5 % of a core. With less,
/// the kernel would take 50 ms of each second at once (`sched_rt_runtime_us`; the deadline server since Linux 6.12). The
/// link would stall.
const YIELD_TIME: Span = Span::from_micros(120);
const YIELD_INTERVAL: Span = Span::from_millis(2);

impl PacedClock {
    /// Default margin: more than the lateness of most timers.
    pub const MARGIN: Span = Span::from_micros(60);

    /// Waits by `clock`, polling for the last `margin`. With a margin of zero the thread never polls: it uses less CPU,
    /// and packets leave later.
    pub fn new(clock: Monotonic, margin: Span) -> PacedClock {
        PacedClock { clock, margin, realtime: false, busy: false, since: Time::ZERO, slept: Span::ZERO }
    }

    /// Gives the waiting thread real-time priority (`SCHED_FIFO`), so that it wakes in time on a busy machine.
    /// Needs `CAP_SYS_NICE`. Ordinary threads on its core wait while it works.
    #[must_use]
    pub fn realtime(self) -> PacedClock {
        PacedClock { realtime: true, ..self }
    }

    /// Never sleeps for want of frames: looks for them again at once, as busy polling does. No frame waits for the thread to
    /// wake up, and the thread takes a whole processor.
    #[must_use]
    pub fn busy(self) -> PacedClock {
        PacedClock { busy: true, ..self }
    }

    /// Whether it never sleeps.
    pub(super) fn is_busy(&self) -> bool {
        self.busy
    }
}

impl Clock for PacedClock {
    fn begin(&mut self) -> io::Result<()> {
        set_current_timer_slack(NonZeroU64::new(1))?;
        if self.realtime { crate::io::set_realtime_priority(1) } else { Ok(()) }
    }

    #[inline]
    fn now(&mut self) -> Time {
        self.clock.now()
    }

    #[inline]
    fn yield_if_due(&mut self, now: Time) -> io::Result<()> {
        if !self.realtime || now - self.since < YIELD_INTERVAL {
            return Ok(());
        }
        let rest = YIELD_TIME - self.slept;
        if rest > Span::ZERO {
            sleep_until_readable(rest, [None; 3])?;
        }
        (self.since, self.slept) = (self.clock.now(), Span::ZERO);
        Ok(())
    }

    fn wait(&mut self, until: Time, fds: [Option<BorrowedFd<'_>>; 3]) -> io::Result<[bool; 2]> {
        if self.busy {
            std::hint::spin_loop();
            return Ok([true; 2]);
        }
        let now = self.clock.now();
        let asleep = (until - now) - self.margin;
        if asleep > Span::ZERO {
            let ready = sleep_until_readable(asleep, fds)?;
            self.slept = self.slept + (self.clock.now() - now);
            if ready != [false; 3] {
                return Ok([ready[0], ready[1]]);
            }
        }
        while self.clock.now() < until {
            std::hint::spin_loop();
        }
        // Unknown, so assume both.
        Ok([true; 2])
    }

    fn cpu(&self) -> Span {
        thread_cpu()
    }
}

/// Sleeps for `longest`, or until one of `on` is readable or failed. `ppoll` has nanosecond resolution.
fn sleep_until_readable(longest: Span, on: [Option<BorrowedFd<'_>>; 3]) -> io::Result<[bool; 3]> {
    let timeout = timespec(longest);
    let watch = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
    let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
    let (polled, ready) = match on {
        [Some(one), Some(other), Some(third)] => {
            let mut fds = [watch(one), watch(other), watch(third)];
            (poll(&mut fds, Some(&timeout)), [is_ready(&fds[0]), is_ready(&fds[1]), is_ready(&fds[2])])
        }
        [Some(one), Some(other), None] => {
            let mut fds = [watch(one), watch(other)];
            (poll(&mut fds, Some(&timeout)), [is_ready(&fds[0]), is_ready(&fds[1]), false])
        }
        [Some(only), None, None] | [None, Some(only), None] => {
            let mut fds = [watch(only)];
            (poll(&mut fds, Some(&timeout)), on.map(|fd| fd.is_some() && is_ready(&fds[0])))
        }
        [_, _, None] => (poll(&mut [], Some(&timeout)), [false; 3]),
        [_, _, Some(_)] => return Err(io::Error::other("a fabric with a descriptor needs ends with descriptors")),
    };
    match polled {
        Ok(_) => Ok(ready),
        Err(rustix::io::Errno::INTR) => Ok([false; 3]),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_never_ends_early() {
        let clock = Monotonic::new();
        for margin in [Span::ZERO, Span::from_micros(60), Span::from_millis(5)] {
            let mut paced = PacedClock::new(clock, margin);
            let until = paced.now() + Span::from_millis(1);
            paced.wait(until, [None; 3]).unwrap();
            assert!(paced.now() >= until);
        }
    }

    /// The scheduling policy of the calling thread; `SCHED_FIFO` is 1.
    fn policy() -> u32 {
        // proc_pid_stat(5): field 41. The name in field 2 may hold blanks.
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let behind_name = stat.rsplit(')').next().unwrap();
        behind_name.split_whitespace().nth(41 - 3).unwrap().parse().unwrap()
    }

    #[test]
    fn a_realtime_thread_has_the_policy_sched_fifo_and_those_that_it_starts_have_not() {
        // Scheduling belongs to a thread: use one that ends with the test.
        std::thread::spawn(|| {
            match PacedClock::new(Monotonic::new(), PacedClock::MARGIN).realtime().begin() {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return headgate_needs::skip("priority");
                }
                begun => begun.unwrap(),
            }
            assert_eq!(policy(), 1);
            assert_eq!(std::thread::spawn(policy).join().unwrap(), 0);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_realtime_thread_yields_the_cpu_even_if_its_waits_are_short() {
        std::thread::spawn(|| {
            let clock = Monotonic::new();
            let mut paced = PacedClock::new(clock, PacedClock::MARGIN).realtime();
            match paced.begin() {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return headgate_needs::skip("priority");
                }
                begun => begun.unwrap(),
            }
            let (begin, cpu) = (paced.now(), paced.cpu());
            let mut now = begin;
            while now - begin < Span::from_millis(200) {
                paced.yield_if_due(now).unwrap();
                paced.wait(now + Span::from_micros(50), [None; 3]).unwrap();
                now = paced.now();
            }
            // `sched_rt_runtime_us` allows 95 %; other load lowers the share.
            let share = (paced.cpu() - cpu).as_secs_f64() / (now - begin).as_secs_f64();
            assert!(share < 0.95, "{share}");
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_readable_descriptor_ends_the_sleep() {
        use std::io::Write;
        use std::os::fd::AsFd;
        use std::os::unix::net::UnixStream;
        let (mut near, far) = UnixStream::pair().unwrap();
        let (_quiet, silent) = UnixStream::pair().unwrap();
        near.write_all(b"x").unwrap();
        let mut paced = PacedClock::new(Monotonic::new(), PacedClock::MARGIN);
        let until = paced.now() + Span::from_secs(20);
        let ready = paced.wait(until, [Some(silent.as_fd()), Some(far.as_fd()), None]).unwrap();
        assert_eq!(ready, [false, true]);
        // The fabric's descriptor ends the sleep too.
        let ready = paced.wait(until, [Some(silent.as_fd()), Some(silent.as_fd()), Some(far.as_fd())]).unwrap();
        assert_eq!(ready, [false, false]);
        assert!(paced.now() < until);
    }
}
