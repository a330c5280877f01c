//! Queue length and link utilization over time.

use aqm::{Backlog, Span, Time};

use crate::capacity_use::CapacityUse;

/// Integrals over time of the queue length and of the link's busy state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Occupancy {
    since: Time,
    start: Time,
    backlog: Backlog,
    /// Packets x nanoseconds.
    packets: f64,
    /// Bytes x nanoseconds.
    bytes: f64,
    /// Time spent sending.
    pub busy: Span,
    /// The use of a link whose rate varies; `None` for a constant rate.
    pub used: Option<CapacityUse>,
}

impl Occupancy {
    /// Starts at `now` with `backlog` queued and the transmitter busy for `remaining`.
    pub fn starting(now: Time, backlog: Backlog, remaining: Span) -> Occupancy {
        Occupancy { since: now, start: now, backlog, packets: 0.0, bytes: 0.0, busy: remaining, used: None }
    }

    /// The queue holds `backlog` from `now` on.
    #[inline]
    pub fn set_backlog(&mut self, backlog: Backlog, now: Time) {
        // Via i64: signed conversion is one instruction, and a run is shorter than 292 years.
        if self.backlog.packets > 0 {
            let lasted = (now - self.since).as_nanos() as i64 as f64;
            self.packets += f64::from(self.backlog.packets) * lasted;
            self.bytes += self.backlog.bytes as i64 as f64 * lasted;
        }
        (self.backlog, self.since) = (backlog, now);
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
        self.used = later.used.map(|later| later.plus(self.used.unwrap_or_default()));
        self.since = later.since;
    }

    /// The [`means`](Occupancy::means) since the snapshot `earlier`.
    pub fn means_since(&self, earlier: &Occupancy) -> (f64, f64, Option<f64>) {
        Occupancy {
            start: earlier.since,
            packets: self.packets - earlier.packets,
            bytes: self.bytes - earlier.bytes,
            busy: self.busy - earlier.busy,
            used: self.used.map(|used| used.since(earlier.used.unwrap_or_default())),
            ..*self
        }
        .means()
    }

    /// Mean packets, mean bytes and utilization: zeros for an empty period, `None` for a link that could carry nothing.
    /// At a constant rate, utilization is the share of the time in which the link was busy.
    pub fn means(&self) -> (f64, f64, Option<f64>) {
        let span = (self.since - self.start).as_nanos() as f64;
        if span == 0.0 {
            return (0.0, 0.0, None);
        }
        let busy = self.busy.as_nanos() as f64 / span;
        (self.packets / span, self.bytes / span, self.used.map_or(Some(busy), CapacityUse::share))
    }
}
