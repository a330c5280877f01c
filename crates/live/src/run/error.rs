//! Why a run gave no outcome.

use std::fmt;
use std::io;

/// Why a run gave no outcome.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The scenario cannot run on real packets.
    Refused(String),
    /// A system call failed.
    System(io::Error),
    /// The watcher asked to stop.
    Stopped,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Refused(why) => f.write_str(why),
            RunError::System(error) => error.fmt(f),
            RunError::Stopped => f.write_str("stopped before the end"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> RunError {
        RunError::System(error)
    }
}
