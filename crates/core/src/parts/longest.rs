//! Finds the longest of many queues in constant time.
//!
//! Queues of similar length form a chain, as in Linux's sch_sfq. A queue moves to another chain when its length
//! changes, and a bitmap of used chains leads to the longest queues. For lengths in packets, each length has its own
//! chain, so the result is exact. For lengths in bytes, each doubling has 16 chains, so the result is the longest to
//! within a sixteenth.

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
    #[inline]
    fn chain(self, held: Backlog) -> u32 {
        match self {
            // Packets may have no bytes.
            _ if held.packets == 0 => 0,
            LengthUnit::Packets => held.packets,
            LengthUnit::Bytes => {
                // Keeps the leading five bits of the length.
                let shift = (held.bytes | 16).ilog2() - 4;
                1 + 16 * shift + (held.bytes >> shift) as u32
            }
        }
    }
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
#[derive(Clone, Debug)]
pub(super) struct Longest {
    unit: LengthUnit,
    /// Links of queues at [`link_of`], of chains at [`start_of`]. A link alone in its list is its own neighbor.
    links: Vec<ChainLink>,
    queues: u32,
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

impl Longest {
    pub(super) fn new(unit: LengthUnit) -> Longest {
        let mut new = Longest { unit, links: Vec::new(), queues: 0, used: Vec::new(), top: 0 };
        new.extend(0);
        new
    }

    pub(super) fn add(&mut self) {
        self.extend(link_of(self.queues));
        self.queues += 1;
    }

    // Always inlined: see `SubQueues::pop`.
    #[inline(always)]
    pub(super) fn set(&mut self, queue: usize, held: Backlog) {
        let new = self.unit.chain(held);
        let (queue, start) = (link_of(queue as u32), start_of(new));
        if start as usize >= self.links.len() {
            self.extend(start);
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

    /// The longest queue; within a chain, the last that joined it. `None` if all are empty.
    #[inline]
    pub(super) fn get(&self) -> Option<usize> {
        let chain = 64 * self.top as u32 + self.used[self.top].checked_ilog2()?;
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
            calls in prop::collection::vec((0usize..12, prop_oneof![3 => 0u32..6, 1 => 0u32..5000]), 1..300),
        ) {
            let mut longest = Longest::new(unit);
            (0..12).for_each(|_| longest.add());
            // The chain of each queue, and when the queue joined it.
            let mut model = [(0, 0); 12];
            for (step, (queue, length)) in calls.into_iter().enumerate() {
                let held = Backlog { packets: length, bytes: u64::from(length) };
                longest.set(queue, held);
                if model[queue].0 != unit.chain(held) {
                    model[queue] = (unit.chain(held), step);
                }
                let best = (0..12).filter(|queue| model[*queue].0 > 0).max_by_key(|queue| model[*queue]);
                prop_assert_eq!(longest.get(), best);
            }
        }
    }

    #[test]
    fn a_queue_with_packets_of_no_bytes_is_found_too() {
        let mut longest = Longest::new(LengthUnit::Bytes);
        longest.add();
        longest.set(0, bytes(0));
        assert_eq!(longest.get(), Some(0));
        longest.set(0, Backlog::default());
        assert_eq!(longest.get(), None);
    }
}
