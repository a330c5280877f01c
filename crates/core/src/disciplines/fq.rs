//! Fair Queueing (FQ): one queue per flow, served by virtual finish time, as if bit by bit.
//!
//! Bit-by-bit round robin would be perfectly fair. FQ sends whole packets in the order in which such a service would
//! finish them. A packet's service tag is that finish time, counted in bytes sent of each backlogged flow.
//!
//! FQ keeps one queue per flow, the tags of their first packets in order ([`TagWheel`]), and the virtual time v. Virtual
//! time is the tag of the packet in service (self-clocked). Simulating the bit-by-bit service would cost O(flows) per
//! packet.
//!
//! On arrival, the packet joins its flow's queue; the first packet of an empty queue gets a tag. If the limit is
//! exceeded, the longest queue drops its newest packet. On departure, the packet with the smallest tag is sent, v
//! becomes its tag, and the flow's next packet is tagged.
//!
//! Only first packets have tags. While a flow is backlogged, v is at most its first packet's tag, so the next packet's
//! tag follows from that tag alone. Once a queue is empty, its last tag is at most v and need not be kept.
//!
//! Source: A. Demers, S. Keshav, S. Shenker, "Analysis and simulation of a fair queueing algorithm", ACM SIGCOMM 1989.
//! Self-clocked as in S. J. Golestani, "A self-clocked fair queueing scheme for broadband applications", IEEE INFOCOM
//! 1994. Deviations are listed in docs/disciplines/fq.md.
//!
//! | Golestani | here |
//! | --- | --- |
//! | F, the service tag: L + max(F of the flow's last packet, v) | [`TagWheel::tag`] |
//! | v, virtual time | [`Fq::virtual_time`] |
//! | r, a flow's weight | 1 |

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{Backlog, FlowId, Packet};
use crate::params::BuildError;
use crate::parts::{End, FlowQueues, TagWheel};
use crate::reason::Why;
use crate::units::Limit;

crate::params! {
    /// Settings of [`Fq`].
    pub struct FqConfig {
        /// Buffer size, shared by all flows. When it is exceeded, the longest queue drops its newest packets.
        limit: Limit = Limit::Packets(1000);
    }
    presets {
        "paper" "the defaults: Demers, Keshav and Shenker 1989, self-clocked as by Golestani 1994" {}
    }
    reasons { Overflow }
    gauges {
        Gauge::new("flows", "flows", "Flows with queued packets.");
        Gauge::new("longest", "packets", "Packets of the flow with the longest queue.");
        Gauge::QUEUED;
    }
}

/// Queues by flow; the queue whose head has the smallest tag sends next.
pub struct Fq<T> {
    flows: FlowQueues<T>,
    /// The queues by the tags of their heads.
    heads: TagWheel,
    /// Golestani's v: the tag of the last packet sent; 0 while the queues are empty.
    pub virtual_time: u64,
}

impl<T> Fq<T> {
    /// Empty queues.
    ///
    /// # Errors
    /// None: every configuration is valid.
    pub fn new(config: FqConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let flows = FlowQueues::new(config.limit, link.key);
        Ok(Fq { flows, heads: TagWheel::new(link.tables)?, virtual_time: 0 })
    }

    /// Backlog and head tag of `flow`'s queue; `None` if it is empty.
    pub fn flow(&self, flow: FlowId) -> Option<(Backlog, u64)> {
        let queue = self.flows.queue(flow)?;
        Some((self.flows.queues().backlog_of(queue), self.heads.tag(queue)?))
    }

    /// Number of backlogged flows.
    pub fn in_use(&self) -> usize {
        self.flows.flows()
    }

    /// Tags the new head of `queue`, a packet of `bytes`. Virtual time is the tag of the flow's previous packet, if it
    /// had one queued.
    #[inline(always)]
    fn tag_head(&mut self, queue: usize, bytes: u32) {
        let tag = self.virtual_time.saturating_add(u64::from(bytes));
        self.heads.insert(queue, tag, self.virtual_time);
    }

    #[inline(never)]
    fn drop_longest(&mut self, why: Why, cx: &mut Cx<'_, T>) {
        if let Some(emptied) = self.flows.drop_longest(End::Tail, why, cx) {
            self.heads.remove(emptied);
        }
    }
}

