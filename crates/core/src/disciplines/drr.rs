//! DRR: a queue for each flow, served in turn by bytes of credit.
//!
//! M. Shreedhar, G. Varghese, "Efficient fair queuing using deficit round robin", ACM SIGCOMM 1995 (IEEE/ACM ToN 4(3),
//! 1996), section 3 and figure 2.
//!
//! | paper | here |
//! | --- | --- |
//! | ActiveList, DeficitCounter, Quantum | [`DeficitRing`], [`DeficitRing::credit`], `quantum` |
//! | the queues a flow is hashed to | one for each flow, or `buckets` |
//! | FreeBuffer: buffer stealing | [`FlowQueues::drop_longest`] |

use crate::cx::{Cx, Why};
use crate::discipline::{Backlog, Discipline, Place};
use crate::packet::{FlowId, Packet};
use crate::params::{BuildError, Bytes};
use crate::parts::{DeficitRing, End, FlowQueues, bucket};
use crate::units::Limit;

crate::params! {
    /// Settings of [`Drr`].
    pub struct DrrConfig {
        /// Room for waiting packets, shared by all flows: what is too much is taken from the longest queue.
        limit: Limit = Limit::Packets(1000), also "blimit_";
        /// The bytes each flow may send a turn. A packet that costs more waits for as many turns as it takes.
        quantum: Bytes = Bytes(1500), in Bytes(1).., also "quantum_";
        /// Hash flows to so many queues, as in the paper, where those that share one share its turns. `auto`: a queue
        /// for each flow.
        buckets: Option<u32> = None, in 1..=65_536, also "buckets_";
        /// Drop the oldest packet of the longest queue, instead of its newest.
        head_drop: bool = false;
    }
    presets {
        "paper" "the defaults: Shreedhar and Varghese 1995, with a queue for each flow and a quantum of Ethernet's MTU" {}
        "ns2" "ns-2.35, drr.cc and ns-default.tcl" {
            "limit" = "25KB", "quantum" = "250B", "buckets" = "10", "head_drop" = "on"
        }
    }
}

/// Queues by flow, each of which sends as many bytes a turn.
pub struct Drr<T> {
    config: DrrConfig,
    flows: FlowQueues<T>,
    ring: DeficitRing,
    quantum: u32,
    key: u64,
}

impl<T> Drr<T> {
    /// Empty queues.
    ///
    /// # Errors
    /// None: every configuration is valid.
    pub fn new(config: DrrConfig, place: &Place) -> Result<Self, BuildError> {
        let (flows, ring) = (FlowQueues::new(config.limit, place.key), DeficitRing::new());
        let quantum = u32::try_from(config.quantum.0).unwrap_or(u32::MAX);
        Ok(Drr { config, flows, ring, quantum, key: place.key })
    }

    /// What the queue of `flow` holds and its deficit counter, while it holds anything.
    pub fn flow(&self, flow: FlowId) -> Option<(Backlog, i64)> {
        let queue = self.flows.queue(self.name(flow))?;
        Some((self.flows.queues().backlog_of(queue), self.ring.credit(queue)?))
    }

    /// How many queues hold packets.
    pub fn in_use(&self) -> usize {
        self.flows.flows()
    }

    /// What tells the queue of `flow` from others.
    #[inline]
    fn name(&self, flow: FlowId) -> FlowId {
        self.config.buckets.map_or(flow, |buckets| FlowId(bucket(self.key, flow, buckets as usize) as u64))
    }

    fn drop_longest(&mut self, why: Why, cx: &mut Cx<'_, T>) {
        let end = if self.config.head_drop { End::Head } else { End::Tail };
        if let Some(emptied) = self.flows.drop_longest(end, why, cx) {
            self.ring.leave(emptied);
        }
    }
}

