//! One direction of a link: a port with its discipline, a transmitter, and packets on their way.
//!
//! The simulator's link, on a clock that others read. Everything has its nominal time: a packet that waits is taken from
//! the queue at the moment at which the one before it was sent, however late somebody looks, and comes out when it would
//! from a real link. So the rate is exact while packets wait, disciplines see neither the loop's delays nor its bursts,
//! and lateness at the exit is the only error there is; it does not add up, and is recorded for every packet.
//!
//! Nothing has to be awake when a packet is taken from the queue, only before it comes out: there is one moment to wake
//! up for a packet, and [`Lane::due`] says which.

use std::collections::VecDeque;
use std::io;

use headgate_core::parts::Histogram;
use headgate_core::{Discipline, Ecn, Packet, Port, Sink, Span, Time, Why};
use headgate_scenario::{Passage, Transmitter};

use crate::ecn;
use crate::frame::Parser;
use crate::io::tap::{Passed, Pen};
use crate::io::{BATCH, Io};
use crate::ledger::WireLedger;
use crate::meter::Meter;
use crate::oddities::Oddity;
use crate::pool::{FrameId, Pool};
use crate::view::{MOST_SHOWN, WireView};

mod succession;

pub use succession::Estate;

/// What a wire counts beside what its port does. Frames that came are those without a slot, those dropped for what they
/// were, and those that arrived at the port; those that were sent there are lost, on their way, or came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireCounts {
    /// Frames that came, those that were dropped at the door included.
    pub came: u64,
    /// Frames for which no slot was free.
    pub no_slot: u64,
    /// Packets lost on the way, by chance.
    pub lost: u64,
    /// Packets that came out.
    pub out: u64,
    /// Packets that came out and that the other end refused. They are gone.
    pub refused: u64,
    /// How often the loop stood still for longer than is caught up.
    pub stalls: u64,
    /// The time that was not caught up.
    pub stalled: Span,
}

/// A wire of any discipline, as a forwarder knows it: one call for a batch of frames.
pub trait Lane {
    /// Takes what has come to `from`; says whether there may be more.
    ///
    /// # Errors
    /// Those of `from`.
    fn take(&mut self, now: Time, from: &mut dyn Io) -> io::Result<bool>;

    /// Gives `to` what has come out; says whether there is more.
    ///
    /// # Errors
    /// Those of `to`.
    fn give(&mut self, now: Time, to: &mut dyn Io) -> io::Result<bool>;

    /// When something may come out; [`Time::NEVER`] while the wire is empty.
    fn due(&self) -> Time;

    /// Nobody looked for so long that it is not caught up: the wire stood still for `by`.
    fn stall(&mut self, by: Span);

    /// What there is to see at `now`.
    fn view(&mut self, now: Time) -> WireView;

    /// Gives all that it has to another wire, which takes its place from `now` on. It is not to be used any more.
    fn leave(&mut self, now: Time) -> Estate;

    /// From now on `pen` notes packets that are dropped or lost.
    fn note(&mut self, pen: Pen);
}

/// A packet on its way.
struct Flying {
    due: Time,
    frame: FrameId,
}

/// A packet on its own link before the queue.
struct Coming {
    at: Time,
    packet: Packet<FrameId>,
}

/// What a wire is made of.
pub(crate) struct Parts<D, L> {
    pub(crate) discipline: D,
    pub(crate) rng: headgate_core::Rng,
    pub(crate) ledger: L,
    pub(crate) pool: Pool,
    pub(crate) parser: Parser,
    pub(crate) transmitter: Transmitter,
    pub(crate) overhead: i32,
    pub(crate) delay: Span,
    pub(crate) passage: Option<Passage>,
}

/// One direction of a link, compiled for its discipline, and for who keeps account.
pub(crate) struct Wire<D, L = WireLedger> {
    port: Port<FrameId, D, L>,
    pool: Pool,
    parser: Parser,
    transmitter: Transmitter,
    /// Bytes that every packet costs on the link beside its own.
    overhead: i32,
    delay: Span,
    passage: Option<Passage>,
    /// In the order in which they reach the queue.
    coming: VecDeque<Coming>,
    /// In the order in which they come out. There are never more than slots, for which it has room.
    flying: VecDeque<Flying>,
    /// When the last packet comes out that flew when this wire took the place of another: none overtakes it.
    not_before: Time,
    free_at: Time,
    /// When to ask the port next; [`Time::NEVER`] while nothing waits there.
    wake: Time,
    /// The discipline was asked since the transmitter fell free, and had nothing.
    idle: bool,
    counts: WireCounts,
    lateness: Histogram,
    batch: Vec<FrameId>,
}

/// Gives the slots of dropped packets back.
struct Recycle<'a>(&'a mut Pool);

