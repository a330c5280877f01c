//! What is measured at one direction of the bottleneck, by the code that the simulator measures with.
//!
//! The loop counts its time from when it began, a run from where its flows may send. What the meter writes down is in the
//! run's time; what it hands to others to compare stays in the loop's.

mod meter;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;

use headgate_core::parts::Histogram;
use headgate_core::{Backlog, Discipline, Span, Time, Why};
use headgate_measure::{EventBatch, EventLog, FlowLedger, IntervalRow, LinkMeter, LinkRow, Occupancy};
use headgate_scenario::{Hop, Identity, Scenario};

use super::access::Access;
use crate::ledger::WireLedger;
use crate::pool::FrameId;

/// When a run begins, on the loop's clock; [`Time::NEVER`] until that is known.
#[derive(Clone, Debug)]
pub(super) struct Begin(Arc<AtomicU64>);

impl Begin {
    pub(super) fn unknown() -> Begin {
        Begin(Arc::new(AtomicU64::new(Time::NEVER.as_nanos())))
    }

    pub(super) fn at(&self, time: Time) {
        self.0.store(time.as_nanos(), Ordering::Release);
    }

    #[inline]
    fn get(&self) -> Time {
        Time::from_nanos(self.0.load(Ordering::Acquire))
    }
}

/// What a meter hands out while the run goes, and at its end.
pub(super) enum Post {
    /// What happened since the last one, up to the end of an interval or of the run.
    Sample(Sample),
    /// The direction's totals at the end of the run.
    Total(Box<Total>),
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
    pub(super) row: LinkRow,
    pub(super) ledger: FlowLedger,
    /// By group, how long data took from its sender's device to its receiver's, less what a full packet takes without queues.
    pub(super) excess: Vec<Histogram>,
    /// Packets sent in the whole run, warm-up included.
    pub(super) sent: u64,
    /// Drops and marks of data by group at the end of the warm-up, before the ledger began anew.
    pub(super) before_warm: Vec<(u64, u64)>,
}

/// When there is something to do, on the loop's clock.
struct Moments {
    /// None before the run begins.
    begin: Option<Time>,
    sample: Time,
    warm: Time,
    end: Time,
}

impl Moments {
    /// The run has not begun.
    const NONE: Moments = Moments { begin: None, sample: Time::NEVER, warm: Time::NEVER, end: Time::NEVER };
}

/// The meter of one direction.
pub(super) struct Account {
    hop: Hop,
    scenario: Arc<Scenario>,
    wire: WireLedger,
    ledger: FlowLedger,
    /// What the discipline is told of each flow.
    names: Vec<Identity>,
    access: Access,
    begin: Begin,
    moments: Moments,
    link: LinkMeter,
    occupancy: Occupancy,
    free_at: Time,
    /// By slot: when the frame in it came from its host.
    taken: Vec<Time>,
    /// By group: what a full packet takes without queues, and what came to it.
    bases: Vec<Span>,
    excess: Vec<Histogram>,
    singled: Vec<(Time, u32, Why)>,
    lost: u64,
    queued_before: u64,
    sent_before: u64,
    before_warm: Vec<(u64, u64)>,
    posts: Sender<Post>,
}

impl Account {
    /// Of `hop` in `scenario`, whose wire has so many `slots`; `discipline` is what is there, and what is found is posted.
    pub(super) fn new(
        (scenario, hop): (&Arc<Scenario>, Hop),
        discipline: &impl Discipline<FrameId>,
        (wire, slots): (WireLedger, u32),
        begin: Begin,
        posts: Sender<Post>,
    ) -> Account {
        let data = scenario.routes().any(|route| route.contains(&hop));
        let wanted = scenario.simplex(hop).qdisc.is_none();
        let log = wanted.then(|| EventLog::new(hop.number(), scenario.record.events, discipline)).flatten();
        let bases: Vec<Span> = headgate_measure::one_ways(scenario).iter().map(|way| way.base).collect();
        Account {
            hop,
            wire,
            ledger: FlowLedger::new(scenario, data, log),
            names: scenario.identities(hop),
            access: Access::new(scenario, hop),
            begin,
            moments: Moments::NONE,
            link: LinkMeter::new(scenario, hop),
            occupancy: Occupancy::default(),
            free_at: Time::ZERO,
            taken: vec![Time::ZERO; slots as usize],
            excess: vec![Histogram::default(); bases.len()],
            bases,
            singled: Vec::new(),
            lost: 0,
            queued_before: 0,
            sent_before: 0,
            before_warm: Vec::new(),
            posts,
            scenario: Arc::clone(scenario),
        }
    }

    /// The run's time; it stands at zero before the run.
    #[inline]
    fn run_time(&self, at: Time) -> Time {
        Time::ZERO + (at - self.moments.begin.unwrap_or(Time::NEVER))
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
        let Scenario { record, warmup, duration, .. } = &*self.scenario;
        let (sample, warm, end) = (at + record.interval, at + *warmup, at + *duration);
        self.moments = Moments { begin: Some(at), sample: sample.min(end), warm, end };
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
        self.excess.fill(Histogram::default());
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
            row: self.link.row(&self.scenario, &self.ledger, self.lost, queued),
            sent: self.sent_before + self.ledger.counts().sent,
            ledger: self.ledger.clone(),
            excess: std::mem::take(&mut self.excess),
            before_warm: std::mem::take(&mut self.before_warm),
        };
        self.excess = vec![Histogram::default(); self.bases.len()];
        let _ = self.posts.send(Post::Total(Box::new(total)));
    }
}
