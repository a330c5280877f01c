//! A process between this one and a command. When the command ends or this process dies, it kills all descendants of
//! the command: as a subreaper it inherits orphans (`PR_SET_CHILD_SUBREAPER`).
//!
//! The keeper is a forked child without exec, so it may only make system calls (signal-safety(7)).
#![allow(unsafe_code, reason = "each block says why it is sound")]

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{
    Gid, Pid, Signal, Uid, getpid, getppid, kill_process, set_child_subreaper, set_parent_process_death_signal,
};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

/// Signal that makes a keeper kill its command. The kernel sends it when the thread that started the keeper ends.
const KILL_REQUEST: Signal = Signal::POWER;

/// A shell's exit code for a command killed by `SIGKILL`.
const KILLED_EXIT_CODE: i32 = 128 + 9;

/// The user of a command, with the groups that the user belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandUser {
    uid: Uid,
    gid: Gid,
    groups: Vec<Gid>,
}

impl CommandUser {
    /// The user `uid` in its main group `gid` and in `groups`.
    pub fn new(uid: u32, gid: u32, groups: &[u32]) -> CommandUser {
        let groups = groups.iter().copied().map(Gid::from_raw).collect();
        CommandUser { uid: Uid::from_raw(uid), gid: Gid::from_raw(gid), groups }
    }

    /// Makes the calling thread this user's, for good. The groups first: they need rights that end with the user.
    fn enter(&self) -> io::Result<()> {
        let CommandUser { uid, gid, groups } = self;
        set_thread_groups(groups)?;
        set_thread_res_gid(*gid, *gid, *gid)?;
        Ok(set_thread_res_uid(*uid, *uid, *uid)?)
    }
}

/// Makes `command` start with a keeper, and run as `user`, or as this process does. The child is then the keeper, of the
/// same user as this process: the command cannot kill it. Its exit code is the command's, as a shell reports it. The
/// keeper passes on signals that this process sends to it.
pub(crate) fn start_with_keeper(command: &mut Command, user: Option<CommandUser>) {
    let parent = getpid();
    // SAFETY: the closure runs between fork and exec. It only makes system calls, uses only the stack and reads `user`;
    // see `fork_keeper`.
    unsafe { command.pre_exec(move || fork_keeper(parent, user.as_ref())) };
}

/// Kills the keeper's command and its descendants if they still run, and waits for the keeper.
pub(crate) fn end_command(keeper: &mut Child) -> io::Result<()> {
    if keeper.try_wait()?.is_none() {
        kill_process(Pid::from_child(keeper), KILL_REQUEST)?;
    }
    keeper.wait().map(drop)
}

/// Forks: the child executes the command, the parent becomes its keeper.
fn fork_keeper(parent: Pid, user: Option<&CommandUser>) -> io::Result<()> {
    set_parent_death_signal(parent, KILL_REQUEST)?;
    set_child_subreaper(Some(getpid()))?;
    let (keeper, unblocked) = (getpid(), block_all_signals()?);
    // SAFETY: this process was itself forked, so it has one thread, and no other thread holds a lock of the C library.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // First: a process that changes its user loses the signal.
            user.map_or(Ok(()), CommandUser::enter)?;
            set_parent_death_signal(keeper, Signal::KILL)?;
            // SAFETY: `unblocked` was written by `sigprocmask` in `block_all_signals`.
            unsafe { libc::sigprocmask(libc::SIG_SETMASK, &unblocked, std::ptr::null_mut()) };
            Ok(())
        }
        command => run_keeper(command, parent),
    }
}

/// Makes the kernel send `signal` to this process when the thread of `parent` that started it ends.
fn set_parent_death_signal(parent: Pid, signal: Signal) -> io::Result<()> {
    set_parent_process_death_signal(Some(signal))?;
    // The parent may have died before the call.
    if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
}

/// Blocks all signals and returns the previous mask.
fn block_all_signals() -> io::Result<libc::sigset_t> {
    let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: `sigfillset` writes `all` before `sigprocmask` reads it, and `sigprocmask` writes `before`.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        match libc::sigprocmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) {
            0 => Ok(before.assume_init()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Waits until `command` ends or [`KILL_REQUEST`] arrives.
fn run_keeper(command: libc::pid_t, parent: Pid) -> ! {
    // SAFETY: no code of the keeper uses the closed descriptors afterwards. The name ends with a zero byte.
    unsafe {
        // Without close_range (before Linux 5.9), close the usual maximum.
        if libc::syscall(libc::SYS_close_range, 0_u32, u32::MAX, 0_u32) < 0 {
            for fd in 0..1024 {
                libc::close(fd);
            }
        }
        libc::prctl(libc::PR_SET_NAME, c"headgate-keeper".as_ptr());
    }
    let code = loop {
        let (signal, sender) = wait_for_signal();
        if signal == KILL_REQUEST.as_raw() {
            break KILLED_EXIT_CODE;
        }
        if signal == libc::SIGCHLD {
            if let Some(code) = reap(command) {
                break code;
            }
        } else if sender == parent.as_raw_nonzero().get() {
            // SAFETY: `kill` takes two numbers. `command` still names our child: it runs, or has ended and was not
            // reaped.
            unsafe { libc::kill(command, signal) };
        }
    };
    while kill_children() {
        // SAFETY: `waitpid` takes numbers here. A null status pointer discards the status.
        unsafe { libc::waitpid(-1, std::ptr::null_mut(), 0) };
    }
    // SAFETY: it does not return.
    unsafe { libc::_exit(code) }
}

/// Waits for a signal and returns it with the process that sent it; 0 if the kernel sent it.
fn wait_for_signal() -> (i32, libc::pid_t) {
    // SAFETY: a signal set consists of numbers, so zeros are a valid value.
    let (mut all, mut info) = unsafe { (MaybeUninit::<libc::sigset_t>::zeroed().assume_init(), MaybeUninit::zeroed()) };
    // SAFETY: `info` consists of numbers, so its zeros are valid even if `sigwaitinfo` fails. The sender is read only
    // for `SI_USER`, where the kernel sets it.
    unsafe {
        libc::sigfillset(&mut all);
        let signal = libc::sigwaitinfo(&all, info.as_mut_ptr());
        let info: libc::siginfo_t = info.assume_init();
        (signal, if info.si_code == libc::SI_USER { info.si_pid() } else { 0 })
    }
}

/// Reaps all ended children; returns the exit code of `command` if it is among them.
fn reap(command: libc::pid_t) -> Option<i32> {
    let mut exit_code = None;
    loop {
        let mut status = 0;
        // SAFETY: the status is written before it is read.
        let pid = unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) };
        if pid <= 0 {
            return exit_code;
        }
        if pid == command {
            let code = if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) };
            exit_code = Some(code);
        }
    }
}

/// Kills all children and returns whether there were any. Their children then become children of the keeper.
fn kill_children() -> bool {
    let Ok(list) = open(c"/proc/thread-self/children", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) else {
        return false;
    };
    let (mut text, mut pid, mut any) = ([0; 512], 0, false);
    while let Ok(length @ 1..) = rustix::io::read(&list, &mut text) {
        for byte in text.iter().take(length) {
            match byte {
                b'0'..=b'9' => pid = pid * 10 + libc::pid_t::from(byte - b'0'),
                _ => {
                    // SAFETY: two numbers.
                    any |= pid > 0 && unsafe { libc::kill(pid, libc::SIGKILL) } == 0;
                    pid = 0;
                }
            }
        }
    }
    any
}
