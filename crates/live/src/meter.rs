//! Who keeps account of the packets of a queue and its link.

use headgate_core::{Backlog, Discipline, Ledger, Packet, Time};

use crate::ledger::WireLedger;
use crate::pool::FrameId;

/// The ledger of a port, which is told of more than the port's own calls, at the link's nominal times. What is not filled in
/// costs nothing: the calls are resolved when the program is compiled.
pub(crate) trait Meter: Ledger<FrameId> {
    /// The discipline was called and holds `held`.
    #[inline]
    fn called<D: Discipline<FrameId>>(&mut self, _discipline: &D, _held: Backlog, _at: Time) {}

    /// A packet is sent, up to `until`.
    fn sending(&mut self, at: Time, until: Time);

    /// The packet that began to be sent at `at` is lost on the way.
    fn lost(&mut self, _packet: &Packet<FrameId>, _at: Time) {}

    /// The counts that every wire has.
    fn wire(&mut self) -> &mut WireLedger;
}
