//! FQ-COBALT: one queue per flow, new flows first, COBALT in each.
//!
//! Flows are hashed to `flows` queues, which are served as in FQ-CoDel: queues that become active go first for a quantum.
//! COBALT then keeps CoDel's delay for flows that respond, and BLUE drops the packets of a queue whose flow does not. A
//! queue of CoDel alone grows until the buffer is full.
//!
//! On arrival, the packet joins its flow's queue. If the limit is exceeded, the longest queue drops half of its bytes
//! from the head, up to `drop_batch` packets, and its BLUE probability rises. On departure, the scheduler chooses a queue
//! by deficit round robin ([`FlowScheduler`]), and that queue's COBALT drops, marks or sends ([`CobaltLoop`]).
//!
//! Source: ns-3's `FqCobaltQueueDisc` (J. Kumar, M. P. Tahiliani and others, ns-3.33, 2021), which puts COBALT into RFC
//! 8290's queues; COBALT as in Linux 5.5's `sch_cake.c`. Deviations are listed in docs/disciplines/fq_cobalt.md.

use alloc::vec::Vec;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{Backlog, FlowId, Packet};
use crate::params::{BuildError, Bytes};
use crate::parts::{CobaltLoop, CobaltRules, CobaltSettings, FlowScheduler};
use crate::units::Limit;

crate::params! {
    /// Settings of [`FqCobalt`].
    pub struct FqCobaltConfig with rules: CobaltSettings {
        /// Buffer size of all queues together. When it is exceeded, the longest queue drops packets.
        limit: Limit = Limit::Packets(10_240), also "MaxSize";
        /// Number of queues that flows are hashed to.
        flows: u32 = 1024, in 1..=65_536, also "Flows";
        /// Bytes that a queue may send per turn.
        quantum: Bytes = Bytes(1514), in Bytes(1)..;
        /// Maximum packets dropped at once when the buffer is exceeded. The longest queue drops half its bytes, up to
        /// this many packets.
        drop_batch: u32 = 64, in 1.., also "DropBatchSize";
        rules { target, interval, increment, decrement, fit_rate, mtu, keep_last, blue_threshold, ecn }
    }
    presets {
        "linux" "COBALT in Linux 5.5's sch_cake, in each of RFC 8290's queues (the defaults)" {}
        "ns3" "ns-3's FqCobaltQueueDisc" {
            "fit_rate" = "off", "keep_last" = "off", "blue_threshold" = "400ms",
        }
    }
    reasons { FlowLimit, Early, Sojourn }
    gauges {
        Gauge::new("new_queues", "queues", "Queues in the list of new queues.");
        Gauge::new("old_queues", "queues", "Queues in the list of old queues.");
        Gauge::new("fattest_bytes", "bytes", "Bytes in the longest queue.");
        Gauge::of_flow("queued", "packets", "Packets in the flow's queue.");
        Gauge::of_flow("probability", "probability", "Drop probability of BLUE in the flow's queue.");
    }
}

/// Queues of flows, each with its COBALT.
pub struct FqCobalt<T> {
    limit: Limit,
    drop_batch: u32,
    rules: CobaltRules,
    flows: FlowScheduler<T>,
    loops: Vec<CobaltLoop>,
}

impl<T> FqCobalt<T> {
    /// Empty queues.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(config: FqCobaltConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let FqCobaltConfig { limit, flows, quantum, drop_batch, rules } = config;
        let loops = link.tables.filled(flows as usize, CobaltLoop::default())?;
        let flows = FlowScheduler::new(flows, quantum.0, link.key, link.tables)?;
        Ok(FqCobalt { limit, drop_batch, rules: CobaltRules::new(rules, link.rate), flows, loops })
    }

    /// The flow queues and their scheduler.
    pub fn flows(&self) -> &FlowScheduler<T> {
        &self.flows
    }

    /// The control loop of a queue.
    pub fn state(&self, queue: usize) -> &CobaltLoop {
        &self.loops[queue]
    }
}

impl<T> Discipline<T> for FqCobalt<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let queue = self.flows.queue_of(packet.flow);
        let cobalt = &mut self.loops[queue];
        cobalt.arrives(&self.rules, cx.now);
        cobalt.queued();
        self.flows.push(queue, packet);
        while !self.limit.holds(self.flows.backlog()) {
            let Some((queue, _)) = self.flows.drop_from_longest(self.drop_batch, cx) else { return };
            self.loops[queue].overflowed(&self.rules, cx.now);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let FqCobalt { rules, flows, loops, .. } = self;
        loop {
            let queue = flows.turn()?;
            let Some((head, left)) = flows.pop_and_measure(queue) else {
                // A queue that has sent its packets has up to two more turns.
                loops[queue].record_empty(rules, cx.now);
                flows.turns.pass_turn(queue);
                continue;
            };
            let head = (head, left.packets == 0);
            let pop = || {
                let packet = flows.pop_after_drop(queue)?;
                Some((packet, flows.backlog_of(queue).packets == 0))
            };
            match loops[queue].dequeue_head(rules, cx, head, pop) {
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
        let queue = self.flows.queue_of(flow);
        let Backlog { packets, .. } = self.flows.backlog_of(queue);
        gauge("queued", packets.into());
        gauge("probability", self.loops[queue].probability);
    }
}
