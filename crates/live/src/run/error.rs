//! Why a run gave no outcome.

use std::fmt;
use std::io;

/// Why a run gave no outcome.
#[derive(Debug)]
#[non_exhaustive]
pub enum LiveRunError {
    /// The scenario cannot run on real packets.
    Refused(String),
    /// A system call failed.
    System(io::Error),
    /// The observer asked to stop.
    Stopped,
}

impl fmt::Display for LiveRunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiveRunError::Refused(why) => f.write_str(why),
            LiveRunError::System(error) => error.fmt(f),
            LiveRunError::Stopped => f.write_str("stopped before the end"),
        }
    }
}

impl std::error::Error for LiveRunError {}

impl From<io::Error> for LiveRunError {
    fn from(error: io::Error) -> LiveRunError {
        LiveRunError::System(error)
    }
}
