//! The queue of a link on real packets: the link's own, for frames in a pool and the loop's clock.

use headgate_core::{Discipline, Ecn, Packet, Sink, Time, Why};
use headgate_link::{Carrier, LinkQueue, Medium, Meter, NextHop, Transit};

use crate::ecn;
use crate::io::tap::{Passed, Pen};
use crate::ledger::WireLedger;
use crate::pool::{FrameId, Pool};
use crate::view::WireView;
use crate::wire::WireCounts;

/// The queue of one direction.
pub(crate) type Egress<D, L> = LinkQueue<FrameId, D, L, LateMedium>;

/// A medium that takes its time from a moment on: schedules and traces of its rate count from there. Before, packets cost no
/// time, and none is lost.
#[derive(Debug)]
pub(crate) struct LateMedium {
    pub(crate) medium: Medium,
    /// Bytes that every packet costs on the link beside its own.
    pub(crate) overhead: i32,
    pub(crate) origin: Time,
}

impl Carrier for LateMedium {
    #[inline]
    fn carry(&mut self, bytes: u32, now: Time) -> Transit {
        if now < self.origin {
            let due = now + self.medium.delay();
            return Transit { sent: now, due, out: Some(due), waits: false };
        }
        let later = |time: Time| self.origin + (time - Time::ZERO);
        let bytes = bytes.saturating_add_signed(self.overhead);
        let Transit { sent, due, out, waits } = self.medium.carry(bytes, Time::ZERO + (now - self.origin));
        Transit { sent: later(sent), due: later(due), out: out.map(later), waits }
    }
}

/// Takes the packets of a link: `receive` gets those that come out. The slots of all others go back to the pool.
pub(crate) struct Onward<'a, F> {
    pub(crate) pool: &'a mut Pool,
    /// Notes packets that are dropped or lost.
    pub(crate) pen: Option<&'a Pen>,
    pub(crate) receive: F,
}

impl<F> Onward<'_, F> {
    fn discard(&mut self, frame: FrameId, passed: Passed, at: Time) {
        if let Some(pen) = self.pen {
            pen.note(at, passed, self.pool.frame(&frame));
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

/// What there is to see of `egress` at `now`, up to which everything has happened, with the `most` flows that sent most.
/// `counts` are of what is before and behind it.
pub(crate) fn view<D, L>(egress: &mut Egress<D, L>, now: Time, counts: WireCounts, most: usize) -> WireView
where
    D: Discipline<FrameId>,
    L: Meter<FrameId> + AsMut<WireLedger>,
{
    let (lost, ahead) = (egress.lost(), egress.ahead(now));
    let (gauges, backlog) = (egress.port().gauges(), egress.port().backlog());
    let (discipline, meter) = egress.port_mut().parts();
    let ledger = meter.as_mut();
    let monitors = |flow| {
        let mut monitored = false;
        discipline.observe_flow(flow, &mut |gauge, value| monitored |= gauge == "monitored" && value > 0.0);
        monitored
    };
    let top = if most > 0 { ledger.top(most, now, monitors) } else { Vec::new() };
    WireView {
        totals: ledger.totals().clone(),
        occupancy: ledger.occupancy(backlog, now, ahead),
        counts: WireCounts { lost, ..counts },
        backlog,
        gauges,
        top,
        others: ledger.others(),
        ..WireView::default()
    }
}
