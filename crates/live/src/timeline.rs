//! What is to happen, in order of time.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use headgate_core::{Span, Time};

/// What is to happen, in order of time; what happens at the same time, in the order in which it was put here.
pub(crate) struct Timeline<T> {
    heap: BinaryHeap<Entry<T>>,
    /// How many have been in it.
    known: u64,
}

struct Entry<T> {
    at: Time,
    number: u64,
    what: T,
}

impl<T> Timeline<T> {
    /// One with room for as much as `room`, for which it never grows.
    pub(crate) fn new(room: usize) -> Timeline<T> {
        Timeline { heap: BinaryHeap::with_capacity(room), known: 0 }
    }

    /// `what` is to happen at `at`.
    #[inline]
    pub(crate) fn push(&mut self, at: Time, what: T) {
        self.known += 1;
        self.heap.push(Entry { at, number: self.known, what });
    }

    /// When the first is to happen; [`Time::NEVER`] if there is none.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.heap.peek().map_or(Time::NEVER, |first| first.at)
    }

    /// The first, if it is due at `now`, and for when it was.
    #[inline]
    pub(crate) fn pop(&mut self, now: Time) -> Option<(Time, T)> {
        if self.next() > now {
            return None;
        }
        self.heap.pop().map(|first| (first.at, first.what))
    }

    /// Nothing moved for `by`.
    pub(crate) fn stall(&mut self, by: Span) {
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        entries.iter_mut().for_each(|entry| entry.at += by);
        self.heap = entries.into();
    }

    /// All, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.heap.iter().map(|entry| &entry.what)
    }
}

/// The earliest is the greatest, since a heap has the greatest first.
impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Entry<T>) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Entry<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Entry<T>) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Entry<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_at_the_same_time_keeps_its_order() {
        let (mut timeline, at) = (Timeline::new(3), Time::from_nanos(5));
        timeline.push(at, "write");
        timeline.push(at, "start");
        timeline.push(Time::from_nanos(3), "sample");
        assert_eq!(timeline.pop(Time::from_nanos(2)), None);
        assert_eq!(timeline.next() - Time::from_nanos(2), Span::from_nanos(1));
        let order: Vec<&str> = std::iter::from_fn(|| timeline.pop(at)).map(|(_, due)| due).collect();
        assert_eq!(order, ["sample", "write", "start"]);
    }
}
