//! Follows every packet through a discipline. After every call it checks the laws that all disciplines obey.

use std::collections::BTreeMap;

use aqm::{Backlog, Cx, Discipline, Ecn, FlowId, Limit, Packet, Rng, Sink, Time, Why};

/// A decision of a discipline. The number is the packet's handle: its index among the arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Sent(u32),
    Dropped(u32, Why),
    Marked(u32, Why),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PacketOutcome {
    Waiting,
    Sent,
    Dropped,
}

struct AuditRecord {
    flow: FlowId,
    bytes: u32,
    ecn: Ecn,
    marked: bool,
    outcome: PacketOutcome,
}

/// The record of one trace: every packet that arrived, and its outcome.
pub struct Audit {
    case: String,
    ecn: bool,
    /// Whether packets of different flows may overtake each other.
    schedules: bool,
    packets: Vec<AuditRecord>,
    last_sent: BTreeMap<FlowId, u32>,
    held: Backlog,
    pub decisions: Vec<Decision>,
}

impl Audit {
    /// An empty record. `case` is part of every message. Without `ecn` a mark is a failure. Unless the discipline
    /// `schedules`, a packet that overtakes another is a failure too.
    pub fn new(case: String, ecn: bool, schedules: bool) -> Audit {
        let held = Backlog::default();
        Audit { case, ecn, schedules, packets: Vec::new(), last_sent: BTreeMap::new(), held, decisions: Vec::new() }
    }

    /// Records an arrival and gives the packet its unique handle.
    pub fn arrived(&mut self, packet: Packet<()>) -> Packet<u32> {
        let Packet { arrived, flow, bytes, class, ecn, handle: () } = packet;
        let handle = self.packets.len() as u32;
        self.packets.push(AuditRecord { flow, bytes, ecn, marked: false, outcome: PacketOutcome::Waiting });
        self.held.packets += 1;
        self.held.bytes += u64::from(bytes);
        Packet { arrived, flow, bytes, class, ecn, handle }
    }

    pub fn sent(&mut self, packet: Packet<u32>) {
        self.leaves(&packet, PacketOutcome::Sent);
        let Audit { case, last_sent, packets, .. } = self;
        let queue = if self.schedules { packet.flow } else { FlowId(0) };
        if let Some(earlier) = last_sent.insert(queue, packet.handle) {
            assert!(earlier < packet.handle, "{case}: packet {} left after {earlier}", packet.handle);
        }
        let record = &packets[packet.handle as usize];
        let carries = if record.marked { Ecn::Ce } else { record.ecn };
        assert_eq!(packet.ecn, carries, "{case}: ECN field of packet {} (marked: {})", packet.handle, record.marked);
        self.decisions.push(Decision::Sent(packet.handle));
    }

    /// Checks the backlog: it equals the arrivals less departures and drops, and is at most `limit`.
    pub fn check(&self, holds: Backlog, limit: Limit) {
        assert_eq!(holds, self.held, "{}: backlog against arrived - sent - dropped", self.case);
        let within = match limit {
            Limit::Packets(most) => holds.packets <= most,
            Limit::Bytes(most) => holds.bytes <= most,
        };
        assert!(within, "{}: {holds:?} is above the limit of {limit}", self.case);
    }

    pub fn held(&self) -> Backlog {
        self.held
    }

    fn leaves(&mut self, packet: &Packet<u32>, outcome: PacketOutcome) {
        let case = &self.case;
        let record = &mut self.packets[packet.handle as usize];
        assert_eq!(record.outcome, PacketOutcome::Waiting, "{case}: packet {} left twice", packet.handle);
        assert_eq!(
            (record.flow, record.bytes),
            (packet.flow, packet.bytes),
            "{case}: packet {} changed",
            packet.handle
        );
        record.outcome = outcome;
        self.held.packets -= 1;
        self.held.bytes -= u64::from(packet.bytes);
    }
}

impl Sink<u32> for Audit {
    fn dropped(&mut self, packet: Packet<u32>, why: Why, _: Time) {
        self.leaves(&packet, PacketOutcome::Dropped);
        self.decisions.push(Decision::Dropped(packet.handle, why));
    }

    fn marked(&mut self, packet: &Packet<u32>, why: Why, _: Time) {
        let record = &mut self.packets[packet.handle as usize];
        assert!(record.ecn.is_capable(), "{}: packet {} cannot carry a mark", self.case, packet.handle);
        assert!(self.ecn, "{}: packet {} marked, though ecn is off", self.case, packet.handle);
        assert_eq!(
            record.outcome,
            PacketOutcome::Waiting,
            "{}: packet {} marked after it left",
            self.case,
            packet.handle
        );
        record.marked = true;
        self.decisions.push(Decision::Marked(packet.handle, why));
    }
}

/// A discipline under audit.
pub struct Audited<D> {
    discipline: D,
    rng: Rng,
    limit: Limit,
    pub audit: Audit,
    pub now: Time,
}

impl<D: Discipline<u32>> Audited<D> {
    pub fn new(discipline: D, rng: Rng, limit: Limit, audit: Audit) -> Self {
        Audited { discipline, rng, limit, audit, now: Time::ZERO }
    }

    pub fn enqueue(&mut self, packet: Packet<()>) {
        let packet = self.audit.arrived(Packet { arrived: self.now, ..packet });
        self.discipline.enqueue(packet, &mut Cx::new(self.now, &mut self.rng, &mut self.audit));
        self.check();
    }

    /// Whether a packet left.
    pub fn dequeue(&mut self) -> bool {
        let packet = self.discipline.dequeue(&mut Cx::new(self.now, &mut self.rng, &mut self.audit));
        let left = packet.is_some();
        packet.into_iter().for_each(|packet| self.audit.sent(packet));
        self.check();
        left
    }

    /// Asks for a drop. A nonempty queue gets smaller, and no packet is sent.
    pub fn shed(&mut self) {
        let before = self.audit.held().packets;
        self.discipline.shed(&mut Cx::new(self.now, &mut self.rng, &mut self.audit));
        self.check();
        assert_eq!(self.audit.held().packets < before, before > 0, "{}: shed at {before} packets", self.audit.case);
    }

    /// Dequeues at `ready_at` until the queue is empty.
    pub fn drain(&mut self) {
        let most = 2 * u64::from(self.audit.held().packets) + 1;
        for _ in 0..most {
            match self.discipline.ready_at(self.now) {
                Some(ready) => self.now = self.now.max(ready),
                None => break,
            }
            self.dequeue();
        }
        assert_eq!(self.discipline.ready_at(self.now), None, "{}: ready, but nothing leaves", self.audit.case);
        assert_eq!(self.audit.held(), Backlog::default(), "{}: packets are stuck", self.audit.case);
    }

    fn check(&mut self) {
        self.audit.check(self.discipline.backlog(), self.limit);
        // Some gauges compare all queues: with thousands of packets they are read at every 64th microsecond.
        if self.audit.held().packets > 1000 && !self.now.as_nanos().is_multiple_of(64_000) {
            return;
        }
        let case = &self.audit.case;
        self.discipline.observe(&mut |name, value| assert!(value.is_finite(), "{case}: gauge {name} is {value}"));
    }
}
