//! Network namespaces without names: each belongs to a thread, so nothing of it is left when the process is gone, however
//! it went.

use std::io;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use rustix::process::{getgid, getuid};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};

use crate::io::interface;
use crate::threads::{begin, ended};

type Job = Box<dyn FnOnce() + Send>;

/// A network namespace of its own with its loopback up, and the thread that lives there. What the thread makes is there too:
/// devices, sockets, processes.
pub struct Namespace {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<Option<()>>>,
}

impl Namespace {
    /// A new one: `PermissionDenied` without what [`prepare`] looks after.
    pub fn new() -> io::Result<Namespace> {
        Namespace::entered_by(|| unshare(UnshareFlags::NEWNET).and_then(|()| interface::bring_up("lo")))
    }

    /// The one that the calling thread is in, with a thread for what is to be done there.
    pub(crate) fn here() -> io::Result<Namespace> {
        Namespace::entered_by(|| Ok(()))
    }

    fn entered_by(enter: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<Namespace> {
        let (jobs, inbox) = mpsc::channel::<Job>();
        let work = move || Ok((enter()?, || inbox.into_iter().for_each(|job| job())));
        let ((), thread) = begin("namespace", work)?;
        Ok(Namespace { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Does `job` in the namespace, and waits for it: `BrokenPipe` if this job or one before it panicked.
    pub fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
        let (say, done) = mpsc::sync_channel(1);
        let job = Box::new(move || drop(say.send(job())));
        self.jobs.as_ref().ok_or_else(|| ended(()))?.send(job).map_err(ended)?;
        done.recv().map_err(ended)
    }
}

/// The thread ends, and with it the processes that were tied to it.
impl Drop for Namespace {
    fn drop(&mut self) {
        self.jobs = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn unshare(flags: UnshareFlags) -> io::Result<()> {
    #[expect(deprecated, reason = "the other name for it is unsafe for flags that share memory, which these do not")]
    rustix::thread::unshare(flags).map_err(io::Error::from)
}

/// Sees to it that this process may make namespaces: it may if it is root's, else it enters a user namespace, where the kernel
/// allows that. There it stays who it is, and may do with namespaces it makes what root may with all; what it runs may not.
///
/// Call it before the process starts threads: one that has several cannot enter a user namespace.
///
/// # Errors
/// Why it may not, and what is needed.
pub fn prepare() -> io::Result<()> {
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    if capabilities(None)?.effective.contains(needed) {
        return Ok(());
    }
    enter_user_namespace().map_err(|error| {
        let what = format!(
            "a link needs network namespaces: be root, or have the kernel allow unprivileged user namespaces \
             (user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns); \
             it says: {error}"
        );
        io::Error::new(io::ErrorKind::PermissionDenied, what)
    })
}

/// user_namespaces(7): one may map oneself alone, and groups only once `setgroups` is given up.
fn enter_user_namespace() -> io::Result<()> {
    let (uid, gid) = (getuid().as_raw(), getgid().as_raw());
    unshare(UnshareFlags::NEWUSER)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))
}
