//! Measures one direction of a link, with the simulator's code.
//!
//! The loop's time starts with the loop, the run's time when its flows may send. Records use the run's time; the ledger
//! of the lane uses the loop's.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use aqm::parts::Histogram;
use aqm::{Backlog, Discipline, FlowId, Ledger, Packet, Span, Time, Why};
use headgate_link::Meter;
use headgate_measure::{CapacityUse, EventBatch, HasFlow, IntervalRow, LinkLedger, LinkRow, ReorderingMeter};
use headgate_scenario::{Hop, Identity, Scenario};

use super::record_times::RecordsDue;
use crate::forward::ledger::LaneLedger;
use crate::io::pool::FrameId;

/// Results handed over during the run and at its end.
pub(super) enum LoopRecord {
    /// Samples and events of one direction since its previous record, up to the end of an interval or of the run.
    IntervalSample(IntervalSample),
    DirectionTotals(Box<DirectionTotals>),
    /// The end, with [`AccessLinks::excess`](super::access::AccessLinks::excess) and the reordered packets.
    End(Vec<Histogram>, ReorderingMeter),
}

pub(super) struct IntervalSample {
    pub(super) link: u16,
    pub(super) at: Time,
    pub(super) rows: Vec<IntervalRow>,
    /// Drops and marks of data by group, since the ledger was last reset.
    pub(super) groups: Vec<(u64, u64)>,
    pub(super) events: EventBatch,
    /// Drops for the reason that the discipline monitors the flow.
    pub(super) monitored_drops: Vec<(Time, u32, Why)>,
}

pub(super) struct DirectionTotals {
    pub(super) link: u16,
    pub(super) row: LinkRow,
    pub(super) ledger: LinkLedger,
    /// Packets sent, warm-up included.
    pub(super) sent: u64,
    /// Drops and marks of data by group at the end of the warm-up, before the ledger is reset.
    pub(super) before_warm: Vec<(u64, u64)>,
}

/// The ledgers of one direction: the counts of the lane, and the measurements of the run, which it sends as records.
pub(super) struct DirectionRecorder {
    hop: Hop,
    scenario: Arc<Scenario>,
    pub(super) lane_ledger: LaneLedger,
    ledger: LinkLedger,
    /// Identities of the scenario's flows, as the discipline knows them.
    pub(super) identities: Vec<Identity>,
    /// Start of the run; [`Time::NEVER`] before.
    begin: Time,
    monitored_drops: Vec<(Time, u32, Why)>,
    sent_before: u64,
    before_warm: Vec<(u64, u64)>,
    records: Sender<LoopRecord>,
}

impl DirectionRecorder {
    /// Measures `hop` of `scenario` with `discipline`, and sends its records.
    pub(super) fn new(
        (scenario, hop): (&Arc<Scenario>, Hop),
        discipline: &impl Discipline<FrameId>,
        lane_ledger: LaneLedger,
        records: Sender<LoopRecord>,
    ) -> DirectionRecorder {
        DirectionRecorder {
            hop,
            lane_ledger,
            ledger: LinkLedger::new(scenario, hop, discipline),
            identities: scenario.identities(hop),
            begin: Time::NEVER,
            monitored_drops: Vec::new(),
            sent_before: 0,
            before_warm: Vec::new(),
            records,
            scenario: Arc::clone(scenario),
        }
    }

    /// Converts to the run's time, which is zero until the run starts.
    #[inline]
    fn run_time(&self, at: Time) -> Time {
        Time::ZERO + (at - self.begin)
    }

    /// Takes the records `due` at time `at`. The caller has processed all events before `at` and none after it.
    /// `backlog` is the discipline's backlog, `sending` the remaining transmission time of the packet being sent and the
    /// use of a link of varying rate.
    pub(super) fn take_records<D: Discipline<FrameId>>(
        &mut self,
        due: RecordsDue,
        discipline: &D,
        (backlog, sending): (Backlog, (Span, Option<CapacityUse>)),
        at: Time,
    ) {
        if due.begin {
            // Earlier packets, such as handshakes, do not belong to the run.
            self.begin = at;
            self.ledger = LinkLedger::new(&self.scenario, self.hop, discipline);
            self.monitored_drops.clear();
        }
        let now = self.run_time(at);
        self.ledger.settle(backlog, sending, now);
        if due.begin || due.warm {
            self.sent_before = self.ledger.counts().sent;
            self.before_warm = self.ledger.drops_and_marks().to_vec();
            self.ledger.restart(backlog, now);
        }
        if due.sample {
            self.sample(discipline, backlog, now);
        }
        if due.end {
            self.finish(backlog);
        }
    }

