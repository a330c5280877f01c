//! Commands in a namespace.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::error::{LiveError, LiveResult};
use crate::hosts::netns::Namespace;
pub use crate::io::CommandUser;
use crate::io::request::Request;
use crate::io::start_with_keeper;

/// The standard streams of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardStreams {
    /// Inherited.
    Inherited,
    /// Standard error only: no input, and output is discarded. Signals of the terminal do not reach the command.
    OnlyErrors,
}

/// Why a command did not start.
#[derive(Debug)]
pub enum CommandStartError {
    /// The program cannot be executed: the answer of `execve`, of which a shell tells too.
    Program(io::Error),
    /// There is no process for it.
    Live(LiveError),
}

impl From<LiveError> for CommandStartError {
    fn from(error: LiveError) -> CommandStartError {
        CommandStartError::Live(error)
    }
}

impl CommandStartError {
    /// The child reports an error of `fork` and `prctl` as it reports one of `execve`: only the number tells them apart.
    fn of(error: io::Error) -> CommandStartError {
        let refused_process = [libc::EAGAIN, libc::ENOMEM, libc::EMFILE, libc::ENFILE, libc::ENOSYS, libc::EPERM];
        match error.raw_os_error() {
            Some(code) if !refused_process.contains(&code) => CommandStartError::Program(error),
            _ => CommandStartError::Live(Request::Process.refused(error)),
        }
    }
}

/// Starts the command `words` in `namespace`, with `variables` in its environment, as `user` or as this process's. The command and all its descendants
/// are killed when the namespace is dropped or this process dies. Descendants that outlive the command are killed too.
///
/// The returned child is a keeper process. It ends with the command, with the same [`exit_code`], and passes on signals
/// that this process sends. [`end_command`] ends both.
///
/// # Errors
/// The program cannot be executed, or the system gives no process.
pub fn spawn(
    namespace: &Namespace,
    words: Vec<OsString>,
    variables: Vec<(String, String)>,
    user: Option<CommandUser>,
    streams: StandardStreams,
) -> Result<Child, CommandStartError> {
    namespace.run(move || {
        let (program, arguments) = words.split_first().ok_or_else(|| LiveError::Refused("no command".to_string()))?;
        let mut command = Command::new(program);
        command.args(arguments).envs(variables);
        if streams == StandardStreams::OnlyErrors {
            command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
        }
        start_with_keeper(&mut command, user);
        // A fault of a test comes before `fork`.
        Request::Process.ask(|| Ok::<_, io::Error>(()))?;
        command.spawn().map_err(CommandStartError::of)
    })?
}

/// Exit code as a shell reports it: the command's, or 128 plus the number of the signal that killed it.
pub fn exit_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

/// The exit code of the command of `keeper`; `None` while it runs.
pub fn poll(keeper: &mut Child) -> LiveResult<Option<i32>> {
    let status = Request::Process.ask_about("its exit code", || keeper.try_wait())?;
    Ok(status.map(exit_code))
}

/// Kills the command of `keeper` and its descendants if they still run, and waits for the keeper.
pub fn end_command(keeper: &mut Child) -> LiveResult<()> {
    Request::Process.ask_about("its end", || crate::io::end_command(keeper))
}

/// Whether a process in the namespace waits for packets: a TCP socket that listens, or a UDP socket without a peer
/// (states 0A and 07 in the tables of proc_pid_net(5)).
pub fn has_listener(namespace: &Namespace) -> LiveResult<bool> {
    namespace.run(|| {
        ["tcp", "tcp6", "udp", "udp6"].into_iter().any(|protocol| {
            let waiting = if protocol.starts_with("tcp") { "0A" } else { "07" };
            let table = std::fs::read_to_string(format!("/proc/thread-self/net/{protocol}")).unwrap_or_default();
            table.lines().any(|line| line.split_whitespace().nth(3) == Some(waiting))
        })
    })
}
