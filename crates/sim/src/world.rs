//! The world of one run: hosts, the two directions of the bottleneck, and the events that move them.

use headgate_core::{Discipline, FlowId, Packet, Time, Totals};
use headgate_scenario::Scenario;

use crate::hosts::Hosts;
use crate::link::{Link, Way};
use crate::meter::FlowLedger;
use crate::outcome::{Outcome, RunError, Watch};
use crate::queue::Queue;
use crate::sampler::Sampler;
use crate::segment::{Segment, SimPacket};

/// What can happen, and to which packet or flow.
///
/// A plain pair rather than an enum with packets inside: events are copied in and out of the queue, and this one is
/// copied whole, whatever it is.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    what: What,
    /// The packet; for a timer or a start, any packet of the flow.
    packet: SimPacket,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    ToForward,
    ToReverse,
    ToSender,
    SenderTimer,
    ReceiverTimer,
    Start,
    Delivered,
    Sample,
    Warm,
}

impl Event {
    /// An interval of the tables over time ends.
    const SAMPLE: Event = Event::bare(What::Sample, 0);
    /// The warm-up ends.
    const WARM: Event = Event::bare(What::Warm, 0);

    /// A packet reaches the forward bottleneck.
    #[inline]
    pub fn to_forward(packet: SimPacket) -> Event {
        Event { what: What::ToForward, packet }
    }

    /// An acknowledgement reaches the reverse bottleneck.
    #[inline]
    pub fn to_reverse(packet: SimPacket) -> Event {
        Event { what: What::ToReverse, packet }
    }

    /// A sender's retransmission timer.
    pub fn sender_timer(flow: u32) -> Event {
        Event::bare(What::SenderTimer, flow)
    }

    /// A receiver's delayed-ACK timer.
    pub fn receiver_timer(flow: u32) -> Event {
        Event::bare(What::ReceiverTimer, flow)
    }

    /// A datagram that had to wait on its last wire is with its receiver.
    pub fn delivered(packet: SimPacket) -> Event {
        Event { what: What::Delivered, packet }
    }

    /// A TCP flow starts.
    pub fn start(flow: u32) -> Event {
        Event::bare(What::Start, flow)
    }

    /// Touches what the event will need, so that it is near when its time comes.
    #[inline]
    fn approach(&self, hosts: &Hosts) {
        match self.what {
            What::ToSender => hosts.tcp(&self.packet).approach_sender(),
            What::ToReverse => hosts.tcp(&self.packet).approach_wire(),
            _ => {}
        }
    }

    const fn bare(what: What, flow: u32) -> Event {
        Event { what, packet: Packet::new(FlowId(flow as u64), 0, Segment::DATAGRAM) }
    }
}

/// Between two looks of the watcher.
const EVENTS_A_LOOK: u64 = 8192;

/// From senders to receivers.
pub struct Forward;

/// From receivers to senders.
pub struct Reverse;

impl Way for Forward {
    #[inline]
    fn leave(packet: SimPacket, now: Time, hosts: &mut Hosts, queue: &mut Queue<Event>) {
        hosts.receive(packet, now, queue);
    }
}

impl Way for Reverse {
    #[inline]
    fn leave(packet: SimPacket, now: Time, hosts: &mut Hosts, queue: &mut Queue<Event>) {
        let arrives = hosts.ack_arrives(&packet, now);
        queue.push(arrives, Event { what: What::ToSender, packet });
    }
}

/// The link from senders to receivers.
pub type ForwardLink<D> = Link<Forward, D, FlowLedger>;

/// The link from receivers to senders.
pub type ReverseLink<R> = Link<Reverse, R, Totals>;

/// The network: both directions of the bottleneck, and both ends.
pub struct Net<D, R> {
    /// From senders to receivers.
    pub forward: ForwardLink<D>,
    /// From receivers to senders.
    pub reverse: ReverseLink<R>,
    /// Both ends.
    pub hosts: Hosts,
}

/// One run under way.
pub struct World<D, R> {
    /// The events to come.
    pub queue: Queue<Event>,
    /// What they happen to.
    pub net: Net<D, R>,
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
        self.queue.push(Time::ZERO + scenario.warmup, Event::WARM);
        self.queue.push(Time::ZERO + scenario.record.interval, Event::SAMPLE);
        let mut events: u64 = 0;
        while let Some(now) = self.step(end) {
            events += 1;
            if events.is_multiple_of(EVENTS_A_LOOK) {
                self.report(now, watch)?;
            }
        }
        // What is still under way is no longer needed, and the tables want the room.
        self.queue = Queue::new(1);
        self.sampler.end(&mut self.net, end);
        self.report(end, watch)?;
        Ok(self.sampler.outcome(scenario, &self.net, end, events))
    }

    /// Lets the next thing before `end` happen and says when: an event, or a link that falls free, which comes after the
    /// events of the same time. `None` if nothing is to come.
    #[inline(always)]
    fn step(&mut self, end: Time) -> Option<Time> {
        let World { queue, net: Net { forward, reverse, hosts }, .. } = self;
        let wake = forward.wake().min(reverse.wake());
        let last = Time::from_nanos(end.as_nanos() - 1);
        if let Some((now, event)) = queue.pop(wake.min(last), |event| event.approach(hosts)) {
            self.happen(event, now);
            return Some(now);
        }
        if wake >= end {
            return None;
        }
        if forward.wake() == wake {
            forward.free(wake, hosts, queue);
        } else {
            reverse.free(wake, hosts, queue);
        }
        Some(wake)
    }

    #[inline(always)]
    fn happen(&mut self, event: Event, now: Time) {
        let World { queue, net, sampler } = self;
        let Event { what, packet } = event;
        let flow = packet.flow.0 as u32;
        match what {
            What::ToForward => {
                net.hosts.next_datagram(&packet, queue);
                net.forward.arrive(packet, now, &mut net.hosts, queue);
            }
            What::ToReverse => net.reverse.arrive(packet, now, &mut net.hosts, queue),
            What::ToSender => net.hosts.acknowledge(&packet, now, queue),
            What::SenderTimer => net.hosts.sender_timer(flow, now, queue),
            What::ReceiverTimer => net.hosts.receiver_timer(flow, now, queue),
            What::Start => net.hosts.start(flow, now, queue),
            What::Delivered => net.hosts.deliver(&packet),
            What::Sample => {
                let next = sampler.sample(net, now);
                queue.push(next, Event::SAMPLE);
            }
            What::Warm => sampler.restart(net, now),
        }
    }

    fn report(&mut self, now: Time, watch: &mut dyn Watch) -> Result<(), RunError> {
        if let Some(events) = self.net.forward.ledger_mut().events() {
            watch.events(events);
            events.clear();
        }
        if watch.goes_on(now) { Ok(()) } else { Err(RunError::Stopped) }
    }
}
