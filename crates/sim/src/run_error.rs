//! Why a run gave no outcome.

use core::fmt;

use aqm::BuildError;

/// Why a run gave no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// A discipline could not be built.
    Build(BuildError),
    /// The observer asked to stop.
    Stopped,
    /// More acknowledgements with options, or reports, were on their way than packets can number.
    TooManyReplies,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Build(error) => error.fmt(f),
            RunError::Stopped => f.write_str("stopped before the end"),
            RunError::TooManyReplies => f.write_str(
                "more than 67 million acknowledgements with options are on their way at a time: lower `rate`, `delay` or \
                 the number of flows",
            ),
        }
    }
}

impl std::error::Error for RunError {}

impl From<BuildError> for RunError {
    fn from(error: BuildError) -> RunError {
        RunError::Build(error)
    }
}
