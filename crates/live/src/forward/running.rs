//! A forwarder in its own thread, which other threads can observe, change and stop.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;

use aqm::Time;

use super::fabric::{Fabric, Lanes};
use super::forwarder::{ChangeSender, Forwarder};
use super::pacing::{Clock, PacedClock};
use super::view::{SharedView, View};
use crate::error::{LiveError, LiveResult};
use crate::io::LinkEnd;
use crate::io::request::Request;
use crate::threads::{spawn, thread_ended};

/// A running forwarder. Dropping it stops it.
pub struct ForwarderThread<F = Lanes> {
    shared: SharedView,
    stop: Arc<AtomicBool>,
    changes: ChangeSender<F>,
    realtime: bool,
    thread: Option<JoinHandle<Option<LiveResult<View>>>>,
}

impl<F: Fabric + 'static> ForwarderThread<F> {
    /// Runs `make`'s forwarder by `clock`, in a thread called `name`, with real-time priority where permitted.
    pub(crate) fn start<A: LinkEnd, B: LinkEnd>(
        name: &str,
        clock: PacedClock,
        make: impl FnOnce(PacedClock) -> LiveResult<Forwarder<A, B, PacedClock, F>> + Send + 'static,
    ) -> LiveResult<ForwarderThread<F>> {
        let ((shared, stop, changes, realtime), thread) = spawn(name, move || {
            let (clock, realtime) = paced_clock(clock)?;
            let mut forwarder = make(clock)?;
            let handles = (forwarder.shared_view(), forwarder.stop_flag(), forwarder.change_sender(), realtime);
            Ok((handles, move || forwarder.run()))
        })?;
        Ok(ForwarderThread { shared, stop, changes, realtime, thread: Some(thread) })
    }

    /// The view that it publishes.
    pub fn shared_view(&self) -> SharedView {
        self.shared.clone()
    }

    /// The current view, at most [`PUBLISH_INTERVAL`](crate::PUBLISH_INTERVAL) old.
    pub fn view(&self) -> View {
        self.shared.latest()
    }

    /// Whether its thread has real-time priority (`SCHED_FIFO`).
    pub fn is_realtime(&self) -> bool {
        self.realtime
    }

    /// Whether it still runs. It ends by itself only when an interface is gone.
    pub fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    pub(crate) fn change_sender(&self) -> ChangeSender<F> {
        self.changes.clone()
    }

    pub(crate) fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Runs `change` on the fabric in the forwarder's thread and waits for it; fails if the thread has ended.
    pub(crate) fn apply<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut F, Time) -> T + Send + 'static,
    ) -> LiveResult<T> {
        let (result_sender, result) = sync_channel(1);
        self.changes
            .send(Box::new(move |fabric, now| drop(result_sender.send(change(fabric, now)))))
            .map_err(thread_ended)?;
        result.recv().map_err(thread_ended)
    }
}

impl<F> ForwarderThread<F> {
    /// Stops it and returns the final view, or the error that ended it before.
    pub(crate) fn stop(&mut self) -> LiveResult<View> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(Some(ended))) => ended,
            Some(_) => Err(LiveError::Ended("the loop's thread panicked".to_string())),
            None => Ok(self.shared.latest()),
        }
    }
}

impl<F> Drop for ForwarderThread<F> {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

/// Chooses the priority of the calling thread. Returns its clock with whether the thread has real-time priority. A thread
/// that never sleeps gets none: nothing else on its processor would run.
fn paced_clock(plain_clock: PacedClock) -> LiveResult<(PacedClock, bool)> {
    if plain_clock.is_busy() {
        return Ok((plain_clock, false));
    }
    let realtime_clock = plain_clock.clone().realtime();
    match Request::ThreadScheduling.ask(|| realtime_clock.clone().begin()) {
        Ok(()) => Ok((realtime_clock, true)),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok((plain_clock, false)),
        Err(error) => Err(error),
    }
}
