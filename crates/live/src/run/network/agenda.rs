//! Packets that will be at a queue, in order of time.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use headgate_core::{Packet, Span, Time};

use crate::io::pool::FrameId;

/// A packet that will be at a queue.
pub(super) struct Coming {
    pub(super) at: Time,
    /// The number of the direction whose queue that is, and of the one that it comes out of; `None` if it comes from its host.
    pub(super) to: u16,
    pub(super) from: Option<u16>,
    pub(super) packet: Packet<FrameId>,
}

/// All of them.
pub(super) struct Agenda {
    heap: BinaryHeap<Entry>,
    /// How many have been in it.
    known: u64,
}

/// One of them, and its number: of those of one moment, the first to have been known of is the first.
struct Entry(Coming, u64);

impl Agenda {
    /// One with room for as many as there are `slots`, for which it never grows.
    pub(super) fn new(slots: u32) -> Agenda {
        Agenda { heap: BinaryHeap::with_capacity(slots as usize), known: 0 }
    }

    /// One more.
    #[inline]
    pub(super) fn push(&mut self, coming: Coming) {
        self.known += 1;
        self.heap.push(Entry(coming, self.known));
    }

    /// When the first is at its queue; [`Time::NEVER`] if there is none.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.heap.peek().map_or(Time::NEVER, |Entry(first, _)| first.at)
    }

    /// The first.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Coming> {
        self.heap.pop().map(|Entry(first, _)| first)
    }

    /// Nothing moved for `by`.
    pub(super) fn stall(&mut self, by: Span) {
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        entries.iter_mut().for_each(|Entry(coming, _)| coming.at += by);
        self.heap = entries.into();
    }

    /// Each, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Coming> {
        self.heap.iter().map(|Entry(coming, _)| coming)
    }
}

impl Ord for Entry {
    /// The earliest is the greatest, since a heap has the greatest first.
    fn cmp(&self, other: &Entry) -> Ordering {
        (other.0.at, other.1).cmp(&(self.0.at, self.1))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}
