//! The bottleneck link: a port with its discipline, and a transmitter that sends one packet at a time.
//!
//! While packets wait, one event stands for the moment the transmitter falls free. While none wait there is no event:
//! that the link went idle is told to the discipline, with the time at which it did, just before anything else happens
//! at the port. A discipline cannot tell the difference, and an idle link costs nothing.

use headgate_core::{Discipline, Ledger, Port, Rate, Sink, Span, Time};

use crate::meter::Occupancy;
use crate::segment::{Segment, SimPacket};

/// One direction of the bottleneck.
pub struct Link<D, L> {
    port: Port<Segment, D, L>,
    rate: Rate,
    delay: Span,
    /// The transmission time of the size seen last: sizes repeat.
    last: (u32, Span),
    free_at: Time,
    /// An event for `free_at`, or for when the discipline is ready, is in the queue.
    armed: bool,
    /// The discipline was asked since the transmitter fell free, and had nothing.
    idle: bool,
    occupancy: Occupancy,
}

/// What the transmitter does next.
pub struct Step {
    /// A packet leaves and comes out at the far end at this time.
    pub sent: Option<(Time, SimPacket)>,
    /// Call [`Link::free`] at this time.
    pub wake: Option<Time>,
}

impl<D: Discipline<Segment>, L: Ledger<Segment>> Link<D, L> {
    /// An idle link.
    pub fn new(port: Port<Segment, D, L>, rate: Rate, delay: Span) -> Self {
        let occupancy = Occupancy::default();
        Link { port, rate, delay, last: (0, Span::ZERO), free_at: Time::ZERO, armed: false, idle: true, occupancy }
    }

    /// A packet arrives.
    #[inline]
    pub fn arrive(&mut self, packet: SimPacket, now: Time, host: &mut dyn Sink<Segment>) -> Step {
        self.settle(now, host);
        self.port.enqueue(packet, now, host);
        self.occupancy.set(self.port.backlog(), now);
        if self.armed {
            return Step { sent: None, wake: None };
        }
        if now < self.free_at {
            return Step { sent: None, wake: self.arm(self.free_at) };
        }
        self.pull(now, host)
    }

    /// The transmitter is free, or the discipline ready.
    #[inline]
    pub fn free(&mut self, now: Time, host: &mut dyn Sink<Segment>) -> Step {
        self.armed = false;
        self.pull(now, host)
    }

    /// Tells the discipline that the link went idle, if it did and was not told: before an arrival, and before
    /// anybody looks at its gauges.
    #[inline]
    pub fn settle(&mut self, now: Time, host: &mut dyn Sink<Segment>) {
        if !self.armed && !self.idle && self.free_at <= now {
            self.idle = true;
            let none = self.port.dequeue(self.free_at, host);
            debug_assert!(none.is_none(), "a packet waited beside an idle link");
        }
    }

    #[inline]
    fn pull(&mut self, now: Time, host: &mut dyn Sink<Segment>) -> Step {
        let packet = self.port.dequeue(now, host);
        let backlog = self.port.backlog();
        self.occupancy.set(backlog, now);
        self.idle = packet.is_none();
        let sent = packet.map(|packet| {
            let transmit = self.transmit(packet.bytes);
            self.free_at = now + transmit;
            self.occupancy.busy(transmit);
            (self.free_at + self.delay, packet)
        });
        let wake = match backlog.packets {
            0 => None,
            _ if sent.is_some() => self.arm(self.free_at),
            // A shaper holds packets that may not leave yet. A nanosecond on at the least, so that time moves.
            _ => self.port.ready_at(now).and_then(|ready| self.arm(ready.max(now + Span::from_nanos(1)))),
        };
        Step { sent, wake }
    }

    fn arm(&mut self, at: Time) -> Option<Time> {
        self.armed = true;
        Some(at)
    }

    #[inline]
    fn transmit(&mut self, bytes: u32) -> Span {
        if self.last.0 != bytes {
            self.last = (bytes, self.rate.transmit(bytes));
        }
        self.last.1
    }

    /// The port, with its discipline and its ledger.
    pub fn port(&self) -> &Port<Segment, D, L> {
        &self.port
    }

    /// The port's ledger.
    pub fn ledger_mut(&mut self) -> &mut L {
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
