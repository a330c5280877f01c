//! Queue length and link utilization over time.

use headgate_core::{Backlog, Span, Time};

/// Integrals over time of the queue length and of the link's busy state.
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
    /// Starts at `now` with `held` queued and the transmitter busy for `ahead`.
    pub fn starting(now: Time, held: Backlog, ahead: Span) -> Occupancy {
        Occupancy { since: now, start: now, held, packets: 0.0, bytes: 0.0, busy: ahead }
    }

    /// The queue holds `held` from `now` on.
    #[inline]
    pub fn set_backlog(&mut self, held: Backlog, now: Time) {
        // Via i64: signed conversion is one instruction, and a run is shorter than 292 years.
        let lasted = (now - self.since).as_nanos() as i64 as f64;
        self.packets += f64::from(self.held.packets) * lasted;
        self.bytes += self.held.bytes as i64 as f64 * lasted;
        (self.held, self.since) = (held, now);
    }

    /// A packet is being sent for `span`.
    #[inline]
    pub fn add_busy(&mut self, span: Span) {
        self.busy = self.busy + span;
    }

    /// Adds a later period.
    pub fn add(&mut self, later: &Occupancy) {
        self.packets += later.packets;
        self.bytes += later.bytes;
        self.busy = self.busy + later.busy;
        self.since = later.since;
    }

    /// The means since the snapshot `earlier`; zeros for an empty period.
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

    /// Mean packets, mean bytes and utilization; zeros for an empty period.
    pub fn means(&self) -> (f64, f64, f64) {
        let span = (self.since - self.start).as_nanos() as f64;
        if span == 0.0 {
            return (0.0, 0.0, 0.0);
        }
        (self.packets / span, self.bytes / span, self.busy.as_nanos() as f64 / span)
    }
}
