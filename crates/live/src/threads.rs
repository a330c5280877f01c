//! Threads that build a value before they start their work.

use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};

use crate::error::{LiveError, LiveResult};
use crate::io::request::Request;
#[cfg(test)]
use crate::io::request::faults;

/// Starts a thread called `name`, which calls `make` for a value and a closure. Returns the value to the caller; the
/// thread then runs the closure.
pub(crate) fn spawn<M: Send + 'static, T: Send + 'static, R: FnOnce() -> T>(
    name: &str,
    make: impl FnOnce() -> LiveResult<(M, R)> + Send + 'static,
) -> LiveResult<(M, JoinHandle<Option<T>>)> {
    let (sender, built) = sync_channel(1);
    #[cfg(test)]
    let fault = faults::current();
    let work = move || {
        #[cfg(test)]
        faults::inherit(fault);
        let (built, run) = make().map_err(|error| sender.send(Err(error))).ok()?;
        let _ = sender.send(Ok(built));
        Some(run())
    };
    let thread = start(name, work)?;
    Ok((built.recv().map_err(thread_ended)??, thread))
}

/// Starts a thread called `name`.
pub(crate) fn start<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> LiveResult<JoinHandle<T>> {
    Request::Thread.ask_about(name, || thread::Builder::new().name(name.to_string()).spawn(work))
}

pub(crate) fn thread_ended<E>(_: E) -> LiveError {
    LiveError::Ended("a thread of the link has ended".to_string())
}
