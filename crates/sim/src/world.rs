//! The event loop of one run.
//!
//! Events are in a queue ([`EventQueue`]), except those of links: each link has one wake-up time. A step processes the
//! earlier of the next event and the next wake-up. At equal times the event comes first. Every [`EVENTS_PER_REPORT`]
//! events the observer gets the link events, traces and captures so far, and may stop the run.

use aqm::Time;
use headgate_link::WakeTimes;
use headgate_measure::{Balance, EventBatch, Outcome, RunObserver};
use headgate_scenario::Scenario;

use crate::event::{EventKind, SimEvent};
use crate::event_queue::EventQueue;
use crate::hosts::Hosts;
use crate::link::{Downstream, SimLink};
use crate::net::Net;
use crate::run_error::RunError;
use crate::sampler::Sampler;

/// Events between two calls of the observer.
const EVENTS_PER_REPORT: u64 = 8192;

/// One run, advanced step by step. However it is divided into steps, its outcome is that of [`run`](crate::run()).
pub struct World {
    pub(crate) queue: EventQueue<SimEvent>,
    pub(crate) net: Net,
    sampler: Sampler,
    /// Link events not yet reported to the observer.
    batch: EventBatch,
    end: Time,
    /// Events so far.
    events: u64,
}

impl World {
    pub(crate) fn new(
        scenario: &Scenario,
        mut queue: EventQueue<SimEvent>,
        links: Vec<SimLink>,
        hosts: Hosts,
    ) -> World {
        let wakes = WakeTimes::new(links.len());
        queue.push(Time::ZERO + scenario.warmup, SimEvent::of_flow(EventKind::WarmupEnd, 0));
        queue.push(Time::ZERO + scenario.record.interval, SimEvent::of_flow(EventKind::IntervalEnd, 0));
        World {
            queue,
            net: Net { links, wakes, hosts },
            sampler: Sampler::new(scenario),
            batch: EventBatch::default(),
            end: Time::ZERO + scenario.duration,
            events: 0,
        }
    }

    /// Processes everything that happens before `until` or the scenario's end, and reports it to `watch`.
    ///
    /// # Errors
    /// [`RunError::Stopped`] if the observer asks to stop.
    pub fn advance(&mut self, until: Time, watch: &mut dyn RunObserver) -> Result<(), RunError> {
        let until = until.min(self.end);
        // A step looks at the nanosecond before its end, and there is none before the start.
        if until > Time::ZERO {
            self.process(until, u64::MAX, watch)?;
        }
        self.report(until, watch)
    }

    /// Processes one event, and reports it to `watch`. Returns its time; `None` at the scenario's end.
    ///
    /// # Errors
    /// [`RunError::Stopped`] if the observer asks to stop.
    pub fn advance_one(&mut self, watch: &mut dyn RunObserver) -> Result<Option<Time>, RunError> {
        let reached = self.process(self.end, 1, watch)?;
        self.report(reached.unwrap_or(self.end), watch)?;
        Ok(reached)
    }

    /// Runs to the scenario's end and returns the outcome. `scenario` is the one that the world was built from.
    ///
    /// # Errors
    /// [`RunError::Stopped`] if the observer asks to stop.
    pub fn finish(mut self, scenario: &Scenario, watch: &mut dyn RunObserver) -> Result<Outcome, RunError> {
        let end = self.end;
        self.process(end, u64::MAX, watch)?;
        let in_flight = self.count_in_flight(end);
        // Frees the pending events: the tables need the memory.
        self.queue = EventQueue::new(1);
        self.sampler.finish(&mut self.net, end, &mut self.queue);
        self.report(end, watch)?;
        let balance = self.net.balance(in_flight);
        let outcome = Outcome { balance, ..self.sampler.outcome(scenario, &mut self.net, end, self.events) };
        debug_assert!(outcome.conserves(), "packets are not conserved: {balance:?}");
        Ok(outcome)
    }

    /// Processes events before `until`, at most `most` of them. Returns the time of the last; `None` if there are no
    /// more.
    #[inline(never)]
    fn process(&mut self, until: Time, most: u64, watch: &mut dyn RunObserver) -> Result<Option<Time>, RunError> {
        let last = self.events.saturating_add(most);
        loop {
            let report_at = (self.events / EVENTS_PER_REPORT + 1) * EVENTS_PER_REPORT;
            let pause_at = report_at.min(last);
            let mut now = Time::ZERO;
            while self.events < pause_at {
                match self.step(until) {
                    Some(time) => (now, self.events) = (time, self.events + 1),
                    None => return Ok(None),
                }
            }
            if pause_at == report_at {
                self.report(now, watch)?;
            }
            if pause_at == last {
                return Ok(Some(now));
            }
        }
    }

