//! The link queue for real packets: frames in a pool, by the loop's clock.

use aqm::{AckHeader, Backlog, Discipline, Ecn, Packet, PacketHeaders, Sink, Span, Time, Why};
use headgate_link::{Arrival, Carrier, LinkQueue, Medium, Meter, NextHop, Transit};
use headgate_measure::CapacityUse;

use super::ledger::LaneLedger;
use super::view::{LaneCounts, LaneView};
use crate::io::ecn;
use crate::io::headers;
use crate::io::pool::{FrameId, Pool};
use crate::io::recorded_end::{FrameEvent, Recorder};

pub(crate) type FrameQueue<D, L> = LinkQueue<FrameId, D, L, DeferredMedium>;

/// A medium whose rate schedule and traces begin at a start time. Packets before it take no transmission time, and none
/// is lost.
#[derive(Debug)]
pub(crate) struct DeferredMedium {
    medium: Medium,
    origin: Time,
    /// The use of the media that this one replaced, and its own use when it did.
    replaced: [CapacityUse; 2],
}

impl DeferredMedium {
    /// `medium`, starting at the loop's start.
    pub(crate) fn new(medium: Medium) -> DeferredMedium {
        DeferredMedium { medium, origin: Time::ZERO, replaced: Default::default() }
    }

    pub(crate) fn begin(&mut self, at: Time) {
        self.origin = at;
    }

    #[inline]
    pub(crate) fn delay(&self) -> Span {
        self.medium.delay()
    }

    /// The use of a link of varying rate up to `now`; `None` for a constant rate.
    pub(crate) fn used(&self, now: Time) -> Option<CapacityUse> {
        let [before, own] = self.replaced;
        Some(self.medium.used(Time::ZERO + (now - self.origin))?.since(own).plus(before))
    }

    /// Replaces a medium with the use `before` at `now`: the use of the link goes on from there.
    pub(crate) fn replace(&mut self, before: Option<CapacityUse>, now: Time) {
        self.replaced = [before.unwrap_or_default(), self.used(now).unwrap_or_default()];
    }
}

impl Carrier for DeferredMedium {
    #[inline]
    fn carry(&mut self, bytes: u32, queued: impl FnOnce() -> Backlog, now: Time) -> Transit {
        if now < self.origin {
            let due = now + self.delay();
            return Transit { sent: now, due, arrival: Arrival::At(due), late_or_reordered: false };
        }
        let later = |time: Time| self.origin + (time - Time::ZERO);
        let Transit { sent, due, arrival, late_or_reordered } =
            self.medium.carry(bytes, queued, Time::ZERO + (now - self.origin));
        Transit { sent: later(sent), due: later(due), arrival: arrival.map(later), late_or_reordered }
    }
}

/// Sink of a queue: `receive` gets the departing packets; the slots of all others return to the pool.
pub(crate) struct FrameSink<'a, F> {
    pub(crate) pool: &'a mut Pool,
    pub(crate) recorder: Option<&'a Recorder>,
    pub(crate) receive: F,
}

impl<F> FrameSink<'_, F> {
    /// The IP packet in a frame, with what follows it.
    fn ip_packet(&self, frame: &FrameId) -> Option<&[u8]> {
        self.pool.frame(frame).get(usize::from(self.pool.ip(frame)?.offset)..)
    }

    fn discard(&mut self, frame: FrameId, event: FrameEvent, at: Time) {
        if let Some(recorder) = self.recorder {
            recorder.record(at, event, self.pool.frame(&frame));
        }
        self.pool.give(frame);
    }
}

impl<F: FnMut(Packet<FrameId>, Time)> NextHop<FrameId> for FrameSink<'_, F> {
    #[inline]
    fn sending(&mut self, packet: &Packet<FrameId>, _: Time) {
        if packet.ecn == Ecn::Ce
            && let Some(ip) = self.pool.ip(&packet.handle)
        {
            ecn::mark(self.pool.frame_mut(&packet.handle), ip);
        }
    }

    #[inline]
    fn receive(&mut self, packet: Packet<FrameId>, [_, out]: [Time; 2], _: bool) {
        (self.receive)(packet, out);
    }

    fn lost(&mut self, packet: Packet<FrameId>, now: Time, _: Time) {
        self.discard(packet.handle, FrameEvent::Lost, now);
    }

    fn remark(&mut self, packet: &Packet<FrameId>, dscp: Option<u8>) -> bool {
        let Some(ip) = self.pool.ip(&packet.handle) else { return false };
        let tos = ecn::tos(self.pool.frame(&packet.handle), ip);
        let remarked = dscp.unwrap_or(tos >> 2) << 2 | packet.ecn.bits();
        ecn::set_tos(self.pool.frame_mut(&packet.handle), ip, remarked);
        remarked >> 2 != tos >> 2
    }

    fn duplicate(&mut self, packet: &Packet<FrameId>) -> Option<Packet<FrameId>> {
        let handle = self.pool.copy(&packet.handle)?;
        let Packet { arrived, flow, bytes, class, ecn, handle: _ } = *packet;
        Some(Packet { arrived, flow, bytes, class, ecn, handle })
    }
}

impl<F> Sink<FrameId> for FrameSink<'_, F> {
    fn dropped(&mut self, packet: Packet<FrameId>, why: Why, now: Time) {
        self.discard(packet.handle, FrameEvent::Dropped(why), now);
    }
    fn marked(&mut self, _: &Packet<FrameId>, _: Why, _: Time) {}
    fn headers(&self, packet: &Packet<FrameId>) -> PacketHeaders {
        self.ip_packet(&packet.handle).and_then(headers::parse).unwrap_or_else(|| PacketHeaders::of_flow(packet.flow))
    }
    fn ack(&self, packet: &Packet<FrameId>) -> Option<AckHeader> {
        headers::parse_ack(self.ip_packet(&packet.handle)?)
    }
}

/// Dequeues the packets due up to `now`, at their nominal times.
#[inline]
pub(crate) fn dequeue_due<D: Discipline<FrameId>, L: Meter<FrameId>>(
    queue: &mut FrameQueue<D, L>,
    now: Time,
    sink: &mut FrameSink<'_, impl FnMut(Packet<FrameId>, Time)>,
) {
    while queue.wake_at() <= now && queue.wake_at() < Time::NEVER {
        queue.on_wake(queue.wake_at(), sink);
    }
}

/// View of `queue` at `now`, with the `most` flows that sent most. All events up to `now` must have been processed.
/// `counts` are those of the lane's entry and exit.
pub(crate) fn view<D, L>(queue: &mut FrameQueue<D, L>, now: Time, counts: LaneCounts, most: usize) -> LaneView
where
    D: Discipline<FrameId>,
    L: Meter<FrameId> + AsMut<LaneLedger>,
{
    let (altered, sending) = (queue.altered(), (queue.remaining(now), queue.medium().used(now)));
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
        occupancy: ledger.occupancy(backlog, sending, now),
        counts: LaneCounts { lost: altered.lost, duplicates: altered.duplicates, remarked: altered.remarked, ..counts },
        backlog,
        gauges,
        top,
        ..LaneView::default()
    }
}
