//! One direction of a link between two ends: what comes in at one goes over its queue and its transmitter to the other.
//!
//! Nothing has to be awake when a packet is taken from the queue, only before it comes out: there is one moment to wake
//! up for a packet, and [`Lane::due`] says which.

use std::io;

use headgate_core::{Discipline, Packet, Span, Time};

use crate::egress::{self, Egress, Onward};
use crate::ends::{Arrived, Entry, Exit};
use crate::io::Io;
use crate::io::tap::Pen;
use crate::ledger::WireLedger;
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

/// One direction of a link, compiled for its discipline.
pub(crate) struct Wire<D> {
    entry: Entry,
    egress: Egress<D, WireLedger>,
    exit: Exit,
    pool: Pool,
    /// How often it stood still, and for how long in all.
    stalls: (u64, Span),
    /// Notes packets that are dropped or lost.
    pen: Option<Pen>,
}

impl<D: Discipline<FrameId>> Wire<D> {
    pub(crate) fn new(entry: Entry, egress: Egress<D, WireLedger>, pool: Pool) -> Wire<D> {
        Wire { entry, egress, exit: Exit::new(pool.slots()), pool, stalls: (0, Span::ZERO), pen: None }
    }

    fn advance(&mut self, now: Time) {
        let Wire { egress, exit, pool, pen, .. } = self;
        let receive = |packet: Packet<FrameId>, out| exit.fly(out, packet.handle);
        advance(egress, now, &mut Onward { pool, pen: pen.as_ref(), receive });
    }

    /// The same, before the discipline is looked at: it learns whether the link went idle.
    fn settle(&mut self, now: Time) {
        self.advance(now);
        let Wire { egress, pool, pen, .. } = self;
        egress.settle(now, &mut Onward { pool, pen: pen.as_ref(), receive: |_, _| {} });
    }
}

/// Sends what was to be sent up to `now`, at the times at which it was to be sent.
#[inline]
fn advance<D: Discipline<FrameId>>(
    egress: &mut Egress<D, WireLedger>,
    now: Time,
    onward: &mut Onward<'_, impl FnMut(Packet<FrameId>, Time)>,
) {
    while egress.wake() <= now && egress.wake() < Time::NEVER {
        egress.free(egress.wake(), onward);
    }
}

impl<D: Discipline<FrameId>> Lane for Wire<D> {
    fn take(&mut self, now: Time, from: &mut dyn Io) -> io::Result<bool> {
        self.advance(now);
        let Wire { entry, egress, exit, pool, pen, .. } = self;
        entry.take(from, pool, |frame, parser, pool| {
            let bytes = pool.frame(&frame);
            let Ok(parsed) = &parser.parse(bytes) else {
                pool.give(frame);
                return Arrived::Seen;
            };
            let size = bytes.len() as u32;
            pool.set_ip(&frame, parsed.ip);
            egress.port_mut().ledger_mut().meet(parsed.flow, size, now, || parsed.header);
            let packet = Packet { class: parsed.class, ecn: parsed.ecn, ..Packet::new(parsed.flow, size, frame) };
            let receive = |packet: Packet<FrameId>, out| exit.fly(out, packet.handle);
            let mut onward = Onward { pool, pen: pen.as_ref(), receive };
            egress.arrive(packet, now, &mut onward);
            advance(egress, now, &mut onward);
            Arrived::Seen
        })
    }

    fn give(&mut self, now: Time, to: &mut dyn Io) -> io::Result<bool> {
        self.advance(now);
        self.exit.give(now, to, &mut self.pool, |_| {})
    }

    #[inline]
    fn due(&self) -> Time {
        // What is pulled next comes out no earlier than this.
        self.exit.due().min(self.egress.wake() + self.egress.medium().medium.delay())
    }

    fn stall(&mut self, by: Span) {
        self.stalls = (self.stalls.0 + 1, self.stalls.1 + by);
        self.egress.stall(by);
        self.exit.stall(by);
    }

    fn view(&mut self, now: Time) -> WireView {
        self.settle(now);
        let ([came, no_slot], [out, refused]) = (self.entry.counts(), self.exit.counts());
        let (stalls, stalled) = self.stalls;
        let counts = WireCounts { came, no_slot, lost: 0, out, refused, stalls, stalled };
        WireView {
            oddities: *self.entry.oddities(),
            flying: self.exit.flying().len(),
            free_slots: self.pool.free(),
            lateness: self.exit.lateness().clone(),
            ..egress::view(&mut self.egress, now, counts, MOST_SHOWN)
        }
    }

    fn note(&mut self, pen: Pen) {
        self.pen = Some(pen);
    }

    fn leave(&mut self, now: Time) -> Estate {
        self.bequeath(now)
    }
}
