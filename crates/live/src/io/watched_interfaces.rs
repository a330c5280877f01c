//! Follows two interfaces by the kernel's notifications (rtnetlink(7), `RTMGRP_LINK` and the groups of addresses).
//!
//! A notification only says that something changed: the state is then read again. So lost notifications, which the
//! kernel drops if they come too fast, do no harm.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use super::claim::InterfaceClaim;
use super::inspect::Interface;
use super::netlink::Netlink;
use super::request::Request;
use crate::error::LiveResult;

/// Failure of an interface, with its place in the pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InterfaceFailure {
    /// Switched off.
    Down(usize),
    /// Removed, or moved to another namespace.
    Gone(usize),
}

impl InterfaceFailure {
    /// The failure in words, with the name of each interface of the pair.
    pub(crate) fn in_words(self, names: [&str; 2]) -> String {
        match self {
            InterfaceFailure::Down(which) => format!("{} is down", names[which]),
            InterfaceFailure::Gone(which) => format!("{} is gone", names[which]),
        }
    }
}

/// Two claimed interfaces of the calling thread's namespace, and the notifications of changes.
#[derive(Debug)]
pub(crate) struct WatchedInterfaces {
    events: Netlink,
    queries: Netlink,
    claims: Arc<[InterfaceClaim; 2]>,
}

impl WatchedInterfaces {
    pub(crate) fn new(claims: Arc<[InterfaceClaim; 2]>) -> LiveResult<WatchedInterfaces> {
        let groups = libc::RTMGRP_LINK | libc::RTMGRP_IPV4_IFADDR | libc::RTMGRP_IPV6_IFADDR;
        let events = Request::LinkEvents.ask(|| Netlink::listening(groups as u32))?;
        Ok(WatchedInterfaces { events, queries: Netlink::routing()?, claims })
    }

    /// Readable after a change since the last [`look`](WatchedInterfaces::look).
    pub(crate) fn notifications(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }

    /// The state of both interfaces; `None` if the kernel did not answer. Fails with the first interface that failed.
    pub(crate) fn look(&self) -> Result<Option<[Interface; 2]>, InterfaceFailure> {
        self.events.discard_notifications();
        let [a, b] = [self.look_at(0)?, self.look_at(1)?];
        Ok(a.zip(b).map(Into::into))
    }

    fn look_at(&self, which: usize) -> Result<Option<Interface>, InterfaceFailure> {
        let claim = &self.claims[which];
        match Interface::read(&self.queries, claim.index()) {
            Ok(Some(found)) if claim.exists() => {
                if found.up {
                    Ok(Some(found))
                } else {
                    Err(InterfaceFailure::Down(which))
                }
            }
            Err(_) => Ok(None),
            Ok(_) => Err(InterfaceFailure::Gone(which)),
        }
    }
}
