//! The queue before one direction of a link, and the transmitter behind it.
//!
//! The simulator's link, on a clock that others read. Everything has its nominal time: a packet that waits is taken from
//! the queue at the moment at which the one before it was sent, however late somebody looks, and comes out when it would
//! from a real link. So the rate is exact while packets wait, and disciplines see neither the loop's delays nor its bursts.

use headgate_core::{Backlog, Discipline, Ecn, Packet, Port, Rng, Sink, Span, Time, Why};
use headgate_scenario::{Passage, Transmitter};

use crate::ecn;
use crate::io::tap::{Passed, Pen};
use crate::meter::Meter;
use crate::pool::{FrameId, Pool};
use crate::view::WireView;
use crate::wire::WireCounts;

/// What an egress has beside its discipline and its ledger.
pub(crate) struct Parts {
    pub(crate) rng: Rng,
    pub(crate) transmitter: Transmitter,
    /// Bytes that every packet costs on the link beside its own.
    pub(crate) overhead: i32,
    pub(crate) delay: Span,
    pub(crate) passage: Option<Passage>,
}

/// A queue and its transmitter. Whoever owns it owns the frames too, and asks it in order of time.
pub(crate) struct Egress<D, L> {
    port: Port<FrameId, D, L>,
    transmitter: Transmitter,
    overhead: i32,
    delay: Span,
    passage: Option<Passage>,
    /// From when on the link takes its time.
    origin: Time,
    free_at: Time,
    /// When to ask the port next; [`Time::NEVER`] while nothing waits there.
    wake: Time,
    /// The discipline was asked since the transmitter fell free, and had nothing.
    idle: bool,
    /// Packets lost on the way, by chance.
    lost: u64,
    pen: Option<Pen>,
}

/// What an egress leaves to the one in its place.
pub(crate) struct Left {
    /// In the order in which they would have been sent.
    pub(crate) queued: Vec<Packet<FrameId>>,
    free_at: Time,
    lost: u64,
    pen: Option<Pen>,
}

/// Gives the slots of dropped packets back.
struct Recycle<'a>(&'a mut Pool, &'a Option<Pen>);

impl Sink<FrameId> for Recycle<'_> {
    fn dropped(&mut self, packet: Packet<FrameId>, why: Why, now: Time) {
        discard(packet.handle, Passed::Dropped(why), now, (self.0, self.1));
    }
    fn marked(&mut self, _: &Packet<FrameId>, _: Why, _: Time) {}
}

fn discard(frame: FrameId, passed: Passed, at: Time, (pool, pen): (&mut Pool, &Option<Pen>)) {
    if let Some(pen) = pen {
        pen.note(at, passed, pool.frame(&frame));
    }
    pool.give(frame);
}

impl<D: Discipline<FrameId>, L: Meter> Egress<D, L> {
    /// An idle one.
    pub(crate) fn new(discipline: D, ledger: L, parts: Parts) -> Egress<D, L> {
        let Parts { rng, transmitter, overhead, delay, passage } = parts;
        Egress {
            port: Port::with_ledger(discipline, rng, ledger),
            transmitter,
            overhead,
            delay,
            passage,
            origin: Time::ZERO,
            free_at: Time::ZERO,
            wake: Time::NEVER,
            idle: true,
            lost: 0,
            pen: None,
        }
    }

    /// When to [`pull`](Egress::pull); [`Time::NEVER`] while nothing waits.
    #[inline]
    pub(crate) fn wake(&self) -> Time {
        self.wake
    }

    /// The propagation delay: what is pulled comes out no earlier than this.
    #[inline]
    pub(crate) fn delay(&self) -> Span {
        self.delay
    }

    /// What waits.
    #[inline]
    pub(crate) fn backlog(&self) -> Backlog {
        self.port.backlog()
    }

    /// The discipline and the ledger.
    #[inline]
    pub(crate) fn parts(&mut self) -> (&D, &mut L) {
        self.port.parts()
    }

    #[inline]
    pub(crate) fn ledger_mut(&mut self) -> &mut L {
        self.port.ledger_mut()
    }

    /// From `at` on the link takes its time: schedules and traces of its rate count from there. Before, packets cost none, and none
    /// is lost.
    pub(crate) fn begin(&mut self, at: Time) {
        self.origin = at;
    }

    /// From now on `pen` notes packets that are dropped or lost.
    pub(crate) fn note(&mut self, pen: Pen) {
        self.pen = Some(pen);
    }

