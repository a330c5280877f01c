//! Why a run gave no outcome.

use std::fmt;

use crate::error::LiveError;

/// Why a run gave no outcome.
#[derive(Debug)]
#[non_exhaustive]
pub enum LiveRunError {
    /// The scenario cannot run on real packets.
    Refused(String),
    /// The machine does not give what the run needs, or something ended.
    System(LiveError),
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

impl From<LiveError> for LiveRunError {
    fn from(error: LiveError) -> LiveRunError {
        LiveRunError::System(error)
    }
}
