//! A hash index over a dense array of per-flow entries, shared by [`FlowTable`](super::FlowTable) and
//! [`FlowSlab`](super::FlowSlab).
//!
//! A bucket is a linked list of entries. Each entry stores its hash, so it can be removed or moved to another position
//! without hashing again. With four to eight buckets per entry, most lists hold one entry.

use alloc::vec::Vec;

use super::hash::keyed;
use crate::packet::FlowId;

pub(super) const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(super) struct FlowIndex<V> {
    pub(super) entries: Vec<FlowEntry<V>>,
    /// The first entry of each bucket, or [`NONE`]. The length is a power of two.
    heads: Vec<u32>,
    key: u64,
}

#[derive(Clone, Debug)]
pub(super) struct FlowEntry<V> {
    pub(super) flow: FlowId,
    hash: u32,
    /// The next entry of the bucket, or [`NONE`]. Free for the owner's use while the entry is unlinked.
    pub(super) next: u32,
    pub(super) value: V,
}

/// Buckets of an index without entries.
const FIRST_BUCKETS: usize = 256;

impl<V> FlowIndex<V> {
    pub(super) const EMPTY_BYTES: usize = FIRST_BUCKETS * size_of::<u32>();

    pub(super) fn new(key: u64) -> FlowIndex<V> {
        FlowIndex { entries: Vec::new(), heads: alloc::vec![NONE; FIRST_BUCKETS], key }
    }

    #[inline(always)]
    pub(super) fn position(&self, flow: FlowId) -> Option<usize> {
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

    /// Appends an entry for `flow`, which must have none, and returns its position. All other entries must be linked.
    #[inline]
    pub(super) fn push(&mut self, flow: FlowId, value: V) -> usize {
        if (self.entries.len() + 1) * 4 > self.heads.len() {
            self.grow();
        }
        let (position, hash) = (self.entries.len(), self.hash(flow));
        let next = self.link_first(position, flow, hash);
        self.entries.push(FlowEntry { flow, hash, next, value });
        position
    }

    /// Assigns the unlinked entry at `position` to `flow`, which must have none.
    #[inline(always)]
    pub(super) fn link(&mut self, position: usize, flow: FlowId) {
        let hash = self.hash(flow);
        let next = self.link_first(position, flow, hash);
        let entry = &mut self.entries[position];
        (entry.flow, entry.hash, entry.next) = (flow, hash, next);
    }

    /// Makes the entry at `position` the first of `flow`'s bucket. Returns the entry that was first.
    #[inline(always)]
    fn link_first(&mut self, position: usize, flow: FlowId, hash: u32) -> u32 {
        debug_assert!(self.position(flow).is_none(), "flow {} has an entry already", flow.0);
        let bucket = self.bucket(hash);
        core::mem::replace(&mut self.heads[bucket], position as u32)
    }

    /// Unlinks the entry at `position` from its bucket.
    #[inline(always)]
    pub(super) fn unlink(&mut self, position: usize) {
        let next = self.entries[position].next;
        *self.link_to(position) = next;
    }

    /// Removes the unlinked entry at `position`; the last entry moves there.
    #[inline]
    pub(super) fn swap_remove(&mut self, position: usize) -> FlowEntry<V> {
        let last = self.entries.len() - 1;
        if position != last {
            *self.link_to(last) = position as u32;
        }
        self.entries.swap_remove(position)
    }

    #[inline(always)]
    fn hash(&self, flow: FlowId) -> u32 {
        keyed(self.key, flow) as u32
    }

    #[inline(always)]
    fn bucket(&self, hash: u32) -> usize {
        hash as usize & (self.heads.len() - 1)
    }

    /// The link that points to the entry at `position`: the bucket's head or the previous entry's.
    #[inline(always)]
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
