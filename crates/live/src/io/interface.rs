//! Interface configuration in the calling thread's network namespace, and counters of its protocols.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};

use super::netlink::{CREATE_NEW, Netlink, NetlinkRequests};
use super::request::Request;
use super::sys;
use crate::error::LiveResult;

/// Adds an address with prefix length `prefix` to the interface `name`, without detection of duplicates.
pub fn set_address(name: &str, address: IpAddr, prefix: u8) -> LiveResult<()> {
    let (family, flags, octets) = match address {
        IpAddr::V4(v4) => (libc::AF_INET, 0, v4.octets().to_vec()),
        // No duplicate address detection (RFC 4862, section 5.4): no other host has the address.
        IpAddr::V6(v6) => (libc::AF_INET6, libc::IFA_F_NODAD as u8, v6.octets().to_vec()),
    };
    let mut head = [family as u8, prefix, flags, 0, 0, 0, 0, 0];
    head[4..].copy_from_slice(&sys::index(name)?.to_ne_bytes());
    let mut request = NetlinkRequests::default();
    request.add(libc::RTM_NEWADDR, CREATE_NEW, &head, |message| message.attribute(libc::IFA_LOCAL, &octets));
    let socket = Netlink::routing()?;
    Request::InterfaceAddress.ask_about(format_args!("{address} on {name}"), || socket.execute(&request))
}

/// Adds a default route over the interface `name` to `gateway`.
pub fn set_default_route(name: &str, gateway: Ipv4Addr) -> LiveResult<()> {
    let index = sys::index(name)?;
    // struct rtmsg: family, prefix lengths of destination and source, TOS, table, protocol, scope, type, flags.
    let (table, by, kind) = (libc::RT_TABLE_MAIN, libc::RTPROT_STATIC, libc::RTN_UNICAST);
    let head = [libc::AF_INET as u8, 0, 0, 0, table, by, 0, kind, 0, 0, 0, 0];
    let mut request = NetlinkRequests::default();
    request.add(libc::RTM_NEWROUTE, CREATE_NEW, &head, |message| {
        message.attribute(libc::RTA_GATEWAY, &gateway.octets());
        message.attribute(libc::RTA_OIF, &index.to_ne_bytes());
    });
    let socket = Netlink::routing()?;
    Request::DefaultRoute.ask_about(format_args!("{gateway} on {name}"), || socket.execute(&request))
}

/// Switches the interface `name` on.
pub fn bring_up(name: &str) -> LiveResult<()> {
    sys::bring_up(name)
}

/// A counter of the calling thread's namespace in the table `file` of proc_pid_net(5); `None` if the kernel lacks it.
pub(crate) fn count(file: &str, section: &str, name: &str) -> Option<u64> {
    count_of(&fs::read_to_string(format!("/proc/thread-self/net/{file}")).ok()?, section, name)
}

/// Parses tables such as /proc/net/netstat: pairs of lines, names and numbers, with the same first word.
fn count_of(text: &str, section: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with(section)).map(str::split_whitespace);
    let (names, numbers) = (lines.next()?, lines.next()?);
    names.zip(numbers).find(|(here, _)| *here == name)?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_found_by_section_and_name() {
        let text = "TcpExt: A InCEPkts\nTcpExt: 1 2\nIpExt: B InCEPkts C\nIpExt: 3 4 5\n";
        assert_eq!(count_of(text, "IpExt:", "InCEPkts"), Some(4));
        assert_eq!(count_of(text, "IpExt:", "InECT0Pkts"), None);
        assert_eq!(count_of("IpExt: InCEPkts\n", "IpExt:", "InCEPkts"), None);
    }

    #[test]
    fn a_missing_interface_cannot_be_brought_up() {
        assert!(bring_up("no-such-link").is_err());
    }
}
