use super::flow_index::{FlowIndex, NONE};
use crate::packet::FlowId;

/// A map from flows with queued packets to `V`. An entry keeps its slot, so a queued packet can carry the slot of its
/// flow, and its departure needs no search.
///
/// The slab is unbounded and never shrinks. Use it if queued packets bound the number of flows. Otherwise use
/// [`FlowTable`](super::FlowTable).
#[derive(Clone, Debug)]
pub struct FlowSlab<V> {
    index: FlowIndex<V>,
    /// The first vacant slot, or [`NONE`]. Vacant slots are linked.
    vacant: u32,
    len: usize,
}

impl<V: Copy> FlowSlab<V> {
    /// An empty slab, hashed under `key`.
    pub fn new(key: u64) -> FlowSlab<V> {
        FlowSlab { index: FlowIndex::new(key), vacant: NONE, len: 0 }
    }

    /// The number of flows.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slot of `flow`'s entry.
    #[inline(always)]
    pub fn slot(&self, flow: FlowId) -> Option<u32> {
        self.index.position(flow).map(|slot| slot as u32)
    }

    /// The entry in `slot`, which must be occupied.
    #[inline]
    pub fn at(&mut self, slot: u32) -> &mut V {
        &mut self.index.entries[slot as usize].value
    }

    /// `flow`'s entry, read-only.
    pub fn peek(&self, flow: FlowId) -> Option<&V> {
        self.index.position(flow).map(|slot| &self.index.entries[slot].value)
    }

    /// Adds `flow`, which must not be present, and returns its slot.
    ///
    /// # Panics
    /// At 2^32 - 1 flows.
    #[inline(always)]
    pub fn insert(&mut self, flow: FlowId, value: V) -> u32 {
        self.len += 1;
        let slot = self.vacant;
        let Some(entry) = self.index.entries.get_mut(slot as usize) else {
            let slot = u32::try_from(self.index.push(flow, value)).ok().filter(|slot| *slot < NONE);
            return slot.expect("fewer than 2^32 - 1 flows");
        };
        (self.vacant, entry.value) = (entry.next, value);
        self.index.link(slot as usize, flow);
        slot
    }

    /// Removes the entry in `slot`, which must be occupied.
    #[inline(always)]
    pub fn remove(&mut self, slot: u32) -> V {
        self.index.unlink(slot as usize);
        let entry = &mut self.index.entries[slot as usize];
        (entry.next, self.vacant) = (self.vacant, slot);
        self.len -= 1;
        entry.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_behaves_like_a_map_whose_entries_keep_their_slots(
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
                prop_assert_eq!((slab.len(), slab.index.entries.len()), (model.len(), most));
                prop_assert_eq!(slab.peek(flow).copied(), model.get(&flow).map(|(_, value)| *value));
            }
            for (flow, (slot, value)) in model {
                prop_assert_eq!((slab.slot(flow), *slab.at(slot)), (Some(slot), value));
            }
        }
    }
}
