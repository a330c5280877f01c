//! One direction of a link: frames from one end cross its queue and its medium to the other end.
//!
//! Dequeuing needs no timer of its own. The loop wakes once per packet, when the packet leaves the medium
//! ([`Lane::due`]). It then performs all earlier dequeues at their nominal times.

use std::io;
use std::mem;

use aqm::{Discipline, Ecn, Packet, Span, Time};
use headgate_link::QueueHandover;
use headgate_measure::CapacityUse;

use super::ends::{LaneEntry, LaneExit};
use super::ledger::LaneLedger;
use super::queue::{self, FrameQueue, FrameSink};
use super::view::{LaneCounts, LaneView, MOST_FLOWS_SHOWN};
use crate::io::LinkEnd;
use crate::io::frame::{Layer, Parser};
use crate::io::pool::{FrameId, Pool};
use crate::io::recorded_end::Recorder;

/// A lane of any discipline. Calls take a batch of frames, so dynamic dispatch costs little.
pub trait Lane {
    /// Takes the frames that `from` has sent, to [`arrive`](Lane::arrive) later. Returns true if more may be waiting.
    fn take_from(&mut self, from: &mut dyn LinkEnd) -> io::Result<bool>;

    /// Has the taken frames arrive at `now`.
    fn arrive(&mut self, now: Time);

    /// Sends the frames that are due to `to`. Returns true if more are due.
    fn deliver_to(&mut self, now: Time, to: &mut dyn LinkEnd) -> io::Result<bool>;

    /// Earliest time at which a frame may be due; [`Time::NEVER`] while the lane is empty.
    fn due(&self) -> Time;

    /// Postpones all events by `by`, after a stall: the loop was late by more than [`CATCH_UP`](crate::CATCH_UP).
    fn stall(&mut self, by: Span);

    /// State of the lane at `now`.
    fn view(&mut self, now: Time) -> LaneView;

    /// Moves packets and counts to the lane that replaces this one from `now` on. This lane is then unusable.
    fn hand_over(&mut self, now: Time) -> LaneHandover;

    /// Attaches a recorder for dropped and lost packets.
    fn record(&mut self, recorder: Option<Recorder>);

    /// Makes room for frames of `bytes` bytes in every slot. Returns false if there is not enough memory.
    fn lengthen_slots(&mut self, bytes: usize) -> bool;
}

/// A lane without its queue: entry, exit, and the slots for its frames.
pub(super) struct LaneEnds {
    pub(super) entry: LaneEntry,
    exit: LaneExit,
    pub(super) pool: Pool,
    /// Number and total duration of stalls.
    stalls: (u64, Span),
    recorder: Option<Recorder>,
}

impl LaneEnds {
    pub(super) fn new(parser: Parser, pool: Pool) -> LaneEnds {
        let exit = LaneExit::new(pool.slots());
        LaneEnds { entry: LaneEntry::new(parser), exit, pool, stalls: (0, Span::ZERO), recorder: None }
    }

    /// Replaces the parser and provides at least `slots` slots.
    fn refit(&mut self, parser: Parser, slots: u32) {
        self.pool.grow(slots);
        self.exit.continue_with(self.pool.slots());
        self.entry.replace_parser(parser);
    }
}

/// The packets, frames and counts that a lane leaves to its replacement.
pub struct LaneHandover {
    pub(super) ends: LaneEnds,
    pub(super) ledger: LaneLedger,
    pub(super) queued: QueueHandover<FrameId>,
    /// The use of a link of varying rate.
    pub(super) used: Option<CapacityUse>,
}

impl LaneHandover {
    /// Provides at least `slots` slots and parses the queued packets again: flows and classes may have changed.
    pub(super) fn refit(&mut self, parser: Parser, slots: u32) {
        self.ends.refit(parser, slots);
        let LaneEnds { entry, pool, .. } = &mut self.ends;
        for packet in &mut self.queued.packets {
            if let Ok(parsed) = entry.parser.parse(pool.frame(&packet.handle)) {
                (packet.flow, packet.class) = (parsed.flow, parsed.class);
                packet.ecn = if packet.ecn == Ecn::Ce { Ecn::Ce } else { parsed.ecn };
            }
        }
    }
}

/// A lane compiled for its discipline.
pub(super) struct DisciplineLane<D> {
    pub(super) queue: FrameQueue<D, LaneLedger>,
    pub(super) ends: LaneEnds,
}

/// The queue, and the sink for its packets.
type QueueAndSink<'a, D, F> = (&'a mut FrameQueue<D, LaneLedger>, FrameSink<'a, F>);

