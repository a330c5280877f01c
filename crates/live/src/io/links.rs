//! Whether interfaces are still there, and switched on: the kernel tells of every change of any (rtnetlink(7), `RTMGRP_LINK`).

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use super::netlink::Netlink;
use super::sys;

/// Why an interface will not do any more, with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// It is switched off.
    Down(String),
    /// There is none of that name, or it is another one.
    Gone(String),
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Down(name) => write!(f, "{name} is down"),
            Loss::Gone(name) => write!(f, "{name} is gone"),
        }
    }
}

/// Some interfaces of the namespace of the thread that looks.
#[derive(Debug)]
pub(crate) struct Links {
    events: Netlink,
    /// Names and numbers: what is made anew under the same name is another.
    links: Vec<(String, i32)>,
}

impl Links {
    /// The interfaces `names`.
    pub(crate) fn new(names: &[String]) -> io::Result<Links> {
        let events = Netlink::listening(libc::RTMGRP_LINK as u32)?;
        let links = names.iter().map(|name| Ok((name.clone(), sys::index(name)?)));
        Ok(Links { events, links: links.collect::<io::Result<_>>()? })
    }

    /// Readable when something has changed since the last look.
    pub(crate) fn changed(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }

    /// What is wrong with the first that will not do any more.
    pub(crate) fn look(&self) -> Option<Loss> {
        self.events.forget();
        self.links.iter().find_map(|(name, index)| match (sys::index(name), sys::flags(name)) {
            (Ok(found), Ok(flags)) if found == *index => {
                (i32::from(flags) & libc::IFF_UP == 0).then(|| Loss::Down(name.clone()))
            }
            _ => Some(Loss::Gone(name.clone())),
        })
    }
}
