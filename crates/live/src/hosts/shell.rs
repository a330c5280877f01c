//! Commands in a namespace.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::hosts::netns::Namespace;
pub use crate::io::end_command;
use crate::io::start_with_keeper;

/// The standard streams of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardStreams {
    /// Inherited.
    Inherited,
    /// Standard error only: no input, and output is discarded. Signals of the terminal do not reach the command.
    OnlyErrors,
}

/// Starts the command `words` in `namespace`, with `variables` in its environment. The command and all its descendants
/// are killed when the namespace is dropped or this process dies. Descendants that outlive the command are killed too.
///
/// The returned child is a keeper process. It ends with the command, with the same [`exit_code`], and passes on signals
/// that this process sends. [`end_command`] ends both.
///
/// # Errors
/// `NotFound` if there is no such program, `PermissionDenied` if it cannot be executed; otherwise the system's error.
pub fn spawn(
    namespace: &Namespace,
    words: Vec<OsString>,
    variables: Vec<(String, String)>,
    streams: StandardStreams,
) -> io::Result<Child> {
    namespace.run(move || {
        let (program, arguments) =
            words.split_first().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no command"))?;
        let mut command = Command::new(program);
        command.args(arguments).envs(variables);
        if streams == StandardStreams::OnlyErrors {
            command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
        }
        start_with_keeper(&mut command);
        command.spawn()
    })?
}

/// Exit code as a shell reports it: the command's, or 128 plus the number of the signal that killed it.
pub fn exit_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

/// Whether a process in the namespace waits for packets: a TCP socket that listens, or a UDP socket without a peer
/// (states 0A and 07 in the tables of proc_pid_net(5)).
pub fn has_listener(namespace: &Namespace) -> io::Result<bool> {
    namespace.run(|| {
        ["tcp", "tcp6", "udp", "udp6"].into_iter().any(|protocol| {
            let waiting = if protocol.starts_with("tcp") { "0A" } else { "07" };
            let table = std::fs::read_to_string(format!("/proc/thread-self/net/{protocol}")).unwrap_or_default();
            table.lines().any(|line| line.split_whitespace().nth(3) == Some(waiting))
        })
    })
}
