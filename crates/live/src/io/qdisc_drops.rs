//! The kernel's count of the packets that a qdisc dropped, read over routing netlink (linux/rtnetlink.h, linux/gen_stats.h).

use std::io;

use super::netlink::{HEADER, Netlink, NetlinkRequests, find_attribute};
use super::request::Request;
use super::sys;
use crate::error::LiveResult;

// Attributes of a qdisc.
const TCA_STATS2: u16 = 7;
const TCA_STATS_QUEUE: u16 = 3;
/// Bytes of `struct tcmsg`: family, padding, interface, handle, parent, information.
const TCMSG: usize = 20;
/// Position of `drops` in `struct gnet_stats_queue`, behind `qlen` and `backlog`.
const DROPS: std::ops::Range<usize> = 8..12;

/// Reads the drops of one qdisc.
#[derive(Debug)]
pub(super) struct QdiscDrops {
    socket: Netlink,
    request: NetlinkRequests,
    /// The count at the last reading.
    last: u32,
}

impl QdiscDrops {
    /// The drops of the qdisc `handle` of `interface` in the calling thread's network namespace, from now on.
    pub(super) fn open(interface: &str, handle: u32) -> LiveResult<QdiscDrops> {
        let mut head = [0; TCMSG];
        head[4..8].copy_from_slice(&sys::index(interface)?.to_ne_bytes());
        head[8..12].copy_from_slice(&handle.to_ne_bytes());
        let mut request = NetlinkRequests::default();
        // Without an echo, kernels before 6.6 answer only the listeners of a group.
        request.add(libc::RTM_GETQDISC, libc::NLM_F_ECHO, &head, |_| {});
        let mut drops = QdiscDrops { socket: Netlink::routing()?, request, last: 0 };
        drops.take()?;
        Ok(drops)
    }

    /// The packets dropped since the last call.
    pub(super) fn take(&mut self) -> LiveResult<u32> {
        let now = Request::QdiscCounters.ask(|| {
            let mut buffer = [0; 4096];
            let answer = self.socket.query(&self.request, &mut buffer)?;
            drops_in(answer).ok_or_else(|| io::Error::other("an answer without counts"))
        })?;
        // The count wraps after four billion packets.
        Ok(now.wrapping_sub(std::mem::replace(&mut self.last, now)))
    }
}

fn drops_in(answer: &[u8]) -> Option<u32> {
    let statistics = find_attribute(answer.get(HEADER + TCMSG..)?, TCA_STATS2)?;
    let queue = find_attribute(statistics, TCA_STATS_QUEUE)?;
    Some(u32::from_ne_bytes(queue.get(DROPS)?.try_into().ok()?))
}
