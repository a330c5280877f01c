//! Stops a forwarder when one of its interfaces is removed or switched off. The loop alone might not notice for hours:
//! it receives no frames, and may have none to send.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use headgate_core::Span;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::{Errno, write};

use crate::io::clock::timespec;
use crate::io::watched_interfaces::{InterfaceFailure, WatchedInterfaces};

/// A thread that watches interfaces. Dropping it ends the thread.
#[derive(Debug)]
pub(crate) struct Guard {
    found: Arc<OnceLock<InterfaceFailure>>,
    over: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Guard {
    /// Sets `stop` when one of the interfaces `names` is removed or switched off.
    pub(crate) fn over(names: &[String], stop: Arc<AtomicBool>) -> io::Result<Guard> {
        let links = WatchedInterfaces::new(names)?;
        let (found, over) =
            (Arc::<OnceLock<InterfaceFailure>>::default(), Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?));
        let (finds, ends) = (Arc::clone(&found), Arc::clone(&over));
        let watching = move || {
            if let Some(loss) = first_gone(&links, &ends) {
                stop.store(true, Ordering::Relaxed);
                let _ = finds.set(in_the_end(&links, loss));
            }
        };
        let thread = thread::Builder::new().name("guard".to_string()).spawn(watching)?;
        Ok(Guard { found, over, thread: Some(thread) })
    }

    /// Ends the thread after a last check; returns the problem if an interface failed.
    pub(crate) fn end(&mut self) -> Option<String> {
        // Fails only after 2^64 calls.
        let _ = write(&*self.over, &1_u64.to_ne_bytes());
        let _ = self.thread.take().map(JoinHandle::join);
        self.found.get().map(InterfaceFailure::to_string)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Waits until one of `links` fails and returns why; `None` if `over` is signalled first.
fn first_gone(links: &WatchedInterfaces, over: &OwnedFd) -> Option<InterfaceFailure> {
    let mut last = false;
    loop {
        let gone = links.look();
        if gone.is_some() || last {
            return gone;
        }
        let mut fds = [PollFd::from_borrowed_fd(links.changed(), PollFlags::IN), PollFd::new(over, PollFlags::IN)];
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => last = !fds[1].revents().is_empty(),
            // Polling again would spin. The loop finds out with its next frame.
            Err(_) => return None,
        }
    }
}

/// Longest time from down to removed: an AF_XDP socket is detached in between.
const REMOVED_WITHIN: Span = Span::from_millis(300);

/// The final state of a failed interface. The kernel switches an interface off before it removes it, and reports both.
fn in_the_end(links: &WatchedInterfaces, mut loss: InterfaceFailure) -> InterfaceFailure {
    let mut fds = [PollFd::from_borrowed_fd(links.changed(), PollFlags::IN)];
    while matches!(loss, InterfaceFailure::Down(_))
        && poll(&mut fds, Some(&timespec(REMOVED_WITHIN))).is_ok_and(|changed| changed > 0)
    {
        loss = links.look().unwrap_or(loss);
    }
    loss
}
