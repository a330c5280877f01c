//! Least privilege: after set-up, a thread gives up all that its role does not need.
//!
//! A frame from the network can meet a bug. Whoever takes over a thread through it should find nothing to use: no
//! capability ([`rights`]), no other program ([`calls`]), no file of the machine ([`files`]). All of it belongs to
//! threads, and threads inherit it. So each thread that runs before the others confine themselves does it itself.
//!
//! A kernel or a container may lack a part. The rest is then given up all the same, and a note says what is missing.

mod calls;
mod files;
mod rights;

use std::path::PathBuf;

use crate::error::LiveResult;
use crate::io::request::Request;

/// The part of a process, which decides what its threads keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Forwards frames over open sockets, reads its settings again, and answers requests for metrics and for
    /// `headgate top`. Keeps no capability.
    Gateway,
    /// Waits for the gateway's end and joins its interfaces by a bridge. Keeps `CAP_NET_ADMIN`, and no file.
    Keeper,
}

/// The rights that the threads of a process keep.
#[derive(Clone, Debug)]
pub struct Confinement {
    /// The part of the process.
    pub role: Role,
    /// Files that may be read, and folders with all that they contain.
    pub readable: Vec<PathBuf>,
    /// Folders in which files may be removed.
    pub removable: Vec<PathBuf>,
}

impl Confinement {
    /// Gives up the other rights of the calling thread, for good, and of the threads that it starts from now on. Returns
    /// a note for each part that the system refused.
    #[must_use]
    pub fn enter(&self) -> Vec<String> {
        // Both others need the first. The last forbids the system calls of the others.
        let steps: [&dyn Fn() -> LiveResult<()>; 4] = [
            &|| Request::NoNewPrivileges.ask(rights::forbid_new),
            &|| Request::FileRestriction.ask(|| files::restrict(&self.readable, &self.removable)),
            &|| Request::DropRights.ask(|| rights::keep(self.role)),
            &|| Request::CallFilter.ask(|| calls::restrict(self.role)),
        ];
        steps.iter().filter_map(|step| step().err()).map(|error| error.to_string()).collect()
    }
}

#[cfg(test)]
mod tests;
