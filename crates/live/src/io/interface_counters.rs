//! The kernel's packet counts of an interface, read over routing netlink (linux/if_link.h).

use std::io;

use super::netlink::{HEADER, Netlink, NetlinkRequests, find_attribute};
use super::request::Request;
use super::sys;
use crate::counts::counts;
use crate::error::LiveResult;

/// The request for statistics alone, without the interface's settings.
const RTM_GETSTATS: u16 = 94;
/// Bytes of `struct if_stats_msg`: family, padding, interface, filter.
const IF_STATS_MSG: usize = 12;
/// The attribute with `struct rtnl_link_stats64`, and the filter that asks for it.
const IFLA_STATS_LINK_64: u16 = 1;
const LINK_64_FILTER: u32 = 1 << (IFLA_STATS_LINK_64 - 1);

counts! {
    /// Packet counts of an interface. Packets that the host sends count as sent.
    InterfaceCounters {
        /// Packets sent.
        sent,
        /// Packets dropped on sending, at a full queue.
        send_drops,
        /// Packets received.
        received,
        /// Packets dropped on receipt.
        receive_drops,
    }
}

/// Reads the counts of one interface from any network namespace.
#[derive(Debug)]
pub struct CounterReader {
    interface: String,
    socket: Netlink,
    request: NetlinkRequests,
}

impl CounterReader {
    /// The counts of `interface`, which is in the calling thread's network namespace.
    ///
    /// # Errors
    /// There is no such interface, or the system refuses the request.
    pub fn open(interface: &str) -> LiveResult<CounterReader> {
        let mut head = [0; IF_STATS_MSG];
        head[4..8].copy_from_slice(&sys::index(interface)?.to_ne_bytes());
        head[8..].copy_from_slice(&LINK_64_FILTER.to_ne_bytes());
        let mut request = NetlinkRequests::default();
        request.add(RTM_GETSTATS, 0, &head, |_| {});
        Ok(CounterReader { interface: interface.to_string(), socket: Netlink::routing()?, request })
    }

    /// The counts now.
    ///
    /// # Errors
    /// The interface is gone, or the system refuses the request.
    pub fn read(&self) -> LiveResult<InterfaceCounters> {
        Request::InterfaceCounters.ask_about(&self.interface, || {
            let mut buffer = [0; 1024];
            let answer = self.socket.query(&self.request, &mut buffer)?;
            counters_in(answer).ok_or_else(|| io::Error::other("an answer without counts"))
        })
    }
}

fn counters_in(answer: &[u8]) -> Option<InterfaceCounters> {
    let statistics = find_attribute(answer.get(HEADER + IF_STATS_MSG..)?, IFLA_STATS_LINK_64)?;
    // Packets received and sent, bytes, errors, then drops.
    let at = |index: usize| statistics.chunks_exact(8).nth(index)?.try_into().ok().map(u64::from_ne_bytes);
    Some(InterfaceCounters { received: at(0)?, receive_drops: at(6)?, sent: at(1)?, send_drops: at(7)? })
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn packets_over_the_loopback_are_counted_and_a_missing_interface_is_an_error() {
        let reader = CounterReader::open("lo").unwrap();
        let before = reader.read().unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(b"x", socket.local_addr().unwrap()).unwrap();
        let after = reader.read().unwrap();
        assert!(after.sent > before.sent && after.received > before.received, "{before:?} {after:?}");
        assert!(CounterReader::open("no-such-link").is_err());
    }

    #[test]
    fn counts_are_found_by_their_places_in_the_answer() {
        let mut answer = vec![0; HEADER + IF_STATS_MSG];
        answer.extend_from_slice(&(4 + 8 * 8_u16).to_ne_bytes());
        answer.extend_from_slice(&IFLA_STATS_LINK_64.to_ne_bytes());
        answer.extend((1..=8_u64).flat_map(u64::to_ne_bytes));
        let expected = InterfaceCounters { received: 1, receive_drops: 7, sent: 2, send_drops: 8 };
        assert_eq!(counters_in(&answer), Some(expected));
        assert_eq!(counters_in(&answer[..HEADER + IF_STATS_MSG + 4 + 56]), None, "an answer that is cut off");
    }
}
