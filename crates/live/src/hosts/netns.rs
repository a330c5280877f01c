//! Network namespaces without names. Each belongs to a thread, so it disappears with the process, however that ends.

use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use rustix::process::{getgid, getuid};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};

use crate::error::LiveResult;
use crate::io::request::Request;
use crate::io::{Tun, interface};
use crate::threads::{spawn, thread_ended};

type NamespaceTask = Box<dyn FnOnce() + Send>;

/// A network namespace with its loopback up, and a thread that creates devices, sockets and processes in it.
pub struct Namespace {
    tasks: Option<Sender<NamespaceTask>>,
    thread: Option<JoinHandle<Option<()>>>,
}

impl Namespace {
    /// Creates a namespace; `PermissionDenied` without the privileges that [`prepare`] obtains.
    pub fn new() -> LiveResult<Namespace> {
        Namespace::with_thread(|| {
            Request::NetworkNamespace.ask(|| unshare(UnshareFlags::NEWNET))?;
            interface::bring_up("lo")
        })
    }

    /// The calling thread's own namespace, with a thread for tasks inside it.
    pub(crate) fn here() -> LiveResult<Namespace> {
        Namespace::with_thread(|| Ok(()))
    }

    fn with_thread(enter: impl FnOnce() -> LiveResult<()> + Send + 'static) -> LiveResult<Namespace> {
        let (tasks, inbox) = mpsc::channel::<NamespaceTask>();
        let work = move || Ok((enter()?, || inbox.into_iter().for_each(|task| task())));
        let ((), thread) = spawn("namespace", work)?;
        Ok(Namespace { tasks: Some(tasks), thread: Some(thread) })
    }

    /// Runs `task` in the namespace and waits for its result; fails if this task or an earlier one panicked.
    pub fn run<T: Send + 'static>(&self, task: impl FnOnce() -> T + Send + 'static) -> LiveResult<T> {
        let (result_sender, result) = mpsc::sync_channel(1);
        let task = Box::new(move || drop(result_sender.send(task())));
        self.tasks.as_ref().ok_or_else(|| thread_ended(()))?.send(task).map_err(thread_ended)?;
        result.recv().map_err(thread_ended)
    }
}

/// Ends the thread, and with it the processes tied to it.
impl Drop for Namespace {
    fn drop(&mut self) {
        self.tasks = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    #[expect(deprecated, reason = "the other name for it is unsafe for flags that share memory, which these do not")]
    rustix::thread::unshare(flags)
}

/// Tests whether `/dev/net/tun` can be used, and obtains the right to create namespaces. A process without this right enters a user namespace, if the kernel permits.
/// The process keeps its user id and gets root's rights over the namespaces that it creates. Programs that it executes
/// get no such rights.
///
/// Call it before starting threads: a process with several threads cannot enter a user namespace.
///
/// # Errors
/// The reason why the kernel does not permit this, and the remedy.
pub fn prepare() -> LiveResult<()> {
    // Before a namespace: its remedies differ, and so far nothing was made.
    drop(Tun::open_device()?);
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    if Request::Capabilities.ask(|| capabilities(None))?.effective.contains(needed) {
        return Ok(());
    }
    enter_user_namespace()
}

/// user_namespaces(7): an unprivileged process may map only itself, and its group only after denying `setgroups`.
pub(crate) fn enter_user_namespace() -> LiveResult<()> {
    let user = (getuid().as_raw(), getgid().as_raw());
    Request::UserNamespace.ask(|| unshare(UnshareFlags::NEWUSER))?;
    map_user(user)
}

/// Gives the user and the group the numbers that they have outside.
pub(crate) fn map_user((uid, gid): (u32, u32)) -> LiveResult<()> {
    let write = |path: &str, text: String| Request::UserMaps.ask_about(path, || std::fs::write(path, text));
    write("/proc/self/setgroups", "deny".to_string())?;
    write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    write("/proc/self/gid_map", format!("{gid} {gid} 1"))
}
