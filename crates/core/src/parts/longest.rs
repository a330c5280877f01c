//! Which of many queues is the longest, in constant time.
//!
//! Queues of about the same length stand in one chain, as in Linux's sch_sfq: a queue that grows or shrinks moves to
//! the chain of its new length, and a bitmap of the chains in use leads to the longest. Chains are as many as `Scale`
//! gives lengths: each number of packets has its own, so that the answer is exact; bytes share 16 chains to each
//! doubling, so that the answer is the longest to within a sixteenth.

use alloc::vec::Vec;

use crate::packet::Backlog;
use crate::units::Limit;

/// What lengths are measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Packets,
    Bytes,
}

impl Scale {
    /// The unit of `limit`: what runs short is taken from whoever holds most of it.
    pub(super) fn of(limit: Limit) -> Scale {
        match limit {
            Limit::Packets(_) => Scale::Packets,
            Limit::Bytes(_) => Scale::Bytes,
        }
    }

    /// The chain of a queue that holds this much: 0 if it is empty.
    #[inline]
    fn chain(self, held: Backlog) -> u32 {
        match self {
            // A packet may have no bytes.
            _ if held.packets == 0 => 0,
            Scale::Packets => held.packets,
            Scale::Bytes => {
                // The length's leading five bits, and how far they were shifted.
                let shift = (held.bytes | 16).ilog2() - 4;
                1 + 16 * shift + (held.bytes >> shift) as u32
            }
        }
    }
}

/// A place in the circle of a chain.
#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    after: u32,
    chain: u32,
}

/// Queues in the order of their lengths, as finely as chains tell them apart.
///
/// A chain is a circle that begins and ends at a link of its own, so that a queue moves without asking whether it was
/// the first or the last: what would be asked depends on the traffic, and processors guess it badly. Empty queues stand
/// in no chain, of which 0 is the number.
#[derive(Clone, Debug)]
pub(super) struct Longest {
    scale: Scale,
    /// Queues at [`link_of`], chains at [`start_of`]; each its own neighbour while it has no other.
    links: Vec<Link>,
    queues: u32,
    /// A bit for each chain in use.
    used: Vec<u64>,
    /// The word of `used` in which the longest chain has its bit; above it all are zero.
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
    pub(super) fn new(scale: Scale) -> Longest {
        let mut new = Longest { scale, links: Vec::new(), queues: 0, used: Vec::new(), top: 0 };
        new.extend(0);
        new
    }

    /// One queue more, empty.
    pub(super) fn add(&mut self) {
        self.extend(link_of(self.queues));
        self.queues += 1;
    }

    /// What the queue holds now.
    // Always: see `SubQueues::pop`.
    #[inline(always)]
    pub(super) fn set(&mut self, queue: usize, held: Backlog) {
        let new = self.scale.chain(held);
        let (queue, start) = (link_of(queue as u32), start_of(new));
        if start as usize >= self.links.len() {
            self.extend(start);
        }
        // Nothing below changes its length: as a slice it stays in registers.
        let links = &mut self.links[..];
        let Link { before, after, chain: old } = links[queue as usize];
        if old == new {
            return;
        }
        links[before as usize].after = after;
        links[after as usize].before = before;
        if new == 0 {
            links[queue as usize] = Link { before: queue, after: queue, chain: 0 };
        } else {
            let first = core::mem::replace(&mut links[start as usize].after, queue);
            links[queue as usize] = Link { before: start, after: first, chain: new };
            links[first as usize].before = queue;
            if first == start {
                self.used[new as usize / 64] |= 1 << (new % 64);
                self.top = self.top.max(new as usize / 64);
            }
        }
        // After the queue is in its new chain, so that one which shrinks by a packet leaves nothing to search.
        if before == after {
            self.used[old as usize / 64] &= !(1 << (old % 64));
            while self.top > 0 && self.used[self.top] == 0 {
                self.top -= 1;
            }
        }
    }

    /// The longest queue; of several in one chain the one that came to it last. `None` if all are empty.
    #[inline]
    pub(super) fn get(&self) -> Option<usize> {
        let chain = 64 * self.top as u32 + self.used[self.top].checked_ilog2()?;
        Some(self.links[start_of(chain) as usize].after as usize / 2)
    }

    /// Room for a link at `place`, and bits for as many chains as there are then.
    #[cold]
    fn extend(&mut self, place: u32) {
        for place in self.links.len() as u32..=place | 127 {
            self.links.push(Link { before: place, after: place, chain: 0 });
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
            let chain = |length| Scale::Bytes.chain(bytes(length));
            prop_assert!(chain(length + 1) - chain(length) <= 1, "no gap, no fall");
            // Whatever is longer by a sixteenth, rounded up, stands in a higher chain.
            prop_assert!(chain(length + length / 16 + 1) > chain(length));
            prop_assert!(chain(length) < 1024, "a bounded number of chains");
        }

        #[test]
        fn it_names_the_longest_and_of_several_the_last_to_come_there(
            scale in prop_oneof![Just(Scale::Packets), Just(Scale::Bytes)],
            calls in prop::collection::vec((0usize..12, prop_oneof![3 => 0u32..6, 1 => 0u32..5000]), 1..300),
        ) {
            let mut longest = Longest::new(scale);
            (0..12).for_each(|_| longest.add());
            // (chain, when it came there), by queue.
            let mut model = [(0, 0); 12];
            for (step, (queue, length)) in calls.into_iter().enumerate() {
                let held = Backlog { packets: length, bytes: u64::from(length) };
                longest.set(queue, held);
                if model[queue].0 != scale.chain(held) {
                    model[queue] = (scale.chain(held), step);
                }
                let best = (0..12).filter(|queue| model[*queue].0 > 0).max_by_key(|queue| model[*queue]);
                prop_assert_eq!(longest.get(), best);
            }
        }
    }

    #[test]
    fn a_queue_with_packets_of_no_bytes_is_found_too() {
        let mut longest = Longest::new(Scale::Bytes);
        longest.add();
        longest.set(0, bytes(0));
        assert_eq!(longest.get(), Some(0));
        longest.set(0, Backlog::default());
        assert_eq!(longest.get(), None);
    }
}
