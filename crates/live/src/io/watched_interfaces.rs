//! Detects removed or switched-off interfaces by the kernel's notifications (rtnetlink(7), `RTMGRP_LINK`).

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};

use super::netlink::Netlink;
use super::request::Request;
use super::sys;
use crate::error::LiveResult;

/// Failure of an interface, with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InterfaceFailure {
    /// Switched off.
    Down(String),
    /// Removed, or replaced by another of the same name.
    Gone(String),
}

impl fmt::Display for InterfaceFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InterfaceFailure::Down(name) => write!(f, "{name} is down"),
            InterfaceFailure::Gone(name) => write!(f, "{name} is gone"),
        }
    }
}

/// Watched interfaces of the calling thread's namespace.
#[derive(Debug)]
pub(crate) struct WatchedInterfaces {
    events: Netlink,
    /// Names and indexes: a new interface of the same name has another index.
    interfaces: Vec<(String, i32)>,
}

impl WatchedInterfaces {
    pub(crate) fn new(names: &[String]) -> LiveResult<WatchedInterfaces> {
        let events = Request::LinkEvents.ask(|| Netlink::listening(libc::RTMGRP_LINK as u32))?;
        let interfaces = names.iter().map(|name| Ok((name.clone(), sys::index(name)?)));
        Ok(WatchedInterfaces { events, interfaces: interfaces.collect::<LiveResult<_>>()? })
    }

    /// Readable after a change since the last [`failure`](WatchedInterfaces::failure).
    pub(crate) fn notifications(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }

    /// The failure of the first interface that failed, if any.
    pub(crate) fn failure(&self) -> Option<InterfaceFailure> {
        self.events.discard_notifications();
        self.interfaces.iter().find_map(|(name, index)| match (sys::index(name), sys::flags(name)) {
            (Ok(found), Ok(flags)) if found == *index => {
                (i32::from(flags) & libc::IFF_UP == 0).then(|| InterfaceFailure::Down(name.clone()))
            }
            _ => Some(InterfaceFailure::Gone(name.clone())),
        })
    }
}
