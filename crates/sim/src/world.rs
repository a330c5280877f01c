//! The world of one run: hosts, the two directions of the bottleneck, and the events that move them.

use headgate_core::{Discipline, Time, Totals};
use headgate_scenario::Scenario;

use crate::hosts::Hosts;
use crate::link::{Link, Step};
use crate::meter::FlowLedger;
use crate::outcome::{Outcome, RunError, Watch};
use crate::queue::Queue;
use crate::sampler::Sampler;
use crate::segment::{Segment, SimPacket};

/// What can happen.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A packet reaches the forward bottleneck.
    ToForward(SimPacket),
    /// An acknowledgement reaches the reverse bottleneck.
    ToReverse(SimPacket),
    /// A packet reaches its receiver.
    ToReceiver(SimPacket),
    /// An acknowledgement reaches its sender.
    ToSender(SimPacket),
    /// The forward link falls free.
    ForwardFree,
    /// The reverse link falls free.
    ReverseFree,
    /// A sender's retransmission timer.
    SenderTimer(u32),
    /// A receiver's delayed-ACK timer.
    ReceiverTimer(u32),
    /// A TCP flow starts.
    Start(u32),
    /// An interval of the tables over time ends.
    Sample,
    /// The warm-up ends.
    Warm,
}

/// Between two looks of the watcher.
const EVENTS_A_LOOK: u64 = 8192;

/// One run under way.
pub struct World<D, R> {
    /// The events to come.
    pub queue: Queue<Event>,
    /// From senders to receivers.
    pub forward: Link<D, FlowLedger>,
    /// From receivers to senders.
    pub reverse: Link<R, Totals>,
    /// Both ends.
    pub hosts: Hosts,
    /// The tables over time.
    pub sampler: Sampler,
}

impl<D: Discipline<Segment>, R: Discipline<Segment>> World<D, R> {
    /// Lets everything happen up to the scenario's end.
    ///
    /// # Errors
    /// [`RunError::Stopped`] if the watcher asks for it.
    pub fn run(mut self, scenario: &Scenario, watch: &mut dyn Watch) -> Result<Outcome, RunError> {
        let end = Time::ZERO + scenario.duration;
        self.queue.push(Time::ZERO + scenario.warmup, Event::Warm);
        self.queue.push(Time::ZERO + scenario.record.interval, Event::Sample);
        let mut events: u64 = 0;
        while let Some((now, event)) = self.queue.pop() {
            if now >= end {
                break;
            }
            self.happen(event, now);
            events += 1;
            if events.is_multiple_of(EVENTS_A_LOOK) {
                self.report(now, watch)?;
            }
        }
        self.sampler.end(&mut self.forward, &mut self.reverse, &mut self.hosts, end);
        self.report(end, watch)?;
        Ok(self.sampler.outcome(scenario, &self.forward, &self.reverse, &self.hosts, end, events))
    }

    #[inline]
    fn happen(&mut self, event: Event, now: Time) {
        match event {
            Event::ToForward(packet) => {
                self.hosts.next_datagram(&packet, &mut self.queue);
                let step = self.forward.arrive(packet, now, &mut self.hosts);
                self.on_forward(step);
            }
            Event::ForwardFree => {
                let step = self.forward.free(now, &mut self.hosts);
                self.on_forward(step);
            }
            Event::ToReceiver(packet) => self.hosts.receive(&packet, now, &mut self.queue),
            Event::ToReverse(packet) => {
                let step = self.reverse.arrive(packet, now, &mut self.hosts);
                self.on_reverse(step);
            }
            Event::ReverseFree => {
                let step = self.reverse.free(now, &mut self.hosts);
                self.on_reverse(step);
            }
            Event::ToSender(packet) => self.hosts.acknowledge(&packet, now, &mut self.queue),
            Event::SenderTimer(flow) => self.hosts.sender_timer(flow, now, &mut self.queue),
            Event::ReceiverTimer(flow) => self.hosts.receiver_timer(flow, now, &mut self.queue),
            Event::Start(flow) => self.hosts.send(flow, now, &mut self.queue),
            Event::Sample => {
                let next = self.sampler.sample(&mut self.forward, &mut self.reverse, &mut self.hosts, now);
                self.queue.push(next, Event::Sample);
            }
            Event::Warm => self.sampler.restart(&mut self.forward, &mut self.reverse, &mut self.hosts, now),
        }
    }

    #[inline]
    fn on_forward(&mut self, step: Step) {
        if let Some((at, packet)) = step.sent {
            self.sampler.packets += 1;
            let arrives = self.hosts.down_forward(&packet, at);
            self.queue.push(arrives, Event::ToReceiver(packet));
        }
        if let Some(wake) = step.wake {
            self.queue.push(wake, Event::ForwardFree);
        }
    }

    #[inline]
    fn on_reverse(&mut self, step: Step) {
        if let Some((at, packet)) = step.sent {
            let arrives = self.hosts.down_reverse(&packet, at);
            self.queue.push(arrives, Event::ToSender(packet));
        }
        if let Some(wake) = step.wake {
            self.queue.push(wake, Event::ReverseFree);
        }
    }

    fn report(&mut self, now: Time, watch: &mut dyn Watch) -> Result<(), RunError> {
        let events = self.forward.ledger_mut().events();
        if !events.is_empty() {
            watch.events(events);
            events.clear();
        }
        if watch.goes_on(now) { Ok(()) } else { Err(RunError::Stopped) }
    }
}
