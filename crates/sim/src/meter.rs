//! What is measured while a run goes: counts by flow, the queue over time, events.

use headgate_core::parts::Histogram;
use headgate_core::{Backlog, Counts, Ledger, Packet, Span, Time, Why};
use headgate_scenario::Events;

use crate::outcome::{EventRow, Happening};
use crate::segment::Segment;

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

    /// Mean packets, mean bytes, and share of time sending; zeros over no time at all.
    pub fn means(&self) -> (f64, f64, f64) {
        let span = (self.since - self.start).as_nanos() as f64;
        if span == 0.0 {
            return (0.0, 0.0, 0.0);
        }
        (self.packets / span, self.bytes / span, self.busy.as_nanos() as f64 / span)
    }
}

/// What every packet of a flow changes.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    arrived: u32,
    sent: u32,
    sent_bytes: u64,
    delay_nanos: u64,
}

/// What few packets change, by [`Why::ALL`].
#[derive(Clone, Copy, Debug, Default)]
struct Signalled {
    drops: [u32; Why::ALL.len()],
    marks: [u32; Why::ALL.len()],
}

/// A port's ledger: the counts of each flow's data, and of all replies together; the distribution of delay; and events
/// if they are wanted.
pub struct FlowLedger {
    passed: Vec<Passed>,
    signalled: Vec<Signalled>,
    replies: Counts,
    sojourn: Histogram,
    events: Option<EventLog>,
}

/// Events in the order in which they happened, until the watcher takes them.
pub struct EventLog {
    /// The number of the port's link.
    link: u16,
    /// Arrivals and departures are wanted too, not only drops and marks.
    passages: bool,
    held: u32,
    rows: Vec<EventRow>,
}

impl EventLog {
    /// The log of `link` that `wanted` asks for, if any.
    pub fn new(link: u16, wanted: Events) -> Option<EventLog> {
        let log = EventLog { link, passages: wanted == Events::All, held: 0, rows: Vec::new() };
        (wanted != Events::Off).then_some(log)
    }

    fn note(&mut self, packet: &Packet<Segment>, happening: Happening, time: Time) {
        match happening {
            Happening::Arrived => self.held += 1,
            Happening::Sent | Happening::Dropped(_) => self.held -= 1,
            Happening::Marked(_) => {}
        }
        if self.passages || matches!(happening, Happening::Dropped(_) | Happening::Marked(_)) {
            let (flow, queue_packets) = (packet.flow.0 as u32, self.held);
            self.rows.push(EventRow { time, link: self.link, happening, flow, bytes: packet.bytes, queue_packets });
        }
    }
}

impl FlowLedger {
    /// Nothing counted yet, of as many flows as the scenario has, or of none where only replies come.
    pub fn new(flows: u32, events: Option<EventLog>) -> FlowLedger {
        let flows = flows as usize;
        let (passed, signalled) = (vec![Passed::default(); flows], vec![Signalled::default(); flows]);
        FlowLedger { passed, signalled, replies: Counts::default(), sojourn: Histogram::default(), events }
    }

    /// Begins anew, when the warm-up ends. Events go on.
    pub fn restart(&mut self) {
        self.sojourn = Histogram::default();
        self.passed.fill(Passed::default());
        self.signalled.fill(Signalled::default());
        self.replies = Counts::default();
    }

    /// The counts over all packets.
    pub fn counts(&self) -> Counts {
        let mut all = self.replies.clone();
        (0..self.passed.len()).for_each(|flow| all.add(&self.of_flow(flow)));
        all
    }

    /// The counts of the data of one flow.
    pub fn of_flow(&self, flow: usize) -> Counts {
        let (passed, signalled) = (self.passed[flow], self.signalled[flow]);
        Counts {
            arrived: passed.arrived.into(),
            sent: passed.sent.into(),
            sent_bytes: passed.sent_bytes,
            drops: signalled.drops.map(u64::from),
            marks: signalled.marks.map(u64::from),
        }
    }

    /// The mean queueing delay of the data a flow sent, in milliseconds.
    pub fn delay_ms(&self, flow: usize) -> Option<f64> {
        let Passed { sent, delay_nanos, .. } = self.passed[flow];
        (sent > 0).then(|| delay_nanos as f64 / f64::from(sent) / 1e6)
    }

    /// Packets of data dropped and marked, by flow.
    pub fn lost_and_marked(&self) -> impl Iterator<Item = (u64, u64)> {
        let sum = |counts: &[u32]| counts.iter().copied().map(u64::from).sum();
        self.signalled.iter().map(move |flow| (sum(&flow.drops), sum(&flow.marks)))
    }

    /// Time in the queue of the packets that were sent, in nanoseconds.
    pub fn sojourn(&self) -> &Histogram {
        &self.sojourn
    }

    /// The events since they were last taken, if any were wanted.
    pub fn events(&mut self) -> Option<&mut Vec<EventRow>> {
        self.events.as_mut().map(|log| &mut log.rows)
    }

    #[inline]
    fn note(&mut self, packet: &Packet<Segment>, happening: Happening, now: Time) {
        if let Some(log) = &mut self.events {
            log.note(packet, happening, now);
        }
    }
}

impl Ledger<Segment> for FlowLedger {
    #[inline]
    fn arrived(&mut self, packet: &Packet<Segment>, now: Time) {
        if packet.handle.is_reply() {
            self.replies.arrived += 1;
        } else {
            self.passed[packet.flow.0 as usize].arrived += 1;
        }
        self.note(packet, Happening::Arrived, now);
    }

    #[inline]
    fn sent(&mut self, packet: &Packet<Segment>, now: Time) {
        let delay = (now - packet.arrived).as_nanos();
        self.sojourn.record(delay);
        if packet.handle.is_reply() {
            self.replies.sent += 1;
            self.replies.sent_bytes += u64::from(packet.bytes);
        } else {
            let flow = &mut self.passed[packet.flow.0 as usize];
            flow.sent += 1;
            flow.sent_bytes += u64::from(packet.bytes);
            flow.delay_nanos += delay;
        }
        self.note(packet, Happening::Sent, now);
    }

    fn dropped(&mut self, packet: &Packet<Segment>, why: Why, now: Time) {
        if packet.handle.is_reply() {
            self.replies.drops[why as usize] += 1;
        } else {
            self.signalled[packet.flow.0 as usize].drops[why as usize] += 1;
        }
        self.note(packet, Happening::Dropped(why), now);
    }

    fn marked(&mut self, packet: &Packet<Segment>, why: Why, now: Time) {
        if packet.handle.is_reply() {
            self.replies.marks[why as usize] += 1;
        } else {
            self.signalled[packet.flow.0 as usize].marks[why as usize] += 1;
        }
        self.note(packet, Happening::Marked(why), now);
    }
}
