//! Commands in a namespace.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::hosts::netns::Namespace;
pub use crate::io::end;
use crate::io::keep;

/// What of its standard streams a command has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streams {
    /// Ours.
    Ours,
    /// Where errors go; no input, and nobody reads its output. The terminal's signals do not reach it either.
    Errors,
}

/// Starts the command that `words` are in `namespace`, with `variables` in its environment. It is killed, with all that it has
/// started, when the namespace is dropped or this process dies, however it dies. What it leaves behind when it ends is killed
/// too.
///
/// What is given is a keeper of ours: it ends when the command has, with the same [`code`], and signals that are sent to it by
/// this process are handed on. [`end`] ends both.
///
/// # Errors
/// What the system says: `NotFound` if there is no such program, `PermissionDenied` if it cannot be run.
pub fn spawn(
    namespace: &Namespace,
    words: Vec<OsString>,
    variables: Vec<(String, String)>,
    streams: Streams,
) -> io::Result<Child> {
    namespace.run(move || {
        let (program, arguments) =
            words.split_first().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no command"))?;
        let mut command = Command::new(program);
        command.args(arguments).envs(variables);
        if streams == Streams::Errors {
            command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
        }
        keep(&mut command);
        command.spawn()
    })?
}

/// What a shell says of how a command ended: its exit code, or 128 and the number of the signal that killed it.
pub fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

/// Whether some process in the thread's namespace waits for TCP connections: state 0A in proc_pid_net(5)'s tables.
pub fn listens(namespace: &Namespace) -> io::Result<bool> {
    namespace.run(|| {
        let tables = ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"];
        let waits = |line: &str| line.split_whitespace().nth(3) == Some("0A");
        tables.into_iter().filter_map(|table| std::fs::read_to_string(table).ok()).any(|text| text.lines().any(waits))
    })
}
