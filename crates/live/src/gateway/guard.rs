//! Stops a forwarder when one of its interfaces is removed or switched off. The loop alone might not notice for hours:
//! it receives no frames, and may have none to send.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use aqm::Span;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::{Errno, write};

use crate::error::LiveResult;
use crate::io::clock::timespec;
use crate::io::request::Request;
use crate::io::watched_interfaces::{InterfaceFailure, WatchedInterfaces};
use crate::threads;

/// A thread that watches interfaces. Dropping it ends the thread.
#[derive(Debug)]
pub(crate) struct Guard {
    failure: Arc<OnceLock<InterfaceFailure>>,
    stop_signal: Arc<OwnedFd>,
    thread: Option<JoinHandle<Option<()>>>,
}

impl Guard {
    /// Sets `stop` when one of the interfaces `names` is removed or switched off. The thread calls `confine` first.
    pub(crate) fn watch(
        names: &[String],
        stop: Arc<AtomicBool>,
        confine: impl FnOnce() + Send + 'static,
    ) -> LiveResult<Guard> {
        let interfaces = WatchedInterfaces::new(names)?;
        let failure = Arc::<OnceLock<InterfaceFailure>>::default();
        let stop_signal = Arc::new(Request::LinkEvents.ask(|| eventfd(0, EventfdFlags::CLOEXEC))?);
        let (failure_found, stopped) = (Arc::clone(&failure), Arc::clone(&stop_signal));
        let watching = move || {
            if let Some(failure) = wait_for_failure(&interfaces, &stopped) {
                stop.store(true, Ordering::Relaxed);
                let _ = failure_found.set(final_state(&interfaces, failure));
            }
        };
        let make = move || {
            confine();
            Ok(((), watching))
        };
        let ((), thread) = threads::spawn("guard", make)?;
        Ok(Guard { failure, stop_signal, thread: Some(thread) })
    }

    /// Ends the thread after a last check; returns the problem if an interface failed.
    pub(crate) fn end(&mut self) -> Option<String> {
        // The eventfd's counter overflows only after 2^64 calls.
        let _ = write(&*self.stop_signal, &1_u64.to_ne_bytes());
        let _ = self.thread.take().map(JoinHandle::join);
        self.failure.get().map(InterfaceFailure::to_string)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Waits until one of `interfaces` fails and returns why; `None` if `stop_signal` is set first.
fn wait_for_failure(interfaces: &WatchedInterfaces, stop_signal: &OwnedFd) -> Option<InterfaceFailure> {
    let mut last = false;
    loop {
        let failure = interfaces.failure();
        if failure.is_some() || last {
            return failure;
        }
        let mut fds = [
            PollFd::from_borrowed_fd(interfaces.notifications(), PollFlags::IN),
            PollFd::new(stop_signal, PollFlags::IN),
        ];
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => last = !fds[1].revents().is_empty(),
            // After an error, polling again would spin. The forwarding loop notices the failure at its next frame.
            Err(_) => return None,
        }
    }
}

/// Longest time between a removed interface's change to down and its removal. In between, the kernel detaches an AF_XDP
/// socket.
const REMOVED_WITHIN: Span = Span::from_millis(300);

/// The final state of a failed interface. The kernel switches an interface off before it removes it, and reports both.
fn final_state(interfaces: &WatchedInterfaces, mut failure: InterfaceFailure) -> InterfaceFailure {
    let mut fds = [PollFd::from_borrowed_fd(interfaces.notifications(), PollFlags::IN)];
    while matches!(failure, InterfaceFailure::Down(_))
        && poll(&mut fds, Some(&timespec(REMOVED_WITHIN))).is_ok_and(|changed| changed > 0)
    {
        failure = interfaces.failure().unwrap_or(failure);
    }
    failure
}
