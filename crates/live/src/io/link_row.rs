//! Interfaces as the kernel lists them over routing netlink (rtnetlink(7), linux/if_link.h).
//!
//! A row is asked for by the interface's index. A name may pass to another interface while a program runs.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::netlink::{Netlink, NetlinkRequests, find_attribute};

/// Attributes of an interface.
pub(super) const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
pub(super) const IFLA_MASTER: u16 = 10;
pub(super) const IFLA_LINKINFO: u16 = 18;
pub(super) const IFLA_INFO_KIND: u16 = 1;
const IFLA_EXT_MASK: u16 = 29;
/// Leaves the packet counts out of an answer.
const SKIP_STATISTICS: u32 = 8;

/// Bytes of `struct ifinfomsg`: family, padding, hardware type, index, flags, mask of flags.
const LINK_HEAD: usize = 16;
/// Bytes of `struct ifaddrmsg`: family, prefix length, flags, scope, index.
const ADDRESS_HEAD: usize = 8;

/// The fixed header of a request about interface `index`, which sets the `flags` to 1 that are not 0.
pub(super) fn link_head(index: i32, flags: i32) -> [u8; LINK_HEAD] {
    let mut head = [0; LINK_HEAD];
    head[4..8].copy_from_slice(&index.to_ne_bytes());
    head[8..12].copy_from_slice(&flags.to_ne_bytes());
    head[12..].copy_from_slice(&flags.to_ne_bytes());
    head
}

/// An interface's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinkRow {
    pub(super) index: i32,
    pub(super) name: String,
    /// Its driver's kind, such as "veth" or "bridge"; empty for a network card.
    pub(super) kind: String,
    /// Hardware type (`ARPHRD_*`).
    pub(super) hardware: u16,
    /// Flags (`IFF_*`).
    pub(super) flags: i32,
    pub(super) mtu: usize,
    /// Index of the bridge or bond that it belongs to; 0 if there is none.
    pub(super) master: i32,
}

impl LinkRow {
    /// The row of interface `index`; `None` if there is none.
    pub(super) fn by_index(socket: &Netlink, index: i32) -> io::Result<Option<LinkRow>> {
        LinkRow::find(socket, index, |_| {})
    }

    /// The row of the interface that is called `name` now.
    pub(super) fn by_name(socket: &Netlink, name: &str) -> io::Result<Option<LinkRow>> {
        if name.len() >= libc::IFNAMSIZ || name.contains('\0') {
            return Ok(None);
        }
        LinkRow::find(socket, 0, |request| request.text(IFLA_IFNAME, name))
    }

