//! The claim of one process on an interface: a lock that two gateways cannot hold, and a handle that proves its identity.
//!
//! The lock is a listening Unix socket with an abstract name, `headgate-gateway-INDEX`. Abstract names belong to a network
//! namespace, as interfaces do, so containers that share a network see each other's locks. The name vanishes with the
//! last process that holds the socket, also after `kill -9`, and a connection tells which process it is. A file below
//! /run would need a folder that all users may write to, would stay behind, and would not be seen by another container.
//!
//! The handle is a packet socket that receives nothing. The kernel parts it from an interface that is removed or moved
//! to another namespace. So the handle tells a new interface from the claimed one, even if name and index are the same.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use aqm::Span;
use rustix::event::poll;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use super::inspect::Interface;
use super::netlink::Netlink;
use super::request::Request;
use super::sys;
use crate::error::{LiveError, LiveResult};
use crate::io::clock::timespec;

/// Time between attempts to take a lock, and their number. The child of a gateway that was killed holds the lock until
/// it has joined the interfaces.
const RETRY_AFTER: Span = Span::from_millis(50);
const MOST_TRIES: usize = 20;

/// An interface that no other gateway can claim until this value is dropped.
#[derive(Debug)]
pub(crate) struct InterfaceClaim {
    index: i32,
    handle: OwnedFd,
    lock: UnixListener,
}

impl InterfaceClaim {
    /// Claims `interface`.
    ///
    /// # Errors
    /// Another process has it, which the message names; or a socket is refused.
    pub(crate) fn new(interface: &Interface) -> LiveResult<InterfaceClaim> {
        let (index, name) = (interface.index, &interface.name);
        let lock =
            Request::InterfaceClaim.ask_about(name, || take_lock(index).map_err(|error| held(name, index, error)))?;
        let handle = sys::packet_socket()?;
        Request::PacketBind.ask_about(name, || sys::bind(handle.as_fd(), index, 0))?;
        Ok(InterfaceClaim { index, handle, lock })
    }

    /// Index of the interface.
    pub(crate) fn index(&self) -> i32 {
        self.index
    }

    /// The interface as it is now; `None` if there is none with its index.
    pub(crate) fn read(&self) -> LiveResult<Option<Interface>> {
        Interface::read(&Netlink::routing()?, self.index)
    }

    /// Numbers of its open files: the handle, and the lock.
    pub(crate) fn descriptors(&self) -> [RawFd; 2] {
        [self.handle.as_raw_fd(), self.lock.as_raw_fd()]
    }

    /// Whether the interface still exists in this namespace.
    pub(crate) fn exists(&self) -> bool {
        sys::bound_index(self.handle.as_fd()).is_ok_and(|index| index == self.index)
    }
}

/// The error of a lock that could not be taken, with the process that holds it.
fn held(name: &str, index: i32, error: io::Error) -> LiveError {
    let held = error.kind() == io::ErrorKind::AddrInUse;
    let object = if held { format!("{name}, which {} forwards", holder(index)) } else { name.to_string() };
    Request::InterfaceClaim.refused_about(&object, error)
}

fn lock_name(index: i32) -> String {
    format!("headgate-gateway-{index}")
}

fn take_lock(index: i32) -> io::Result<UnixListener> {
    let address = SocketAddr::from_abstract_name(lock_name(index))?;
    for _ in 1..MOST_TRIES {
        match UnixListener::bind_addr(&address) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                let _ = poll(&mut [], Some(&timespec(RETRY_AFTER)));
            }
            taken => return taken,
        }
    }
    UnixListener::bind_addr(&address)
}

/// The process that holds the lock of interface `index`, in words.
fn holder(index: i32) -> String {
    match holder_id(index) {
        Ok(id) if id > 0 => format!("process {id}"),
        // Its process namespace is not below ours, or it does not listen.
        _ => "an unknown process".to_string(),
    }
}

fn holder_id(index: i32) -> io::Result<u32> {
    // A stranger's socket may have a full queue of connections: do not wait.
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new_abstract_name(lock_name(index).as_bytes())?)?;
    // struct ucred: process, user, group.
    let [process, ..]: [u32; 3] = sys::get_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED)?;
    Ok(process)
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::thread;

    use super::*;
    use crate::hosts::netns::Namespace;

    /// Runs `job` in its own network namespace with the veth pair `in` and `near`, if one can be created.
    fn with_interface(job: impl FnOnce(Interface) + Send + 'static) {
        let Ok(namespace) = Namespace::new() else { return headgate_needs::skip("namespaces") };
        let work = || {
            ip("link add in type veth peer name near");
            job(Interface::find("in").unwrap());
        };
        namespace.run(work).unwrap();
    }

    fn ip(line: &str) {
        let done = Command::new("ip").args(line.split_whitespace()).output().unwrap();
        assert!(done.status.success(), "{line}: {done:?}");
    }

    #[test]
    fn a_claimed_interface_is_refused_with_its_process_until_the_claim_is_dropped() {
        with_interface(|interface| {
            let first = InterfaceClaim::new(&interface).unwrap();
            let error = InterfaceClaim::new(&interface).unwrap_err();
            let expected = format!("(in, which process {} forwards): ", std::process::id());
            assert!(error.to_string().contains(&expected), "{error}");
            assert_eq!(error.raw_os_error(), Some(libc::EADDRINUSE));
            InterfaceClaim::new(&Interface::find("near").unwrap()).unwrap();
            drop(first);
            InterfaceClaim::new(&interface).unwrap();
        });
    }

    #[test]
    fn a_claim_that_is_dropped_soon_is_waited_for() {
        with_interface(|interface| {
            let first = InterfaceClaim::new(&interface).unwrap();
            // The child of a gateway that was killed.
            let child = thread::spawn(move || {
                let _ = poll(&mut [], Some(&timespec(Span::from_millis(150))));
                drop(first);
            });
            InterfaceClaim::new(&interface).unwrap();
            child.join().unwrap();
        });
    }

    #[test]
    fn another_namespace_has_claims_of_its_own() {
        with_interface(|interface| {
            let _first = InterfaceClaim::new(&interface).unwrap();
            with_interface(move |other| {
                assert_eq!(other.index, interface.index);
                InterfaceClaim::new(&other).unwrap();
            });
        });
    }

    #[test]
    fn a_renamed_interface_is_the_same_and_one_that_took_its_place_is_not() {
        with_interface(|interface| {
            let claim = InterfaceClaim::new(&interface).unwrap();
            ip("link set in name elsewhere");
            assert!(claim.exists());
            assert_eq!(claim.read().unwrap().map(|found| found.name), Some("elsewhere".to_string()));
            ip("link delete elsewhere");
            assert!(!claim.exists());
            ip(&format!("link add in index {} type veth peer name near", interface.index));
            assert_eq!(claim.read().unwrap().map(|found| found.name), Some("in".to_string()));
            assert!(!claim.exists());
        });
    }
}