    fn sample<D: Discipline<FrameId>>(&mut self, discipline: &D, backlog: Backlog, now: Time) {
        let (mut rows, mut events) = (Vec::new(), EventBatch::default());
        self.ledger.sample(backlog, now, discipline, &mut rows);
        if let Some(log) = self.ledger.events() {
            log.take(&mut events);
            events.rows.iter_mut().for_each(|row| row.time = self.run_time(row.time));
        }
        let monitored_drops = std::mem::take(&mut self.monitored_drops);
        let groups = self.ledger.drops_and_marks().to_vec();
        let link = self.hop.number();
        // The receiver is gone if the run was stopped.
        let _ = self.records.send(LoopRecord::IntervalSample(IntervalSample {
            link,
            at: now,
            rows,
            groups,
            events,
            monitored_drops,
        }));
    }

    fn finish(&mut self, backlog: Backlog) {
        let ledger = self.ledger.clone();
        let total = DirectionTotals {
            link: self.hop.number(),
            row: self.ledger.row(&self.scenario, backlog),
            sent: self.sent_before + ledger.counts().sent,
            ledger,
            before_warm: std::mem::take(&mut self.before_warm),
        };
        let _ = self.records.send(LoopRecord::DirectionTotals(Box::new(total)));
    }
}

impl Ledger<FrameId> for DirectionRecorder {
    #[inline]
    fn arrived(&mut self, packet: &Packet<FrameId>, now: Time) {
        self.lane_ledger.arrived(packet, now);
        self.ledger.arrived(packet, now);
    }

    #[inline]
    fn sent(&mut self, packet: &Packet<FrameId>, now: Time) {
        self.lane_ledger.sent(packet, now);
        self.ledger.sent(packet, now);
    }

    fn dropped(&mut self, packet: &Packet<FrameId>, why: Why, now: Time) {
        self.lane_ledger.dropped(packet, why, now);
        self.ledger.dropped(packet, why, now);
        if why.targets_identified_flow() && FrameId::is_data(packet) {
            self.monitored_drops.push((self.run_time(now), FrameId::flow(packet), why));
        }
    }

    fn marked(&mut self, packet: &Packet<FrameId>, why: Why, now: Time) {
        self.lane_ledger.marked(packet, why, now);
        self.ledger.marked(packet, why, now);
    }
}

impl AsMut<LaneLedger> for DirectionRecorder {
    fn as_mut(&mut self) -> &mut LaneLedger {
        &mut self.lane_ledger
    }
}

impl Meter<FrameId> for DirectionRecorder {
    #[inline]
    fn discipline_called<D: Discipline<FrameId>>(&mut self, discipline: &D) {
        let unknown = |flow: u32| FlowId(flow.into());
        let name = |flow: u32| self.identities.get(flow as usize).map_or(unknown(flow), |name| name.flow);
        self.ledger.record_gauges(discipline, name);
    }

    #[inline]
    fn set_backlog(&mut self, backlog: Backlog, now: Time) {
        Meter::<FrameId>::set_backlog(&mut self.lane_ledger, backlog, now);
        self.ledger.set_backlog(backlog, self.run_time(now));
    }

    #[inline]
    fn sending(&mut self, now: Time, sent: Time) {
        Meter::<FrameId>::sending(&mut self.lane_ledger, now, sent);
        self.ledger.add_busy(sent - now);
    }

    fn lost(&mut self, packet: &Packet<FrameId>, now: Time) {
        self.ledger.record_link_loss(packet, now);
    }

    fn remarked(&mut self, _: &Packet<FrameId>) {
        self.ledger.record_link_remark();
    }
}
