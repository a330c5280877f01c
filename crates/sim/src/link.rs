//! One direction of a link: a port with its discipline, and a transmitter that sends one packet at a time.
//!
//! While packets wait, [`Link::wake`] says when the transmitter falls free; the world looks at it beside the event
//! queue, and it is no event. While none wait there is nothing to wake up for: that the link went idle is told to the
//! discipline, with the time at which it did, just before anything else happens at the port. A discipline cannot tell
//! the difference, and an idle link costs nothing.

use headgate_core::{Port, Rate, Span, Time};

use crate::hosts::Hosts;
use crate::meter::{FlowLedger, Occupancy};
use crate::queue::Queue;
use crate::queueing::Queueing;
use crate::segment::{Segment, SimPacket};
use crate::world::Event;

/// A link's port: its discipline, and what was counted there.
pub type LinkPort = Port<Segment, Queueing, FlowLedger>;

/// One direction of a link.
pub struct Link {
    port: LinkPort,
    rate: Rate,
    delay: Span,
    /// The transmission time of the size seen last: sizes repeat.
    last: (u32, Span),
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
    pub fn new(number: u16, port: LinkPort, rate: Rate, delay: Span) -> Link {
        Link {
            port,
            rate,
            delay,
            last: (0, Span::ZERO),
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
            let transmit = self.transmit(packet.bytes);
            self.free_at = now + transmit;
            self.occupancy.busy(transmit);
            hosts.sent(&packet, now);
            hosts.leave(self.number, packet, self.free_at + self.delay, queue);
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
            log.explain(discipline);
        }
    }

    #[inline]
    fn transmit(&mut self, bytes: u32) -> Span {
        if self.last.0 != bytes {
            self.last = (bytes, self.rate.transmit(bytes));
        }
        self.last.1
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
