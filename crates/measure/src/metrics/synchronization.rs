//! Loss synchronization: whether flows lose packets together (RFC 7928, section 2.4).
//!
//! A loss event begins with a drop and lasts one base round-trip time. No sender reacts within that time. There are two
//! indices:
//! - global: the share of flows with a drop in an event, averaged over events (the RFC's global synchronization ratio);
//! - pairwise: the probability that a second flow has a drop in an event in which a first flow has, averaged over
//!   ordered pairs.
//!
//! Both are 1 if all flows always lose together. N is the number of flows with arrivals in the whole measured time, so
//! all events count alike. With drops of m flows in an event, the global index is the mean of m / N. The pairwise index
//! is the sum of m (m - 1) / (N - 1) over the sum of m, so pairs need no memory.

use aqm::{Span, Time};

use crate::table::{NamedColumn, Unit, rows};

rows! {
    /// Synchronization of losses at one port.
    pub struct LossSynchronization derives Clone Copy Debug Default PartialEq {
        /// Loss events. Each begins with a drop of a TCP flow and lasts one mean base round-trip time. RFC 7928,
        /// section 2.4.
        events: u64 as NamedColumn("loss_events", Unit::Count),
        /// Share of the TCP flows with a drop in a loss event, averaged over events; null without an event or with fewer
        /// than two TCP flows.
        global: Option<f64> as NamedColumn("loss_sync_global", Unit::Share),
        /// Probability that a second TCP flow has a drop in a loss event in which a first flow has one; null where
        /// `loss_sync_global` is.
        pairwise: Option<f64> as NamedColumn("loss_sync_pairwise", Unit::Share),
    }
}

/// Counts loss events at one port.
#[derive(Clone, Debug)]
pub struct SynchronizationMeter {
    window: Span,
    /// The current event: its end, its number from 1, and how many flows lost in it.
    event_end: Time,
    event: u32,
    losing: u32,
    /// The last event in which each flow lost.
    last_event: Vec<u32>,
    sums: Sums,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    events: u64,
    /// The sum of m over events.
    losing: u64,
    /// The sum of m (m - 1).
    pairs: u64,
}

impl SynchronizationMeter {
    /// No events yet, for `flows` flows and events of length `window`.
    pub fn new(flows: usize, window: Span) -> SynchronizationMeter {
        SynchronizationMeter {
            window,
            event_end: Time::ZERO,
            event: 0,
            losing: 0,
            last_event: vec![0; flows],
            sums: Sums::default(),
        }
    }

    /// Discards all events. Numbers continue, so `last_event` needs no reset.
    pub fn restart(&mut self) {
        (self.event_end, self.losing, self.sums) = (Time::ZERO, 0, Sums::default());
    }

    /// `flow` loses a packet.
    pub fn record_drop(&mut self, flow: usize, now: Time) {
        if self.losing == 0 || now >= self.event_end {
            self.sums = self.closed();
            (self.event_end, self.event, self.losing) = (now + self.window, self.event + 1, 0);
        }
        if self.last_event[flow] != self.event {
            self.last_event[flow] = self.event;
            self.losing += 1;
        }
    }

    /// The indices for `flows` flows, current event included. Fewer than two flows cannot be synchronized.
    pub fn indices(&self, flows: u32) -> LossSynchronization {
        let Sums { events, losing, pairs } = self.closed();
        let some = events > 0 && flows >= 2;
        let (flows, mean) = (f64::from(flows), losing as f64 / events as f64);
        LossSynchronization {
            events,
            global: some.then(|| mean / flows),
            pairwise: some.then(|| pairs as f64 / (flows - 1.0) / losing as f64),
        }
    }

