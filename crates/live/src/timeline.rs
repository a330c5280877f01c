//! A queue of events, ordered by time.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use aqm::{Span, Time};

/// Events ordered by time; events of the same time keep the order in which they were added.
pub(crate) struct Timeline<T> {
    heap: BinaryHeap<TimedEvent<T>>,
    /// Events added so far; the number breaks ties.
    added: u64,
}

struct TimedEvent<T> {
    at: Time,
    number: u64,
    event: T,
}

impl<T> Timeline<T> {
    /// An empty timeline that does not allocate for up to `room` events.
    pub(crate) fn new(room: usize) -> Timeline<T> {
        Timeline { heap: BinaryHeap::with_capacity(room), added: 0 }
    }

    #[inline]
    pub(crate) fn push(&mut self, at: Time, event: T) {
        self.added += 1;
        self.heap.push(TimedEvent { at, number: self.added, event });
    }

    /// Time of the first event; [`Time::NEVER`] if there is none.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.heap.peek().map_or(Time::NEVER, |first| first.at)
    }

    /// Removes the first event if its time is at most `now`; returns it with its time.
    #[inline]
    pub(crate) fn pop(&mut self, now: Time) -> Option<(Time, T)> {
        if self.next() > now {
            return None;
        }
        self.heap.pop().map(|first| (first.at, first.event))
    }

    /// Delays every event by `by`.
    pub(crate) fn stall(&mut self, by: Span) {
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        entries.iter_mut().for_each(|entry| entry.at += by);
        self.heap = entries.into();
    }

    /// All events, unordered.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.heap.iter().map(|entry| &entry.event)
    }
}

/// Reversed: `BinaryHeap` is a max-heap.
impl<T> Ord for TimedEvent<T> {
    fn cmp(&self, other: &TimedEvent<T>) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl<T> PartialOrd for TimedEvent<T> {
    fn partial_cmp(&self, other: &TimedEvent<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for TimedEvent<T> {
    fn eq(&self, other: &TimedEvent<T>) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for TimedEvent<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_due_at_the_same_time_keep_their_order() {
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
