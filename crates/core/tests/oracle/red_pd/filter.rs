//! The filter before the output queue: drops of monitored flows.

use aqm::{Rng, Why};

use super::Plain;
use crate::oracle::harness::Arrival;

impl Plain {
    /// Whether the packet of a monitored flow is dropped before the queue.
    pub(super) fn filtered(&mut self, packet: Arrival, rng: &mut Rng) -> Option<Why> {
        // red-pd.cc compares the queue's length in its unit.
        let (size, waiting, congested) = (self.size(packet), self.held() > 1.0, self.avg >= self.rules.minth);
        let flow = self.flows.get_mut(&packet.flow)?;
        flow.arrived += size;
        let p = if flow.unresponsive { flow.p * self.rules.penalty } else { flow.p };
        let pa = if p == 0.0 {
            0.0
        } else if flow.passed * p < 1.0 {
            p / (1.0 - flow.passed * p)
        } else {
            1.0
        };
        let drawn = rng.chance(pa);
        let demand = match (flow.unresponsive, self.rules.spare_unresponsive) {
            // Section 4.2 spares every flow below RED's minth. The condition of a queued packet is red-pd.cc's.
            (false, _) => waiting && congested,
            (true, true) => congested && (waiting || !self.rules.noidle),
            // red-pd.cc.
            (true, false) => waiting || !self.rules.noidle,
        };
        if drawn && (demand || self.rules.fixed.is_some()) {
            flow.passed = 0.0;
            flow.dropped += size;
            return Some(if flow.unresponsive { Why::Unresponsive } else { Why::Prefilter });
        }
        flow.passed += 1.0;
        None
    }
}
