//! Many FIFO queues in one store, for fair queueing and flow queueing.
//!
//! All packets are in one array. Its slots are linked into queues or a free list. An empty queue costs 40 bytes, and a
//! packet needs no allocation unless the array grows. Every call but [`rearrange`](SubQueues::rearrange) and
//! [`find_longest`](SubQueues::find_longest) takes constant amortized time.
//!
//! A full shared buffer can drop from the longest queue (buffer stealing: McKenney 1990; Shreedhar, Varghese 1995).

use alloc::vec::Vec;

use super::longest::{LengthUnit, Longest, Rank, greatest};
use crate::packet::{Backlog, Packet};
use crate::params::BuildError;
use crate::tables::Tables;
use crate::units::Limit;

const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct PacketNode<T> {
    packet: Option<Packet<T>>,
    /// The previous packet of the queue, unless this is the first.
    before: u32,
    /// The next packet of the queue, or the next free slot.
    after: u32,
}

#[derive(Clone, Copy, Debug)]
struct SubQueue {
    /// [`NONE`] if the queue is empty; `last` then has no meaning.
    first: u32,
    last: u32,
    held: Backlog,
    rank: Rank,
}

impl SubQueue {
    fn new() -> SubQueue {
        SubQueue { first: NONE, last: NONE, held: Backlog::default(), rank: Rank::default() }
    }

    /// Subtracts a removed packet of `bytes`, also from the backlog of `all` queues.
    #[inline(always)]
    fn uncount(&mut self, all: &mut Backlog, bytes: u32) {
        for held in [&mut self.held, all] {
            held.packets -= 1;
            held.bytes -= u64::from(bytes);
        }
    }
}

/// An end of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The oldest packet.
    Head,
    /// The newest packet.
    Tail,
}

/// A set of numbered queues. It has no limit: the caller drops excess packets.
#[derive(Clone, Debug)]
pub struct SubQueues<T> {
    nodes: Vec<PacketNode<T>>,
    free: u32,
    queues: Vec<SubQueue>,
    held: Backlog,
    longest: Longest,
}

impl<T> SubQueues<T> {
    /// No queues yet. Their lengths are compared in the unit of `limit`: exactly in packets, to within a sixteenth in
    /// bytes.
    pub fn new(limit: Limit) -> SubQueues<T> {
        SubQueues {
            nodes: Vec::new(),
            free: NONE,
            queues: Vec::new(),
            held: Backlog::default(),
            longest: Longest::new(LengthUnit::of(limit)),
        }
    }

