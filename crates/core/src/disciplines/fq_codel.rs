//! FQ-CoDel: one queue per flow, new flows first, CoDel in each.
//!
//! Flows are hashed to `flows` queues. A queue that becomes active joins the new queues, which are served before the
//! old ones. After it has sent a quantum, it moves to the old queues. Sparse flows therefore see almost no queueing
//! delay, and a flow with a standing queue meets its own CoDel.
//!
//! On arrival, the packet joins its flow's queue. If the limit is exceeded, the longest queue drops half of its bytes
//! from the head, up to `drop_batch` packets. On departure, the scheduler chooses a queue by deficit round robin
//! ([`FlowScheduler`]), and that queue's CoDel drops, marks or sends ([`CodelLoop`]).
//!
//! Source: T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet, "The Flow Queue CoDel Packet Scheduler
//! and Active Queue Management Algorithm", RFC 8290, 2018. Names are the RFC's (section 5.2) and tc's. Deviations are
//! listed in docs/disciplines/fq_codel.md.

use alloc::vec::Vec;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{Backlog, FlowId, Packet};
use crate::params::{BuildError, Bytes};
use crate::parts::{CodelLoop, CodelSettings, FlowScheduler};
use crate::units::Limit;

crate::params! {
    /// Settings of [`FqCodel`].
    pub struct FqCodelConfig with rules: CodelSettings {
        /// Buffer size of all queues together. When it is exceeded, the longest queue drops packets.
        limit: Limit = Limit::Packets(10_240), also "MaxSize";
        /// Number of queues that flows are hashed to.
        flows: u32 = 1024, in 1..=65_536, also "Flows";
        /// Bytes that a queue may send per turn.
        quantum: Bytes = Bytes(1514), in Bytes(1)..;
        rules { target, interval, mtu }
        /// Compares `mtu` with the bytes of all queues instead of the queue's own.
        shared_mtu: bool = false;
        rules { square_root }
        /// Maximum bytes in all queues together, besides `limit`. `auto`: unlimited.
        memory_limit: Option<Bytes> = None;
        /// Maximum packets dropped at once when the buffer is exceeded. The longest queue drops half its bytes, up to
        /// this many packets.
        drop_batch: u32 = 64, in 1.., also "DropBatchSize";
        rules { ecn, ce_threshold }
    }
    presets {
        "rfc" "RFC 8290 (the defaults)" {}
        "linux" "sch_fq_codel of Linux 5.5, with tc's defaults on Ethernet" {
            "shared_mtu" = "on", "square_root" = "newton", "memory_limit" = "32MiB",
        }
    }
    reasons { FlowLimit, Sojourn }
    gauges {
        Gauge::new("new_queues", "queues", "Queues in the list of new queues.");
        Gauge::new("old_queues", "queues", "Queues in the list of old queues.");
        Gauge::new("fattest_bytes", "bytes", "Bytes in the longest queue.");
        Gauge::of_flow("queued", "packets", "Packets in the flow's queue.");
        Gauge::of_flow("queued_bytes", "bytes", "Bytes in the flow's queue.");
    }
}

/// Queues of flows, each with its CoDel.
pub struct FqCodel<T> {
    config: FqCodelConfig,
    flows: FlowScheduler<T>,
    loops: Vec<CodelLoop>,
}

impl<T> FqCodel<T> {
    /// Empty queues.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(config: FqCodelConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let flows = FlowScheduler::new(config.flows, config.quantum.0, link.key, link.tables)?;
        let loops = link.tables.filled(config.flows as usize, CodelLoop::default())?;
        Ok(FqCodel { config, flows, loops })
    }

    /// The flow queues and their scheduler.
    pub fn flows(&self) -> &FlowScheduler<T> {
        &self.flows
    }

    /// The control loop of a queue.
    pub fn state(&self, queue: usize) -> &CodelLoop {
        &self.loops[queue]
    }

    #[inline]
    fn is_overfull(&self) -> bool {
        let held = self.flows.backlog();
        !self.config.limit.holds(held) || self.config.memory_limit.is_some_and(|most| held.bytes > most.0)
    }
}

