//! Bounded per-flow state with O(1) access.
//!
//! Entries are stored densely in an array, so one can be drawn at random, and a keyed hash index finds a flow's entry.
//! Both grow only up to the capacity: an attacker who creates flows reduces accuracy, but cannot exhaust memory.

use super::flow_index::{FlowEntry, FlowIndex, NONE};
use crate::packet::FlowId;

/// A map from flows to at most `capacity` values.
#[derive(Clone, Debug)]
pub struct FlowTable<V> {
    index: FlowIndex<V>,
    capacity: usize,
    /// Position at which the next call of [`eviction_candidate`](FlowTable::eviction_candidate) begins.
    hand: usize,
}

impl<V> FlowTable<V> {
    /// Bytes of a table without flows.
    pub const EMPTY_BYTES: usize = FlowIndex::<V>::EMPTY_BYTES;

    /// An empty table for `capacity` (1 to 2^32 - 2) flows. `key` is the secret of the hash function.
    pub fn new(capacity: u32, key: u64) -> FlowTable<V> {
        FlowTable { index: FlowIndex::new(key), capacity: capacity.clamp(1, NONE - 1) as usize, hand: 0 }
    }

    /// The number of flows.
    #[inline]
    pub fn len(&self) -> usize {
        self.index.entries.len()
    }

    /// Whether it is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.index.entries.is_empty()
    }

    /// Whether inserting a flow needs an eviction first.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len() >= self.capacity
    }

    /// The position of `flow`'s entry, for [`at`](FlowTable::at) and [`remove_at`](FlowTable::remove_at). Valid until
    /// the next removal.
    #[inline]
    pub fn position(&self, flow: FlowId) -> Option<usize> {
        self.index.position(flow)
    }

    /// The flow at `position`, and its value.
    #[inline]
    pub fn at(&mut self, position: usize) -> (FlowId, &mut V) {
        let FlowEntry { flow, value, .. } = &mut self.index.entries[position];
        (*flow, value)
    }

    /// The value of `flow`, if it has an entry.
    #[inline]
    pub fn get(&mut self, flow: FlowId) -> Option<&mut V> {
        self.position(flow).map(|position| self.at(position).1)
    }

    /// The value of `flow`, read-only.
    #[inline]
    pub fn peek(&self, flow: FlowId) -> Option<&V> {
        self.position(flow).map(|position| &self.index.entries[position].value)
    }

    /// Adds `flow`, which must not be present, and returns its position; `None` if the table is full.
    #[inline]
    pub fn insert(&mut self, flow: FlowId, value: V) -> Option<usize> {
        if self.is_full() { None } else { Some(self.index.push(flow, value)) }
    }

    /// Removes the entry at `position`; the last entry moves there.
    #[inline]
    pub fn remove_at(&mut self, position: usize) -> (FlowId, V) {
        self.index.unlink(position);
        let FlowEntry { flow, value, .. } = self.index.swap_remove(position);
        (flow, value)
    }

    /// Assigns the entry at `position` to another `flow`, which must have no entry. Position and value stay.
    #[inline]
    pub fn rename_at(&mut self, position: usize, flow: FlowId) {
        self.index.unlink(position);
        self.index.link(position, flow);
    }

    /// Position of the least recently used of four entries; `None` if the table is empty. Each call examines the next
    /// four in rotation, which approximates least-recently-used eviction without a list. `last_use` is an entry's time
    /// of last use, or another key whose least value is to be evicted.
    pub fn eviction_candidate<K: Ord>(&mut self, last_use: impl Fn(&V) -> K) -> Option<usize> {
        let all = self.len();
        let first = self.hand;
        self.hand = (first + 4) % all.max(1);
        let next = (0..all.min(4)).map(|step| (first + step) % all);
        next.min_by_key(|position| last_use(&self.index.entries[*position].value))
    }

    /// Every entry, in an order that depends only on the calls made.
    pub fn iter(&self) -> impl Iterator<Item = (FlowId, &V)> {
        self.index.entries.iter().map(|entry| (entry.flow, &entry.value))
    }

    /// Every value, in the order of [`iter`](FlowTable::iter).
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.index.entries.iter_mut().map(|entry| &mut entry.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_behaves_like_a_map_of_bounded_size(calls in prop::collection::vec((0u64..40, any::<bool>()), 0..400)) {
            let mut table = FlowTable::new(16, 3);
            let mut model: BTreeMap<FlowId, usize> = BTreeMap::new();
            for (step, (flow, add)) in calls.into_iter().enumerate() {
                let flow = FlowId(flow);
                prop_assert_eq!(table.get(flow).copied(), model.get(&flow).copied());
                match table.position(flow) {
                    Some(position) if !add => {
                        prop_assert_eq!(Some(table.remove_at(position)), model.remove_entry(&flow));
                    }
                    None if add => {
                        let full = model.len() == 16;
                        prop_assert_eq!(table.insert(flow, step).is_none(), full);
                        let value = if full {
                            let (former, value) = table.at(step % 16);
                            let value = *value;
                            table.rename_at(step % 16, flow);
                            model.remove(&former);
                            value
                        } else {
                            step
                        };
                        model.insert(flow, value);
                    }
                    _ => {}
                }
                prop_assert_eq!(table.len(), model.len());
                prop_assert_eq!(table.iter().map(|(f, v)| (f, *v)).collect::<BTreeMap<_, _>>(), model.clone());
            }
        }
    }

    #[test]
    fn each_search_compares_the_next_four_entries_and_returns_the_least_recently_used() {
        let mut table = FlowTable::new(10, 3);
        assert_eq!(table.eviction_candidate(|time: &u32| *time), None);
        for (flow, time) in [5, 3, 9, 4, 8, 7, 6].into_iter().enumerate() {
            table.insert(FlowId(flow as u64), time);
        }
        // Entries 0 to 3, then 4 to 6 and 0, then 1 to 4.
        assert_eq!([(); 3].map(|()| table.eviction_candidate(|time| *time)), [Some(1), Some(0), Some(1)]);
    }
}
