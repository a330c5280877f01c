//! State of flows that have something queued, found by name on arrival and by slot on departure.

use alloc::vec::Vec;

use super::hash::keyed;
use crate::packet::FlowId;

/// A map from flows to `V` in which an entry stays in its slot until it is taken out, so that each queued packet can
/// carry the slot of its flow and a departure needs no search. It holds as many entries as its owner inserts, and keeps
/// the room of the most there were: for owners whose flows are bounded by what they queue. Where entries must be
/// drawn by chance, or flows outlive their packets, see [`FlowTable`](super::FlowTable).
#[derive(Clone, Debug)]
pub struct FlowSlab<V> {
    slots: Vec<Slot<V>>,
    /// The first slot of each bucket's list, or [`NONE`]; the length is a power of two, at least four times the slots.
    heads: Vec<u32>,
    /// The first vacant slot, or [`NONE`].
    vacant: u32,
    len: usize,
    key: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot<V> {
    flow: FlowId,
    hash: u32,
    /// The next slot of the same bucket, or of the vacant ones; or [`NONE`].
    next: u32,
    value: V,
}

const NONE: u32 = u32::MAX;

impl<V: Copy> FlowSlab<V> {
    /// An empty slab, hashed under `key`.
    pub fn new(key: u64) -> FlowSlab<V> {
        FlowSlab { slots: Vec::new(), heads: alloc::vec![NONE; 256], vacant: NONE, len: 0, key }
    }

    /// How many flows have an entry.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no flow has an entry.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slot of `flow`'s entry.
    #[inline]
    pub fn slot(&self, flow: FlowId) -> Option<u32> {
        let mut at = self.heads[self.bucket(self.hash(flow))];
        while at != NONE {
            let slot = &self.slots[at as usize];
            if slot.flow == flow {
                return Some(at);
            }
            at = slot.next;
        }
        None
    }

    /// The entry in `slot`, which must not have been taken out.
    #[inline]
    pub fn at(&mut self, slot: u32) -> &mut V {
        &mut self.slots[slot as usize].value
    }

    /// `flow`'s entry, to look at.
    pub fn peek(&self, flow: FlowId) -> Option<&V> {
        self.slot(flow).map(|slot| &self.slots[slot as usize].value)
    }

    /// Adds `flow`, which must not be there, and gives its slot.
    ///
    /// # Panics
    /// At 2^32 - 1 flows.
    #[inline]
    pub fn insert(&mut self, flow: FlowId, value: V) -> u32 {
        debug_assert!(self.slot(flow).is_none(), "flow {} has an entry already", flow.0);
        if self.vacant == NONE {
            self.extend(value);
        }
        let (at, hash) = (self.vacant, self.hash(flow));
        let bucket = self.bucket(hash);
        let slot = &mut self.slots[at as usize];
        self.vacant = slot.next;
        *slot = Slot { flow, hash, next: self.heads[bucket], value };
        self.heads[bucket] = at;
        self.len += 1;
        at
    }

    /// Takes out the entry in `slot`, which must not have been taken out.
    #[inline]
    pub fn remove(&mut self, slot: u32) -> V {
        let Slot { hash, next, value, .. } = self.slots[slot as usize];
        let bucket = self.bucket(hash);
        let mut at = self.heads[bucket];
        if at == slot {
            self.heads[bucket] = next;
        } else {
            while self.slots[at as usize].next != slot {
                at = self.slots[at as usize].next;
            }
            self.slots[at as usize].next = next;
        }
        self.slots[slot as usize].next = self.vacant;
        self.vacant = slot;
        self.len -= 1;
        value
    }

    #[inline]
    fn hash(&self, flow: FlowId) -> u32 {
        keyed(self.key, flow) as u32
    }

    #[inline]
    fn bucket(&self, hash: u32) -> usize {
        hash as usize & (self.heads.len() - 1)
    }

    /// Adds a vacant slot where there is none, `value` being what stands in it until it is used.
    #[cold]
    fn extend(&mut self, value: V) {
        let at = u32::try_from(self.slots.len()).ok().filter(|at| *at < NONE).expect("fewer than 2^32 - 1 flows");
        if (self.slots.len() + 1) * 4 > self.heads.len() {
            self.grow();
        }
        self.slots.push(Slot { flow: FlowId(0), hash: 0, next: NONE, value });
        self.vacant = at;
    }

    /// Doubles the buckets. No slot is vacant.
    fn grow(&mut self) {
        let size = self.heads.len() * 2;
        self.heads.clear();
        self.heads.resize(size, NONE);
        for at in 0..self.slots.len() {
            let bucket = self.bucket(self.slots[at].hash);
            self.slots[at].next = self.heads[bucket];
            self.heads[bucket] = at as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_behaves_like_a_map_whose_entries_stay_where_they_are(
            calls in prop::collection::vec(0u64..300, 0..2000), key: u64,
        ) {
            let mut slab = FlowSlab::new(key);
            let mut model: BTreeMap<FlowId, (u32, usize)> = BTreeMap::new();
            let mut most = 0;
            for (step, flow) in calls.into_iter().enumerate() {
                let flow = FlowId(flow);
                match model.remove(&flow) {
                    Some((slot, value)) => {
                        prop_assert_eq!(slab.slot(flow), Some(slot));
                        prop_assert_eq!(slab.remove(slot), value);
                    }
                    None => {
                        model.insert(flow, (slab.insert(flow, step), step));
                    }
                }
                most = most.max(model.len());
                prop_assert_eq!((slab.len(), slab.slots.len()), (model.len(), most));
                prop_assert_eq!(slab.peek(flow).copied(), model.get(&flow).map(|(_, value)| *value));
            }
            for (flow, (slot, value)) in model {
                prop_assert_eq!((slab.slot(flow), *slab.at(slot)), (Some(slot), value));
            }
        }
    }
}