impl<T> Discipline<T> for Fq<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let bytes = packet.bytes;
        if let Some(begun) = self.flows.push(packet.flow, packet, cx) {
            self.tag_head(begun, bytes);
        }
        while self.flows.is_over() {
            self.drop_longest(Why::Overflow, cx);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, _cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let (least, tag) = self.heads.pop_first(self.virtual_time)?;
        let (packet, emptied) = self.flows.pop(least)?;
        self.virtual_time = tag;
        if !emptied {
            self.tag_head(least, self.flows.head_bytes(least));
        } else if self.flows.flows() == 0 {
            // The busy period ends with this packet.
            self.virtual_time = 0;
        }
        Some(packet)
    }

    crate::discipline::backlog_of!(flows);

    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        self.drop_longest(Why::Overload, cx);
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        let queues = self.flows.queues();
        gauge("flows", self.flows.flows() as f64);
        gauge("longest", queues.find_longest().map_or(0.0, |queue| f64::from(queues.backlog_of(queue).packets)));
    }
    fn observe_flow(&self, flow: FlowId, gauge: &mut dyn FnMut(&'static str, f64)) {
        let queue = self.flows.queue(flow);
        gauge("queued", queue.map_or(0.0, |queue| self.flows.queues().backlog_of(queue).packets.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Port, Rate, Rng, Time};
    use alloc::vec::Vec;

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

    fn port(limit: &str) -> Port<usize, Fq<usize>> {
        let config = FqConfig::from_settings(&[("limit", limit)]).unwrap();
        Port::new(Fq::new(config, &LINK).unwrap(), Rng::new(1))
    }

    fn offer(port: &mut Port<usize, Fq<usize>>, packets: &[(u64, u32)]) {
        for (number, (flow, bytes)) in packets.iter().enumerate() {
            port.enqueue(Packet::new(FlowId(*flow), *bytes, number), Time::ZERO, &mut ());
        }
    }

    fn next(port: &mut Port<usize, Fq<usize>>) -> Option<usize> {
        port.dequeue(Time::ZERO, &mut ()).map(|packet| packet.handle)
    }

    fn drain(port: &mut Port<usize, Fq<usize>>) -> Vec<usize> {
        core::iter::from_fn(|| next(port)).collect()
    }

    #[test]
    fn packets_leave_in_the_order_of_their_finish_tags() {
        let mut port = port("100p");
        offer(&mut port, &[(1, 1000), (1, 1000), (2, 400), (2, 400), (2, 400), (3, 2500)]);
        // By hand, tags 1000, 2000; 400, 800, 1200; 2500.
        assert_eq!(drain(&mut port), [2, 3, 0, 4, 1, 5]);
    }

    #[test]
    fn a_new_flow_begins_at_the_current_virtual_time_and_gets_no_credit_for_the_past() {
        let mut port = port("100p");
        offer(&mut port, &[(1, 1000), (1, 1000), (1, 1000), (1, 1000)]);
        assert_eq!([next(&mut port), next(&mut port)], [Some(0), Some(1)]);
        // v = 2000, and flow 1's head has tag 3000. Flow 2 has tags 2000 + 600 and 3200. Flow 3's tag equals flow 1's,
        // but its packet became a head later.
        offer(&mut port, &[(2, 600), (2, 600), (3, 1000)]);
        assert_eq!(port.discipline().flow(FlowId(2)).map(|(held, tag)| (held.packets, tag)), Some((2, 2600)));
        assert_eq!(drain(&mut port), [0, 2, 2, 1, 3]);
        assert_eq!(port.discipline().virtual_time, 0);
    }

    #[test]
    fn the_longest_queue_loses_its_newest_packet_and_that_costs_its_flow_no_service() {
        let mut port = port("3p");
        offer(&mut port, &[(1, 1000), (1, 1000), (1, 1000), (2, 1500)]);
        assert_eq!(drain(&mut port), [0, 3, 1]);
        offer(&mut port, &[(1, 1000), (2, 1000), (3, 1000), (4, 1000), (3, 1000)]);
        assert_eq!(drain(&mut port), [0, 1, 2], "among queues of one packet the newcomer's");
    }

    #[test]
    fn packets_that_are_dropped_on_arrival_leave_no_state() {
        let mut port = port("2p");
        offer(&mut port, &[(1, 1000), (2, 1000)]);
        (0..100_000).for_each(|flow| port.enqueue(Packet::new(FlowId(flow + 10), 5000, 0), Time::ZERO, &mut ()));
        assert_eq!(drain(&mut port), [0, 1]);
    }
}