impl<T> Discipline<T> for FqCodel<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let queue = self.flows.queue_of(packet.flow);
        self.flows.push(queue, packet);
        while self.is_overfull() {
            let Some((queue, dropped)) = self.flows.drop_from_longest(self.config.drop_batch, cx) else { return };
            // As in Linux, these drops speed up the queue's CoDel too.
            self.loops[queue].count_drops(dropped);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let FqCodel { config, flows, loops } = self;
        loop {
            let queue = flows.turn()?;
            let Some((head, left)) = flows.pop_and_measure(queue) else {
                // A queue that has sent its packets has up to two more turns.
                loops[queue].record_empty();
                flows.turns.pass_turn(queue);
                continue;
            };
            let head = (head, if config.shared_mtu { flows.backlog().bytes } else { left.bytes });
            let pop = || {
                let packet = flows.pop_after_drop(queue)?;
                let left = if config.shared_mtu { flows.backlog() } else { flows.backlog_of(queue) };
                Some((packet, left.bytes))
            };
            match loops[queue].dequeue_head(&config.rules, cx, head, pop) {
                Some(packet) => {
                    flows.turns.charge(queue, packet.bytes);
                    return Some(packet);
                }
                None => flows.turns.pass_turn(queue),
            }
        }
    }

    crate::discipline::backlog_of!(flows);

    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        self.flows.shed(cx);
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        self.flows.observe(gauge);
    }
    fn observe_flow(&self, flow: FlowId, gauge: &mut dyn FnMut(&'static str, f64)) {
        let Backlog { packets, bytes } = self.flows.backlog_of(self.flows.queue_of(flow));
        gauge("queued", packets.into());
        gauge("queued_bytes", bytes as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Port, Rate, Rng, Time, Why};

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

    fn fq_codel(settings: &[(&str, &str)]) -> Port<(), FqCodel<()>> {
        Port::new(FqCodel::new(FqCodelConfig::from_settings(settings).unwrap(), &LINK).unwrap(), Rng::new(1))
    }

    fn arrive(port: &mut Port<(), FqCodel<()>>, flow: u64, times: u32) {
        (0..times).for_each(|_| port.enqueue(Packet::new(FlowId(flow), 1000, ()), Time::ZERO, &mut ()));
    }

    #[test]
    fn a_new_flow_is_served_before_flows_with_a_backlog_but_only_once() {
        let mut port = fq_codel(&[("quantum", "1000B")]);
        let leaves = |port: &mut Port<(), FqCodel<()>>| port.dequeue(Time::ZERO, &mut ()).unwrap().flow.0;
        arrive(&mut port, 1, 9);
        arrive(&mut port, 2, 9);
        assert_eq!([(); 4].map(|()| leaves(&mut port)), [1, 2, 1, 2]);
        // Flow 3 is new and sends at once. Its quantum is then spent, so it queues behind flow 1; flow 2 follows it.
        arrive(&mut port, 3, 1);
        assert_eq!(leaves(&mut port), 3);
        arrive(&mut port, 3, 2);
        assert_eq!([(); 4].map(|()| leaves(&mut port)), [1, 3, 2, 1]);
    }

    #[test]
    fn above_the_limit_the_longest_queue_drops_half_its_bytes_from_its_head_up_to_a_batch() {
        for (batch, dropped) in [("64", 5), ("3", 3)] {
            let mut port = fq_codel(&[("limit", "12p"), ("drop_batch", batch)]);
            arrive(&mut port, 1, 10);
            arrive(&mut port, 2, 3);
            let counts = port.totals().counts();
            assert_eq!((counts.dropped(), counts.drops(Why::FlowLimit)), (dropped, dropped));
            let codel = port.discipline();
            let left = [1, 2].map(|flow| codel.flows().backlog_of(codel.flows().queue_of(FlowId(flow))).packets);
            assert_eq!(left, [10 - dropped as u32, 3]);
            assert_eq!(codel.state(codel.flows().queue_of(FlowId(1))).count, dropped as u32);
        }
    }

    #[test]
    fn the_memory_limit_holds_beside_the_limit_in_packets() {
        let mut port = fq_codel(&[("memory_limit", "4000B"), ("drop_batch", "1")]);
        arrive(&mut port, 1, 10);
        assert_eq!((port.backlog().bytes, port.totals().dropped()), (4000, 6));
    }
}
