//! Finds the longest of many queues in constant amortized time.
//!
//! Most packets never need the longest queue, because only a full buffer drops from it. So each queue has a [`Rank`]: a
//! number that grows with its length, and when it got that number. A change of length costs a few stores. The first
//! question for the longest queue sorts the queues into chains of equal rank, as in Linux's sch_sfq. From then on a
//! queue moves to another chain when its length changes, and a bitmap of used chains leads to the longest queues. After
//! sixteen changes of length per queue without a question, the chains are given up until the next one.
//!
//! For lengths in packets, each length has its own chain, so the result is exact. For lengths in bytes, each doubling
//! has 16 chains, so the result is the longest to within a sixteenth.

use alloc::vec::Vec;

use crate::packet::Backlog;
use crate::units::Limit;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LengthUnit {
    Packets,
    Bytes,
}

impl LengthUnit {
    /// The unit of `limit`, so that the longest queue is the one that holds most of the scarce resource.
    pub(super) fn of(limit: Limit) -> LengthUnit {
        match limit {
            Limit::Packets(_) => LengthUnit::Packets,
            Limit::Bytes(_) => LengthUnit::Bytes,
        }
    }

    /// The chain for a queue with this backlog: 0 if empty.
    #[inline(always)]
    fn chain(self, held: Backlog) -> u32 {
        match self {
            LengthUnit::Packets => held.packets,
            // Packets may have no bytes.
            LengthUnit::Bytes if held.packets == 0 => 0,
            LengthUnit::Bytes => {
                // Keeps the leading five bits of the length.
                let shift = (held.bytes | 16).ilog2() - 4;
                1 + 16 * shift + (held.bytes >> shift) as u32
            }
        }
    }
}

/// A queue's rank among the queues by length: the greatest is the longest, and among equals the last to reach its
/// length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// 0 if the queue is empty.
    chain: u32,
    /// The number of changes of any queue's chain up to this queue's last.
    since: u64,
}

/// The longest of the queues whose changes of length it is told.
#[derive(Clone, Debug)]
pub(super) struct Longest {
    unit: LengthUnit,
    /// Changes of rank so far.
    changes: u64,
    /// The number of changes at which the chains are given up; 0 while there are none.
    until: u64,
    chains: Chains,
}

/// Changes per queue without a question after which the chains are given up. Sorting `n` queues costs less than as many
/// changes as this times `n`.
const PATIENCE: u64 = 16;

impl Longest {
    pub(super) fn new(unit: LengthUnit) -> Longest {
        Longest { unit, changes: 0, until: 0, chains: Chains::default() }
    }

    /// Updates the rank of `queue`, which now holds `held`.
    // Always inlined: see `SubQueues::pop`.
    #[inline(always)]
    pub(super) fn update(&mut self, queue: usize, rank: &mut Rank, held: Backlog) {
        let chain = self.unit.chain(held);
        if chain != rank.chain {
            self.changes += 1;
            *rank = Rank { chain, since: self.changes };
            if self.until > 0 {
                self.follow(queue, chain);
            }
        }
    }

    #[inline(never)]
    fn follow(&mut self, queue: usize, chain: u32) {
        if self.changes < self.until {
            self.chains.set(queue as u32, chain);
        } else {
            self.until = 0;
        }
    }

    /// The queue with the greatest of the `ranks`, which are those of all queues in order; `None` if all are empty.
    pub(super) fn get<'a>(&mut self, ranks: impl ExactSizeIterator<Item = &'a Rank>) -> Option<usize> {
        let count = ranks.len() as u64;
        if self.until == 0 {
            self.sort(ranks);
        }
        self.until = self.changes + 1 + PATIENCE * count;
        self.chains.last()
    }

    /// Puts all queues into chains.
    #[cold]
    fn sort<'a>(&mut self, ranks: impl Iterator<Item = &'a Rank>) {
        let mut filled: Vec<(Rank, u32)> =
            ranks.zip(0..).filter(|(rank, _)| rank.chain > 0).map(|(rank, queue)| (*rank, queue)).collect();
        filled.sort_unstable_by_key(|(rank, _)| rank.since);
        self.chains.clear();
        filled.into_iter().for_each(|(rank, queue)| self.chains.set(queue, rank.chain));
    }
}

/// The queue with the greatest of all `ranks`, which are in the order of the queues; `None` if all are empty. Compares
/// all of them.
pub(super) fn greatest<'a>(ranks: impl Iterator<Item = &'a Rank>) -> Option<usize> {
    ranks.enumerate().filter(|(_, rank)| rank.chain > 0).max_by_key(|(_, rank)| **rank).map(|(queue, _)| queue)
}

#[derive(Clone, Copy, Debug)]
struct ChainLink {
    before: u32,
    after: u32,
    chain: u32,
}

/// Queues sorted into chains by length.
///
/// A chain is a circular list with a sentinel link, so that moving a queue needs no test for the ends of the list. The
/// outcome of such a test would depend on the traffic, and processors predict it badly. Empty queues are in no chain;
/// they have chain number 0.
#[derive(Clone, Debug, Default)]
struct Chains {
    /// Links of queues at [`link_of`], of chains at [`start_of`]. A link alone in its list is its own neighbor.
    links: Vec<ChainLink>,
    /// One bit per chain.
    used: Vec<u64>,
    /// The word of `used` with the longest chain's bit; higher words are zero.
    top: usize,
}

#[inline]
fn link_of(queue: u32) -> u32 {
    2 * queue + 1
}

