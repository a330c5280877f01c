//! What is measured while a run goes: counts by flow, the queue over time, events.

use headgate_core::{Backlog, Counts, Ledger, Packet, Span, Time, Totals, Why};

use crate::outcome::{EventRow, Happening};
use crate::segment::Segment;

/// How full a queue and how busy its link was, as integrals over time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Occupancy {
    since: Time,
    start: Time,
    held: Backlog,
    /// Packets x nanoseconds.
    packets: u128,
    /// Bytes x nanoseconds.
    bytes: u128,
    /// Time spent sending.
    pub busy: Span,
}

impl Occupancy {
    /// From `now` on, with `held` waiting and the transmitter busy for `ahead` more.
    pub fn starting(now: Time, held: Backlog, ahead: Span) -> Occupancy {
        Occupancy { since: now, start: now, held, packets: 0, bytes: 0, busy: ahead }
    }

    /// From `now` on the queue holds `held`.
    #[inline]
    pub fn set(&mut self, held: Backlog, now: Time) {
        let lasted = (now - self.since).as_nanos();
        self.packets += u128::from(self.held.packets) * u128::from(lasted);
        self.bytes += u128::from(self.held.bytes) * u128::from(lasted);
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

    /// Mean packets, mean bytes, and share of time sending; zeros over no time at all.
    pub fn means(&self) -> (f64, f64, f64) {
        let span = (self.since - self.start).as_nanos() as f64;
        if span == 0.0 {
            return (0.0, 0.0, 0.0);
        }
        (self.packets as f64 / span, self.bytes as f64 / span, self.busy.as_nanos() as f64 / span)
    }
}

/// What happened to one flow's packets at the bottleneck. Drops and marks are counted in 32 bits: 10 000 of these are
/// read at random, and should fit the cache.
#[derive(Clone, Debug, Default)]
pub struct PerFlow {
    arrived: u64,
    sent: u64,
    sent_bytes: u64,
    delay_nanos: u64,
    drops: [u32; Why::ALL.len()],
    marks: [u32; Why::ALL.len()],
}

impl PerFlow {
    /// The counts in the form of the results.
    pub fn counts(&self) -> Counts {
        Counts {
            arrived: self.arrived,
            sent: self.sent,
            sent_bytes: self.sent_bytes,
            drops: self.drops.map(u64::from),
            marks: self.marks.map(u64::from),
        }
    }

    /// Packets dropped and packets marked.
    pub fn lost_and_marked(&self) -> (u64, u64) {
        let sum = |counts: &[u32]| counts.iter().copied().map(u64::from).sum();
        (sum(&self.drops), sum(&self.marks))
    }

    /// The mean queueing delay of the packets sent, in milliseconds.
    pub fn delay_ms(&self) -> Option<f64> {
        (self.sent > 0).then(|| self.delay_nanos as f64 / self.sent as f64 / 1e6)
    }
}

/// The forward port's ledger: totals, by flow, and events if they are wanted.
pub struct FlowLedger {
    totals: Totals,
    flows: Vec<PerFlow>,
    events: EventLog,
}

/// Events in the order in which they happened, until the watcher takes them.
#[derive(Default)]
pub struct EventLog {
    drops: bool,
    passages: bool,
    held: u32,
    rows: Vec<EventRow>,
}

impl EventLog {
    /// Writes drops and marks, and with `passages` arrivals and departures too.
    pub fn new(drops: bool, passages: bool) -> EventLog {
        EventLog { drops, passages, held: 0, rows: Vec::new() }
    }

    #[inline]
    fn note(&mut self, wanted: bool, packet: &Packet<Segment>, happening: Happening, time: Time) {
        if wanted {
            let (flow, queue_packets) = (packet.flow.0 as u32, self.held);
            self.rows.push(EventRow { time, happening, flow, bytes: packet.bytes, queue_packets });
        }
    }
}

impl FlowLedger {
    /// Nothing counted yet, for `flows` flows.
    pub fn new(flows: usize, events: EventLog) -> FlowLedger {
        FlowLedger { totals: Totals::default(), flows: vec![PerFlow::default(); flows], events }
    }

    /// Begins anew, when the warm-up ends. Events go on.
    pub fn restart(&mut self) {
        self.totals = Totals::default();
        self.flows.fill(PerFlow::default());
    }

    /// The counts over all flows.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The counts of each flow.
    pub fn flows(&self) -> &[PerFlow] {
        &self.flows
    }

    /// The events since they were last taken.
    pub fn events(&mut self) -> &mut Vec<EventRow> {
        &mut self.events.rows
    }
}

impl Ledger<Segment> for FlowLedger {
    #[inline]
    fn arrived(&mut self, packet: &Packet<Segment>, now: Time) {
        Ledger::arrived(&mut self.totals, packet, now);
        self.flows[packet.flow.0 as usize].arrived += 1;
        self.events.held = self.events.held.wrapping_add(1);
        self.events.note(self.events.passages, packet, Happening::Arrived, now);
    }

    #[inline]
    fn sent(&mut self, packet: &Packet<Segment>, now: Time) {
        Ledger::sent(&mut self.totals, packet, now);
        let flow = &mut self.flows[packet.flow.0 as usize];
        flow.sent += 1;
        flow.sent_bytes += u64::from(packet.bytes);
        flow.delay_nanos += (now - packet.arrived).as_nanos();
        self.events.held = self.events.held.wrapping_sub(1);
        self.events.note(self.events.passages, packet, Happening::Sent, now);
    }

    fn dropped(&mut self, packet: &Packet<Segment>, why: Why, now: Time) {
        Ledger::dropped(&mut self.totals, packet, why, now);
        self.flows[packet.flow.0 as usize].drops[why as usize] += 1;
        self.events.held = self.events.held.wrapping_sub(1);
        self.events.note(self.events.drops, packet, Happening::Dropped(why), now);
    }

    fn marked(&mut self, packet: &Packet<Segment>, why: Why, now: Time) {
        Ledger::marked(&mut self.totals, packet, why, now);
        self.flows[packet.flow.0 as usize].marks[why as usize] += 1;
        self.events.note(self.events.drops, packet, Happening::Marked(why), now);
    }
}