impl Sink<FrameId> for Recycle<'_> {
    fn dropped(&mut self, packet: Packet<FrameId>, why: Why, now: Time) {
        self.0.discard(packet.handle, Passed::Dropped(why), now);
    }
    fn marked(&mut self, _: &Packet<FrameId>, _: Why, _: Time) {}
}

impl<D: Discipline<FrameId>, L: Meter> Wire<D, L> {
    pub(crate) fn new(parts: Parts<D, L>) -> Wire<D, L> {
        Wire {
            coming: VecDeque::new(),
            port: Port::with_ledger(parts.discipline, parts.rng, parts.ledger),
            flying: VecDeque::with_capacity(parts.pool.slots()),
            pool: parts.pool,
            parser: parts.parser,
            transmitter: parts.transmitter,
            not_before: Time::ZERO,
            overhead: parts.overhead,
            delay: parts.delay,
            passage: parts.passage,
            free_at: Time::ZERO,
            wake: Time::NEVER,
            idle: true,
            counts: WireCounts::default(),
            lateness: Histogram::default(),
            batch: Vec::with_capacity(BATCH),
        }
    }

    /// A frame has come.
    #[inline]
    fn arrive(&mut self, mut frame: FrameId, now: Time) {
        let bytes = self.pool.frame(&frame);
        let Ok(parsed) = &mut self.parser.parse(bytes) else { return self.pool.give(frame) };
        let size = bytes.len() as u32;
        self.pool.set_ip(&frame, parsed.ip);
        let at = self.port.ledger_mut().meet(&mut frame, parsed, size, now);
        let packet = Packet { class: parsed.class, ecn: parsed.ecn, ..Packet::new(parsed.flow, size, frame) };
        if at <= now {
            self.offer(packet, now);
        } else {
            let place = self.coming.partition_point(|other| other.at <= at);
            self.coming.insert(place, Coming { at, packet });
        }
        self.advance(now);
    }

    /// A packet reaches the queue.
    #[inline]
    fn offer(&mut self, packet: Packet<FrameId>, at: Time) {
        self.port.enqueue(packet, at, &mut Recycle(&mut self.pool));
        self.account(at);
        if self.wake == Time::NEVER {
            self.wake = at.max(self.free_at);
        }
    }

    /// The discipline was called.
    #[inline]
    fn account(&mut self, at: Time) {
        let held = self.port.backlog();
        let (discipline, ledger) = self.port.parts();
        ledger.called(discipline, held, at);
    }

    /// Does what was to be done up to `now`, at the times at which it was to be done: a look, what comes, what is sent.
    #[inline]
    fn advance(&mut self, now: Time) {
        loop {
            let looks = self.port.ledger().due();
            let comes = self.coming.front().map_or(Time::NEVER, |first| first.at);
            let next = looks.min(comes).min(self.wake);
            if next > now || next == Time::NEVER {
                break;
            }
            if next == self.wake && next < looks.min(comes) {
                self.pull(next);
                continue;
            }
            self.settle(next);
            if next == looks {
                let held = self.port.backlog();
                let (discipline, ledger) = self.port.parts();
                ledger.look(discipline, held, next);
            } else if let Some(Coming { at, packet }) = self.coming.pop_front() {
                self.offer(packet, at);
            }
        }
        self.settle(now);
    }

    /// Tells the discipline that the link went idle, if it did and was not told.
    #[inline]
    fn settle(&mut self, now: Time) {
        if self.wake == Time::NEVER && !self.idle && self.free_at <= now {
            self.idle = true;
            let none = self.port.dequeue(self.free_at, &mut Recycle(&mut self.pool));
            debug_assert!(none.is_none(), "a packet waited beside an idle link");
        }
    }

    #[inline]
    fn pull(&mut self, at: Time) {
        let packet = self.port.dequeue(at, &mut Recycle(&mut self.pool));
        self.account(at);
        let waiting = self.port.backlog().packets > 0;
        self.idle = packet.is_none();
        self.wake = match packet {
            Some(packet) => {
                self.transmit(packet, at);
                if waiting { self.free_at } else { Time::NEVER }
            }
            // A shaper holds packets that may not leave yet. A nanosecond on at the least, so that time moves.
            None if waiting => self.port.ready_at(at).map_or(Time::NEVER, |ready| ready.max(at + Span::from_nanos(1))),
            None => Time::NEVER,
        };
    }

    #[inline]
    fn transmit(&mut self, packet: Packet<FrameId>, at: Time) {
        if packet.ecn == Ecn::Ce
            && let Some(ip) = self.pool.ip(&packet.handle)
        {
            ecn::mark(self.pool.frame_mut(&packet.handle), ip);
        }
        let out = self.carry(packet.bytes, at);
        let ledger = self.port.ledger_mut();
        ledger.sending(at, self.free_at);
        match out {
            Some(out) => {
                let due = ledger.deliver(&packet.handle, packet.bytes, out);
                self.fly(Flying { due, frame: packet.handle });
            }
            None => {
                self.counts.lost += 1;
                ledger.lost(&packet, at);
                self.pool.discard(packet.handle, Passed::Lost, at);
            }
        }
    }

