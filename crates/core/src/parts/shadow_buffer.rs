//! The flows of the packets that were last written down, and how often each stands among them.

use alloc::vec::Vec;

use super::FlowTable;
use crate::packet::FlowId;

/// Remembers the flows of the last `capacity` packets it was shown, and counts them by flow, in O(1) a packet.
#[derive(Clone, Debug)]
pub struct ShadowBuffer {
    /// Round and round, the oldest at `next` once it is full.
    flows: Vec<FlowId>,
    capacity: usize,
    next: usize,
    counts: FlowTable<u32>,
}

impl ShadowBuffer {
    /// An empty buffer for `capacity` packets, at least one, hashed under `key`.
    pub fn new(capacity: u32, key: u64) -> ShadowBuffer {
        let capacity = capacity.max(1);
        // No more flows than packets, so this table cannot be full when a flow comes.
        let counts = FlowTable::new(capacity, key);
        ShadowBuffer { flows: Vec::new(), capacity: capacity as usize, next: 0, counts }
    }

    /// Writes a packet of `flow` down, in place of the oldest if it is full.
    pub fn push(&mut self, flow: FlowId) {
        if self.flows.len() < self.capacity {
            self.flows.push(flow);
        } else {
            let oldest = core::mem::replace(&mut self.flows[self.next], flow);
            self.next = (self.next + 1) % self.capacity;
            self.forget(oldest);
        }
        match self.counts.get(flow) {
            Some(count) => *count += 1,
            None => {
                self.counts.insert(flow, 1);
            }
        }
    }

    /// How many of the packets are `flow`'s.
    #[inline]
    pub fn count(&self, flow: FlowId) -> u32 {
        self.counts.peek(flow).copied().unwrap_or(0)
    }

    /// How many packets it holds.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// The flows it holds with their counts, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (FlowId, u32)> {
        self.counts.iter().map(|(flow, count)| (flow, *count))
    }

    fn forget(&mut self, flow: FlowId) {
        let position = self.counts.position(flow).expect("a flow that is written down is counted");
        let count = self.counts.at(position).1;
        *count -= 1;
        if *count == 0 {
            self.counts.remove_at(position);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::{BTreeMap, VecDeque};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_counts_the_last_packets_by_flow(capacity in 1u32..20, flows in prop::collection::vec(0u64..12, 0..200)) {
            let (mut shadow, mut model) = (ShadowBuffer::new(capacity, 3), VecDeque::new());
            for flow in flows.into_iter().map(FlowId) {
                shadow.push(flow);
                model.push_back(flow);
                if model.len() > capacity as usize {
                    model.pop_front();
                }
                let mut counts = BTreeMap::new();
                model.iter().for_each(|flow| *counts.entry(*flow).or_insert(0) += 1);
                prop_assert_eq!(shadow.iter().collect::<BTreeMap<_, _>>(), counts);
                prop_assert_eq!((shadow.len(), shadow.count(FlowId(99))), (model.len(), 0));
            }
        }
    }
}
