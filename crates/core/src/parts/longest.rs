//! Which of many queues is the longest, in constant time.
//!
//! Queues of about the same length stand in one chain, as in Linux's sch_sfq: a queue that grows or shrinks moves to
//! the chain of its new length, and a bitmap of the chains in use leads to the longest. Chains are as many as `Scale`
//! gives lengths: each number of packets has its own, so that the answer is exact; bytes share 16 chains to each
//! doubling, so that the answer is the longest to within a sixteenth.

use alloc::vec::Vec;

use crate::discipline::Backlog;
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

    /// The chain of a queue that holds this much.
    #[inline]
    fn chain(self, held: Backlog) -> u32 {
        match self {
            Scale::Packets => held.packets,
            Scale::Bytes => {
                // The length's leading five bits, and how far they were shifted.
                let shift = (held.bytes | 16).ilog2() - 4;
                16 * shift + (held.bytes >> shift) as u32
            }
        }
    }
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    after: u32,
    /// [`NONE`] if the queue stands in no chain.
    chain: u32,
}

/// Queues in the order of their lengths, as finely as chains tell them apart.
#[derive(Clone, Debug)]
pub(super) struct Longest {
    scale: Scale,
    /// By queue.
    links: Vec<Link>,
    /// The queue that came to each chain last, or [`NONE`].
    heads: Vec<u32>,
    /// A bit for each chain in use.
    used: Vec<u64>,
    /// The word of `used` in which the longest chain has its bit; above it all are zero.
    top: usize,
}

impl Longest {
    pub(super) fn new(scale: Scale) -> Longest {
        Longest { scale, links: Vec::new(), heads: Vec::new(), used: alloc::vec![0], top: 0 }
    }

    /// One queue more, empty.
    pub(super) fn add(&mut self) {
        self.links.push(Link { before: NONE, after: NONE, chain: NONE });
    }

    /// What the queue holds now.
    #[inline]
    pub(super) fn set(&mut self, queue: usize, held: Backlog) {
        let old = self.links[queue].chain;
        let new = if held.packets == 0 { NONE } else { self.scale.chain(held) };
        if old == new {
            return;
        }
        if old != NONE {
            self.unlink(queue, old);
        }
        self.links[queue].chain = new;
        if new != NONE {
            self.link(queue, new);
        }
        // After both, so that a queue which shrinks by one packet leaves nothing to search.
        while self.top > 0 && self.used[self.top] == 0 {
            self.top -= 1;
        }
    }

    /// The longest queue; of several in one chain the one that came to it last. `None` if all are empty.
    #[inline]
    pub(super) fn get(&self) -> Option<usize> {
        let word = self.used[self.top];
        let chain = 64 * self.top + word.checked_ilog2()? as usize;
        Some(self.heads[chain] as usize)
    }

    #[inline]
    fn link(&mut self, queue: usize, chain: u32) {
        let (word, chain) = (chain as usize / 64, chain as usize);
        if chain >= self.heads.len() {
            self.heads.resize(64 * (word + 1), NONE);
            self.used.resize(word + 1, 0);
        }
        let head = core::mem::replace(&mut self.heads[chain], queue as u32);
        self.links[queue].before = NONE;
        self.links[queue].after = head;
        match head {
            NONE => self.used[word] |= 1 << (chain % 64),
            head => self.links[head as usize].before = queue as u32,
        }
        self.top = self.top.max(word);
    }

    #[inline]
    fn unlink(&mut self, queue: usize, chain: u32) {
        let Link { before, after, .. } = self.links[queue];
        if after != NONE {
            self.links[after as usize].before = before;
        }
        match before {
            NONE => self.heads[chain as usize] = after,
            before => self.links[before as usize].after = after,
        }
        if before == NONE && after == NONE {
            self.used[chain as usize / 64] &= !(1 << (chain % 64));
        }
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
