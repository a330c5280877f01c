//! Waiting for the moment at which a packet is due: asleep as long as the kernel can be trusted with it, then awake.
//!
//! A timer wakes a thread tens of microseconds late: the default slack alone is 50 us (`PR_SET_TIMERSLACK`), to which the
//! switch back from idle comes. So the sleep ends a margin early, and the rest is spent looking at the clock. What
//! remains is measured: every departure's lateness is in the histogram of its lane.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::thread::set_current_timer_slack;

use headgate_core::{Span, Time};

use crate::io::clock::{Monotonic, thread_cpu, timespec};

/// Tells the time to a forwarder, and waits for it.
pub trait Clock {
    /// Called once by the thread that will wait; an error if it may not be what this needs.
    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// The present moment; it never goes back.
    fn now(&mut self) -> Time;

    /// Called at `now`, whenever there is nothing half done: a moment for others, if they are due one. The present moment then.
    fn rest(&mut self, now: Time) -> io::Result<Time> {
        Ok(now)
    }

    /// Waits until `until`, or until something can be read from one of `on`; says from which something might be.
    fn wait(&mut self, until: Time, on: [Option<BorrowedFd<'_>>; 2]) -> io::Result<[bool; 2]>;

    /// CPU time used by the thread that calls.
    fn cpu(&self) -> Span;
}

/// The machine's clock, waited for asleep and, for the last stretch, awake.
#[derive(Clone, Debug)]
pub struct Paced {
    clock: Monotonic,
    margin: Span,
    urgent: bool,
    /// When it last looked how long it had slept, and for how long it has since.
    since: Time,
    slept: Span,
}

/// An urgent thread sleeps for this long, in pieces or at once, in each such stretch. Where ordinary threads have had less than 5 %
/// of a core, the kernel takes the rest for them at once: 50 ms of each second (`sched_rt_runtime_us`, and the deadline server
/// that stands in for it since Linux 6.12), in which a link would stand still.
const REST: Span = Span::from_micros(120);
const STRETCH: Span = Span::from_millis(2);

impl Paced {
    /// How long before its time a sleep ends, where nobody says otherwise: more than most timers are late.
    pub const MARGIN: Span = Span::from_micros(60);

    /// Waits for `clock`, awake for the last `margin`. A margin of zero leaves all to the kernel: less CPU, later packets.
    pub fn new(clock: Monotonic, margin: Span) -> Paced {
        Paced { clock, margin, urgent: false, since: Time::ZERO, slept: Span::ZERO }
    }

    /// The thread that waits comes before all ordinary ones (`SCHED_FIFO`), so that it is woken in time on a machine that is
    /// busy. It needs `CAP_SYS_NICE`; what it does not get done by itself, ordinary threads on its core wait for.
    #[must_use]
    pub fn urgent(self) -> Paced {
        Paced { urgent: true, ..self }
    }
}

impl Clock for Paced {
    fn begin(&mut self) -> io::Result<()> {
        set_current_timer_slack(NonZeroU64::new(1))?;
        if self.urgent { crate::io::come_first(1) } else { Ok(()) }
    }

    #[inline]
    fn now(&mut self) -> Time {
        self.clock.now()
    }

    #[inline]
    fn rest(&mut self, now: Time) -> io::Result<Time> {
        if !self.urgent || now - self.since < STRETCH {
            return Ok(now);
        }
        let owed = REST - self.slept;
        if owed > Span::ZERO {
            readable(owed, [None; 2])?;
        }
        (self.since, self.slept) = (self.clock.now(), Span::ZERO);
        Ok(self.since)
    }

    fn wait(&mut self, until: Time, on: [Option<BorrowedFd<'_>>; 2]) -> io::Result<[bool; 2]> {
        let now = self.clock.now();
        let asleep = (until - now) - self.margin;
        if asleep > Span::ZERO {
            let ready = readable(asleep, on)?;
            self.slept = self.slept + (self.clock.now() - now);
            if ready != [false; 2] {
                return Ok(ready);
            }
        }
        while self.clock.now() < until {
            std::hint::spin_loop();
        }
        // Nobody looked meanwhile.
        Ok([true; 2])
    }

    fn cpu(&self) -> Span {
        thread_cpu()
    }
}

/// Sleeps for `most`, or until something can be read (or fails) at one of `on`: a `ppoll`, to the nanosecond.
fn readable(most: Span, on: [Option<BorrowedFd<'_>>; 2]) -> io::Result<[bool; 2]> {
    let timeout = timespec(most);
    let watch = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
    let woken = |fd: &PollFd<'_>| !fd.revents().is_empty();
    let (polled, ready) = match on {
        [Some(one), Some(other)] => {
            let mut fds = [watch(one), watch(other)];
            (poll(&mut fds, Some(&timeout)), [woken(&fds[0]), woken(&fds[1])])
        }
        [Some(only), None] | [None, Some(only)] => {
            let mut fds = [watch(only)];
            (poll(&mut fds, Some(&timeout)), on.map(|fd| fd.is_some() && woken(&fds[0])))
        }
        [None, None] => (poll(&mut [], Some(&timeout)), [false; 2]),
    };
    match polled {
        Ok(_) => Ok(ready),
        Err(rustix::io::Errno::INTR) => Ok([false; 2]),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_woken_early() {
        let clock = Monotonic::new();
        for margin in [Span::ZERO, Span::from_micros(60), Span::from_millis(5)] {
            let mut paced = Paced::new(clock, margin);
            let until = paced.now() + Span::from_millis(1);
            paced.wait(until, [None; 2]).unwrap();
            assert!(paced.now() >= until);
        }
    }

    #[test]
    fn an_urgent_thread_comes_before_ordinary_ones() {
        // In a thread of its own, which keeps what it became.
        std::thread::spawn(|| {
            match Paced::new(Monotonic::new(), Paced::MARGIN).urgent().begin() {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return eprintln!("skipped: it needs CAP_SYS_NICE");
                }
                begun => begun.unwrap(),
            }
            // proc_pid_stat(5): field 41 is the policy, and SCHED_FIFO is 1. The name in field 2 may hold blanks.
            let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
            let behind_name = stat.rsplit(')').next().unwrap();
            assert_eq!(behind_name.split_whitespace().nth(41 - 3), Some("1"), "{stat}");
        })
        .join()
        .unwrap();
    }

    #[test]
    fn an_urgent_thread_leaves_others_their_share_also_when_it_never_waits_for_long() {
        std::thread::spawn(|| {
            let clock = Monotonic::new();
            let mut paced = Paced::new(clock, Paced::MARGIN).urgent();
            match paced.begin() {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return eprintln!("skipped: it needs CAP_SYS_NICE");
                }
                begun => begun.unwrap(),
            }
            let (begin, cpu) = (paced.now(), paced.cpu());
            let mut now = begin;
            while now - begin < Span::from_millis(200) {
                now = paced.rest(now).unwrap();
                paced.wait(now + Span::from_micros(50), [None; 2]).unwrap();
                now = paced.now();
            }
            // sched_rt_runtime_us is 95 %. What else the machine does makes it less.
            let share = (paced.cpu() - cpu).as_secs_f64() / (now - begin).as_secs_f64();
            assert!(share < 0.95, "{share}");
        })
        .join()
        .unwrap();
    }

    #[test]
    fn what_can_be_read_ends_the_sleep() {
        use std::io::Write;
        use std::os::fd::AsFd;
        use std::os::unix::net::UnixStream;
        let (mut near, far) = UnixStream::pair().unwrap();
        let (_quiet, silent) = UnixStream::pair().unwrap();
        near.write_all(b"x").unwrap();
        let mut paced = Paced::new(Monotonic::new(), Paced::MARGIN);
        let until = paced.now() + Span::from_secs(20);
        let ready = paced.wait(until, [Some(silent.as_fd()), Some(far.as_fd())]).unwrap();
        assert_eq!(ready, [false, true]);
        assert!(paced.now() < until);
    }
}
