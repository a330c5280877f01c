//! Netlink requests (RFC 3549; netlink(7)) with attributes, and their acknowledgements.
//!
//! No library covers these requests. `rtnetlink` and `nlink` need an asynchronous runtime. `neli` and
//! `netlink-packet-netfilter` lack nf_tables. `rustables` is under the GPL, and `nftnl` links a C library.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, sendto, socket_with,
};

use super::request::Request;
use crate::error::LiveResult;

/// Flags: create, fail if it exists, acknowledge.
pub(super) const CREATE_NEW: i32 = libc::NLM_F_CREATE | libc::NLM_F_EXCL | libc::NLM_F_ACK;

/// Bytes of a header: length, type, flags, number, port.
pub(super) const HEADER: usize = 16;

/// Requests sent in one message.
#[derive(Debug, Default)]
pub(super) struct NetlinkRequests {
    bytes: Vec<u8>,
    /// Requests that ask for an acknowledgement.
    acks_expected: usize,
}

impl NetlinkRequests {
    /// Adds a request: type, flags, fixed header, attributes.
    pub(super) fn add(&mut self, kind: u16, flags: i32, head: &[u8], attributes: impl FnOnce(&mut NetlinkRequests)) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        self.bytes.extend_from_slice(&kind.to_ne_bytes());
        self.bytes.extend_from_slice(&((libc::NLM_F_REQUEST | flags) as u16).to_ne_bytes());
        self.bytes.extend_from_slice(&[0; 8]);
        self.bytes.extend_from_slice(head);
        attributes(self);
        let length = (self.bytes.len() - start) as u32;
        self.bytes[start..start + 4].copy_from_slice(&length.to_ne_bytes());
        self.acks_expected += usize::from(flags & libc::NLM_F_ACK != 0);
    }

    pub(super) fn attribute(&mut self, kind: u16, value: &[u8]) {
        self.append_attribute(kind, |inner| inner.bytes.extend_from_slice(value));
    }

    /// Adds a zero-terminated string.
    pub(super) fn text(&mut self, kind: u16, value: &str) {
        self.append_attribute(kind, |inner| {
            inner.bytes.extend_from_slice(value.as_bytes());
            inner.bytes.push(0);
        });
    }

    /// Adds a number in network byte order, as netfilter expects.
    pub(super) fn number(&mut self, kind: u16, value: u32) {
        self.attribute(kind, &value.to_be_bytes());
    }

    /// Adds an attribute that contains others.
    pub(super) fn nested(&mut self, kind: u16, inner: impl FnOnce(&mut NetlinkRequests)) {
        self.append_attribute(libc::NLA_F_NESTED as u16 | kind, inner);
    }

    /// Length, type, value, and padding to four bytes, which the length excludes.
    fn append_attribute(&mut self, kind: u16, value: impl FnOnce(&mut NetlinkRequests)) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 2]);
        self.bytes.extend_from_slice(&kind.to_ne_bytes());
        value(self);
        let length = (self.bytes.len() - start) as u16;
        self.bytes[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

/// A netlink socket in the network namespace of the thread that opened it.
#[derive(Debug)]
pub(super) struct Netlink(OwnedFd);

impl Netlink {
    /// Opens a socket of the given protocol; `None` stands for routing.
    fn open(protocol: Option<Protocol>) -> io::Result<Netlink> {
        Ok(Netlink(socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, protocol)?))
    }

    /// Opens a routing socket.
    pub(super) fn routing() -> LiveResult<Netlink> {
        Request::RoutingSocket.ask(|| Netlink::open(None))
    }

    /// Opens a socket of netfilter.
    pub(super) fn netfilter() -> io::Result<Netlink> {
        Netlink::open(Some(netlink::NETFILTER))
    }

    /// Opens a routing socket that receives notifications of these `RTMGRP_` groups.
    pub(super) fn listening(groups: u32) -> io::Result<Netlink> {
        let socket = Netlink::open(None)?;
        bind(&socket.0, &SocketAddrNetlink::new(0, groups))?;
        Ok(socket)
    }

    /// Discards pending notifications, and the error that reports lost ones.
    pub(super) fn discard_notifications(&self) {
        let mut buffer = [0; 8192];
        loop {
            match recv(&self.0, &mut buffer[..], RecvFlags::DONTWAIT) {
                Ok(_) | Err(Errno::NOBUFS | Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    /// Sends `requests` and waits until they are done. Returns the error of the first request that failed.
    pub(super) fn execute(&self, requests: &NetlinkRequests) -> io::Result<()> {
        sendto(&self.0, &requests.bytes, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        let done = self.receive_acks(requests.acks_expected);
        if done.is_err() {
            // The kernel goes on after a request that failed. The later answers are not those to the next requests.
            self.discard_notifications();
        }
        done
    }

    fn receive_acks(&self, expected: usize) -> io::Result<()> {
        let (mut answer, mut acknowledged) = ([0; 8192], 0);
        while acknowledged < expected {
            // The kernel answers before `sendto` returns.
            let (length, _) = recv(&self.0, &mut answer[..], RecvFlags::DONTWAIT)?;
            acknowledged += count_acks(&answer[..length])?;
        }
        Ok(())
    }

    /// Sends `requests` and returns the first answer, which it stores in `buffer`. The kernel answers before `sendto`
    /// returns.
    pub(super) fn query<'a>(&self, requests: &NetlinkRequests, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
        sendto(&self.0, &requests.bytes, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        let (length, _) = recv(&self.0, &mut *buffer, RecvFlags::DONTWAIT)?;
        let answer = &buffer[..length];
        count_acks(answer)?;
        Ok(answer)
    }

    /// Sends a request for a list, and passes the content of each message of the answer to `row`. A list that changes
    /// meanwhile may lack a row; the kernel then sends a notification of the change.
    pub(super) fn dump(&self, request: &NetlinkRequests, mut row: impl FnMut(&[u8])) -> io::Result<()> {
        sendto(&self.0, &request.bytes, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        let listed = self.receive_list(&mut row);
        if listed.is_err() {
            // The rest of the list must not be taken for the answer to another request.
            self.discard_notifications();
        }
        listed
    }

    fn receive_list(&self, row: &mut impl FnMut(&[u8])) -> io::Result<()> {
        // The kernel's longest answer (`NLMSG_GOODSIZE` in Linux' include/linux/netlink.h, at most doubled).
        let mut buffer = vec![0; 32_768];
        loop {
            let (length, _) = recv(&self.0, &mut buffer[..], RecvFlags::DONTWAIT)?;
            let answer = &buffer[..length];
            count_acks(answer)?;
            for (kind, content) in messages(answer) {
                if kind == libc::NLMSG_DONE {
                    return Ok(());
                }
                row(content);
            }
        }
    }
}

/// The messages in `bytes`: type, and the content behind the header.
fn messages(mut bytes: &[u8]) -> impl Iterator<Item = (i32, &[u8])> {
    std::iter::from_fn(move || {
        let (head, rest) = bytes.split_first_chunk::<HEADER>()?;
        let length = (u32::from_ne_bytes([head[0], head[1], head[2], head[3]]) as usize).max(HEADER);
        let content = &rest[..(length - HEADER).min(rest.len())];
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((i32::from(u16::from_ne_bytes([head[4], head[5]])), content))
    })
}

/// The value of attribute `kind` in `attributes`, a sequence of them.
pub(super) fn find_attribute(mut attributes: &[u8], kind: u16) -> Option<&[u8]> {
    while let Some((head, _)) = attributes.split_first_chunk::<4>() {
        let length = usize::from(u16::from_ne_bytes([head[0], head[1]]));
        let found = u16::from_ne_bytes([head[2], head[3]]) & !(libc::NLA_F_NESTED as u16);
        if found == kind {
            return attributes.get(4..length);
        }
        attributes = attributes.get(length.max(4).next_multiple_of(4)..).unwrap_or_default();
    }
    None
}

impl AsFd for Netlink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Counts the acknowledgements in `bytes`.
fn count_acks(bytes: &[u8]) -> io::Result<usize> {
    let mut acknowledged_now = 0;
    for (_, content) in messages(bytes).filter(|(kind, _)| *kind == libc::NLMSG_ERROR) {
        match content.first_chunk().map(|code| i32::from_ne_bytes(*code)) {
            Some(0) => acknowledged_now += 1,
            Some(code) => return Err(io::Error::from_raw_os_error(-code)),
            None => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
    Ok(acknowledged_now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_exclude_padding_and_attributes_begin_at_multiples_of_four() {
        let mut requests = NetlinkRequests::default();
        requests.add(7, libc::NLM_F_ACK, &[9; 4], |message| {
            message.nested(1, |inner| inner.text(2, "ab"));
            message.number(3, 5);
        });
        let word = |at: usize| u16::from_ne_bytes([requests.bytes[at], requests.bytes[at + 1]]);
        assert_eq!(requests.bytes.len(), 16 + 4 + 12 + 8);
        assert_eq!((word(0), word(4), word(6)), (40, 7, 1 | 4));
        // The outer attribute holds the inner one with its padding, which the inner length excludes.
        assert_eq!((word(20), word(22), word(24), word(26)), (12, 0x8000 | 1, 7, 2));
        assert_eq!(requests.bytes[36..], 5_u32.to_be_bytes());
        // The attributes can be read back.
        let attributes = &requests.bytes[20..];
        assert_eq!(find_attribute(attributes, 1).and_then(|inner| find_attribute(inner, 2)), Some(&b"ab\0"[..]));
        assert_eq!(find_attribute(attributes, 3), Some(&5_u32.to_be_bytes()[..]));
        assert_eq!(find_attribute(attributes, 4), None);
        assert_eq!(find_attribute(&attributes[..17], 3), None, "an attribute that is cut off");
    }

    #[test]
    fn a_refusal_and_a_truncated_answer_are_errors() {
        let answer = |code: i32| {
            let mut bytes = vec![36, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            bytes[..4].copy_from_slice(&36_u32.to_ne_bytes());
            bytes[4..6].copy_from_slice(&2_u16.to_ne_bytes());
            bytes.extend_from_slice(&code.to_ne_bytes());
            bytes.extend_from_slice(&[0; 16]);
            bytes
        };
        assert_eq!(count_acks(&[answer(0), answer(0)].concat()).unwrap(), 2);
        assert_eq!(count_acks(&answer(-libc::EEXIST)).unwrap_err().raw_os_error(), Some(libc::EEXIST));
        assert!(count_acks(&answer(0)[..17]).is_err());
    }
}
