//! Measures for how long a sender is limited by its window, its access links and its source.

use aqm::{Span, Time};
use headgate_measure::HeldTimes;

use crate::tcp::SendLimit;

/// The clock of one flow. It changes only when the limit does, or while an access link has a queue.
#[derive(Clone, Debug)]
pub struct LimitClock {
    limit: SendLimit,
    /// The time up to which `held` counts; [`Time::NEVER`] before the flow starts and after it has ended.
    since: Time,
    /// When the access links will have sent their queues. Until then they are the limit, whatever `limit` says.
    queue_until: Time,
    held: HeldTimes,
}

impl LimitClock {
    /// The clock of a flow that has not started.
    pub fn new() -> LimitClock {
        let (since, queue_until) = (Time::NEVER, Time::ZERO);
        LimitClock { limit: SendLimit::Source, since, queue_until, held: HeldTimes::default() }
    }

    /// The flow starts.
    pub fn start(&mut self, now: Time) {
        self.since = now;
    }

    /// The flow has ended.
    pub fn end(&mut self, now: Time) {
        self.settle(now);
        self.since = Time::NEVER;
    }

    /// Counts from `now` on.
    pub fn restart(&mut self, now: Time) {
        self.settle(now);
        self.held = HeldTimes::default();
    }

    /// From `now` on the sender is limited by `limit`, and by its access link until `queue_until` if that has a queue.
    ///
    /// `now` may be before the last update: a flow that acts ahead of time has acted at a later one.
    pub fn update(&mut self, limit: SendLimit, queue_until: Option<Time>, now: Time) {
        let continues = match queue_until {
            None => self.queue_until <= self.since,
            Some(_) => now <= self.queue_until,
        };
        if limit != self.limit || !continues {
            self.settle(now);
            self.limit = limit;
        }
        if let Some(until) = queue_until {
            self.queue_until = until;
        }
    }

    /// An access link has a queue from `now` on until `queue_until`.
    pub fn update_access(&mut self, queue_until: Time, now: Time) {
        self.update(self.limit, Some(queue_until.max(self.queue_until)), now);
    }

    /// The times up to `now`.
    pub fn held(&self, now: Time) -> HeldTimes {
        let mut held = self.held;
        if self.since < now {
            let queue_until = self.queue_until.clamp(self.since, now);
            held.access = held.access + (queue_until - self.since);
            self.add_to_limit(&mut held, now - queue_until);
        }
        held
    }

    fn add_to_limit(&self, held: &mut HeldTimes, time: Span) {
        match self.limit {
            SendLimit::Link => {}
            SendLimit::Window => held.window = held.window + time,
            SendLimit::Source => held.source = held.source + time,
        }
    }

    fn settle(&mut self, now: Time) {
        self.held = self.held(now);
        if self.since != Time::NEVER {
            self.since = now.max(self.since);
        }
    }
}
