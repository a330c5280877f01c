//! What a thread of senders has to do, and when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headgate_core::{Span, Time};

/// Something to do, to the TCP or UDP flow of that place in the thread's list where it is a flow's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// A TCP flow starts.
    Start(usize),
    /// Its application writes.
    Write(usize),
    /// A write that lasts for a time is over.
    Close(usize),
    /// A TCP flow stops.
    Stop(usize),
    /// A UDP flow's next datagrams.
    Datagrams(usize),
    /// The kernel is asked what its connections do.
    Sample,
    /// Traced senders are looked at.
    Trace,
    /// The warm-up is over.
    Warm,
}

/// What is to be done, in order of time; what is due at the same time, in the order in which it was put here.
#[derive(Default)]
pub struct Timers {
    heap: BinaryHeap<Reverse<(Time, u64, Due)>>,
    count: u64,
}

impl Timers {
    /// `due` at `at`.
    pub fn push(&mut self, at: Time, due: Due) {
        self.count += 1;
        self.heap.push(Reverse((at, self.count, due)));
    }

    /// What is due at `now`, and for when it was.
    pub fn pop(&mut self, now: Time) -> Option<(Time, Due)> {
        let Reverse((at, ..)) = self.heap.peek()?;
        if *at > now {
            return None;
        }
        self.heap.pop().map(|Reverse((at, _, due))| (at, due))
    }

    /// How long it is until something is due, seen from `now`.
    pub fn until(&self, now: Time) -> Span {
        self.heap.peek().map_or(Span::from_secs(1), |Reverse((at, ..))| *at - now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_at_the_same_time_keeps_its_order() {
        let (mut timers, at) = (Timers::default(), Time::from_nanos(5));
        timers.push(at, Due::Write(1));
        timers.push(at, Due::Start(2));
        timers.push(Time::from_nanos(3), Due::Sample);
        assert_eq!(timers.pop(Time::from_nanos(2)), None);
        assert_eq!(timers.until(Time::from_nanos(2)), Span::from_nanos(1));
        let order: Vec<Due> = std::iter::from_fn(|| timers.pop(at)).map(|(_, due)| due).collect();
        assert_eq!(order, [Due::Sample, Due::Write(1), Due::Start(2)]);
    }
}
