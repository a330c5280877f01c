//! State per flow, bounded: a fixed capacity, a keyed hash, and every entry reachable in O(1).
//!
//! Entries stand densely in one array, so that any of them can be drawn by chance in O(1); a hash index of twice the
//! size (open addressing, linear probing, deletion by shifting back) finds a flow's entry. Both grow as flows come, up
//! to the capacity and no further: an attacker who invents flows costs accuracy, never memory.

use alloc::vec::Vec;

use super::hash::keyed;
use crate::packet::FlowId;

/// A map from flows to `V`, of at most `capacity` entries.
#[derive(Clone, Debug)]
pub struct FlowTable<V> {
    entries: Vec<(FlowId, V)>,
    /// Positions in `entries`, or [`EMPTY`]; the length is a power of two.
    index: Vec<u32>,
    capacity: usize,
    key: u64,
}

const EMPTY: u32 = u32::MAX;

impl<V> FlowTable<V> {
    /// An empty table for at most `capacity` flows (at least one), hashed under `key`.
    pub fn new(capacity: u32, key: u64) -> FlowTable<V> {
        FlowTable { entries: Vec::new(), index: alloc::vec![EMPTY; 16], capacity: capacity.max(1) as usize, key }
    }

    /// How many flows have an entry.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no flow has an entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether a further flow needs one to be evicted first.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.entries.len() >= self.capacity
    }

    /// Where `flow`'s entry stands, for [`at`](FlowTable::at) and [`remove_at`](FlowTable::remove_at). It holds until
    /// the next insertion or removal.
    #[inline]
    pub fn position(&self, flow: FlowId) -> Option<usize> {
        let mut slot = self.home(flow);
        loop {
            let position = self.index[slot];
            if position == EMPTY {
                return None;
            }
            if self.entries[position as usize].0 == flow {
                return Some(position as usize);
            }
            slot = self.after(slot);
        }
    }

    /// The entry at `position`, which is less than [`len`](FlowTable::len).
    #[inline]
    pub fn at(&mut self, position: usize) -> (FlowId, &mut V) {
        let (flow, value) = &mut self.entries[position];
        (*flow, value)
    }

    /// `flow`'s entry.
    #[inline]
    pub fn get(&mut self, flow: FlowId) -> Option<&mut V> {
        self.position(flow).map(|position| &mut self.entries[position].1)
    }

    /// `flow`'s entry, to look at.
    pub fn peek(&self, flow: FlowId) -> Option<&V> {
        self.position(flow).map(|position| &self.entries[position].1)
    }

    /// Adds `flow`, which must not be there, and gives its position; `None` if the table is full.
    pub fn insert(&mut self, flow: FlowId, value: V) -> Option<usize> {
        if self.is_full() {
            return None;
        }
        if (self.entries.len() + 1) * 2 > self.index.len() {
            self.grow();
        }
        debug_assert!(self.position(flow).is_none(), "flow {} has an entry already", flow.0);
        let position = self.entries.len();
        self.entries.push((flow, value));
        self.link(flow, position);
        Some(position)
    }

    /// Takes out the entry at `position`; the last entry moves there.
    pub fn remove_at(&mut self, position: usize) -> (FlowId, V) {
        let slot = self.slot_of(position);
        self.unlink(slot);
        let last = self.entries.len() - 1;
        if position != last {
            let slot = self.slot_of(last);
            self.index[slot] = position as u32;
        }
        self.entries.swap_remove(position)
    }

    /// Every entry, in an order that depends only on the calls made.
    pub fn iter(&self) -> impl Iterator<Item = (FlowId, &V)> {
        self.entries.iter().map(|(flow, value)| (*flow, value))
    }

    #[inline]
    fn home(&self, flow: FlowId) -> usize {
        keyed(self.key, flow) as usize & (self.index.len() - 1)
    }

    #[inline]
    fn after(&self, slot: usize) -> usize {
        (slot + 1) & (self.index.len() - 1)
    }

    fn slot_of(&self, position: usize) -> usize {
        let mut slot = self.home(self.entries[position].0);
        while self.index[slot] != position as u32 {
            slot = self.after(slot);
        }
        slot
    }

    fn link(&mut self, flow: FlowId, position: usize) {
        let mut slot = self.home(flow);
        while self.index[slot] != EMPTY {
            slot = self.after(slot);
        }
        self.index[slot] = position as u32;
    }

    /// Empties `hole` and moves later members of its run back, so that no probe stops short (Knuth, vol. 3, 6.4 R).
    fn unlink(&mut self, mut hole: usize) {
        let mask = self.index.len() - 1;
        let mut slot = self.after(hole);
        while self.index[slot] != EMPTY {
            let home = self.home(self.entries[self.index[slot] as usize].0);
            // Move it unless its home lies cyclically in (hole, slot].
            if (slot.wrapping_sub(home) & mask) >= (slot.wrapping_sub(hole) & mask) {
                self.index[hole] = self.index[slot];
                hole = slot;
            }
            slot = self.after(slot);
        }
        self.index[hole] = EMPTY;
    }

    fn grow(&mut self) {
        let size = self.index.len() * 2;
        self.index.clear();
        self.index.resize(size, EMPTY);
        for position in 0..self.entries.len() {
            self.link(self.entries[position].0, position);
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
        fn it_behaves_like_a_map_of_bounded_size(calls in prop::collection::vec((0u64..40, any::<bool>()), 0..400)) {
            let mut table = FlowTable::new(24, 3);
            let mut model: BTreeMap<FlowId, usize> = BTreeMap::new();
            for (step, (flow, add)) in calls.into_iter().enumerate() {
                let flow = FlowId(flow);
                prop_assert_eq!(table.get(flow).copied(), model.get(&flow).copied());
                match table.position(flow) {
                    Some(position) if !add => {
                        prop_assert_eq!(Some(table.remove_at(position)), model.remove_entry(&flow));
                    }
                    None if add => {
                        let full = model.len() == 24;
                        prop_assert_eq!(table.insert(flow, step).is_none(), full);
                        if !full {
                            model.insert(flow, step);
                        }
                    }
                    _ => {}
                }
                prop_assert_eq!(table.len(), model.len());
                prop_assert_eq!(table.iter().map(|(f, v)| (f, *v)).collect::<BTreeMap<_, _>>(), model.clone());
            }
        }
    }
}
