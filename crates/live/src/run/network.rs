//! A scenario's network of links between its two hosts, in one loop.
//!
//! A frame from one host crosses the links of its flow's route to the other host. All links share one order of events,
//! each at its nominal time. Lateness therefore occurs only once, when a frame leaves for its host.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use aqm::{Packet, Qdisc, Rng, Span, Time};
use headgate_link::WakeTimes;
use headgate_scenario::{Direction, Paths, Scenario};

use self::direction_queue::{DirectionQueue, directions};
use super::access::{self, AccessLinks};
use super::kernel::path::KernelPath;
use super::meter::LoopRecord;
use super::record_times::RecordTimes;
use super::slots::SlotBudget;
use crate::error::LiveResult;
use crate::forward::ends::{LaneEntry, LaneExit};
use crate::forward::fabric::Fabric;
use crate::forward::queue::{self, FrameSink};
use crate::forward::view::{LaneCounts, LaneView, MOST_FLOWS_SHOWN};
use crate::io::clock::StartTime;
use crate::io::frame::{Layer, Parser};
use crate::io::pool::{FrameId, Pool};
use crate::io::recorded_end::Recorder;
use crate::io::{KernelQueue, LinkEnd};
use crate::timeline::Timeline;

mod direction_queue;

/// A packet on its way to a queue.
struct ArrivingPacket {
    /// Number of the direction to whose queue it goes, and of the direction from which it comes; `None` if it comes
    /// from its host.
    to: u16,
    from: Option<u16>,
    packet: Packet<FrameId>,
}

/// All links, with a meter for each direction.
pub(super) struct LinkNetwork {
    pool: Pool,
    /// By direction: the entry of the host that sends in it, and the exit to the host that receives.
    entries: [LaneEntry; 2],
    exits: [LaneExit; 2],
    access: AccessLinks,
    paths: Paths,
    /// By number of the direction.
    directions: Vec<DirectionQueue>,
    /// The kernel's queue, if a direction has one.
    kernel: Option<KernelPath>,
    wakes: WakeTimes,
    arriving: Timeline<ArrivingPacket>,
    /// Least propagation delay of the links. A packet that arrives at or leaves a queue now is not due at its host
    /// before this delay has passed.
    least_delay: Span,
    record_times: RecordTimes,
    /// The first link that compares disciplines. Only the views of this link name flows, because finding them costs
    /// time.
    viewed_link: u16,
    /// Number and total duration of stalls.
    stalls: (u64, Span),
    records: Sender<LoopRecord>,
}

impl LinkNetwork {
    /// The links of `scenario`, with `qdisc` where disciplines are compared, or with the queue of `kernel` at the first
    /// such place. Records are sent from `begin` on.
    pub(super) fn new(
        scenario: &Arc<Scenario>,
        qdisc: &Qdisc,
        kernel: Option<KernelQueue>,
        seed: u64,
        begin: StartTime,
        records: Sender<LoopRecord>,
    ) -> LiveResult<LinkNetwork> {
        let slots = SlotBudget::of(scenario);
        let kernel = kernel.map(|queue| KernelPath::new(queue, scenario.bottleneck().number()));
        let directions = directions(scenario, qdisc, kernel.as_ref(), seed, &records)?;
        // The kernel's queue needs its packets on time, and the loop's queues only when the packets leave.
        let least_delay = scenario.links.iter().map(|link| link.delay).min().filter(|_| kernel.is_none());
        let entry = |direction: Direction| {
            let key = Rng::named(seed, &format!("flows {direction}")).bits();
            LaneEntry::new(Parser::new(Layer::Ip, key))
        };
        Ok(LinkNetwork {
            pool: Pool::new(slots.all, Pool::DEFAULT_SLOT),
            entries: Direction::BOTH.map(entry),
            exits: [(); 2].map(|()| LaneExit::new(slots.all as usize)),
            access: AccessLinks::new(scenario, seed, &slots),
            paths: Paths::new(scenario),
            wakes: WakeTimes::new(directions.len()),
            arriving: Timeline::new(slots.all as usize),
            least_delay: least_delay.unwrap_or(Span::ZERO),
            directions,
            kernel,
            record_times: RecordTimes::new(scenario, begin),
            viewed_link: scenario.bottleneck().link,
            stalls: (0, Span::ZERO),
            records,
        })
    }

