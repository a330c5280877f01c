//! What can be seen of a run between two events. Reading changes nothing in its outcome.

use aqm::{Backlog, Discipline, FlowId};
use headgate_measure::SenderState;
use headgate_scenario::Hop;

use crate::hosts::Hosts;
use crate::world::World;

impl World {
    /// The backlog of the queue at `hop`.
    pub fn backlog(&self, hop: Hop) -> Backlog {
        self.net.links[usize::from(hop.number())].port().backlog()
    }

    /// The gauges of the discipline at `hop`, by name.
    pub fn gauges(&self, hop: Hop) -> Vec<(&'static str, f64)> {
        self.net.links[usize::from(hop.number())].port().gauges()
    }

    /// The gauges that the discipline at `hop` has for `flow`, by name; NaN for no value.
    pub fn gauges_of_flow(&self, hop: Hop, flow: u32) -> Vec<(&'static str, f64)> {
        let mut gauges = Vec::new();
        let discipline = self.net.links[usize::from(hop.number())].port().discipline();
        discipline.observe_flow(FlowId(flow.into()), &mut |name, value| gauges.push((name, value)));
        gauges
    }

    /// The bins of the discipline at `hop`, level after level: drop probability and queued packets. Empty without bins.
    pub fn bins(&self, hop: Hop) -> Vec<Vec<(f64, u32)>> {
        let mut levels: Vec<Vec<(f64, u32)>> = Vec::new();
        let discipline = self.net.links[usize::from(hop.number())].port().discipline();
        discipline.observe_bins(&mut |level, _, probability, packets| {
            levels.resize(levels.len().max(level + 1), Vec::new());
            levels[level].push((probability, packets));
        });
        levels
    }

    /// The state of `flow`'s sender; `None` if it has no congestion control.
    pub fn sender(&self, flow: u32) -> Option<SenderState> {
        self.net.hosts.sender_state(flow)
    }

    /// Useful bytes of each flow that have left its last queue since the start.
    pub fn delivered_bytes(&self) -> Vec<u64> {
        self.net.hosts.receiver_metrics.bytes_by_flow().collect()
    }
}

impl Hosts {
    /// The state of a sender; `None` if it has no congestion control.
    fn sender_state(&self, id: u32) -> Option<SenderState> {
        match self.tcp.get(id as usize) {
            Some(flow) => Some(flow.state(&self.tcp_settings[flow.group as usize])),
            None => self.controlled.is_controlled(id).then(|| self.controlled.state(id)),
        }
    }
}
