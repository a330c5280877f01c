//! Threads that build a value before they start their work.

use std::io;
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};

/// Starts a thread called `name`, which calls `make` for a value and a closure. Returns the value to the caller; the
/// thread then runs the closure.
pub(crate) fn spawn<M: Send + 'static, T: Send + 'static, R: FnOnce() -> T>(
    name: &str,
    make: impl FnOnce() -> io::Result<(M, R)> + Send + 'static,
) -> io::Result<(M, JoinHandle<Option<T>>)> {
    let (sender, built) = sync_channel(1);
    let work = move || {
        let (built, run) = make().map_err(|error| sender.send(Err(error))).ok()?;
        let _ = sender.send(Ok(built));
        Some(run())
    };
    let thread = thread::Builder::new().name(name.to_string()).spawn(work)?;
    Ok((built.recv().map_err(thread_ended)??, thread))
}

pub(crate) fn thread_ended<E>(_: E) -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "a thread of the link has ended")
}