    /// The sums with the current event, if there is one.
    fn closed(&self) -> Sums {
        let Sums { events, losing, pairs } = self.sums;
        let current = u64::from(self.losing);
        Sums {
            events: events + u64::from(current > 0),
            losing: losing + current,
            pairs: pairs + current * current.saturating_sub(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loss events of 10 ms at 0, 100 ms, 200 ms ...: in each, the flows that are named lose, a millisecond apart.
    fn events(flows: usize, events: &[&[usize]]) -> LossSynchronization {
        let mut meter = SynchronizationMeter::new(flows, Span::from_millis(10));
        for (event, losing) in events.iter().enumerate() {
            for (place, flow) in losing.iter().enumerate() {
                let now = Time::ZERO + Span::from_millis(100 * event as u64 + place as u64);
                meter.record_drop(*flow, now);
            }
        }
        meter.indices(flows as u32)
    }

    #[test]
    fn flows_that_always_lose_together_have_indices_of_one() {
        let found = events(4, &[&[0, 1, 2, 3], &[3, 2, 1, 0]]);
        assert_eq!(found, LossSynchronization { events: 2, global: Some(1.0), pairwise: Some(1.0) });
    }

    #[test]
    fn flows_that_lose_in_turn_are_not_synchronized() {
        let found = events(4, &[&[0], &[1], &[2], &[3]]);
        assert_eq!(found, LossSynchronization { events: 4, global: Some(0.25), pairwise: Some(0.0) });
    }

    #[test]
    fn two_pairs_that_take_turns_are_synchronized_within_each_pair() {
        // Half of the flows lose in each event. Of the three other flows, one loses whenever a given flow does.
        let found = events(4, &[&[0, 1], &[2, 3], &[0, 1], &[2, 3]]);
        assert_eq!((found.global, found.pairwise), (Some(0.5), Some(1.0 / 3.0)));
    }

    #[test]
    fn a_flow_that_loses_twice_in_an_event_counts_once_and_an_event_ends_after_its_window() {
        let found = events(2, &[&[0, 0, 0]]);
        assert_eq!((found.events, found.global), (1, Some(0.5)));
        let mut meter = SynchronizationMeter::new(2, Span::from_millis(10));
        for millis in [0, 9, 10] {
            meter.record_drop(0, Time::ZERO + Span::from_millis(millis));
        }
        assert_eq!(meter.indices(2).events, 2, "from 0 to 10 ms, and from 10 ms on");
    }

    #[test]
    fn flows_that_come_after_an_event_belong_to_its_flows_too() {
        let mut meter = SynchronizationMeter::new(4, Span::from_millis(10));
        for (millis, flow) in [(0, 0), (100, 0), (100, 1), (200, 0), (300, 3)] {
            meter.record_drop(flow, Time::ZERO + Span::from_millis(millis));
        }
        let found = meter.indices(4);
        // m is 1, 2, 1 and 1, and N is 4: the sum of m / 4 over four events; 2 * 1 / 3 over a sum of 5.
        assert_eq!((found.events, found.global), (4, Some(5.0 / 16.0)));
        assert!((found.pairwise.unwrap() - 2.0 / 15.0).abs() < 1e-15);
    }

    #[test]
    fn a_lone_flow_has_events_and_no_index_and_a_port_without_losses_neither() {
        assert_eq!(events(1, &[&[0], &[0]]), LossSynchronization { events: 2, global: None, pairwise: None });
        assert_eq!(events(3, &[]), LossSynchronization::default());
    }

    /// Each flow loses in each event independently with probability p. The pairwise index then estimates p. The global
    /// index estimates p over the probability that any flow loses.
    #[test]
    fn flows_that_lose_independently_have_the_indices_of_chance() {
        let (flows, p, rounds) = (10, 0.3, 20_000);
        let mut rng = aqm::Rng::named(1, "synchrony");
        let losing: Vec<Vec<usize>> = (0..rounds).map(|_| (0..flows).filter(|_| rng.chance(p)).collect()).collect();
        let losing: Vec<&[usize]> = losing.iter().filter(|some| !some.is_empty()).map(Vec::as_slice).collect();
        let found = events(flows, &losing);
        // The share of 10 flows has variance p (1 - p) / 10: five standard errors over 20 000 rounds are 0.0051. About
        // 3 of 10 flows lose in a round. The pairwise estimate is at least as good as one Bernoulli sample per round:
        // 0.016.
        let some: f64 = 1.0 - (1.0 - p).powi(flows as i32);
        assert!((found.global.unwrap() - p / some).abs() < 0.0052 / some, "{found:?}");
        assert!((found.pairwise.unwrap() - p).abs() < 0.017, "{found:?}");
    }
}
