//! What is measured at one direction of a link, by the code that the simulator measures with.
//!
//! The loop counts its time from when it began, a run from where its flows may send. What the meter writes down is in the
//! run's time; what it hands to others to compare stays in the loop's.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use headgate_core::parts::Histogram;
use headgate_core::{Backlog, Discipline, FlowId, Ledger, Packet, Time, Why};
use headgate_measure::{Counted, EventBatch, EventLog, FlowLedger, IntervalRow, LinkMeter, LinkRow, Occupancy};
use headgate_scenario::{Header, Hop, Identity, Scenario};

use super::moments::Due;
use crate::ledger::WireLedger;
use crate::meter::Meter;
use crate::pool::FrameId;

/// What is handed out while the run goes, and at its end.
pub(super) enum Post {
    /// What happened at a direction since the last one, up to the end of an interval or of the run.
    Sample(Sample),
    /// A direction's totals at the end of the run.
    Total(Box<Total>),
    /// There is no more. By group, how long data took from its sender's device to its receiver's, less what a full packet takes
    /// without queues.
    End(Vec<Histogram>),
}

/// An interval.
pub(super) struct Sample {
    pub(super) link: u16,
    pub(super) at: Time,
    pub(super) rows: Vec<IntervalRow>,
    /// Drops and marks of data by group, since the ledger last began anew.
    pub(super) groups: Vec<(u64, u64)>,
    pub(super) events: EventBatch,
    /// Drops that tell that a flow was singled out.
    pub(super) singled: Vec<(Time, u32, Why)>,
}

/// A whole run.
pub(super) struct Total {
    pub(super) link: u16,
    pub(super) row: LinkRow,
    pub(super) ledger: FlowLedger,
    /// Packets sent in the whole run, warm-up included.
    pub(super) sent: u64,
    /// Drops and marks of data by group at the end of the warm-up, before the ledger began anew.
    pub(super) before_warm: Vec<(u64, u64)>,
}

/// The meter of one direction.
pub(super) struct Account {
    hop: Hop,
    scenario: Arc<Scenario>,
    wire: WireLedger,
    ledger: FlowLedger,
    /// What the discipline is told of each flow.
    names: Vec<Identity>,
    /// When the run began; [`Time::NEVER`] before.
    begin: Time,
    link: LinkMeter,
    occupancy: Occupancy,
    free_at: Time,
    singled: Vec<(Time, u32, Why)>,
    lost: u64,
    queued_before: u64,
    sent_before: u64,
    before_warm: Vec<(u64, u64)>,
    posts: Sender<Post>,
}

impl Account {
    /// Of `hop` in `scenario`; `discipline` is what is there, and what is found is posted.
    pub(super) fn new(
        (scenario, hop): (&Arc<Scenario>, Hop),
        discipline: &impl Discipline<FrameId>,
        wire: WireLedger,
        posts: Sender<Post>,
    ) -> Account {
        let data = scenario.routes().any(|route| route.contains(&hop));
        let wanted = scenario.simplex(hop).qdisc.is_none();
        let log = wanted.then(|| EventLog::new(hop.number(), scenario.record.events, discipline)).flatten();
        Account {
            hop,
            wire,
            ledger: FlowLedger::new(scenario, data, log),
            names: scenario.identities(hop),
            begin: Time::NEVER,
            link: LinkMeter::new(scenario, hop),
            occupancy: Occupancy::default(),
            free_at: Time::ZERO,
            singled: Vec::new(),
            lost: 0,
            queued_before: 0,
            sent_before: 0,
            before_warm: Vec::new(),
            posts,
            scenario: Arc::clone(scenario),
        }
    }

    /// What the discipline is told of a flow of the scenario.
    #[inline]
    pub(super) fn name(&self, flow: u32) -> Option<&Identity> {
        self.names.get(flow as usize)
    }

    /// A packet comes to the queue; `header` says what is in its own, where its flow is not known yet.
    pub(super) fn meet(
        &mut self,
        packet: &Packet<FrameId>,
        at: Time,
        header: impl FnOnce() -> Option<Header<'static>>,
    ) {
        self.wire.meet(packet.flow, packet.bytes, at, header);
    }

    /// The run's time; it stands at zero before the run.
    #[inline]
    fn run_time(&self, at: Time) -> Time {
        Time::ZERO + (at - self.begin)
    }

    /// Looks at a moment of the run: everything before has happened, and nothing after. The discipline holds `held`.
    pub(super) fn look<D: Discipline<FrameId>>(&mut self, due: Due, discipline: &D, held: Backlog, at: Time) {
        if due.begin {
            return self.start(held, at);
        }
        self.settle(held, at);
        if due.warm {
            self.restart(held, at);
        }
        if due.sample {
            self.sample(discipline, held, at);
        }
        if due.end {
            self.finish(held);
        }
    }

