//! Flow queueing: flows hashed to queues that are served in turn, new flows first ([`FlowTurns`], RFC 8290). The caller
//! runs its own AQM in each queue: it takes packets from the current queue and reports the bytes sent.

use super::flow_turns::FlowTurns;
use super::hash::bucket;
use super::sub_queues::SubQueues;
use crate::cx::Cx;
use crate::packet::{Backlog, FlowId, Packet};
use crate::params::BuildError;
use crate::reason::Why;
use crate::tables::Tables;
use crate::units::Limit;

/// A set of queues and their schedule. It has no limit: the caller drops excess packets.
#[derive(Clone, Debug)]
pub struct FlowScheduler<T> {
    queues: SubQueues<T>,
    /// The schedule.
    pub turns: FlowTurns,
    count: usize,
    quantum: i64,
    key: u64,
}

impl<T> FlowScheduler<T> {
    /// `queues` empty queues, at least one, hashed under `key`, with a `quantum` of at least one byte a turn.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(queues: u32, quantum: u64, key: u64, tables: Tables<'_>) -> Result<FlowScheduler<T>, BuildError> {
        let count = queues.max(1) as usize;
        // The limit only gives the unit: lengths are compared in bytes, as in the RFC.
        let queues = SubQueues::with_queues(count, Limit::Bytes(1), tables)?;
        let quantum = i64::try_from(quantum.max(1)).unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
        Ok(FlowScheduler { queues, turns: FlowTurns::new(count, tables)?, count, quantum, key })
    }

    /// The queue of `flow`.
    #[inline]
    pub fn queue_of(&self, flow: FlowId) -> usize {
        bucket(self.key, flow, self.count)
    }

    /// Packets and bytes in all queues.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    /// Packets and bytes in `queue`.
    #[inline]
    pub fn backlog_of(&self, queue: usize) -> Backlog {
        self.queues.backlog_of(queue)
    }

    /// The queue with the most bytes, to within a sixteenth; among equals, the last to reach that length. `None` if all
    /// are empty.
    pub fn longest(&mut self) -> Option<usize> {
        self.queues.longest()
    }

    /// As [`longest`](FlowScheduler::longest), but compares all queues. For gauges, which change nothing.
    pub fn find_longest(&self) -> Option<usize> {
        self.queues.find_longest()
    }

    /// Drops half of the longest queue's bytes from its head, at most `batch` packets: many drops share one search (RFC
    /// 8290, section 4.1). Returns the queue and the number of drops; `None` if all queues are empty.
    #[cold]
    pub fn drop_from_longest(&mut self, batch: u32, cx: &mut Cx<'_, T>) -> Option<(usize, u32)> {
        let queue = self.longest()?;
        let half = self.backlog_of(queue).bytes / 2;
        let (mut dropped, mut bytes) = (0, 0);
        while dropped == 0 || (dropped < batch && bytes < half) {
            let Some(packet) = self.pop(queue) else { break };
            dropped += 1;
            bytes += u64::from(packet.bytes);
            cx.drop(packet, Why::FlowLimit);
        }
        Some((queue, dropped))
    }

    /// Drops a packet of the longest queue because the parent discipline is overloaded.
    pub fn shed(&mut self, cx: &mut Cx<'_, T>) {
        if let Some(packet) = self.longest().and_then(|queue| self.pop(queue)) {
            cx.drop(packet, Why::Overload);
        }
    }

    /// Appends the packet to `queue`, which becomes a new queue if it is in neither list.
    #[inline(always)]
    pub fn push(&mut self, queue: usize, packet: Packet<T>) {
        self.queues.push(queue, packet);
        self.turns.join(queue, self.quantum, true);
    }

    /// Dequeues the oldest packet of `queue`.
    #[inline(always)]
    pub fn pop(&mut self, queue: usize) -> Option<Packet<T>> {
        self.queues.pop(queue)
    }

    /// As [`pop`](FlowScheduler::pop), with the packets and bytes left in `queue`.
    #[inline(always)]
    pub fn pop_and_measure(&mut self, queue: usize) -> Option<(Packet<T>, Backlog)> {
        let packet = self.pop(queue)?;
        Some((packet, self.backlog_of(queue)))
    }

    /// As [`pop`](FlowScheduler::pop), but not compiled into the caller: for packets that follow a dropped one.
    #[inline(never)]
    pub fn pop_after_drop(&mut self, queue: usize) -> Option<Packet<T>> {
        self.pop(queue)
    }

    /// The queue to serve next; see [`FlowTurns::turn`].
    #[inline(always)]
    pub fn turn(&mut self) -> Option<usize> {
        self.turns.turn(|_| self.quantum)
    }

    /// Reports `new_queues`, `old_queues` and `fattest_bytes`.
    pub fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        let [new, old] = self.turns.lengths();
        gauge("new_queues", f64::from(new));
        gauge("old_queues", f64::from(old));
        gauge("fattest_bytes", self.find_longest().map_or(0.0, |queue| self.backlog_of(queue).bytes as f64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn packet(bytes: u32) -> Packet<()> {
        Packet::new(FlowId(0), bytes, ())
    }

    /// Sends a packet without an AQM in the queues.
    fn send(flows: &mut FlowScheduler<()>) -> Option<(usize, u32)> {
        loop {
            let queue = flows.turn()?;
            match flows.pop(queue) {
                Some(packet) => {
                    flows.turns.charge(queue, packet.bytes);
                    return Some((queue, packet.bytes));
                }
                None => flows.turns.pass_turn(queue),
            }
        }
    }

    /// The same algorithm with plain lists and without shortcuts.
    #[derive(Default)]
    struct Model {
        queues: Vec<(VecDeque<u32>, i64)>,
        new: VecDeque<usize>,
        old: VecDeque<usize>,
    }

    impl Model {
        fn push(&mut self, queue: usize, bytes: u32, quantum: i64) {
            self.queues[queue].0.push_back(bytes);
            if !self.new.contains(&queue) && !self.old.contains(&queue) {
                self.new.push_back(queue);
                self.queues[queue].1 = quantum;
            }
        }
        fn send(&mut self, quantum: i64) -> Option<(usize, u32)> {
            loop {
                let is_new = !self.new.is_empty();
                let list = if is_new { &mut self.new } else { &mut self.old };
                let queue = *list.front()?;
                let (packets, deficit) = &mut self.queues[queue];
                if *deficit <= 0 {
                    *deficit += quantum;
                    list.pop_front();
                    self.old.push_back(queue);
                } else if let Some(bytes) = packets.pop_front() {
                    *deficit -= i64::from(bytes);
                    return Some((queue, bytes));
                } else {
                    list.pop_front();
                    if is_new {
                        self.old.push_back(queue);
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn turns_go_round_as_the_rfc_says(
            calls in prop::collection::vec((0..6usize, 0..3usize, any::<bool>()), 0..400), quantum in 1u32..3000,
        ) {
            let mut flows = FlowScheduler::new(6, u64::from(quantum), 1, Tables::ALLOCATE).unwrap();
            let mut model = Model { queues: alloc::vec![(VecDeque::new(), 0); 6], ..Model::default() };
            for (queue, size, sends) in calls {
                if sends {
                    prop_assert_eq!(send(&mut flows), model.send(i64::from(quantum)));
                } else {
                    let bytes = [0, 700, 1500][size];
                    flows.push(queue, packet(bytes));
                    model.push(queue, bytes, i64::from(quantum));
                }
                prop_assert_eq!(flows.turns.new_members().collect::<VecDeque<_>>(), model.new.clone());
                prop_assert_eq!(flows.turns.old_members().collect::<VecDeque<_>>(), model.old.clone());
                prop_assert_eq!(flows.turns.lengths(), [model.new.len() as u32, model.old.len() as u32]);
                for queue in model.new.iter().chain(&model.old) {
                    prop_assert_eq!(flows.turns.credit(*queue), Some(model.queues[*queue].1));
                }
            }
        }
    }

    #[test]
    fn rounds_without_a_sender_are_skipped_for_a_packet_of_four_gigabytes_and_a_quantum_of_a_byte() {
        let mut flows = FlowScheduler::new(2, 1, 1, Tables::ALLOCATE).unwrap();
        for queue in [0, 1, 0, 1] {
            flows.push(queue, packet(u32::MAX - queue as u32));
        }
        let sent: Vec<_> = core::iter::from_fn(|| send(&mut flows)).map(|(queue, _)| queue).collect();
        // Both queues are in debt. Queue 1 paid its smaller debt a round earlier, but queue 0 precedes it in the next
        // round.
        assert_eq!(sent, [0, 1, 1, 0]);
    }
}