    /// Counts the packets sent by `end`, and how many are on access wires and between links. Empties the
    /// queue.
    fn count_in_flight(&mut self, end: Time) -> Balance {
        let World { queue, net: Net { hosts, .. }, .. } = self;
        let mut balance = Balance { sent: hosts.sent_packets(), ..Balance::default() };
        while let Some((_, event)) = queue.pop(Time::NEVER, |_| ()) {
            match event.kind {
                EventKind::FromSender if hosts.is_unsent(&event.packet(), end) => balance.sent -= 1,
                EventKind::FromSender | EventKind::FromReceiver | EventKind::ToSender => balance.on_access += 1,
                EventKind::FromLink | EventKind::ReachesFarEnd => balance.between += 1,
                _ => {}
            }
        }
        balance
    }

    /// Processes the next event or link departure before `end` and returns its time; `None` if there is none. At
    /// equal times events precede links.
    #[inline(always)]
    fn step(&mut self, end: Time) -> Option<Time> {
        let World { queue, net: Net { links, wakes, hosts }, .. } = self;
        let wake = wakes.earliest();
        let last = Time::from_nanos(end.as_nanos() - 1);
        if let Some((now, event)) = queue.pop(wake.min(last), |event| prefetch(event, hosts)) {
            self.handle(event, now);
            return Some(now);
        }
        if wake >= end {
            return None;
        }
        let number = wakes.earliest_link();
        let link = &mut links[number];
        link.on_wake(wake, &mut Downstream { number: number as u16, hosts, queue });
        wakes.set(number, link.wake_at());
        Some(wake)
    }

    #[inline(always)]
    fn handle(&mut self, event: SimEvent, now: Time) {
        let World { queue, net, sampler, .. } = self;
        let SimEvent { kind, link, flow, .. } = event;
        // Each branch makes the packet for itself, where it is needed.
        match kind {
            EventKind::FromSender => {
                net.hosts.next_datagram(&event, queue);
                net.arrive(link, event.packet(), now, queue);
            }
            EventKind::FromReceiver | EventKind::FromLink => net.arrive(link, event.packet(), now, queue),
            EventKind::ReachesFarEnd => net.hosts.forward_packet(link, event.packet(), [now, now], queue),
            EventKind::ToSender => net.hosts.acknowledge(&event.packet(), now, queue),
            EventKind::SenderTimer => net.hosts.sender_timer(flow, now, queue),
            EventKind::ReceiverTimer => net.hosts.receiver_timer(flow, now, queue),
            EventKind::FlowStart => net.hosts.start_flow(flow, now, queue),
            EventKind::PacedSend => net.hosts.paced_send(flow, now, queue),
            EventKind::AppWrite => net.hosts.app_write(flow, now, queue),
            EventKind::AppClose => net.hosts.app_close(flow, now, queue),
            EventKind::IntervalEnd => {
                let next = sampler.sample(net, now, queue);
                queue.push(next, SimEvent::of_flow(EventKind::IntervalEnd, 0));
            }
            EventKind::WarmupEnd => sampler.restart(net, now, queue),
        }
    }

    /// Reports progress and the link events since the last call, in order of time.
    fn report(&mut self, now: Time, watch: &mut dyn RunObserver) -> Result<(), RunError> {
        let mut logs = 0;
        for log in self.net.links.iter_mut().filter_map(|link| link.port_mut().ledger_mut().events()) {
            log.take(&mut self.batch);
            logs += 1;
        }
        if logs > 1 {
            self.batch.sort();
        }
        if logs > 0 {
            watch.events(&self.batch);
            self.batch.clear();
        }
        if let Some(traces) = &mut self.net.hosts.traces {
            watch.traces(&traces.take(now));
        }
        if let Some(captures) = &mut self.net.hosts.captures {
            captures.take(|link, bytes| watch.captured(link, bytes));
        }
        if self.net.hosts.has_overflowed() {
            return Err(RunError::TooManyReplies);
        }
        if watch.should_continue(now) { Ok(()) } else { Err(RunError::Stopped) }
    }
}

/// Prefetches the memory that the event will need.
#[inline]
fn prefetch(event: &SimEvent, hosts: &Hosts) {
    match (event.kind, hosts.tcp(event.flow)) {
        (EventKind::ToSender, Some(flow)) => flow.prefetch_sender(),
        // The sender may act ahead of time.
        (EventKind::FromReceiver, Some(flow)) => {
            flow.prefetch_ack_wire();
            flow.prefetch_sender();
        }
        _ => {}
    }
}
