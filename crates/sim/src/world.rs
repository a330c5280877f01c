//! The world of one run: hosts, links, and the events that move packets between them.

use headgate_core::{FlowId, Packet, Time};
use headgate_link::Wakes;
use headgate_measure::{Balance, EventBatch, Outcome, Watch};
use headgate_scenario::Scenario;

use crate::hosts::Hosts;
use crate::link::Link;
use crate::queue::Queue;
use crate::run::RunError;
use crate::sampler::Sampler;
use crate::segment::{Segment, SimPacket};

/// What can happen, and to which packet or flow.
///
/// A plain pair rather than an enum with packets inside: events are copied in and out of the queue, and this one is
/// copied whole, whatever it is.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    what: What,
    /// The number of the link that the packet reaches, if it reaches one.
    link: u16,
    /// The packet; for a timer or a start, any packet of the flow.
    packet: SimPacket,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    FromSender,
    FromReceiver,
    FromLink,
    OutOfLink,
    ToSender,
    SenderTimer,
    ReceiverTimer,
    Start,
    Departure,
    Write,
    Close,
    Delivered,
    Sample,
    Warm,
}

impl Event {
    /// An interval of the tables over time ends.
    const SAMPLE: Event = Event::bare(What::Sample, 0);
    /// The warm-up ends.
    const WARM: Event = Event::bare(What::Warm, 0);

    /// A packet comes from its sender's access link to the first link of its route.
    #[inline]
    pub fn from_sender(link: u16, packet: SimPacket) -> Event {
        Event { what: What::FromSender, link, packet }
    }

    /// An acknowledgement comes from its receiver's access link to the first link on its way back.
    #[inline]
    pub fn from_receiver(link: u16, packet: SimPacket) -> Event {
        Event { what: What::FromReceiver, link, packet }
    }

    /// A packet comes from another link.
    #[inline]
    pub fn from_link(link: u16, packet: SimPacket) -> Event {
        Event { what: What::FromLink, link, packet }
    }

    /// A packet comes out of `link`, where that could not be told before.
    pub fn out_of_link(link: u16, packet: SimPacket) -> Event {
        Event { what: What::OutOfLink, link, packet }
    }

    /// An acknowledgement or a report reaches its sender.
    #[inline]
    pub fn to_sender(packet: SimPacket) -> Event {
        Event { what: What::ToSender, link: 0, packet }
    }

    /// A sender's timer.
    pub fn sender_timer(flow: u32) -> Event {
        Event::bare(What::SenderTimer, flow)
    }

    /// A receiver's timer.
    pub fn receiver_timer(flow: u32) -> Event {
        Event::bare(What::ReceiverTimer, flow)
    }

    /// A datagram that had to wait on its last wire is with its receiver.
    pub fn delivered(packet: SimPacket) -> Event {
        Event { what: What::Delivered, link: 0, packet }
    }

    /// A flow starts.
    pub fn start(flow: u32) -> Event {
        Event::bare(What::Start, flow)
    }

    /// Pacing lets a flow's next segment go.
    pub fn departure(flow: u32) -> Event {
        Event::bare(What::Departure, flow)
    }

    /// A flow's application writes.
    pub fn write(flow: u32) -> Event {
        Event::bare(What::Write, flow)
    }

    /// A write that sends for a time is over.
    pub fn close(flow: u32) -> Event {
        Event::bare(What::Close, flow)
    }

    /// Touches what the event will need, so that it is near when its time comes.
    #[inline]
    fn approach(&self, hosts: &Hosts) {
        match (self.what, hosts.tcp(&self.packet)) {
            (What::ToSender, Some(flow)) => flow.approach_sender(),
            (What::FromReceiver, Some(flow)) => flow.approach_wire(),
            _ => {}
        }
    }

    const fn bare(what: What, flow: u32) -> Event {
        Event { what, link: 0, packet: Packet::new(FlowId(flow as u64), 0, Segment::DATAGRAM) }
    }
}

/// Between two looks of the watcher.
const EVENTS_A_LOOK: u64 = 8192;

/// The network: every direction of every link, and the hosts.
pub struct Net {
    /// The links, by number.
    pub links: Vec<Link>,
    /// When each wants to be looked at.
    wakes: Wakes,
    /// The hosts.
    pub hosts: Hosts,
}

/// One run under way.
pub struct World {
    queue: Queue<Event>,
    net: Net,
    sampler: Sampler,
    /// Events of all links on their way to the watcher.
    batch: EventBatch,
}

