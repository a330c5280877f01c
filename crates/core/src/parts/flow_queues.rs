use super::flow_slab::FlowSlab;
use super::sub_queues::{End, SubQueues};
use crate::cx::Cx;
use crate::packet::{Backlog, FlowId, Packet};
use crate::reason::Why;
use crate::units::Limit;

/// One queue per flow with queued packets, in a shared buffer. Queues have small numbers that are reused, so a
/// scheduler can keep its own state in an array.
///
/// The limit also bounds the number of flows. A limit in bytes would not bound flows with packets of 0 bytes, so there
/// are at most as many queues as the limit has bytes.
#[derive(Clone, Debug)]
pub struct FlowQueues<T> {
    flows: FlowSlab<()>,
    queues: SubQueues<T>,
    limit: Limit,
}

impl<T> FlowQueues<T> {
    /// No flows; flows are hashed under `key`.
    pub fn new(limit: Limit, key: u64) -> FlowQueues<T> {
        FlowQueues { flows: FlowSlab::new(key), queues: SubQueues::new(limit), limit }
    }

    /// The number of flows with queued packets.
    #[inline]
    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    /// The queue of `flow`, if it has queued packets.
    pub fn queue(&self, flow: FlowId) -> Option<usize> {
        self.flows.slot(flow).map(|slot| slot as usize)
    }

    /// The packets by queue.
    #[inline]
    pub fn queues(&self) -> &SubQueues<T> {
        &self.queues
    }

    /// Packets and bytes held.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    /// Whether the queues exceed the limit.
    #[inline]
    pub fn is_over(&self) -> bool {
        !self.limit.holds(self.queues.backlog())
    }

    /// The size of `queue`'s oldest packet, or 0.
    #[inline]
    pub fn head_bytes(&self, queue: usize) -> u32 {
        self.queues.head(queue).map_or(0, |packet| packet.bytes)
    }

    /// Appends the packet to the queue of `flow`. Returns the queue if it was empty, for the scheduler to add. The
    /// queues may then exceed the limit: see [`is_over`](FlowQueues::is_over) and
    /// [`drop_longest`](FlowQueues::drop_longest).
    #[inline(always)]
    pub fn push(&mut self, flow: FlowId, packet: Packet<T>, cx: &mut Cx<'_, T>) -> Option<usize> {
        if let Some(queue) = self.flows.slot(flow) {
            self.queues.push(queue as usize, packet);
            return None;
        }
        if self.is_full() {
            cx.drop(packet, Why::Overflow);
            return None;
        }
        let queue = self.flows.insert(flow, ()) as usize;
        if queue == self.queues.queues() {
            self.queues.add();
        }
        self.queues.push(queue, packet);
        Some(queue)
    }

    /// Dequeues the oldest packet of `queue`, and tells whether the queue is now empty.
    #[inline(always)]
    pub fn pop(&mut self, queue: usize) -> Option<(Packet<T>, bool)> {
        let packet = self.queues.pop(queue)?;
        Some((packet, self.forget_if_empty(queue)))
    }

    /// Drops a packet of the longest queue (see [`SubQueues::longest`]). Returns the queue if it is now empty.
    #[inline(never)]
    pub fn drop_longest(&mut self, end: End, why: Why, cx: &mut Cx<'_, T>) -> Option<usize> {
        let longest = self.queues.longest()?;
        cx.drop(self.queues.take(longest, end)?, why);
        self.forget_if_empty(longest).then_some(longest)
    }

    /// Forgets the flow of `queue` if the queue is empty. Returns whether it is.
    #[inline(always)]
    fn forget_if_empty(&mut self, queue: usize) -> bool {
        let empty = self.queues.backlog_of(queue).packets == 0;
        if empty {
            self.flows.remove(queue as u32);
        }
        empty
    }

    /// Whether no new flow may begin a queue. One queue above the limit is allowed, as the caller then drops a packet.
    #[inline]
    fn is_full(&self) -> bool {
        let most = match self.limit {
            Limit::Packets(most) => u64::from(most),
            Limit::Bytes(most) => most,
        };
        self.flows.len() as u64 > most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cx::Sink;
    use crate::rng::Rng;
    use crate::time::Time;
    use alloc::collections::{BTreeMap, VecDeque};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[derive(Default)]
    struct DroppedNumbers(Vec<usize>);

    impl Sink<usize> for DroppedNumbers {
        fn dropped(&mut self, packet: Packet<usize>, _: Why, _: Time) {
            self.0.push(packet.handle);
        }
        fn marked(&mut self, _: &Packet<usize>, _: Why, _: Time) {}
    }

    proptest! {
        #[test]
        fn a_flow_has_a_queue_while_it_has_packets_and_the_longest_queue_drops_the_excess(
            calls in prop::collection::vec((0u64..9, 0u8..3), 0..300),
        ) {
            let mut queues = FlowQueues::new(Limit::Packets(6), 3);
            let mut model: BTreeMap<u64, VecDeque<usize>> = BTreeMap::new();
            let (mut rng, mut dropped) = (Rng::new(1), DroppedNumbers::default());
            for (number, (flow, call)) in calls.into_iter().enumerate() {
                let mut cx = Cx::new(Time::ZERO, &mut rng, &mut dropped);
                if call > 0 {
                    let begun = queues.push(FlowId(flow), Packet::new(FlowId(flow), 100, number), &mut cx);
                    model.entry(flow).or_default().push_back(number);
                    prop_assert_eq!(begun.is_some(), model[&flow].len() == 1);
                    if queues.is_over() {
                        let longest = model.values().map(VecDeque::len).max().unwrap();
                        let emptied = queues.drop_longest(End::Tail, Why::Overflow, &mut cx);
                        let lost = *dropped.0.last().unwrap();
                        let loser = model.values_mut().find(|queue| queue.back() == Some(&lost)).expect("a tail was dropped");
                        prop_assert_eq!((loser.len(), emptied.is_some()), (longest, longest == 1));
                        loser.pop_back();
                    }
                } else if let Some(queue) = queues.queue(FlowId(flow)) {
                    let sent = queues.pop(queue).map(|(packet, _)| packet.handle);
                    prop_assert_eq!(sent, model.get_mut(&flow).and_then(VecDeque::pop_front));
                }
                model.retain(|_, queue| !queue.is_empty());
                prop_assert_eq!(queues.flows(), model.len());
                prop_assert!(queues.queues().queues() <= 7, "queue numbers are reused");
                for flow in 0..9 {
                    prop_assert_eq!(queues.queue(FlowId(flow)).is_some(), model.contains_key(&flow));
                }
            }
        }
    }

    #[test]
    fn packets_of_no_bytes_begin_no_more_queues_than_the_limit_has_bytes() {
        let mut queues = FlowQueues::new(Limit::Bytes(3), 3);
        let (mut rng, mut dropped) = (Rng::new(1), DroppedNumbers::default());
        let mut cx = Cx::new(Time::ZERO, &mut rng, &mut dropped);
        let begun =
            (0..6).filter(|flow| queues.push(FlowId(*flow), Packet::new(FlowId(*flow), 0, 0), &mut cx).is_some());
        assert_eq!(begun.count(), 4);
        assert_eq!(dropped.0.len(), 2);
    }
}