    /// When a packet comes out of the link that begins to be sent at `at`; `None` if it is lost. The link is busy with it
    /// until then less its delay.
    #[inline]
    fn carry(&mut self, bytes: u32, at: Time) -> Option<Time> {
        let origin = self.port.ledger().origin();
        if at < origin {
            self.free_at = at;
            return Some(at + self.delay);
        }
        let sent = self.transmitter.sent(Time::ZERO + (at - origin), bytes.saturating_add_signed(self.overhead));
        self.free_at = origin + (sent - Time::ZERO);
        let due = self.free_at + self.delay;
        self.passage.as_mut().map_or(Some(due), |passage| passage.pass(due))
    }

    /// Behind those that come out before it: the last ones, but where packets overtake each other.
    #[inline]
    fn fly(&mut self, mut packet: Flying) {
        if self.flying.back().is_none_or(|last| last.due <= packet.due) {
            self.flying.push_back(packet);
        } else {
            packet.due = packet.due.max(self.not_before);
            let place = self.flying.partition_point(|other| other.due <= packet.due);
            self.flying.insert(place, packet);
        }
    }
}

impl<D: Discipline<FrameId>, L: Meter> Lane for Wire<D, L> {
    fn take(&mut self, now: Time, from: &mut dyn Io) -> io::Result<bool> {
        self.advance(now);
        let mut batch = std::mem::take(&mut self.batch);
        let received = from.recv(&mut self.pool, &mut batch);
        self.counts.came += batch.len() as u64;
        for frame in batch.drain(..) {
            self.arrive(frame, now);
        }
        self.batch = batch;
        let received = received?;
        self.counts.came += received.no_slot + received.oversize;
        self.counts.no_slot += received.no_slot;
        self.parser.refuse(Oddity::Oversize, received.oversize);
        Ok(received.more)
    }

    fn give(&mut self, now: Time, to: &mut dyn Io) -> io::Result<bool> {
        self.advance(now);
        while self.batch.len() < BATCH
            && self.flying.front().is_some_and(|first| first.due <= now)
            && let Some(first) = self.flying.pop_front()
        {
            self.lateness.record((now - first.due).as_nanos());
            self.port.ledger_mut().out(&first.frame, now);
            self.batch.push(first.frame);
        }
        if self.batch.is_empty() {
            return Ok(false);
        }
        if self.flying.is_empty() {
            // From its beginning again, which is still in a cache.
            self.flying.clear();
        }
        let more = self.batch.len() == BATCH;
        let refused = to.send(&self.pool, &self.batch);
        self.counts.out += self.batch.len() as u64;
        self.batch.drain(..).for_each(|frame| self.pool.give(frame));
        self.counts.refused += refused? as u64;
        Ok(more)
    }

    #[inline]
    fn due(&self) -> Time {
        // What is pulled next comes out no earlier than this.
        let comes = self.coming.front().map_or(Time::NEVER, |first| first.at);
        let pulled = self.wake.min(comes) + self.delay;
        self.flying.front().map_or(pulled, |first| first.due.min(pulled))
    }

    fn stall(&mut self, by: Span) {
        self.counts.stalls += 1;
        self.counts.stalled = self.counts.stalled + by;
        self.free_at += by;
        self.wake += by;
        self.not_before += by;
        self.coming.iter_mut().for_each(|packet| packet.at += by);
        self.flying.iter_mut().for_each(|packet| packet.due += by);
    }

    fn view(&mut self, now: Time) -> WireView {
        self.advance(now);
        let (discipline, meter) = self.port.parts();
        let ledger = meter.wire();
        let monitors = |flow| {
            let mut monitored = false;
            discipline.observe_flow(flow, &mut |gauge, value| monitored |= gauge == "monitored" && value > 0.0);
            monitored
        };
        let (top, others) = (ledger.top(MOST_SHOWN, now, monitors), ledger.others());
        let (totals, occupancy) = (ledger.totals().clone(), ledger.occupancy(now, self.free_at - now));
        WireView {
            totals,
            occupancy,
            counts: self.counts,
            oddities: *self.parser.oddities(),
            backlog: self.port.backlog(),
            coming: self.coming.len(),
            flying: self.flying.len(),
            free_slots: self.pool.free(),
            lateness: self.lateness.clone(),
            gauges: self.port.gauges(),
            top,
            others,
        }
    }

    fn note(&mut self, pen: Pen) {
        self.pool.note(pen);
    }

    fn leave(&mut self, now: Time) -> Estate {
        self.bequeath(now)
    }
}
