//! The queue and the link over time.

use headgate_core::{Backlog, Span, Time};

/// How full a queue and how busy its link was, as integrals over time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Occupancy {
    since: Time,
    start: Time,
    held: Backlog,
    /// Packets x nanoseconds.
    packets: f64,
    /// Bytes x nanoseconds.
    bytes: f64,
    /// Time spent sending.
    pub busy: Span,
}

impl Occupancy {
    /// From `now` on, with `held` waiting and the transmitter busy for `ahead` more.
    pub fn starting(now: Time, held: Backlog, ahead: Span) -> Occupancy {
        Occupancy { since: now, start: now, held, packets: 0.0, bytes: 0.0, busy: ahead }
    }

    /// From `now` on the queue holds `held`.
    #[inline]
    pub fn set(&mut self, held: Backlog, now: Time) {
        // Through i64: processors convert signed numbers in one step, and a run is shorter than 292 years.
        let lasted = (now - self.since).as_nanos() as i64 as f64;
        self.packets += f64::from(self.held.packets) * lasted;
        self.bytes += self.held.bytes as i64 as f64 * lasted;
        (self.held, self.since) = (held, now);
    }

    /// A packet is being sent for `span`.
    #[inline]
    pub fn busy(&mut self, span: Span) {
        self.busy = self.busy + span;
    }

    /// Adds what a later stretch of time saw.
    pub fn add(&mut self, later: &Occupancy) {
        self.packets += later.packets;
        self.bytes += later.bytes;
        self.busy = self.busy + later.busy;
        self.since = later.since;
    }

    /// The means since it stood at `earlier`; zeros over no time at all.
    pub fn means_since(&self, earlier: &Occupancy) -> (f64, f64, f64) {
        Occupancy {
            start: earlier.since,
            packets: self.packets - earlier.packets,
            bytes: self.bytes - earlier.bytes,
            busy: self.busy - earlier.busy,
            ..*self
        }
        .means()
    }

    /// Mean packets, mean bytes, and share of time sending; zeros over no time at all.
    pub fn means(&self) -> (f64, f64, f64) {
        let span = (self.since - self.start).as_nanos() as f64;
        if span == 0.0 {
            return (0.0, 0.0, 0.0);
        }
        (self.packets / span, self.bytes / span, self.busy.as_nanos() as f64 / span)
    }
}