    /// What was seen of queue and link since the last call.
    fn settle(&mut self, held: Backlog, at: Time) {
        let now = self.run_time(at);
        self.occupancy.set(held, now);
        // The packet being sent counts for the part of it that lies before now.
        let ahead = self.free_at - at;
        let mut seen = std::mem::replace(&mut self.occupancy, Occupancy::starting(now, held, ahead));
        seen.busy = seen.busy - ahead;
        self.link.add(&seen);
    }

    /// The run begins: what came before, such as handshakes, is not of it.
    fn start(&mut self, held: Backlog, at: Time) {
        self.begin = at;
        self.occupancy = Occupancy::starting(Time::ZERO, held, self.free_at - at);
        self.restart(held, at);
        self.link = LinkMeter::new(&self.scenario, self.hop);
        self.sent_before = 0;
        self.singled.clear();
        if let Some(log) = self.ledger.events() {
            log.take(&mut EventBatch::default());
        }
    }

    /// Counts anew.
    fn restart(&mut self, held: Backlog, at: Time) {
        self.sent_before = self.ledger.counts().sent;
        self.before_warm = self.ledger.lost_and_marked().to_vec();
        self.link.restart(self.run_time(at), held, self.ledger.counts());
        self.ledger.restart();
        (self.lost, self.queued_before) = (0, held.packets.into());
    }

    fn sample<D: Discipline<FrameId>>(&mut self, discipline: &D, held: Backlog, at: Time) {
        let now = self.run_time(at);
        let (mut rows, mut events) = (Vec::new(), EventBatch::default());
        self.link.sample(now, (held, self.ledger.counts()), discipline, &mut rows);
        if let Some(log) = self.ledger.events() {
            log.take(&mut events);
            events.rows.iter_mut().for_each(|row| row.time = self.run_time(row.time));
        }
        let singled = std::mem::take(&mut self.singled);
        let groups = self.ledger.lost_and_marked().to_vec();
        let link = self.hop.number();
        // Nobody listens any more if the run was stopped.
        let _ = self.posts.send(Post::Sample(Sample { link, at: now, rows, groups, events, singled }));
    }

    fn finish(&mut self, held: Backlog) {
        let queued = [self.queued_before, held.packets.into()];
        let total = Total {
            link: self.hop.number(),
            row: self.link.row(&self.scenario, &self.ledger, self.lost, queued),
            sent: self.sent_before + self.ledger.counts().sent,
            ledger: self.ledger.clone(),
            before_warm: std::mem::take(&mut self.before_warm),
        };
        let _ = self.posts.send(Post::Total(Box::new(total)));
    }
}

impl Ledger<FrameId> for Account {
    #[inline]
    fn arrived(&mut self, packet: &Packet<FrameId>, now: Time) {
        self.wire.arrived(packet, now);
        self.ledger.arrived(packet, now);
    }

    #[inline]
    fn sent(&mut self, packet: &Packet<FrameId>, now: Time) {
        self.wire.sent(packet, now);
        self.ledger.sent(packet, now);
    }

    fn dropped(&mut self, packet: &Packet<FrameId>, why: Why, now: Time) {
        self.wire.dropped(packet, why, now);
        self.ledger.dropped(packet, why, now);
        if why.singles_out() && FrameId::is_data(packet) {
            self.singled.push((self.run_time(now), FrameId::flow(packet), why));
        }
    }

    fn marked(&mut self, packet: &Packet<FrameId>, why: Why, now: Time) {
        self.wire.marked(packet, why, now);
        self.ledger.marked(packet, why, now);
    }
}

impl Meter for Account {
    #[inline]
    fn called<D: Discipline<FrameId>>(&mut self, discipline: &D, held: Backlog, at: Time) {
        let now = self.run_time(at);
        self.occupancy.set(held, now);
        if let Some(log) = self.ledger.events()
            && log.waits()
        {
            let of_nobody = |flow: u32| FlowId(flow.into());
            log.explain(discipline, |flow| self.names.get(flow as usize).map_or(of_nobody(flow), |name| name.flow));
        }
    }

    #[inline]
    fn sending(&mut self, at: Time, until: Time) {
        self.occupancy.busy(until - at);
        self.free_at = until;
    }

    fn lost(&mut self, packet: &Packet<FrameId>, at: Time) {
        self.lost += 1;
        self.ledger.lost_on_the_way(packet, at);
    }

    fn wire(&mut self) -> &mut WireLedger {
        &mut self.wire
    }
}
