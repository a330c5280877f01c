//! The world of one run: hosts, the two directions of the bottleneck, and the events that move them.

use headgate_core::{Discipline, Time, Totals};
use headgate_scenario::Scenario;

use crate::hosts::Hosts;
use crate::link::{Link, Way};
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

/// From senders to receivers.
pub struct Forward;

/// From receivers to senders.
pub struct Reverse;

impl Way for Forward {
    const FREE: Event = Event::ForwardFree;
    #[inline]
    fn leave(packet: SimPacket, now: Time, hosts: &mut Hosts, queue: &mut Queue<Event>) {
        let arrives = hosts.down_forward(&packet, now);
        queue.push(arrives, Event::ToReceiver(packet));
    }
}

impl Way for Reverse {
    const FREE: Event = Event::ReverseFree;
    #[inline]
    fn leave(packet: SimPacket, now: Time, hosts: &mut Hosts, queue: &mut Queue<Event>) {
        let arrives = hosts.down_reverse(&packet, now);
        queue.push(arrives, Event::ToSender(packet));
    }
}

/// The link from senders to receivers.
pub type ForwardLink<D> = Link<Forward, D, FlowLedger>;

/// The link from receivers to senders.
pub type ReverseLink<R> = Link<Reverse, R, Totals>;

/// One run under way.
pub struct World<D, R> {
    /// The events to come.
    pub queue: Queue<Event>,
    /// From senders to receivers.
    pub forward: ForwardLink<D>,
    /// From receivers to senders.
    pub reverse: ReverseLink<R>,
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

    #[inline(always)]
    fn happen(&mut self, event: Event, now: Time) {
        let World { queue, forward, reverse, hosts, sampler } = self;
        match event {
            Event::ToForward(packet) => {
                hosts.next_datagram(&packet, queue);
                forward.arrive(packet, now, hosts, queue);
            }
            Event::ForwardFree => forward.free(now, hosts, queue),
            Event::ToReceiver(packet) => hosts.receive(&packet, now, queue),
            Event::ToReverse(packet) => reverse.arrive(packet, now, hosts, queue),
            Event::ReverseFree => reverse.free(now, hosts, queue),
            Event::ToSender(packet) => hosts.acknowledge(&packet, now, queue),
            Event::SenderTimer(flow) => hosts.sender_timer(flow, now, queue),
            Event::ReceiverTimer(flow) => hosts.receiver_timer(flow, now, queue),
            Event::Start(flow) => hosts.send(flow, now, queue),
            Event::Sample => {
                let next = sampler.sample(forward, reverse, hosts, now);
                queue.push(next, Event::Sample);
            }
            Event::Warm => sampler.restart(forward, reverse, hosts, now),
        }
    }

    fn report(&mut self, now: Time, watch: &mut dyn Watch) -> Result<(), RunError> {
        if let Some(events) = self.forward.ledger_mut().events() {
            watch.events(events);
            events.clear();
        }
        if watch.goes_on(now) { Ok(()) } else { Err(RunError::Stopped) }
    }
}