#[inline]
fn start_of(chain: u32) -> u32 {
    2 * chain
}

impl Chains {
    /// Removes every queue.
    fn clear(&mut self) {
        self.links.clear();
        self.used.clear();
        self.top = 0;
    }

    /// Moves a queue to another chain; chain 0 if it is empty.
    #[inline]
    fn set(&mut self, queue: u32, new: u32) {
        let (queue, start) = (link_of(queue), start_of(new));
        if start.max(queue) as usize >= self.links.len() {
            self.extend(start.max(queue));
        }
        // A slice's pointer and length stay in registers, unlike a vector's.
        let links = &mut self.links[..];
        let ChainLink { before, after, chain: old } = links[queue as usize];
        if old == new {
            return;
        }
        links[before as usize].after = after;
        links[after as usize].before = before;
        if new == 0 {
            links[queue as usize] = ChainLink { before: queue, after: queue, chain: 0 };
        } else {
            let first = core::mem::replace(&mut links[start as usize].after, queue);
            links[queue as usize] = ChainLink { before: start, after: first, chain: new };
            links[first as usize].before = queue;
            if first == start {
                self.used[new as usize / 64] |= 1 << (new % 64);
                self.top = self.top.max(new as usize / 64);
            }
        }
        // Done after the queue has joined its new chain: if that is the next longest, the search for a used chain ends
        // at once.
        if before == after {
            self.used[old as usize / 64] &= !(1 << (old % 64));
            while self.top > 0 && self.used[self.top] == 0 {
                self.top -= 1;
            }
        }
    }

    /// A queue of the last used chain: the last that joined it.
    #[inline]
    fn last(&self) -> Option<usize> {
        let chain = 64 * self.top as u32 + self.used.get(self.top)?.checked_ilog2()?;
        Some(self.links[start_of(chain) as usize].after as usize / 2)
    }

    /// Makes room for a link at `index` and for the bits of its chain.
    #[cold]
    fn extend(&mut self, index: u32) {
        for index in self.links.len() as u32..=index | 127 {
            self.links.push(ChainLink { before: index, after: index, chain: 0 });
        }
        self.used.resize(self.links.len() / 128, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(bytes: u64) -> Backlog {
        Backlog { packets: 1, bytes }
    }

    proptest! {
        #[test]
        fn chains_of_bytes_rise_with_the_length_and_are_a_sixteenth_wide(length in any::<u64>(), shift in 1u32..64) {
            let length = length >> shift;
            let chain = |length| LengthUnit::Bytes.chain(bytes(length));
            prop_assert!(chain(length + 1) - chain(length) <= 1, "no gap, no fall");
            // A length greater by a sixteenth, rounded up, is in a higher chain.
            prop_assert!(chain(length + length / 16 + 1) > chain(length));
            prop_assert!(chain(length) < 1024, "a bounded number of chains");
        }

        #[test]
        fn it_finds_the_longest_queue_and_among_equals_the_last_to_reach_that_length(
            unit in prop_oneof![Just(LengthUnit::Packets), Just(LengthUnit::Bytes)],
            calls in prop::collection::vec((0usize..12, prop_oneof![3 => 0u32..6, 1 => 0u32..5000]), 1..900),
            asks in prop::collection::vec(0usize..900, 0..30),
            often in any::<bool>(),
        ) {
            let (mut longest, mut ranks) = (Longest::new(unit), [Rank::default(); 12]);
            // The chain of each queue, and when the queue joined it.
            let mut model = [(0, 0); 12];
            for (step, (queue, length)) in calls.into_iter().enumerate() {
                let held = Backlog { packets: length, bytes: u64::from(length) };
                longest.update(queue, &mut ranks[queue], held);
                if model[queue].0 != unit.chain(held) {
                    model[queue] = (unit.chain(held), step);
                }
                let best = (0..12).filter(|queue| model[*queue].0 > 0).max_by_key(|queue| model[*queue]);
                prop_assert_eq!(greatest(ranks.iter()), best);
                if often || asks.contains(&step) {
                    prop_assert_eq!(longest.get(ranks.iter()), best);
                }
            }
        }
    }

    #[test]
    fn the_chains_are_given_up_if_nobody_asks_and_sorted_again_at_the_next_question() {
        let (mut longest, mut ranks) = (Longest::new(LengthUnit::Packets), [Rank::default(); 2]);
        let mut set = |longest: &mut Longest, queue: usize, packets| {
            longest.update(queue, &mut ranks[queue], Backlog { packets, bytes: 0 });
            ranks
        };
        let now = set(&mut longest, 1, 5);
        assert_eq!((longest.until, longest.get(now.iter())), (0, Some(1)));
        // 16 changes for each of the two queues.
        for packets in 1..33 {
            set(&mut longest, 0, packets);
        }
        assert!(longest.until > 0);
        set(&mut longest, 0, 4);
        assert_eq!(longest.until, 0);
        let now = set(&mut longest, 1, 3);
        assert_eq!(longest.get(now.iter()), Some(0));
    }

    #[test]
    fn a_queue_with_packets_of_no_bytes_is_found_too() {
        let (mut longest, mut ranks) = (Longest::new(LengthUnit::Bytes), [Rank::default()]);
        longest.update(0, &mut ranks[0], bytes(0));
        assert_eq!(longest.get(ranks.iter()), Some(0));
        longest.update(0, &mut ranks[0], Backlog::default());
        assert_eq!(longest.get(ranks.iter()), None);
    }
}
