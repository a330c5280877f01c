//! Entries of flows in one array, found by name through a keyed hash: what [`FlowTable`](super::FlowTable) and
//! [`FlowSlab`](super::FlowSlab) stand on.
//!
//! The hash index is a list a bucket, of entries that name the next. An entry keeps its hash, so it can be taken out, and
//! the last entry moved to its place, without hashing a flow again; with four to eight buckets an entry most lists are of
//! one.

use alloc::vec::Vec;

use super::hash::keyed;
use crate::packet::FlowId;

/// No entry.
pub(super) const NONE: u32 = u32::MAX;

/// An array of entries, and where each flow's stands in it.
#[derive(Clone, Debug)]
pub(super) struct FlowIndex<V> {
    pub(super) entries: Vec<Entry<V>>,
    /// The first entry of each bucket's list, or [`NONE`]; the length is a power of two.
    heads: Vec<u32>,
    key: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Entry<V> {
    pub(super) flow: FlowId,
    hash: u32,
    /// The next entry of the same bucket, or [`NONE`]; its owner's while the entry is in no list.
    pub(super) next: u32,
    pub(super) value: V,
}

impl<V> FlowIndex<V> {
    /// No entries; flows are hashed under `key`.
    pub(super) fn new(key: u64) -> FlowIndex<V> {
        FlowIndex { entries: Vec::new(), heads: alloc::vec![NONE; 256], key }
    }

    /// Where `flow`'s entry stands.
    #[inline]
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

    /// Adds an entry of `flow`, which has none, at the end and gives its position. All others must be in a list.
    #[inline]
    pub(super) fn push(&mut self, flow: FlowId, value: V) -> usize {
        if (self.entries.len() + 1) * 4 > self.heads.len() {
            self.grow();
        }
        let (position, hash) = (self.entries.len(), self.hash(flow));
        let next = self.lead(position, flow, hash);
        self.entries.push(Entry { flow, hash, next, value });
        position
    }

    /// Gives the entry at `position`, which is in no list, to `flow`, which has none.
    #[inline]
    pub(super) fn link(&mut self, position: usize, flow: FlowId) {
        let hash = self.hash(flow);
        let next = self.lead(position, flow, hash);
        let entry = &mut self.entries[position];
        (entry.flow, entry.hash, entry.next) = (flow, hash, next);
    }

    /// Puts the entry at `position` first in the list of `flow`'s bucket and gives the one that was.
    #[inline]
    fn lead(&mut self, position: usize, flow: FlowId, hash: u32) -> u32 {
        debug_assert!(self.position(flow).is_none(), "flow {} has an entry already", flow.0);
        let bucket = self.bucket(hash);
        core::mem::replace(&mut self.heads[bucket], position as u32)
    }

    /// Takes the entry at `position` out of its list.
    #[inline]
    pub(super) fn unlink(&mut self, position: usize) {
        let next = self.entries[position].next;
        *self.link_to(position) = next;
    }

    /// Takes the entry at `position`, which is in no list, out of the array; the last entry moves there.
    #[inline]
    pub(super) fn swap_remove(&mut self, position: usize) -> Entry<V> {
        let last = self.entries.len() - 1;
        if position != last {
            *self.link_to(last) = position as u32;
        }
        self.entries.swap_remove(position)
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
