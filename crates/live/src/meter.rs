//! Who keeps account of a wire's packets.

use headgate_core::{Backlog, Discipline, Ledger, Packet, Time};

use crate::frame::Parsed;
use crate::ledger::WireLedger;
use crate::pool::FrameId;

/// The ledger of a wire's port, which is told of more than the port's own calls. Times are the wire's nominal ones, but where
/// a frame comes in or goes out. What is not filled in costs nothing: the calls are resolved when the program is compiled.
pub(crate) trait Meter: Ledger<FrameId> {
    /// A packet of `bytes` came and says this. Gives the moment at which it is at the queue, later than `now` where a link of
    /// its own comes before; `frame` may be tagged, and flow and class be other ones from here on.
    fn meet(&mut self, frame: &mut FrameId, parsed: &mut Parsed, bytes: u32, now: Time) -> Time;

    /// When a packet reaches its host that comes out of the link at `due`.
    #[inline]
    fn deliver(&mut self, _frame: &FrameId, _bytes: u32, due: Time) -> Time {
        due
    }

    /// From when on the link takes its time. Schedules and traces of its rate count from there; before, packets cost none,
    /// and none is lost.
    #[inline]
    fn origin(&self) -> Time {
        Time::ZERO
    }

    /// The discipline was called and holds `held`.
    #[inline]
    fn called<D: Discipline<FrameId>>(&mut self, _discipline: &D, _held: Backlog, _at: Time) {}

    /// A packet is sent, up to `until`.
    #[inline]
    fn sending(&mut self, _at: Time, _until: Time) {}

    /// The packet that began to be sent at `at` is lost on the way.
    fn lost(&mut self, _packet: &Packet<FrameId>, _at: Time) {}

    /// A packet goes out to its host.
    #[inline]
    fn out(&mut self, _frame: &FrameId, _now: Time) {}

    /// When it wants to look next.
    #[inline]
    fn due(&self) -> Time {
        Time::NEVER
    }

    /// It looks, at the time it named: everything before has happened, and nothing after.
    fn look<D: Discipline<FrameId>>(&mut self, _discipline: &D, _held: Backlog, _at: Time) {}

    /// The counts that every wire has.
    fn wire(&mut self) -> &mut WireLedger;
}
