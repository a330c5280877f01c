//! What the loop tells the account of one direction.

use headgate_core::{Backlog, Discipline, FlowId, Ledger, Packet, Time, Why};
use headgate_measure::Counted;

use super::Account;
use crate::frame::Parsed;
use crate::ledger::WireLedger;
use crate::load::ports::{self, Way};
use crate::meter::Meter;
use crate::pool::FrameId;

// A frame's tag: the number of its flow, and whether it is the flow's data.
const DATA: u32 = 1 << 31;

fn number(frame: &FrameId) -> usize {
    (frame.tag() & !DATA) as usize
}

impl Counted for FrameId {
    #[inline]
    fn flow(packet: &Packet<FrameId>) -> u32 {
        packet.handle.tag() & !DATA
    }

    #[inline]
    fn is_data(packet: &Packet<FrameId>) -> bool {
        packet.handle.tag() & DATA != 0
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
    fn meet(&mut self, frame: &mut FrameId, parsed: &mut Parsed, bytes: u32, now: Time) -> Time {
        let ports = parsed.header.and_then(|header| ports::flow(header.source_port, header.destination_port));
        self.taken[frame.slot() as usize] = now;
        let known = ports.and_then(|(flow, way)| Some((flow, way, self.names.get(flow as usize)?)));
        let Some((flow, way, name)) = known else {
            // Nobody's: behind the last flow's number, and straight to the queue.
            frame.set_tag(self.names.len() as u32);
            self.wire.meet(parsed, bytes, now);
            return now;
        };
        (parsed.flow, parsed.class) = (name.flow, name.class);
        frame.set_tag(if way == Way::Data { flow | DATA } else { flow });
        self.wire.meet(parsed, bytes, now);
        self.access.before(flow as usize, bytes, now)
    }

    fn deliver(&mut self, frame: &FrameId, bytes: u32, due: Time) -> Time {
        let flow = number(frame);
        if flow < self.names.len() { self.access.behind(flow, bytes, due) } else { due }
    }

    #[inline]
    fn origin(&self) -> Time {
        self.moments.begin.unwrap_or(Time::NEVER)
    }

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

    #[inline]
    fn out(&mut self, frame: &FrameId, now: Time) {
        if frame.tag() & DATA != 0 {
            let (group, age) = (self.access.group(number(frame)), now - self.taken[frame.slot() as usize]);
            self.excess[group].record((age - self.bases[group]).as_nanos());
        }
    }

    #[inline]
    fn due(&self) -> Time {
        let moments = &self.moments;
        match moments.begin {
            Some(_) => moments.sample.min(moments.warm).min(moments.end),
            None => self.begin.get(),
        }
    }

    fn look<D: Discipline<FrameId>>(&mut self, discipline: &D, held: Backlog, at: Time) {
        if self.moments.begin.is_none() {
            return self.start(held, at);
        }
        self.settle(held, at);
        if at >= self.moments.warm {
            self.moments.warm = Time::NEVER;
            self.restart(held, at);
        }
        if at >= self.moments.sample {
            self.moments.sample = (at + self.scenario.record.interval).min(self.moments.end);
            self.sample(discipline, held, at);
        }
        if at >= self.moments.end {
            (self.moments.sample, self.moments.end) = (Time::NEVER, Time::NEVER);
            self.finish(held);
        }
    }

    fn wire(&mut self) -> &mut WireLedger {
        &mut self.wire
    }
}