    /// Like [`new`](SubQueues::new), with `queues` empty queues.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn with_queues(queues: usize, limit: Limit, tables: Tables<'_>) -> Result<SubQueues<T>, BuildError> {
        Ok(SubQueues { queues: tables.filled(queues, SubQueue::new())?, ..SubQueues::new(limit) })
    }

    /// Adds an empty queue and returns its number.
    pub fn add(&mut self) -> usize {
        self.queues.push(SubQueue::new());
        self.queues.len() - 1
    }

    /// The number of queues, empty ones included.
    pub fn queues(&self) -> usize {
        self.queues.len()
    }

    /// The backlog of all queues.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.held
    }

    /// The backlog of `queue`.
    #[inline]
    pub fn backlog_of(&self, queue: usize) -> Backlog {
        self.queues[queue].held
    }

    /// The oldest packet of `queue`.
    #[inline]
    pub fn head(&self, queue: usize) -> Option<&Packet<T>> {
        self.nodes.get(self.queues[queue].first as usize)?.packet.as_ref()
    }

    /// The packets of `queue`, oldest first.
    pub fn packets(&self, queue: usize) -> impl Iterator<Item = &Packet<T>> {
        let mut slot = self.queues[queue].first;
        core::iter::from_fn(move || {
            let node = self.nodes.get(slot as usize)?;
            slot = node.after;
            node.packet.as_ref()
        })
    }

    /// The longest queue in the unit of the limit; among equals, the last to reach that length. `None` if all queues
    /// are empty.
    pub fn longest(&mut self) -> Option<usize> {
        self.longest.get(self.queues.iter().map(|queue| &queue.rank))
    }

    /// As [`longest`](SubQueues::longest), but compares all queues. For gauges, which change nothing.
    pub fn find_longest(&self) -> Option<usize> {
        greatest(self.queues.iter().map(|queue| &queue.rank))
    }

    /// Appends the packet to `queue`.
    // Always inlined: see `pop`.
    #[inline(always)]
    pub fn push(&mut self, queue: usize, packet: Packet<T>) {
        let bytes = u64::from(packet.bytes);
        let slot = if self.free == NONE { self.nodes.len() as u32 } else { self.free };
        let before = self.append(queue, slot, bytes);
        let node = PacketNode { packet: Some(packet), before, after: NONE };
        match self.nodes.get_mut(slot as usize) {
            Some(free) => {
                self.free = free.after;
                *free = node;
            }
            None => self.nodes.push(node),
        }
        self.held.packets += 1;
        self.held.bytes += bytes;
    }

    /// Dequeues the oldest packet of `queue`.
    // Always inlined, with `push` and `Longest::update`: a call would pass the packet through memory.
    #[inline(always)]
    pub fn pop(&mut self, queue: usize) -> Option<Packet<T>> {
        let queued = &mut self.queues[queue];
        let slot = queued.first;
        let node = self.nodes.get_mut(slot as usize)?;
        let packet = node.packet.take()?;
        queued.first = core::mem::replace(&mut node.after, self.free);
        self.free = slot;
        queued.uncount(&mut self.held, packet.bytes);
        self.longest.update(queue, &mut queued.rank, queued.held);
        Some(packet)
    }

    /// Removes the packet at one end of `queue`, to be dropped.
    #[inline(never)]
    pub fn take(&mut self, queue: usize, end: End) -> Option<Packet<T>> {
        let queued = &mut self.queues[queue];
        if end == End::Head || queued.first == NONE || queued.first == queued.last {
            return self.pop(queue);
        }
        let slot = queued.last;
        let node = &mut self.nodes[slot as usize];
        let packet = node.packet.take()?;
        (queued.last, node.after, self.free) = (node.before, self.free, slot);
        self.nodes[queued.last as usize].after = NONE;
        queued.uncount(&mut self.held, packet.bytes);
        self.longest.update(queue, &mut queued.rank, queued.held);
        Some(packet)
    }

    /// Removes the packet at `place` of `queue`, counted from the oldest at 0. Takes time linear in `place`.
    #[inline(never)]
    pub fn take_at(&mut self, queue: usize, place: usize) -> Option<Packet<T>> {
        let mut slot = self.queues[queue].first;
        for _ in 0..place {
            slot = self.nodes.get(slot as usize)?.after;
        }
        let PacketNode { before, after, .. } = *self.nodes.get(slot as usize)?;
        if slot == self.queues[queue].first {
            return self.pop(queue);
        }
        if slot == self.queues[queue].last {
            return self.take(queue, End::Tail);
        }
        (self.nodes[before as usize].after, self.nodes[after as usize].before) = (after, before);
        let node = &mut self.nodes[slot as usize];
        let packet = node.packet.take()?;
        (node.after, self.free) = (self.free, slot);
        let queued = &mut self.queues[queue];
        queued.uncount(&mut self.held, packet.bytes);
        self.longest.update(queue, &mut queued.rank, queued.held);
        Some(packet)
    }

    /// Moves every packet to the queue given by `to`. Queues are visited in order and each from its head, so packets
    /// that go from one queue to the same queue keep their order. Takes time linear in packets and queues.
    pub fn rearrange(&mut self, mut to: impl FnMut(&Packet<T>) -> usize) {
        let mut slots = Vec::with_capacity(self.held.packets as usize);
        for queue in 0..self.queues.len() {
            let queued = &mut self.queues[queue];
            let mut slot = queued.first;
            (queued.first, queued.held) = (NONE, Backlog::default());
            self.longest.update(queue, &mut queued.rank, Backlog::default());
            while let Some(node) = self.nodes.get(slot as usize) {
                slots.push(slot);
                slot = node.after;
            }
        }
        for slot in slots {
            if let Some(packet) = &self.nodes[slot as usize].packet {
                let (queue, bytes) = (to(packet), u64::from(packet.bytes));
                let before = self.append(queue, slot, bytes);
                let node = &mut self.nodes[slot as usize];
                (node.before, node.after) = (before, NONE);
            }
        }
    }

    /// Makes `slot`, which holds `bytes`, the last of `queue` and returns the previous last.
    #[inline(always)]
    fn append(&mut self, queue: usize, slot: u32, bytes: u64) -> u32 {
        let queued = &mut self.queues[queue];
        let before = core::mem::replace(&mut queued.last, slot);
        if queued.first == NONE {
            queued.first = slot;
        } else {
            self.nodes[before as usize].after = slot;
        }
        queued.held.packets += 1;
        queued.held.bytes += bytes;
        self.longest.update(queue, &mut queued.rank, queued.held);
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::FlowId;
    use alloc::collections::VecDeque;
    use proptest::prelude::*;

    const QUEUES: usize = 5;

    fn packet(bytes: u32, number: usize) -> Packet<usize> {
        Packet::new(FlowId(1), bytes, number)
    }

    fn numbers(queues: &SubQueues<usize>) -> Vec<VecDeque<usize>> {
        (0..queues.queues()).map(|queue| queues.packets(queue).map(|packet| packet.handle).collect()).collect()
    }

    #[derive(Clone, Copy, Debug)]
    enum QueueCall {
        Push(usize, u32),
        Take(usize, End),
        Rearrange(usize),
    }

    fn calls() -> impl Strategy<Value = Vec<QueueCall>> {
        let queue = || 0..QUEUES;
        let end = prop_oneof![Just(End::Head), Just(End::Tail)];
        prop::collection::vec(
            prop_oneof![
                12 => (queue(), prop_oneof![Just(0), Just(u32::MAX), 1u32..2000]).prop_map(|(q, n)| QueueCall::Push(q, n)),
                10 => (queue(), end).prop_map(|(q, end)| QueueCall::Take(q, end)),
                1 => queue().prop_map(QueueCall::Rearrange),
            ],
            0..300,
        )
    }

    proptest! {
        #[test]
        fn they_behave_like_separate_queues(calls in calls()) {
            let mut queues = SubQueues::with_queues(QUEUES, Limit::Packets(1), Tables::ALLOCATE).unwrap();
            let mut model: Vec<VecDeque<usize>> = alloc::vec![VecDeque::new(); QUEUES];
            let (mut sizes, mut most) = (Vec::new(), 0);
            for call in calls {
                match call {
                    QueueCall::Push(queue, bytes) => {
                        queues.push(queue, packet(bytes, sizes.len()));
                        model[queue].push_back(sizes.len());
                        sizes.push(bytes);
                    }
                    QueueCall::Take(queue, end) => {
                        prop_assert_eq!(queues.head(queue).map(|packet| packet.handle), model[queue].front().copied());
                        let expected = match end {
                            End::Head => model[queue].pop_front(),
                            End::Tail => model[queue].pop_back(),
                        };
                        prop_assert_eq!(queues.take(queue, end).map(|packet| packet.handle), expected);
                    }
                    QueueCall::Rearrange(by) => {
                        let to = |number: usize| (number + by) % QUEUES;
                        queues.rearrange(|packet| to(packet.handle));
                        let waiting: Vec<usize> = model.iter_mut().flat_map(|queue| queue.drain(..)).collect();
                        waiting.into_iter().for_each(|number| model[to(number)].push_back(number));
                    }
                }
                prop_assert_eq!(&numbers(&queues), &model);
                let held = |queue: &VecDeque<usize>| -> (u32, u64) {
                    (queue.len() as u32, queue.iter().map(|number| u64::from(sizes[*number])).sum())
                };
                for (queue, modeled) in model.iter().enumerate() {
                    let Backlog { packets, bytes } = queues.backlog_of(queue);
                    prop_assert_eq!((packets, bytes), held(modeled));
                }
                let all: VecDeque<usize> = model.iter().flatten().copied().collect();
                prop_assert_eq!((queues.backlog().packets, queues.backlog().bytes), held(&all));
                let longest = model.iter().map(VecDeque::len).max().filter(|length| *length > 0);
                prop_assert_eq!(queues.find_longest(), queues.longest());
                prop_assert_eq!(queues.longest().map(|queue| model[queue].len()), longest);
                most = most.max(all.len());
                prop_assert_eq!(queues.nodes.len(), most, "slots are reused");
            }
        }

        #[test]
        fn in_bytes_no_queue_is_longer_than_the_longest_by_a_sixteenth(calls in calls()) {
            let mut queues = SubQueues::with_queues(QUEUES, Limit::Bytes(1), Tables::ALLOCATE).unwrap();
            for call in calls {
                match call {
                    QueueCall::Push(queue, bytes) => queues.push(queue, packet(bytes, 0)),
                    QueueCall::Take(queue, end) => drop(queues.take(queue, end)),
                    QueueCall::Rearrange(_) => {}
                }
                let lengths = (0..QUEUES).map(|queue| queues.backlog_of(queue).bytes);
                match queues.find_longest() {
                    None => prop_assert_eq!(queues.backlog().packets, 0),
                    Some(longest) => {
                        let found = queues.backlog_of(longest).bytes;
                        prop_assert!(lengths.max() <= Some(found + found / 16));
                    }
                }
            }
        }
    }

    #[test]
    fn among_equals_the_longest_is_the_queue_that_reached_its_length_last() {
        let mut queues = SubQueues::with_queues(3, Limit::Packets(9), Tables::ALLOCATE).unwrap();
        [0, 1, 2, 1, 0].into_iter().for_each(|queue| queues.push(queue, packet(1000, 0)));
        assert_eq!(queues.longest(), Some(0));
        queues.pop(0);
        assert_eq!(queues.longest(), Some(1));
        queues.pop(1);
        assert_eq!(queues.longest(), Some(1), "all hold one packet; queue 1 since the last call");
    }

    #[test]
    fn queues_can_be_added_at_any_time() {
        let mut queues = SubQueues::new(Limit::Packets(9));
        assert_eq!((queues.longest(), queues.add(), queues.add(), queues.queues()), (None, 0, 1, 2));
        queues.push(1, packet(0, 7));
        assert_eq!(
            (queues.longest(), queues.pop(0), queues.pop(1).map(|packet| packet.handle)),
            (Some(1), None, Some(7))
        );
    }
}
