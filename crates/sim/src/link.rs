//! One direction of a link: a port with its discipline, and a transmitter that sends one packet at a time.
//!
//! While packets wait, [`Link::wake`] says when the transmitter falls free; the world looks at it beside the event
//! queue, and it is no event. While none wait there is nothing to wake up for: that the link went idle is told to the
//! discipline, with the time at which it did, just before anything else happens at the port. A discipline cannot tell
//! the difference, and an idle link costs nothing.

use headgate_core::{FlowId, Port, Span, Time};
use headgate_measure::{FlowLedger, Occupancy};
use headgate_scenario::Transmitter;

use crate::hosts::Hosts;
use crate::medium::Medium;
use crate::queue::Queue;
use crate::queueing::Queueing;
use crate::segment::{Segment, SimPacket};
use crate::world::Event;

/// A link's port: its discipline, and what was counted there.
pub type LinkPort = Port<Segment, Queueing, FlowLedger>;

/// One direction of a link.
pub struct Link {
    port: LinkPort,
    transmitter: Transmitter,
    delay: Span,
    /// What happens to packets on the way, if anything can.
    medium: Option<Box<Medium>>,
    /// When the ledger began anew: packets lost on the way until then, and packets that waited.
    lost_before: u64,
    queued_before: u64,
    free_at: Time,
    /// When to call [`Link::free`]: the transmitter falls free, or the discipline is ready.
    wake: Time,
    /// The discipline was asked since the transmitter fell free, and had nothing.
    idle: bool,
    /// Its number among all directions of all links.
    number: u16,
    occupancy: Occupancy,
}

impl Link {
    /// An idle link, which is number `number` of all.
    pub fn new(number: u16, port: LinkPort, transmitter: Transmitter, delay: Span, medium: Option<Medium>) -> Link {
        Link {
            port,
            transmitter,
            delay,
            medium: medium.map(Box::new),
            lost_before: 0,
            queued_before: 0,
            free_at: Time::ZERO,
            wake: Time::NEVER,
            idle: true,
            number,
            occupancy: Occupancy::default(),
        }
    }

    /// A packet arrives.
    #[inline(always)]
    pub fn arrive(&mut self, packet: SimPacket, now: Time, hosts: &mut Hosts, queue: &mut Queue<Event>) {
        hosts.at(self.number);
        self.settle(now, hosts);
        self.port.enqueue(packet, now, hosts);
        self.explain();
        if self.wake != Time::NEVER {
            self.occupancy.set(self.port.backlog(), now);
        } else if now < self.free_at {
            self.occupancy.set(self.port.backlog(), now);
            self.wake = self.free_at;
        } else {
            self.pull(now, hosts, queue);
        }
    }

    /// The transmitter is free, or the discipline ready.
    #[inline(always)]
    pub fn free(&mut self, now: Time, hosts: &mut Hosts, queue: &mut Queue<Event>) {
        hosts.at(self.number);
        self.wake = Time::NEVER;
        self.pull(now, hosts, queue);
    }

    /// When to call [`free`](Link::free); [`Time::NEVER`] while nothing waits.
    #[inline]
    pub fn wake(&self) -> Time {
        self.wake
    }

    /// Tells the discipline that the link went idle, if it did and was not told: before an arrival, and before
    /// anybody looks at its gauges.
    #[inline(always)]
    pub fn settle(&mut self, now: Time, hosts: &mut Hosts) {
        if self.wake == Time::NEVER && !self.idle && self.free_at <= now {
            self.idle = true;
            let none = self.port.dequeue(self.free_at, hosts);
            debug_assert!(none.is_none(), "a packet waited beside an idle link");
        }
    }

    #[inline]
    fn pull(&mut self, now: Time, hosts: &mut Hosts, queue: &mut Queue<Event>) {
        let packet = self.port.dequeue(now, hosts);
        self.explain();
        let backlog = self.port.backlog();
        self.occupancy.set(backlog, now);
        self.idle = packet.is_none();
        if let Some(packet) = packet {
            self.free_at = self.transmitter.sent(now, packet.bytes);
            self.occupancy.busy(self.free_at - now);
            hosts.sent(&packet, now);
            let due = self.free_at + self.delay;
            match &mut self.medium {
                None => hosts.leave(self.number, packet, due, queue),
                Some(medium) => {
                    if !medium.carry(packet, due, hosts, queue) {
                        self.port.ledger_mut().lost_on_the_way(&packet, now);
                    }
                }
            }
            if backlog.packets > 0 {
                self.wake = self.free_at;
            }
        } else if let Some(ready) = self.port.ready_at(now)
            && backlog.packets > 0
        {
            // A shaper holds packets that may not leave yet. A nanosecond on at the least, so that time moves.
            self.wake = ready.max(now + Span::from_nanos(1));
        }
    }

    /// Asks the discipline for its gauges, if it has just dropped or marked a packet and they are wanted.
    #[inline]
    fn explain(&mut self) {
        let (discipline, ledger) = self.port.parts();
        if let Some(log) = ledger.events()
            && log.waits()
        {
            log.explain(discipline, |flow| FlowId(flow.into()));
        }
    }

    /// The port, with its discipline and its ledger.
    pub fn port(&self) -> &LinkPort {
        &self.port
    }

    /// The port's ledger.
    pub fn ledger(&self) -> &FlowLedger {
        self.port.ledger()
    }

    /// The same, to change it.
    pub fn ledger_mut(&mut self) -> &mut FlowLedger {
        self.port.ledger_mut()
    }

    /// The warm-up ends: what was counted before does not count.
    pub fn restart(&mut self) {
        self.ledger_mut().restart();
        self.lost_before = self.lost_ever();
        self.queued_before = self.port.backlog().packets.into();
    }

    /// Packets that waited when counting began, and that wait now.
    pub fn queued(&self) -> [u64; 2] {
        [self.queued_before, self.port.backlog().packets.into()]
    }

    /// Packets lost on the way since the warm-up.
    pub fn lost(&self) -> u64 {
        self.lost_ever() - self.lost_before
    }

    /// Packets lost on the way since the beginning.
    pub fn lost_ever(&self) -> u64 {
        self.medium.as_ref().map_or(0, |medium| medium.lost())
    }

    /// How full the queue and how busy the link was since the last call, up to `now`.
    pub fn occupancy(&mut self, now: Time) -> Occupancy {
        self.occupancy.set(self.port.backlog(), now);
        // The packet being sent counts for the part of it that lies before `now`.
        let ahead = self.free_at - now;
        let mut seen = std::mem::replace(&mut self.occupancy, Occupancy::starting(now, self.port.backlog(), ahead));
        seen.busy = seen.busy - ahead;
        seen
    }
}
