//! What is measured at one direction of a link, for the tables of a run.

use headgate_core::{Backlog, Discipline, FlowId, Ledger, Packet, Span, Time, Why};
use headgate_measure::{Counted, EventLog, FlowLedger, IntervalRow, LinkRow, Occupancy, Quantity, Told, queue_rows};
use headgate_scenario::{Hop, Scenario};

use crate::queue::Meter;

/// The meter of one direction: counts by flow, and the queue and the link over time.
#[derive(Clone, Debug)]
pub struct Account {
    hop: Hop,
    /// Disciplines are compared there: it has rows over time.
    compared: bool,
    ledger: FlowLedger,
    /// Since queue and link were last settled, in the interval under way, and since counting began.
    occupancy: Occupancy,
    interval: Occupancy,
    total: Occupancy,
    /// What came to the queue and was dropped there.
    told: Told,
    /// Packets lost on the way, and packets that waited, when counting began.
    lost: u64,
    queued_before: u64,
}

impl Account {
    /// Nothing measured yet, at `hop` of `scenario`, where `discipline` is.
    pub fn new<T>(scenario: &Scenario, hop: Hop, discipline: &impl Discipline<T>) -> Account {
        let compared = scenario.simplex(hop).qdisc.is_none();
        let log = compared.then(|| EventLog::new(hop.number(), scenario.record.events, discipline)).flatten();
        let carries_data = scenario.routes().any(|route| route.contains(&hop));
        Account {
            hop,
            compared,
            ledger: FlowLedger::new(scenario, carries_data, log),
            occupancy: Occupancy::default(),
            interval: Occupancy::default(),
            total: Occupancy::default(),
            told: Told::default(),
            lost: 0,
            queued_before: 0,
        }
    }

    /// The counts by flow.
    #[inline]
    pub fn ledger(&self) -> &FlowLedger {
        &self.ledger
    }

    /// The log of events, if one is wanted.
    #[inline]
    pub fn events(&mut self) -> Option<&mut EventLog> {
        self.ledger.events()
    }

    /// Whether disciplines are compared there.
    pub fn compared(&self) -> bool {
        self.compared
    }

    /// Completes what was seen of queue and link up to `now`. The queue holds `held`, and the packet that is being sent
    /// needs `ahead` more.
    pub fn settle(&mut self, held: Backlog, ahead: Span, now: Time) {
        self.occupancy.set(held, now);
        // The packet being sent counts for the part of it that lies before `now`.
        let mut seen = std::mem::replace(&mut self.occupancy, Occupancy::starting(now, held, ahead));
        seen.busy = seen.busy - ahead;
        self.interval.add(&seen);
        self.total.add(&seen);
    }

    /// An interval ends, which was settled: its rows.
    pub fn sample<T>(
        &mut self,
        held: Backlog,
        now: Time,
        discipline: &impl Discipline<T>,
        rows: &mut Vec<IntervalRow>,
    ) {
        let ambient = self.told.tell(self.ledger.counts().ambient());
        let seen = std::mem::replace(&mut self.interval, Occupancy::starting(now, held, Span::ZERO));
        if self.compared {
            let link = self.hop.number();
            rows.extend(queue_rows(now, link, seen.means(), ambient));
            let mut gauge = |name, value| rows.push(IntervalRow::of_link(now, link, Quantity::Gauge(name), value));
            discipline.observe(&mut gauge);
        }
    }

    /// The warm-up ends, and was settled: what was counted before does not count. Intervals and events go on.
    pub fn restart(&mut self, held: Backlog, now: Time) {
        self.total = Occupancy::starting(now, held, Span::ZERO);
        self.told.restart(self.ledger.counts().ambient());
        self.ledger.restart();
        (self.lost, self.queued_before) = (0, held.packets.into());
    }

    /// The link's row, when `held` waits at the end.
    pub fn row(&self, scenario: &Scenario, held: Backlog) -> LinkRow {
        let (queue_packets_mean, queue_bytes_mean, utilisation) = self.total.means();
        LinkRow {
            link: scenario.links[usize::from(self.hop.link)].name.clone(),
            direction: self.hop.direction,
            compared: self.compared,
            counts: self.ledger.counts().clone(),
            lost: self.lost,
            queued: [self.queued_before, held.packets.into()],
            utilisation,
            queue_packets_mean,
            queue_bytes_mean,
            port: self.ledger.port(),
            packets: None,
            events: None,
        }
    }

    /// Asks the discipline for its gauges, if it has just dropped or marked a packet and they are wanted. `name` says what
    /// the discipline calls a flow.
    #[inline(always)]
    pub fn explain<T>(&mut self, discipline: &impl Discipline<T>, name: impl Fn(u32) -> FlowId) {
        if let Some(log) = self.ledger.events()
            && log.waits()
        {
            log.explain(discipline, name);
        }
    }

    /// The queue holds `held` from `now` on.
    #[inline(always)]
    pub fn holds(&mut self, held: Backlog, now: Time) {
        self.occupancy.set(held, now);
    }

    /// The link is busy for `span`.
    #[inline(always)]
    pub fn busy(&mut self, span: Span) {
        self.occupancy.busy(span);
    }

    /// `packet` began to be sent at `now` and is lost on the way.
    pub fn lost<T: Counted>(&mut self, packet: &Packet<T>, now: Time) {
        self.lost += 1;
        self.ledger.lost_on_the_way(packet, now);
    }
}

impl<T: Counted> Ledger<T> for Account {
    #[inline]
    fn arrived(&mut self, packet: &Packet<T>, now: Time) {
        self.ledger.arrived(packet, now);
    }

    #[inline]
    fn sent(&mut self, packet: &Packet<T>, now: Time) {
        self.ledger.sent(packet, now);
    }

    #[inline]
    fn dropped(&mut self, packet: &Packet<T>, why: Why, now: Time) {
        self.ledger.dropped(packet, why, now);
    }

    #[inline]
    fn marked(&mut self, packet: &Packet<T>, why: Why, now: Time) {
        self.ledger.marked(packet, why, now);
    }
}

/// Where flows go by their numbers and time is the run's own, as in the simulator.
impl<T: Counted> Meter<T> for Account {
    #[inline(always)]
    fn called<D: Discipline<T>>(&mut self, discipline: &D) {
        self.explain(discipline, |flow| FlowId(flow.into()));
    }

    #[inline(always)]
    fn holds(&mut self, held: Backlog, now: Time) {
        self.holds(held, now);
    }

    #[inline(always)]
    fn sending(&mut self, now: Time, sent: Time) {
        self.busy(sent - now);
    }

    fn lost(&mut self, packet: &Packet<T>, now: Time) {
        self.lost(packet, now);
    }
}