impl World {
    /// A world in which the events of `queue` are to come.
    pub fn new(queue: Queue<Event>, links: Vec<Link>, hosts: Hosts, sampler: Sampler) -> World {
        let wakes = Wakes::new(links.len());
        World { queue, net: Net { links, wakes, hosts }, sampler, batch: EventBatch::default() }
    }

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
        let under_way = self.under_way(end);
        // What is still under way is no longer needed, and the tables want the room.
        self.queue = Queue::new(1);
        self.sampler.end(&mut self.net, end, &mut self.queue);
        self.report(end, watch)?;
        let balance = self.net.balance(under_way);
        let outcome = Outcome { balance, ..self.sampler.outcome(scenario, &mut self.net, end, events) };
        debug_assert!(outcome.conserves(), "a packet was lost or made: {balance:?}");
        Ok(outcome)
    }

    /// What hosts have sent by `end`, and what of it is on access links and between links. Empties the queue.
    fn under_way(&mut self, end: Time) -> Balance {
        let World { queue, net: Net { hosts, .. }, .. } = self;
        let mut balance = Balance { sent: hosts.sent_packets(), ..Balance::default() };
        while let Some((_, event)) = queue.pop(Time::NEVER, |_| ()) {
            match event.what {
                What::FromSender if hosts.is_to_come(&event.packet, end) => balance.sent -= 1,
                What::FromSender | What::FromReceiver | What::ToSender | What::Delivered => balance.on_access += 1,
                What::FromLink | What::OutOfLink => balance.between += 1,
                _ => {}
            }
        }
        balance
    }

    /// Lets the next thing before `end` happen and says when: an event, or a link that falls free, which comes after the
    /// events of the same time. `None` if nothing is to come.
    #[inline(always)]
    fn step(&mut self, end: Time) -> Option<Time> {
        let World { queue, net: Net { links, wakes, hosts }, .. } = self;
        let wake = wakes.first();
        let last = Time::from_nanos(end.as_nanos() - 1);
        if let Some((now, event)) = queue.pop(wake.min(last), |event| event.approach(hosts)) {
            self.happen(event, now);
            return Some(now);
        }
        if wake >= end {
            return None;
        }
        let number = wakes.winner();
        let link = &mut links[number];
        link.free(wake, hosts, queue);
        wakes.set(number, link.wake());
        Some(wake)
    }

    #[inline(always)]
    fn happen(&mut self, event: Event, now: Time) {
        let World { queue, net, sampler, .. } = self;
        let Event { what, link, packet } = event;
        let flow = packet.flow.0 as u32;
        match what {
            What::FromSender => {
                net.hosts.next_datagram(&packet, queue);
                net.arrive(link, packet, now, queue);
            }
            What::FromReceiver | What::FromLink => net.arrive(link, packet, now, queue),
            What::OutOfLink => net.hosts.leave(link, packet, now, queue),
            What::ToSender => net.hosts.acknowledge(&packet, now, queue),
            What::SenderTimer => net.hosts.sender_timer(flow, now, queue),
            What::ReceiverTimer => net.hosts.receiver_timer(flow, now, queue),
            What::Start => net.hosts.start(flow, now, queue),
            What::Departure => net.hosts.departure(flow, now, queue),
            What::Delivered => net.hosts.deliver(&packet, now, now),
            What::Write => net.hosts.write(flow, now, queue),
            What::Close => net.hosts.close(flow, now, queue),
            What::Sample => {
                let next = sampler.sample(net, now, queue);
                queue.push(next, Event::SAMPLE);
            }
            What::Warm => sampler.restart(net, now, queue),
        }
    }

    /// Tells the watcher what the links saw since the last time, in order of time, and how far the run is.
    fn report(&mut self, now: Time, watch: &mut dyn Watch) -> Result<(), RunError> {
        let mut logs = 0;
        for log in self.net.links.iter_mut().filter_map(|link| link.account_mut().events()) {
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
        if let Some(traces) = self.net.hosts.traces() {
            watch.traces(traces);
            traces.clear();
        }
        if let Some(captures) = self.net.hosts.captures() {
            captures.take(|link, bytes| watch.captured(link, bytes));
        }
        if watch.goes_on(now) { Ok(()) } else { Err(RunError::Stopped) }
    }
}

impl Net {
    /// Where all packets are that do not wait for an event, beside those that do.
    fn balance(&self, under_way: Balance) -> Balance {
        let sum = |count: fn(&Link) -> u64| self.links.iter().map(count).sum();
        Balance {
            delivered: self.hosts.delivered_packets,
            dropped: self.hosts.dropped_packets,
            lost: sum(Link::lost),
            queued: sum(|link| link.backlog().packets.into()),
            ..under_way
        }
    }

    /// A packet reaches a link.
    #[inline(always)]
    fn arrive(&mut self, number: u16, packet: SimPacket, now: Time, queue: &mut Queue<Event>) {
        let number = usize::from(number);
        let link = &mut self.links[number];
        link.arrive(packet, now, &mut self.hosts, queue);
        self.wakes.set(number, link.wake());
    }
}