    /// A packet reaches the queue.
    #[inline]
    pub(crate) fn offer(&mut self, packet: Packet<FrameId>, at: Time, pool: &mut Pool) {
        self.port.enqueue(packet, at, &mut Recycle(pool, &self.pen));
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

    /// Tells the discipline that the link went idle, if it did and was not told: before anything else happens at `now`.
    #[inline]
    pub(crate) fn settle(&mut self, now: Time, pool: &mut Pool) {
        if self.wake == Time::NEVER && !self.idle && self.free_at <= now {
            self.idle = true;
            let none = self.port.dequeue(self.free_at, &mut Recycle(pool, &self.pen));
            debug_assert!(none.is_none(), "a packet waited beside an idle link");
        }
    }

    /// The transmitter is free, or the discipline ready: the packet that is sent, and when it comes out; `None` if there is none,
    /// or it is lost on the way.
    #[inline]
    pub(crate) fn pull(&mut self, at: Time, pool: &mut Pool) -> Option<(Packet<FrameId>, Time)> {
        let packet = self.port.dequeue(at, &mut Recycle(pool, &self.pen));
        self.account(at);
        let waiting = self.port.backlog().packets > 0;
        self.idle = packet.is_none();
        match packet {
            Some(packet) => {
                let sent = self.transmit(packet, at, pool);
                self.wake = if waiting { self.free_at } else { Time::NEVER };
                sent
            }
            None => {
                // A shaper holds packets that may not leave yet. A nanosecond on at the least, so that time moves.
                let ready = self.port.ready_at(at).filter(|_| waiting);
                self.wake = ready.map_or(Time::NEVER, |ready| ready.max(at + Span::from_nanos(1)));
                None
            }
        }
    }

    #[inline]
    fn transmit(&mut self, packet: Packet<FrameId>, at: Time, pool: &mut Pool) -> Option<(Packet<FrameId>, Time)> {
        if packet.ecn == Ecn::Ce
            && let Some(ip) = pool.ip(&packet.handle)
        {
            ecn::mark(pool.frame_mut(&packet.handle), ip);
        }
        let out = self.carry(packet.bytes, at);
        let ledger = self.port.ledger_mut();
        ledger.sending(at, self.free_at);
        if let Some(out) = out {
            return Some((packet, out));
        }
        self.lost += 1;
        ledger.lost(&packet, at);
        discard(packet.handle, Passed::Lost, at, (pool, &self.pen));
        None
    }

    /// When a packet comes out of the link that begins to be sent at `at`; `None` if it is lost. The link is busy with it
    /// until then less its delay.
    #[inline]
    fn carry(&mut self, bytes: u32, at: Time) -> Option<Time> {
        if at < self.origin {
            self.free_at = at;
            return Some(at + self.delay);
        }
        let sent = self.transmitter.sent(Time::ZERO + (at - self.origin), bytes.saturating_add_signed(self.overhead));
        self.free_at = self.origin + (sent - Time::ZERO);
        let due = self.free_at + self.delay;
        self.passage.as_mut().map_or(Some(due), |passage| passage.pass(due))
    }

    /// The link stood still for `by`.
    pub(crate) fn stall(&mut self, by: Span) {
        self.free_at += by;
        self.wake += by;
    }

    /// What there is to see at `now`, up to which everything has happened: of the queue and the transmitter, and `counts` of
    /// what is before and behind them, with the `most` flows that sent most.
    pub(crate) fn view(&mut self, now: Time, counts: WireCounts, most: usize) -> WireView {
        let (discipline, meter) = self.port.parts();
        let ledger = meter.wire();
        let monitors = |flow| {
            let mut monitored = false;
            discipline.observe_flow(flow, &mut |gauge, value| monitored |= gauge == "monitored" && value > 0.0);
            monitored
        };
        let top = if most > 0 { ledger.top(most, now, monitors) } else { Vec::new() };
        let others = ledger.others();
        let (totals, occupancy) = (ledger.totals().clone(), ledger.occupancy(now, self.free_at - now));
        WireView {
            totals,
            occupancy,
            counts: WireCounts { lost: self.lost, ..counts },
            backlog: self.port.backlog(),
            gauges: self.port.gauges(),
            top,
            others,
            ..WireView::default()
        }
    }

    /// Leaves all that it has to its successor at `now`. What waits is taken out of the discipline, which decides nothing more.
    pub(crate) fn leave(&mut self, now: Time) -> Left {
        let mut marked = Vec::new();
        let mut queued = self.port.drain(now, &mut |packet| marked.push(packet.handle.slot()));
        // What the discipline marks only now it has not marked: it is as its frame still says.
        marked.sort_unstable();
        for packet in queued.iter_mut().filter(|packet| marked.binary_search(&packet.handle.slot()).is_ok()) {
            packet.ecn = Ecn::NotEct;
        }
        Left { queued, free_at: self.free_at, lost: self.lost, pen: self.pen.take() }
    }

    /// Goes on with what another one has left, at `now`; `read` says of a packet again what it is.
    pub(crate) fn inherit(
        &mut self,
        left: Left,
        now: Time,
        pool: &mut Pool,
        mut read: impl FnMut(&mut Packet<FrameId>, &Pool),
    ) {
        (self.free_at, self.lost, self.pen) = (left.free_at, left.lost, left.pen);
        self.idle = left.free_at <= now;
        for mut packet in left.queued {
            read(&mut packet, pool);
            self.port.readmit(packet, now, &mut Recycle(pool, &self.pen));
        }
        if self.port.backlog().packets > 0 {
            self.wake = now.max(self.free_at);
        }
    }
}
