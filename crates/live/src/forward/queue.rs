//! The queue of a direction on real packets: that of every link, for frames in a pool and the loop's clock.

use headgate_core::{Discipline, Ecn, Packet, Sink, Span, Time, Why};
use headgate_link::{Carrier, LinkQueue, Medium, Meter, NextHop, Transit};

use super::ledger::LaneLedger;
use super::view::{LaneCounts, LaneView};
use crate::io::ecn;
use crate::io::pool::{FrameId, Pool};
use crate::io::tap::{Passed, Recorder};

/// The queue of one direction, for frames.
pub(crate) type FrameQueue<D, L> = LinkQueue<FrameId, D, L, LateMedium>;

/// A medium that takes its time from a moment on: schedules and traces of its rate count from there. Before, packets cost
/// no time, and none is lost.
#[derive(Debug)]
pub(crate) struct LateMedium {
    medium: Medium,
    /// Bytes that every packet costs on the link beside its own.
    overhead: i32,
    origin: Time,
}

impl LateMedium {
    /// `medium`, where a packet costs `overhead` bytes beside its own, from the loop's beginning on.
    pub(crate) fn new(medium: Medium, overhead: i32) -> LateMedium {
        LateMedium { medium, overhead, origin: Time::ZERO }
    }

    /// It takes its time from `at` on.
    pub(crate) fn begin(&mut self, at: Time) {
        self.origin = at;
    }

    /// The propagation delay.
    #[inline]
    pub(crate) fn delay(&self) -> Span {
        self.medium.delay()
    }
}

impl Carrier for LateMedium {
    #[inline]
    fn carry(&mut self, bytes: u32, now: Time) -> Transit {
        if now < self.origin {
            let due = now + self.delay();
            return Transit { sent: now, due, out: Some(due), waits: false };
        }
        let later = |time: Time| self.origin + (time - Time::ZERO);
        let bytes = bytes.saturating_add_signed(self.overhead);
        let Transit { sent, due, out, waits } = self.medium.carry(bytes, Time::ZERO + (now - self.origin));
        Transit { sent: later(sent), due: later(due), out: out.map(later), waits }
    }
}

/// Takes the packets of a queue: `receive` gets those that come out. The slots of all others go back to the pool.
pub(crate) struct Onward<'a, F> {
    pub(crate) pool: &'a mut Pool,
    /// Notes packets that are dropped or lost.
    pub(crate) recorder: Option<&'a Recorder>,
    pub(crate) receive: F,
}

impl<F> Onward<'_, F> {
    fn discard(&mut self, frame: FrameId, passed: Passed, at: Time) {
        if let Some(recorder) = self.recorder {
            recorder.note(at, passed, self.pool.frame(&frame));
        }
        self.pool.give(frame);
    }
}

impl<F: FnMut(Packet<FrameId>, Time)> NextHop<FrameId> for Onward<'_, F> {
    #[inline]
    fn sending(&mut self, packet: &Packet<FrameId>, _: Time) {
        if packet.ecn == Ecn::Ce
            && let Some(ip) = self.pool.ip(&packet.handle)
        {
            ecn::mark(self.pool.frame_mut(&packet.handle), ip);
        }
    }

    #[inline]
    fn receive(&mut self, packet: Packet<FrameId>, out: Time, _: bool) {
        (self.receive)(packet, out);
    }

    fn lost(&mut self, packet: Packet<FrameId>, now: Time, _: Time) {
        self.discard(packet.handle, Passed::Lost, now);
    }
}

impl<F> Sink<FrameId> for Onward<'_, F> {
    fn dropped(&mut self, packet: Packet<FrameId>, why: Why, now: Time) {
        self.discard(packet.handle, Passed::Dropped(why), now);
    }
    fn marked(&mut self, _: &Packet<FrameId>, _: Why, _: Time) {}
}

/// Sends what was to be sent up to `now`, at the times at which it was to be sent.
#[inline]
pub(crate) fn advance<D: Discipline<FrameId>, L: Meter<FrameId>>(
    queue: &mut FrameQueue<D, L>,
    now: Time,
    onward: &mut Onward<'_, impl FnMut(Packet<FrameId>, Time)>,
) {
    while queue.wake() <= now && queue.wake() < Time::NEVER {
        queue.free(queue.wake(), onward);
    }
}

/// What there is to see of `queue` at `now`, up to which everything has happened, with the `most` flows that sent most.
/// `counts` are of what is before and behind it.
pub(crate) fn view<D, L>(queue: &mut FrameQueue<D, L>, now: Time, counts: LaneCounts, most: usize) -> LaneView
where
    D: Discipline<FrameId>,
    L: Meter<FrameId> + AsMut<LaneLedger>,
{
    let (lost, ahead) = (queue.lost(), queue.ahead(now));
    let (gauges, backlog) = (queue.port().gauges(), queue.port().backlog());
    let (discipline, meter) = queue.port_mut().parts();
    let ledger = meter.as_mut();
    let monitors = |flow| {
        let mut monitored = false;
        discipline.observe_flow(flow, &mut |gauge, value| monitored |= gauge == "monitored" && value > 0.0);
        monitored
    };
    let top = if most > 0 { ledger.top(most, now, monitors) } else { Vec::new() };
    LaneView {
        totals: ledger.totals.clone(),
        occupancy: ledger.occupancy(backlog, now, ahead),
        counts: LaneCounts { lost, ..counts },
        backlog,
        gauges,
        top,
        ..LaneView::default()
    }
}