    /// Processes all events up to `now` at their nominal times. Of events at the same time, records come first and
    /// dequeues last, in the order of link numbers.
    fn advance(&mut self, now: Time) {
        let mut next_record = self.record_times.next();
        loop {
            let next_arrival = self.arriving.next();
            let next = next_record.min(next_arrival).min(self.wakes.earliest());
            if next > now || next == Time::NEVER {
                return;
            }
            if next == next_record {
                self.take_records(next);
                next_record = self.record_times.next();
            } else if next == next_arrival {
                let Some((at, arriving)) = self.arriving.pop(next) else { return };
                self.arrive(at, arriving);
            } else {
                self.dequeue(self.wakes.earliest_link(), next);
            }
        }
    }

    /// Enqueues a packet.
    fn arrive(&mut self, at: Time, ArrivingPacket { to, from, mut packet }: ArrivingPacket) {
        let LinkNetwork { directions, kernel, pool, access, entries, arriving, paths, exits, .. } = self;
        match from {
            Some(from) => directions[usize::from(from)].delivered += 1,
            None => access.reached_queue(&packet.handle),
        }
        let direction_queue = &mut directions[usize::from(to)];
        direction_queue.offered += u64::from(from.is_some());
        let meter = direction_queue.queue.port_mut().ledger_mut();
        if let Some(identity) = meter.identities.get(access::flow(&packet.handle) as usize) {
            (packet.flow, packet.class) = (identity.flow, identity.class);
        }
        if let Some(kernel) = kernel.as_mut().filter(|kernel| kernel.direction == to) {
            kernel.offer(pool.frame(&packet.handle));
        }
        let parser = &mut entries[0].parser;
        meter.lane_ledger.record_arrival(packet.flow, packet.bytes, at, || parser.header(pool.frame(&packet.handle)));
        let receive = next_hop(to, arriving, paths, access, exits);
        direction_queue.queue.arrive(
            packet,
            at,
            &mut FrameSink { pool, recorder: direction_queue.recorder.as_ref(), receive },
        );
        self.wakes.set(to.into(), direction_queue.queue.wake_at());
    }

    /// Dequeues at direction `number`: its transmitter is free, or its discipline ready.
    fn dequeue(&mut self, number: usize, at: Time) {
        let LinkNetwork { directions, pool, access, arriving, paths, exits, .. } = self;
        let DirectionQueue { queue, recorder, .. } = &mut directions[number];
        let receive = next_hop(number as u16, arriving, paths, access, exits);
        queue.on_wake(at, &mut FrameSink { pool, recorder: recorder.as_ref(), receive });
        self.wakes.set(number, queue.wake_at());
    }

    /// Moves the packets that the kernel has released from its queue to the link, at `now`.
    fn take_releases(&mut self, now: Time) -> io::Result<()> {
        while let Some(kernel) = &mut self.kernel
            && kernel.take_release()?
        {
            let number = kernel.direction.into();
            self.dequeue(number, now);
        }
        Ok(())
    }

    /// Packets that the kernel released after they had been counted as dropped.
    pub(super) fn strays(&self) -> u64 {
        self.kernel.as_ref().map_or(0, KernelPath::strays)
    }

    /// Takes records of all directions at `at`. The caller has processed all events before `at` and none after it.
    fn take_records(&mut self, at: Time) {
        let due = self.record_times.take(at);
        for direction_queue in &mut self.directions {
            direction_queue.report_idle(at, &mut self.pool);
            let queue = &mut direction_queue.queue;
            if due.begin {
                queue.medium_mut().begin(at);
            }
            let (backlog, sending) = (queue.port().backlog(), (queue.remaining(at), queue.medium().used(at)));
            let (discipline, meter) = queue.port_mut().parts();
            meter.take_records(due, discipline, (backlog, sending), at);
        }
        if due.begin || due.warm {
            self.access.restart();
        }
        if due.end {
            // The receiver is gone if the run was stopped.
            let _ = self.records.send(LoopRecord::End(self.access.excess.clone(), self.access.reordering.clone()));
        }
    }

    /// By direction: packets on their flows' own links before the queue, and packets in propagation.
    fn in_transit(&self) -> Vec<[usize; 2]> {
        let mut in_transit = vec![[0; 2]; self.directions.len()];
        for packet in self.arriving.iter() {
            match packet.from {
                Some(from) => in_transit[usize::from(from)][1] += 1,
                None => in_transit[usize::from(packet.to)][0] += 1,
            }
        }
        for frame in self.exits.iter().flat_map(LaneExit::propagating) {
            in_transit[usize::from(self.access.route(frame).last)][1] += 1;
        }
        in_transit
    }