impl<D: Discipline<FrameId>> DisciplineLane<D> {
    #[inline]
    fn split(&mut self) -> QueueAndSink<'_, D, impl FnMut(Packet<FrameId>, Time)> {
        let LaneEnds { exit, pool, recorder, .. } = &mut self.ends;
        let receive = |packet: Packet<FrameId>, out| exit.schedule(out, packet.handle);
        (&mut self.queue, FrameSink { pool, recorder: recorder.as_ref(), receive })
    }

    /// Dequeues the packets due up to `now`, at their nominal times.
    #[inline]
    fn advance(&mut self, now: Time) {
        let (queue, mut sink) = self.split();
        queue::dequeue_due(queue, now, &mut sink);
    }

    /// Like `advance`; also reports a pending idle period to the discipline.
    fn report_idle(&mut self, now: Time) {
        let (queue, mut sink) = self.split();
        queue::dequeue_due(queue, now, &mut sink);
        queue.report_idle(now, &mut sink);
    }

    /// Enqueues the packets of the lane that this one replaces.
    pub(super) fn take_over(&mut self, queued: QueueHandover<FrameId>, now: Time) {
        let (queue, mut sink) = self.split();
        queue.take_over(queued, now, &mut sink);
    }
}

impl<D: Discipline<FrameId>> Lane for DisciplineLane<D> {
    fn take_from(&mut self, from: &mut dyn LinkEnd) -> io::Result<bool> {
        let LaneEnds { entry, pool, .. } = &mut self.ends;
        entry.take(from, pool)
    }

    fn arrive(&mut self, now: Time) {
        self.advance(now);
        let DisciplineLane { queue, ends: LaneEnds { entry, exit, pool, recorder, .. } } = self;
        entry.arrive(pool, |packet, parsed, pool| {
            queue.port_mut().ledger_mut().record_arrival(packet.flow, packet.bytes, now, || parsed.header);
            let receive = |packet: Packet<FrameId>, out| exit.schedule(out, packet.handle);
            let mut sink = FrameSink { pool, recorder: recorder.as_ref(), receive };
            queue.arrive(packet, now, &mut sink);
            queue::dequeue_due(queue, now, &mut sink);
            Ok(())
        });
    }

    fn deliver_to(&mut self, now: Time, to: &mut dyn LinkEnd) -> io::Result<bool> {
        self.advance(now);
        self.ends.exit.send_due(now, to, &mut self.ends.pool, |_, _| {})
    }

    #[inline]
    fn due(&self) -> Time {
        // The next dequeued packet propagates for at least the medium's delay, so it leaves the medium no earlier.
        self.ends.exit.due().min(self.queue.wake_at() + self.queue.medium().delay())
    }

    fn stall(&mut self, by: Span) {
        let LaneEnds { exit, stalls, .. } = &mut self.ends;
        *stalls = (stalls.0 + 1, stalls.1 + by);
        exit.stall(by);
        self.queue.stall(by);
    }

    fn view(&mut self, now: Time) -> LaneView {
        self.report_idle(now);
        let LaneEnds { entry, exit, pool, stalls: (stalls, stalled), .. } = &self.ends;
        let counts = LaneCounts {
            offered: entry.offered,
            no_slot: entry.no_slot,
            delivered: exit.delivered,
            refused: exit.refused,
            stalls: *stalls,
            stalled: *stalled,
            ..LaneCounts::default()
        };
        LaneView {
            anomalies: entry.parser.anomalies,
            propagating: exit.propagating().len(),
            free_slots: pool.free(),
            lateness: exit.lateness.clone(),
            ..queue::view(&mut self.queue, now, counts, MOST_FLOWS_SHOWN)
        }
    }

    fn record(&mut self, recorder: Option<Recorder>) {
        self.ends.recorder = recorder;
    }

    fn lengthen_slots(&mut self, bytes: usize) -> bool {
        self.ends.pool.lengthen(bytes).is_ok()
    }

    fn hand_over(&mut self, now: Time) -> LaneHandover {
        self.report_idle(now);
        let mut marked = Vec::new();
        let mut queued = self.queue.hand_over(now, &mut |packet| marked.push(packet.handle.slot()));
        // A mark made during the handover does not count: `LaneHandover::refit` restores the ECN field from the frame.
        marked.sort_unstable();
        for packet in queued.packets.iter_mut().filter(|packet| marked.binary_search(&packet.handle.slot()).is_ok()) {
            packet.ecn = Ecn::NotEct;
        }
        let empty = LaneEnds::new(Parser::new(Layer::Ip, 0), Pool::new(1, 1));
        let ledger = mem::replace(self.queue.port_mut().ledger_mut(), LaneLedger::new(0));
        let used = self.queue.medium().used(now);
        LaneHandover { ends: mem::replace(&mut self.ends, empty), ledger, queued, used }
    }
}