    fn find(
        socket: &Netlink,
        index: i32,
        attributes: impl FnOnce(&mut NetlinkRequests),
    ) -> io::Result<Option<LinkRow>> {
        let mut request = NetlinkRequests::default();
        request.add(libc::RTM_GETLINK, 0, &link_head(index, 0), |message| {
            attributes(message);
            message.attribute(IFLA_EXT_MASK, &SKIP_STATISTICS.to_ne_bytes());
        });
        let mut buffer = [0; 16_384];
        match socket.query(&request, &mut buffer) {
            Ok(answer) => answer
                .get(super::netlink::HEADER..)
                .and_then(LinkRow::parse)
                .map(Some)
                .ok_or_else(|| io::Error::other("an answer without an interface")),
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENODEV | libc::ENOENT)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The interfaces that belong to the bridge or bond `master`.
    pub(super) fn ports_of(socket: &Netlink, master: i32) -> io::Result<Vec<LinkRow>> {
        let mut request = NetlinkRequests::default();
        request.add(libc::RTM_GETLINK, libc::NLM_F_DUMP, &link_head(0, 0), |message| {
            message.attribute(IFLA_EXT_MASK, &SKIP_STATISTICS.to_ne_bytes());
        });
        let mut rows = Vec::new();
        socket.dump(&request, |message| rows.extend(LinkRow::parse(message).filter(|row| row.master == master)))?;
        Ok(rows)
    }

    /// The row in a message, which begins with `struct ifinfomsg`.
    fn parse(message: &[u8]) -> Option<LinkRow> {
        let (head, attributes) = message.split_first_chunk::<LINK_HEAD>()?;
        let long = |at: usize| i32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let number =
            |kind| find_attribute(attributes, kind).and_then(|value| value.try_into().ok()).map(i32::from_ne_bytes);
        let information = find_attribute(attributes, IFLA_LINKINFO).unwrap_or_default();
        Some(LinkRow {
            index: long(4),
            name: text(find_attribute(attributes, IFLA_IFNAME)?),
            kind: find_attribute(information, IFLA_INFO_KIND).map(text).unwrap_or_default(),
            hardware: u16::from_ne_bytes([head[2], head[3]]),
            flags: long(8),
            mtu: usize::try_from(number(IFLA_MTU)?).ok()?,
            master: number(IFLA_MASTER).unwrap_or(0),
        })
    }
}

/// The host's addresses on interface `index`: IPv4 first.
pub(super) fn addresses(socket: &Netlink, index: i32) -> io::Result<Vec<IpAddr>> {
    let mut request = NetlinkRequests::default();
    request.add(libc::RTM_GETADDR, libc::NLM_F_DUMP, &[0; ADDRESS_HEAD], |_| {});
    let mut found = Vec::new();
    socket.dump(&request, |message| found.extend(parse_address(message, index)))?;
    found.sort_unstable();
    Ok(found)
}

/// The address in a message, which begins with `struct ifaddrmsg`; `None` if it is another interface's.
fn parse_address(message: &[u8], index: i32) -> Option<IpAddr> {
    let (head, attributes) = message.split_first_chunk::<ADDRESS_HEAD>()?;
    if head[4..] != index.to_ne_bytes() {
        return None;
    }
    // On a point-to-point interface `IFA_ADDRESS` is the peer's.
    let address =
        find_attribute(attributes, libc::IFA_LOCAL).or_else(|| find_attribute(attributes, libc::IFA_ADDRESS))?;
    match i32::from(head[0]) {
        libc::AF_INET => <[u8; 4]>::try_from(address).ok().map(|octets| Ipv4Addr::from(octets).into()),
        libc::AF_INET6 => <[u8; 16]>::try_from(address).ok().map(|octets| Ipv6Addr::from(octets).into()),
        _ => None,
    }
}

/// A zero-terminated string.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.strip_suffix(&[0]).unwrap_or(bytes)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_has_a_row_by_its_index_and_by_its_name() {
        let socket = Netlink::routing().unwrap();
        let row = LinkRow::by_name(&socket, "lo").unwrap().unwrap();
        assert_eq!((row.name.as_str(), row.hardware, row.master), ("lo", libc::ARPHRD_LOOPBACK, 0));
        assert!(row.mtu >= 1500);
        assert_eq!(LinkRow::by_index(&socket, row.index).unwrap(), Some(row));
        assert_eq!(LinkRow::by_index(&socket, i32::MAX).unwrap(), None);
        for name in ["no-such-link", "", "lo\0", "a-name-of-16-byte"] {
            assert_eq!(LinkRow::by_name(&socket, name).unwrap(), None, "{name:?}");
        }
        assert_eq!(LinkRow::ports_of(&socket, i32::MAX).unwrap(), []);
        assert_eq!(addresses(&socket, i32::MAX).unwrap(), [] as [IpAddr; 0]);
    }

    #[test]
    fn an_address_belongs_to_the_interface_with_its_index() {
        let mut message = vec![libc::AF_INET as u8, 24, 0, 0, 7, 0, 0, 0];
        message[4..].copy_from_slice(&7_i32.to_ne_bytes());
        for (kind, last) in [(libc::IFA_ADDRESS, 9), (libc::IFA_LOCAL, 1)] {
            message.extend([8_u16.to_ne_bytes(), kind.to_ne_bytes()].concat());
            message.extend([192, 0, 2, last]);
        }
        assert_eq!(parse_address(&message, 7), Some([192, 0, 2, 1].into()));
        assert_eq!(parse_address(&message, 71), None);
        assert_eq!(parse_address(&message[..6], 7), None, "a message that is cut off");
    }
}