    /// Adds counts of the entry and exit of `direction` to `view`: their frames cannot be attributed to a link.
    fn add_end_counts(&self, view: &mut LaneView, direction: Direction) {
        let (entry, exit) = (&self.entries[direction as usize], &self.exits[direction as usize]);
        view.anomalies = entry.parser.anomalies;
        view.counts.offered += entry.no_slot + view.anomalies.dropped();
        view.counts.no_slot = entry.no_slot;
        view.lateness = exit.lateness.clone();
    }
}

/// Sends a packet that leaves direction `from` to the next queue of its route, or to its host.
#[inline]
fn next_hop<'a>(
    from: u16,
    arriving: &'a mut Timeline<ArrivingPacket>,
    paths: &'a Paths,
    access: &'a mut AccessLinks,
    exits: &'a mut [LaneExit; 2],
) -> impl FnMut(Packet<FrameId>, Time) + 'a {
    move |packet, out| {
        if let Some(to) = paths.next(from, access::flow(&packet.handle) as usize) {
            return arriving.push(out, ArrivingPacket { to, from: Some(from), packet });
        }
        let due = access.host_arrival(&packet.handle, packet.bytes, out);
        exits[access.route(&packet.handle).direction as usize].schedule(due, packet.handle);
    }
}

impl Fabric for LinkNetwork {
    fn take_from(&mut self, direction: Direction, from: &mut dyn LinkEnd) -> io::Result<bool> {
        self.entries[direction as usize].take(from, &mut self.pool)
    }

    fn arrive(&mut self, now: Time, direction: Direction) {
        self.advance(now);
        let LinkNetwork { entries, pool, access, directions, arriving, .. } = self;
        entries[direction as usize].arrive(pool, |mut packet, parsed, _| {
            let Some(at) = access.enter(&mut packet, parsed, (now, direction)) else { return Err(packet.handle) };
            let to = access.route(&packet.handle).first;
            directions[usize::from(to)].offered += 1;
            arriving.push(at, ArrivingPacket { to, from: None, packet });
            Ok(())
        });
        self.advance(now);
    }

    fn deliver_to(&mut self, now: Time, direction: Direction, to: &mut dyn LinkEnd) -> io::Result<bool> {
        self.advance(now);
        self.take_releases(now)?;
        let LinkNetwork { exits, pool, access, directions, .. } = self;
        exits[direction as usize].send_due(now, to, pool, |frame, taken| {
            let last = &mut directions[usize::from(access.route(frame).last)];
            if taken {
                last.delivered += 1;
                access.record_delivery(frame, now);
            } else {
                last.refused += 1;
            }
        })
    }

    fn due(&self) -> Time {
        let next = self.arriving.next().min(self.wakes.earliest()) + self.least_delay;
        self.exits.iter().map(LaneExit::due).fold(next, Time::min)
    }

    fn stall(&mut self, by: Span) {
        self.stalls = (self.stalls.0 + 1, self.stalls.1 + by);
        self.arriving.stall(by);
        for (number, direction_queue) in self.directions.iter_mut().enumerate() {
            direction_queue.queue.stall(by);
            self.wakes.set(number, direction_queue.queue.wake_at());
        }
        self.exits.iter_mut().for_each(|exit| exit.stall(by));
    }

    fn view(&mut self, now: Time) -> Vec<LaneView> {
        self.advance(now);
        let (in_transit, free_slots) = (self.in_transit(), self.pool.free());
        let (stalls, stalled) = self.stalls;
        let named = |number: usize| if number / 2 == usize::from(self.viewed_link) { MOST_FLOWS_SHOWN } else { 0 };
        let of = |(number, (direction_queue, [on_access, propagating])): (usize, (&mut DirectionQueue, [usize; 2]))| {
            direction_queue.report_idle(now, &mut self.pool);
            let counts = LaneCounts {
                offered: direction_queue.offered,
                delivered: direction_queue.delivered,
                refused: direction_queue.refused,
                stalls,
                stalled,
                ..LaneCounts::default()
            };
            LaneView {
                on_access,
                propagating,
                free_slots,
                ..queue::view(&mut direction_queue.queue, now, counts, named(number))
            }
        };
        let mut views: Vec<LaneView> = self.directions.iter_mut().zip(in_transit).enumerate().map(of).collect();
        views.iter_mut().zip(Direction::BOTH).for_each(|(view, direction)| self.add_end_counts(view, direction));
        views
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.kernel.as_ref().map(KernelPath::fd)
    }

    fn record(&mut self, recorders: &[Option<Recorder>; 2]) {
        self.directions
            .iter_mut()
            .zip(recorders)
            .for_each(|(direction_queue, recorder)| direction_queue.recorder.clone_from(recorder));
    }
}

#[cfg(test)]
mod tests;
