//! Follows the interfaces of a running gateway. The forwarding loop alone might notice nothing for hours: it receives no
//! frames, and may have none to send.
//!
//! If an interface is removed or switched off, the guard stops the loop. If its MTU changes, the loop gets buffers for
//! the new length. Other changes are reported, such as an address or a bridge that the gateway would have refused at
//! its start.

use std::mem;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

use aqm::Span;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::{Errno, write};

use super::frame_length::FrameLength;
use super::remarks;
use crate::error::LiveResult;
use crate::io::clock::timespec;
use crate::io::inspect::Interface;
use crate::io::request::Request;
use crate::io::watched_interfaces::{InterfaceFailure, WatchedInterfaces};
use crate::threads;

/// Most lines that wait for a reader. An interface may change a thousand times a second.
const MOST_LINES: usize = 64;

/// Changes that nobody has read yet, a line each.
#[derive(Debug, Default)]
struct UnreadChanges {
    lines: Vec<String>,
    /// Number of lines beyond [`MOST_LINES`].
    left_out: usize,
}

impl UnreadChanges {
    fn add(&mut self, lines: Vec<String>) {
        for line in lines {
            if self.lines.len() < MOST_LINES { self.lines.push(line) } else { self.left_out += 1 }
        }
    }

    fn take(&mut self) -> Vec<String> {
        let mut lines = mem::take(&mut self.lines);
        match mem::take(&mut self.left_out) {
            0 => {}
            more => lines.push(format!("note: the interfaces changed {more} more times")),
        }
        lines
    }
}

/// A thread that watches interfaces. Dropping it ends the thread.
#[derive(Debug)]
pub(crate) struct Guard {
    failure: Arc<OnceLock<String>>,
    changes: Arc<Mutex<UnreadChanges>>,
    stop_signal: Arc<OwnedFd>,
    thread: Option<JoinHandle<Option<()>>>,
}

impl Guard {
    /// Sets `stops` when one of the interfaces is removed or switched off. `known` is their state so far; changes of
    /// their MTU are passed to `frame_length`. The thread calls `confine` first.
    pub(crate) fn watch(
        interfaces: WatchedInterfaces,
        known: [Interface; 2],
        frame_length: FrameLength,
        stops: Vec<Arc<AtomicBool>>,
        confine: impl FnOnce() + Send + 'static,
    ) -> LiveResult<Guard> {
        let stop_signal = Arc::new(Request::LinkEvents.ask(|| eventfd(0, EventfdFlags::CLOEXEC))?);
        let (failure, changes) = (Arc::<OnceLock<String>>::default(), Arc::<Mutex<UnreadChanges>>::default());
        let (failure_found, stopped, unread) = (Arc::clone(&failure), Arc::clone(&stop_signal), Arc::clone(&changes));
        let watching = move || {
            let mut watch = Watch { interfaces, known, frame_length, unread };
            if let Some(failure) = watch.wait_for_failure(&stopped) {
                stops.iter().for_each(|stop| stop.store(true, Ordering::Relaxed));
                let _ = failure_found.set(watch.final_state(failure).in_words(watch.names()));
            }
        };
        let make = move || {
            confine();
            Ok(((), watching))
        };
        let ((), thread) = threads::spawn("guard", make)?;
        Ok(Guard { failure, changes, stop_signal, thread: Some(thread) })
    }

    /// The changes since the last call, a line each. Each begins with its severity: `note: ` or `warning: `.
    pub(crate) fn changes(&self) -> Vec<String> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Ends the thread after a last check; returns the problem if an interface failed.
    pub(crate) fn end(&mut self) -> Option<String> {
        // The eventfd's counter overflows only after 2^64 calls.
        let _ = write(&*self.stop_signal, &1_u64.to_ne_bytes());
        let _ = self.thread.take().map(JoinHandle::join);
        self.failure.get().cloned()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Longest time between a removed interface's change to down and its removal. In between, the kernel detaches an AF_XDP
/// socket.
const REMOVED_WITHIN: Span = Span::from_millis(300);

/// The state of the guard's thread.
struct Watch {
    interfaces: WatchedInterfaces,
    known: [Interface; 2],
    frame_length: FrameLength,
    unread: Arc<Mutex<UnreadChanges>>,
}

impl Watch {
    /// Follows the interfaces until one fails, and returns why; `None` if `stop_signal` is set first.
    fn wait_for_failure(&mut self, stop_signal: &OwnedFd) -> Option<InterfaceFailure> {
        let mut last = false;
        loop {
            match self.interfaces.look() {
                Err(failure) => return Some(failure),
                Ok(found) => drop(found.map(|found| self.follow(found))),
            }
            if last {
                return None;
            }
            let mut fds = [
                PollFd::from_borrowed_fd(self.interfaces.notifications(), PollFlags::IN),
                PollFd::new(stop_signal, PollFlags::IN),
            ];
            match poll(&mut fds, None) {
                Ok(_) | Err(Errno::INTR) => last = !fds[1].revents().is_empty(),
                // After an error, polling again would spin. The forwarding loop notices the failure at its next frame.
                Err(_) => return None,
            }
        }
    }

    /// Reports what changed, and has the loop follow the MTUs.
    fn follow(&mut self, found: [Interface; 2]) {
        if found == self.known {
            return;
        }
        let mut lines = remarks::changes(&self.known, &found);
        lines.extend(self.frame_length.follow([found[0].mtu, found[1].mtu]));
        self.unread.lock().unwrap_or_else(PoisonError::into_inner).add(lines);
        self.known = found;
    }

    /// The final state of a failed interface. The kernel switches an interface off before it removes it, and reports
    /// both.
    fn final_state(&self, mut failure: InterfaceFailure) -> InterfaceFailure {
        let mut fds = [PollFd::from_borrowed_fd(self.interfaces.notifications(), PollFlags::IN)];
        while matches!(failure, InterfaceFailure::Down(_))
            && poll(&mut fds, Some(&timespec(REMOVED_WITHIN))).is_ok_and(|changed| changed > 0)
        {
            failure = self.interfaces.look().err().unwrap_or(failure);
        }
        failure
    }

    fn names(&self) -> [&str; 2] {
        [&self.known[0].name, &self.known[1].name]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_nobody_reads_are_counted_and_do_not_pile_up() {
        let mut unread = UnreadChanges::default();
        for number in 0..MOST_LINES + 3 {
            unread.add(vec![number.to_string()]);
        }
        let lines = unread.take();
        assert_eq!(lines.len(), MOST_LINES + 1);
        assert_eq!(lines.last().map(String::as_str), Some("note: the interfaces changed 3 more times"));
        assert!(unread.take().is_empty());
    }
}
