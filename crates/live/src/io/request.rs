//! Requests to the system: the only way from a refused system call to an error of the crate.
//!
//! Everything that real packets need of the kernel has a row in the [table](rows): the act, its purpose, and remedies by
//! cause. [`Request::ask`] makes a system call on behalf of a row and turns its error into a message for people.
//! [`LiveError`] has no conversion from [`io::Error`], so the compiler finds a system call without a row.
//!
//! Calls for each packet keep `io::Error`: they cost nothing extra. The forwarding loop names their row when it ends.

pub(crate) mod errno;
#[cfg(test)]
pub(crate) mod faults;
pub(crate) mod rows;

use std::fmt::Display;
use std::io;

pub use self::errno::Cause;
pub use self::rows::Request;
use crate::error::{LiveError, SystemError};

impl Request {
    /// Makes the request by `call`.
    #[inline]
    pub(crate) fn ask<T, E: Into<io::Error>>(self, call: impl FnOnce() -> Result<T, E>) -> Result<T, LiveError> {
        self.make(call, String::new)
    }

    /// Makes the request by `call` about `object`, such as an interface or a path.
    pub(crate) fn ask_about<T, E: Into<io::Error>>(
        self,
        object: impl Display,
        call: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, LiveError> {
        self.make(call, || object.to_string())
    }

    #[inline]
    fn make<T, E: Into<io::Error>>(
        self,
        call: impl FnOnce() -> Result<T, E>,
        object: impl FnOnce() -> String,
    ) -> Result<T, LiveError> {
        #[cfg(test)]
        if let Some(fault) = faults::take(self) {
            return Err(self.refused_about(&object(), io::Error::from_raw_os_error(fault)));
        }
        call().map_err(|error| self.refused_about(&object(), error.into()))
    }

    /// The error of this request, to which the system answered `source`. An error that already is this crate's stays.
    #[cold]
    pub fn refused(self, source: io::Error) -> LiveError {
        self.refused_about("", source)
    }

    /// The error of this request about `object`.
    #[cold]
    pub fn refused_about(self, object: &str, source: io::Error) -> LiveError {
        match source.downcast::<LiveError>() {
            Ok(error) => error,
            Err(source) => SystemError { request: self, object: object.into(), source }.into(),
        }
    }
}

#[cfg(test)]
mod tests;