impl<T> Discipline<T> for Drr<T> {
    #[inline]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let name = self.name(packet.flow);
        if let Some(begun) = self.flows.push(name, packet, cx) {
            self.ring.join(begun, self.quantum);
        }
        while self.flows.is_over() {
            self.drop_longest(Why::Overflow, cx);
        }
    }

    #[inline]
    fn dequeue(&mut self, _cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let queue = self.ring.next(|queue| self.flows.head_bytes(queue))?;
        let packet = self.flows.pop(queue)?;
        self.ring.charge(queue, packet.bytes);
        if self.flows.is_empty(queue) {
            self.ring.leave(queue);
        }
        Some(packet)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        self.drop_longest(Why::Overload, cx);
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        let queues = self.flows.queues();
        gauge("flows", self.flows.flows() as f64);
        gauge("longest", queues.longest().map_or(0.0, |queue| f64::from(queues.backlog_of(queue).packets)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Port, Rate, Rng, Time};
    use alloc::vec::Vec;

    const PLACE: Place = Place::new(Rate::from_bits(8_000_000), 1000, 7);

    fn port(settings: &[(&str, &str)]) -> Port<usize, Drr<usize>> {
        Port::new(Drr::new(DrrConfig::from_settings(settings).unwrap(), &PLACE).unwrap(), Rng::new(1))
    }

    /// Packets of (flow, bytes), numbered, then the order in which those that were kept leave.
    fn order(settings: &[(&str, &str)], packets: &[(u64, u32)]) -> Vec<usize> {
        let mut port = port(settings);
        for (number, (flow, bytes)) in packets.iter().enumerate() {
            port.enqueue(Packet::new(FlowId(*flow), *bytes, number), Time::ZERO, &mut ());
        }
        core::iter::from_fn(|| port.dequeue(Time::ZERO, &mut ()).map(|packet| packet.handle)).collect()
    }

    #[test]
    fn what_a_turn_leaves_counts_in_the_next() {
        // Quantum 500. Flow 1 holds 20, 750 and 200: it sends 20, keeps 480, and in its next turn sends 750 and
        // 200 of 480 + 500.
        let packets = [(1, 20), (1, 750), (1, 200), (2, 500), (2, 500), (3, 200), (3, 600), (3, 100)];
        assert_eq!(order(&[("quantum", "500B")], &packets), [0, 3, 5, 1, 2, 4, 6, 7]);
        let mut port = port(&[("quantum", "500B")]);
        for (flow, bytes) in [(1, 20), (1, 750), (1, 200), (1, 40), (2, 500)] {
            port.enqueue(Packet::new(FlowId(flow), bytes, 0), Time::ZERO, &mut ());
        }
        let mut deficit = || {
            port.dequeue(Time::ZERO, &mut ());
            port.discipline().flow(FlowId(1)).unwrap().1
        };
        // After 20; after flow 2's only packet; after 750; after 200: 40 does not fit.
        assert_eq!(core::array::from_fn(|_| deficit()), [480, 480, 230, 30]);
    }

    #[test]
    fn a_small_quantum_gives_the_same_shares_in_smaller_steps() {
        let packets = [(1, 1000), (1, 1000), (2, 500), (2, 500), (2, 500), (2, 500)];
        // By hand, 1 byte a turn: flow 2 has 500 bytes twice before flow 1 has 1000; flow 1 comes first in a round.
        assert_eq!(order(&[("quantum", "1B")], &packets), [2, 0, 3, 4, 1, 5]);
    }

    #[test]
    fn a_full_buffer_costs_the_longest_queue_a_packet() {
        let packets = [(1, 1000), (1, 1000), (1, 1000), (2, 1000), (2, 1000)];
        for limit in ["3p", "3KB"] {
            assert_eq!(order(&[("limit", limit)], &packets), [0, 3, 1], "{limit}");
            assert_eq!(order(&[("limit", limit), ("head_drop", "on")], &packets), [1, 4, 2], "{limit}");
        }
        // A packet that could never fit takes nobody else's place.
        assert_eq!(order(&[("limit", "3KB")], &[(1, 1000), (2, 1000), (3, 3001)]), [0, 1]);
    }

    #[test]
    fn with_buckets_flows_that_share_one_share_its_turns() {
        let packets: Vec<(u64, u32)> = (0..9).map(|number| (number % 3, 1000)).collect();
        let one = order(&[("buckets", "1"), ("quantum", "1KB")], &packets);
        assert_eq!(one, (0..9).collect::<Vec<_>>(), "one queue is first in, first out");
    }
}
