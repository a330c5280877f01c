//! One direction of a link between two ends: what comes in at one goes over its queue and its medium to the other.
//!
//! Nothing has to be awake when a packet is taken from the queue, only before it comes out: there is one moment to wake
//! up for a packet, and [`Lane::due`] says which.

use std::io;
use std::mem;

use headgate_core::{Discipline, Ecn, Packet, Span, Time};
use headgate_link::HandOver;

use super::ends::{Entry, Exit};
use super::ledger::LaneLedger;
use super::queue::{self, FrameQueue, Onward};
use super::view::{LaneCounts, LaneView, MOST_SHOWN};
use crate::io::Io;
use crate::io::frame::{Layer, Parser};
use crate::io::pool::{FrameId, Pool};
use crate::io::tap::Recorder;

/// A lane of any discipline, as a forwarder knows it: one call for a batch of frames.
pub trait Lane {
    /// Takes what has come to `from`; says whether there may be more.
    fn take(&mut self, now: Time, from: &mut dyn Io) -> io::Result<bool>;

    /// Gives `to` what has come out; says whether there is more.
    fn give(&mut self, now: Time, to: &mut dyn Io) -> io::Result<bool>;

    /// When something may come out; [`Time::NEVER`] while the lane is empty.
    fn due(&self) -> Time;

    /// Nobody looked for so long that it is not caught up: the lane stood still for `by`.
    fn stall(&mut self, by: Span);

    /// What there is to see at `now`.
    fn view(&mut self, now: Time) -> LaneView;

    /// Gives all that it has to another lane, which takes its place from `now` on. It is not to be used any more.
    fn leave(&mut self, now: Time) -> Remains;

    /// From now on `recorder` notes packets that are dropped or lost.
    fn record(&mut self, recorder: Option<Recorder>);
}

/// What a lane has before and behind its queue.
pub(super) struct Sides {
    pub(super) entry: Entry,
    exit: Exit,
    pub(super) pool: Pool,
    /// How often it stood still, and for how long in all.
    stalls: (u64, Span),
    recorder: Option<Recorder>,
}

impl Sides {
    /// Empty ones, for frames in `pool` that `parser` reads.
    pub(super) fn new(parser: Parser, pool: Pool) -> Sides {
        let exit = Exit::new(pool.slots());
        Sides { entry: Entry::new(parser), exit, pool, stalls: (0, Span::ZERO), recorder: None }
    }

    /// Goes on with at least `slots` slots, and reads frames by `parser`.
    fn refit(&mut self, parser: Parser, slots: u32) {
        self.pool.grow(slots);
        self.exit.go_on(self.pool.slots());
        self.entry.read_by(parser);
    }
}

/// What a lane leaves to the one in its place: packets, their frames, and all that was counted.
pub struct Remains {
    pub(super) sides: Sides,
    pub(super) ledger: LaneLedger,
    pub(super) queued: HandOver<FrameId>,
}

impl Remains {
    /// Goes on with at least `slots` slots. `parser` reads the packets again: flows and classes may be others now.
    pub(super) fn refit(&mut self, parser: Parser, slots: u32) {
        self.sides.refit(parser, slots);
        let Sides { entry, pool, .. } = &mut self.sides;
        for packet in &mut self.queued.packets {
            if let Ok(parsed) = entry.parser.parse(pool.frame(&packet.handle)) {
                (packet.flow, packet.class) = (parsed.flow, parsed.class);
                packet.ecn = if packet.ecn == Ecn::Ce { Ecn::Ce } else { parsed.ecn };
            }
        }
    }
}

/// A lane that is compiled for its discipline.
pub(super) struct LaneOf<D> {
    pub(super) queue: FrameQueue<D, LaneLedger>,
    pub(super) sides: Sides,
}

/// A queue, and what gets its packets.
type Halves<'a, D, F> = (&'a mut FrameQueue<D, LaneLedger>, Onward<'a, F>);

