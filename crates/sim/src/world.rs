//! The world of one run: hosts, links, and the events that move packets between them.

use headgate_core::Time;
use headgate_link::WakeTimes;
use headgate_measure::{Balance, EventBatch, Outcome, Watch};
use headgate_scenario::Scenario;

use crate::event::{Event, What};
use crate::hosts::Hosts;
use crate::link::{Link, Onward};
use crate::net::Net;
use crate::queue::Queue;
use crate::sampler::Sampler;

/// Events between two calls of the watcher.
const EVENTS_A_LOOK: u64 = 8192;

pub struct World {
    queue: Queue<Event>,
    net: Net,
    sampler: Sampler,
    /// Link events not yet reported to the watcher.
    batch: EventBatch,
}

impl World {
    pub fn new(queue: Queue<Event>, links: Vec<Link>, hosts: Hosts, sampler: Sampler) -> World {
        let wakes = WakeTimes::new(links.len());
        World { queue, net: Net { links, wakes, hosts }, sampler, batch: EventBatch::default() }
    }

    /// Runs to the scenario's end; `None` if the watcher asks to stop.
    pub fn run(mut self, scenario: &Scenario, watch: &mut dyn Watch) -> Option<Outcome> {
        let end = Time::ZERO + scenario.duration;
        self.queue.push(Time::ZERO + scenario.warmup, Event::flow(What::Warm, 0));
        self.queue.push(Time::ZERO + scenario.record.interval, Event::flow(What::Sample, 0));
        let mut events: u64 = 0;
        while let Some(now) = self.step(end) {
            events += 1;
            if events.is_multiple_of(EVENTS_A_LOOK) {
                self.report(now, watch)?;
            }
        }
        let under_way = self.under_way(end);
        // Frees the pending events: the tables need the memory.
        self.queue = Queue::new(1);
        self.sampler.end(&mut self.net, end, &mut self.queue);
        self.report(end, watch)?;
        let balance = self.net.balance(under_way);
        let outcome = Outcome { balance, ..self.sampler.outcome(scenario, &mut self.net, end, events) };
        debug_assert!(outcome.conserves(), "a packet was lost or made: {balance:?}");
        Some(outcome)
    }

    /// Counts the packets sent by `end`, and of these the packets on access links and between links. Empties the
    /// queue.
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

    /// Processes the next event or link departure before `end` and returns its time; `None` if there is none. At
    /// equal times events precede links.
    #[inline(always)]
    fn step(&mut self, end: Time) -> Option<Time> {
        let World { queue, net: Net { links, wakes, hosts }, .. } = self;
        let wake = wakes.earliest();
        let last = Time::from_nanos(end.as_nanos() - 1);
        if let Some((now, event)) = queue.pop(wake.min(last), |event| approach(event, hosts)) {
            self.happen(event, now);
            return Some(now);
        }
        if wake >= end {
            return None;
        }
        let number = wakes.earliest_link();
        let link = &mut links[number];
        link.on_wake(wake, &mut Onward { number: number as u16, hosts, queue });
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
                queue.push(next, Event::flow(What::Sample, 0));
            }
            What::Warm => sampler.restart(net, now, queue),
        }
    }

    /// Reports progress and the link events since the last call, in order of time; `None` if the watcher asks to
    /// stop.
    fn report(&mut self, now: Time, watch: &mut dyn Watch) -> Option<()> {
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
            watch.traces(traces.rows());
            traces.rows().clear();
        }
        if let Some(captures) = &mut self.net.hosts.captures {
            captures.take(|link, bytes| watch.captured(link, bytes));
        }
        watch.goes_on(now).then_some(())
    }
}

/// Prefetches the memory that the event will need.
#[inline]
fn approach(event: &Event, hosts: &Hosts) {
    match (event.what, hosts.tcp(&event.packet)) {
        (What::ToSender, Some(flow)) => flow.approach_sender(),
        (What::FromReceiver, Some(flow)) => flow.approach_wire(),
        _ => {}
    }
}
