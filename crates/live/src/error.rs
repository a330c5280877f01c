//! Errors of this crate. Each is a message for people; none is a bare error of the system.

use std::fmt;
use std::io;

use crate::io::request::errno::{self, Cause};
use crate::io::request::rows::Request;

/// Why something on real packets could not be done.
///
/// There is no conversion from [`io::Error`]: a refused system call becomes an error by its
/// [`Request`](crate::io::request::Request), which adds purpose and remedy.
#[derive(Debug)]
#[non_exhaustive]
pub enum LiveError {
    /// Settings that cannot be used, and what would be right.
    Refused(String),
    /// This machine lacks something that can be added, such as a module of the kernel, and how.
    Unsupported(String),
    /// The system refused a request.
    System(SystemError),
    /// A thread, an interface or a connection ended.
    Ended(String),
}

/// A result on real packets.
pub type LiveResult<T> = Result<T, LiveError>;

impl LiveError {
    /// The kind of error in the standard library's terms.
    pub fn kind(&self) -> io::ErrorKind {
        match self {
            LiveError::Refused(_) => io::ErrorKind::InvalidInput,
            LiveError::Unsupported(_) => io::ErrorKind::Unsupported,
            LiveError::System(error) => error.source.kind(),
            LiveError::Ended(_) => io::ErrorKind::BrokenPipe,
        }
    }

    /// The system's error number, if the system refused a request.
    pub fn raw_os_error(&self) -> Option<i32> {
        match self {
            LiveError::System(error) => error.source.raw_os_error(),
            _ => None,
        }
    }
}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiveError::Refused(why) | LiveError::Unsupported(why) | LiveError::Ended(why) => f.write_str(why),
            LiveError::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LiveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LiveError::System(error) => Some(error),
            _ => None,
        }
    }
}

/// For the traits of packets, whose errors are the system's. [`Request::refused`](crate::io::request::Request::refused)
/// takes the error out again.
impl From<LiveError> for io::Error {
    fn from(error: LiveError) -> io::Error {
        io::Error::new(error.kind(), error)
    }
}

impl From<SystemError> for LiveError {
    fn from(error: SystemError) -> LiveError {
        LiveError::System(error)
    }
}

/// A request that the system refused.
#[derive(Debug)]
pub struct SystemError {
    /// The request.
    pub request: Request,
    /// The interface, file or value that the request was about; empty if the request names it.
    pub object: Box<str>,
    /// The system's answer.
    pub source: io::Error,
}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.request.row();
        write!(f, "cannot {}", row.act)?;
        if !self.object.is_empty() {
            write!(f, " ({})", self.object)?;
        }
        let answer = errno::in_words(&self.source);
        write!(f, ": {answer}. {}. {}.", row.purpose, self.request.remedy(Cause::of(&self.source)))
    }
}

impl std::error::Error for SystemError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