impl<D: Discipline<FrameId>> LaneOf<D> {
    /// The queue, and what gets its packets.
    #[inline]
    fn split(&mut self) -> Halves<'_, D, impl FnMut(Packet<FrameId>, Time)> {
        let Sides { exit, pool, recorder, .. } = &mut self.sides;
        let receive = |packet: Packet<FrameId>, out| exit.fly(out, packet.handle);
        (&mut self.queue, Onward { pool, recorder: recorder.as_ref(), receive })
    }

    /// Sends what was to be sent up to `now`, at the times at which it was to be sent.
    #[inline]
    fn advance(&mut self, now: Time) {
        let (queue, mut onward) = self.split();
        queue::advance(queue, now, &mut onward);
    }

    /// The same, and tells the discipline that the link went idle, if it did.
    fn settle(&mut self, now: Time) {
        let (queue, mut onward) = self.split();
        queue::advance(queue, now, &mut onward);
        queue.settle(now, &mut onward);
    }

    /// Goes on with the packets that waited in the queue of another lane.
    pub(super) fn take_over(&mut self, queued: HandOver<FrameId>, now: Time) {
        let (queue, mut onward) = self.split();
        queue.take_over(queued, now, &mut onward);
    }
}

impl<D: Discipline<FrameId>> Lane for LaneOf<D> {
    fn take(&mut self, now: Time, from: &mut dyn Io) -> io::Result<bool> {
        self.advance(now);
        let LaneOf { queue, sides: Sides { entry, exit, pool, recorder, .. } } = self;
        entry.take(from, pool, |packet, parsed, pool| {
            queue.port_mut().ledger_mut().meet(packet.flow, packet.bytes, now, || parsed.header);
            let receive = |packet: Packet<FrameId>, out| exit.fly(out, packet.handle);
            let mut onward = Onward { pool, recorder: recorder.as_ref(), receive };
            queue.arrive(packet, now, &mut onward);
            queue::advance(queue, now, &mut onward);
            Ok(())
        })
    }

    fn give(&mut self, now: Time, to: &mut dyn Io) -> io::Result<bool> {
        self.advance(now);
        self.sides.exit.give(now, to, &mut self.sides.pool, |_| {})
    }

    #[inline]
    fn due(&self) -> Time {
        // The next packet comes out no earlier than this.
        self.sides.exit.due().min(self.queue.wake() + self.queue.medium().delay())
    }

    fn stall(&mut self, by: Span) {
        let Sides { exit, stalls, .. } = &mut self.sides;
        *stalls = (stalls.0 + 1, stalls.1 + by);
        exit.stall(by);
        self.queue.stall(by);
    }

    fn view(&mut self, now: Time) -> LaneView {
        self.settle(now);
        let Sides { entry, exit, pool, stalls: (stalls, stalled), .. } = &self.sides;
        let counts = LaneCounts {
            came: entry.came,
            no_slot: entry.no_slot,
            out: exit.out,
            refused: exit.refused,
            stalls: *stalls,
            stalled: *stalled,
            ..LaneCounts::default()
        };
        LaneView {
            oddities: entry.parser.oddities,
            flying: exit.flying().len(),
            free_slots: pool.free(),
            lateness: exit.lateness.clone(),
            ..queue::view(&mut self.queue, now, counts, MOST_SHOWN)
        }
    }

    fn record(&mut self, recorder: Option<Recorder>) {
        self.sides.recorder = recorder;
    }

    fn leave(&mut self, now: Time) -> Remains {
        self.settle(now);
        let mut marked = Vec::new();
        let mut queued = self.queue.hand_over(now, &mut |packet| marked.push(packet.handle.slot()));
        // A mark made after this point does not count: the packet is as its frame still says.
        marked.sort_unstable();
        for packet in queued.packets.iter_mut().filter(|packet| marked.binary_search(&packet.handle.slot()).is_ok()) {
            packet.ecn = Ecn::NotEct;
        }
        let nothing = Sides::new(Parser::new(Layer::Ip, 0), Pool::new(1, 1));
        let ledger = mem::replace(self.queue.port_mut().ledger_mut(), LaneLedger::new(0));
        Remains { sides: mem::replace(&mut self.sides, nothing), ledger, queued }
    }
}
