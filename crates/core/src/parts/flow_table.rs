//! State per flow, bounded: a fixed capacity, a keyed hash, and every entry reachable in O(1).
//!
//! Entries stand densely in one array, so that any of them can be drawn by chance in O(1). A hash index finds a flow's
//! entry: a list a bucket, of entries that name the next. An entry keeps its hash, so it can be taken out, and the last
//! entry moved to its place, without hashing a flow again; with four to eight buckets an entry most lists are of one.
//! All grow as flows come, up to the capacity and no further: an attacker who invents flows costs accuracy, never
//! memory.

use alloc::vec::Vec;

use super::hash::keyed;
use crate::packet::FlowId;

/// A map from flows to `V`, of at most `capacity` entries.
#[derive(Clone, Debug)]
pub struct FlowTable<V> {
    entries: Vec<Entry<V>>,
    /// The first entry of each bucket's list, or [`NONE`]; the length is a power of two.
    heads: Vec<u32>,
    capacity: usize,
    /// Where [`stalest`](FlowTable::stalest) looks next.
    hand: usize,
    key: u64,
}

#[derive(Clone, Debug)]
struct Entry<V> {
    flow: FlowId,
    hash: u32,
    /// The next entry of the same bucket, or [`NONE`].
    next: u32,
    value: V,
}

const NONE: u32 = u32::MAX;

impl<V> FlowTable<V> {
    /// An empty table for at most `capacity` flows (at least one, and less than 2^32 - 1), hashed under `key`.
    pub fn new(capacity: u32, key: u64) -> FlowTable<V> {
        let capacity = capacity.clamp(1, NONE - 1) as usize;
        FlowTable { entries: Vec::new(), heads: alloc::vec![NONE; 256], capacity, hand: 0, key }
    }

    /// How many flows have an entry.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no flow has an entry.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether a further flow needs one to be evicted first.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.entries.len() >= self.capacity
    }

    /// Where `flow`'s entry stands, for [`at`](FlowTable::at) and [`remove_at`](FlowTable::remove_at). It holds until
    /// the next removal.
    #[inline]
    pub fn position(&self, flow: FlowId) -> Option<usize> {
        let mut position = self.heads[self.bucket(self.hash(flow))];
        while position != NONE {
            let entry = &self.entries[position as usize];
            if entry.flow == flow {
                return Some(position as usize);
            }
            position = entry.next;
        }
        None
    }

    /// The entry at `position`, which is less than [`len`](FlowTable::len).
    #[inline]
    pub fn at(&mut self, position: usize) -> (FlowId, &mut V) {
        let Entry { flow, value, .. } = &mut self.entries[position];
        (*flow, value)
    }

    /// `flow`'s entry.
    #[inline]
    pub fn get(&mut self, flow: FlowId) -> Option<&mut V> {
        self.position(flow).map(|position| &mut self.entries[position].value)
    }

    /// `flow`'s entry, to look at.
    #[inline]
    pub fn peek(&self, flow: FlowId) -> Option<&V> {
        self.position(flow).map(|position| &self.entries[position].value)
    }

    /// Adds `flow`, which must not be there, and gives its position; `None` if the table is full.
    #[inline]
    pub fn insert(&mut self, flow: FlowId, value: V) -> Option<usize> {
        if self.is_full() {
            return None;
        }
        if (self.entries.len() + 1) * 4 > self.heads.len() {
            self.grow();
        }
        debug_assert!(self.position(flow).is_none(), "flow {} has an entry already", flow.0);
        let (position, hash) = (self.entries.len(), self.hash(flow));
        let bucket = self.bucket(hash);
        self.entries.push(Entry { flow, hash, next: self.heads[bucket], value });
        self.heads[bucket] = position as u32;
        Some(position)
    }

    /// Takes out the entry at `position`; the last entry moves there.
    #[inline]
    pub fn remove_at(&mut self, position: usize) -> (FlowId, V) {
        let next = self.entries[position].next;
        *self.link_to(position) = next;
        let last = self.entries.len() - 1;
        if position != last {
            *self.link_to(last) = position as u32;
        }
        let Entry { flow, value, .. } = self.entries.swap_remove(position);
        (flow, value)
    }

    /// Gives the entry at `position` to `flow`, which must have none; position and value stay.
    #[inline]
    pub fn rename_at(&mut self, position: usize, flow: FlowId) {
        debug_assert!(self.position(flow).is_none(), "flow {} has an entry already", flow.0);
        let next = self.entries[position].next;
        *self.link_to(position) = next;
        let hash = self.hash(flow);
        let bucket = self.bucket(hash);
        let entry = &mut self.entries[position];
        (entry.flow, entry.hash, entry.next) = (flow, hash, self.heads[bucket]);
        self.heads[bucket] = position as u32;
    }

    /// Where, of the next four entries round the table, the one with the least `age` stands: whom to evict where order
    /// is not worth a list. `None` if there are none.
    pub fn stalest<K: Ord>(&mut self, age: impl Fn(&V) -> K) -> Option<usize> {
        let all = self.entries.len();
        let first = self.hand;
        self.hand = (first + 4) % all.max(1);
        (0..all.min(4)).map(|step| (first + step) % all).min_by_key(|position| age(&self.entries[*position].value))
    }

    /// Every entry, in an order that depends only on the calls made.
    pub fn iter(&self) -> impl Iterator<Item = (FlowId, &V)> {
        self.entries.iter().map(|entry| (entry.flow, &entry.value))
    }

    /// Every entry's value, in the order of [`iter`](FlowTable::iter).
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.iter_mut().map(|entry| &mut entry.value)
    }

    #[inline]
    fn hash(&self, flow: FlowId) -> u32 {
        keyed(self.key, flow) as u32
    }

    #[inline]
    fn bucket(&self, hash: u32) -> usize {
        hash as usize & (self.heads.len() - 1)
    }

    /// What names the entry at `position`: the head of its bucket, or the entry before it.
    #[inline]
    fn link_to(&mut self, position: usize) -> &mut u32 {
        let bucket = self.bucket(self.entries[position].hash);
        let mut at = self.heads[bucket];
        if at == position as u32 {
            return &mut self.heads[bucket];
        }
        loop {
            let next = self.entries[at as usize].next;
            if next == position as u32 {
                return &mut self.entries[at as usize].next;
            }
            at = next;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.heads.len() * 2;
        self.heads.clear();
        self.heads.resize(size, NONE);
        for position in 0..self.entries.len() {
            let bucket = self.bucket(self.entries[position].hash);
            self.entries[position].next = self.heads[bucket];
            self.heads[bucket] = position as u32;
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
    fn the_stalest_of_four_is_looked_for_further_on_each_time() {
        let mut table = FlowTable::new(10, 3);
        assert_eq!(table.stalest(|age: &u32| *age), None);
        for (flow, age) in [5, 3, 9, 4, 8, 7, 6].into_iter().enumerate() {
            table.insert(FlowId(flow as u64), age);
        }
        // Entries 0 to 3, then 4 to 6 and 0, then 1 to 4.
        assert_eq!([(); 3].map(|()| table.stalest(|age| *age)), [Some(1), Some(0), Some(1)]);
    }
}
