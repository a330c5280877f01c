//! The max-min fair shares of the flows that are active at a time.

use aqm::Time;
use headgate_scenario::Scenario;

use crate::fair_share::group_demands;
use crate::max_min::{FlowDemand, max_min};

/// When the flows of each group stop, TCP before UDP; [`Time::NEVER`] if they do not.
pub fn stop_times(scenario: &Scenario) -> Vec<Time> {
    let stops = scenario.tcp.iter().map(|group| group.stop).chain(scenario.udp.iter().map(|group| group.stop));
    stops.map(|stop| stop.map_or(Time::NEVER, |at| Time::ZERO + at)).collect()
}

/// The links of a scenario, and the number of active flows of each group.
pub struct SharedLinks {
    capacities: Vec<f64>,
    /// By group: the demand of an active flow, and the number of active ones.
    demands: Vec<FlowDemand>,
    /// By group: the useful fraction of a packet.
    useful: Vec<f64>,
    /// By group: the share of each active flow; out of date if `changed`.
    shares: Vec<f64>,
    changed: bool,
}

impl SharedLinks {
    /// Links without active flows.
    pub fn new(scenario: &Scenario) -> SharedLinks {
        let groups = group_demands(scenario);
        SharedLinks {
            capacities: scenario.hops().map(|hop| scenario.packet_rate(hop).as_bits() as f64).collect(),
            demands: groups.iter().map(|group| FlowDemand { flows: 0, ..group.while_active() }).collect(),
            useful: groups.iter().map(|group| group.useful()).collect(),
            shares: vec![0.0; groups.len()],
            changed: false,
        }
    }

    /// A link of 10 Mbit/s for groups of flows that want these rates.
    #[cfg(test)]
    pub fn of_wants(wants: &[f64]) -> SharedLinks {
        SharedLinks {
            capacities: vec![10e6],
            demands: wants.iter().map(|want| FlowDemand { flows: 0, want: *want, route: vec![0] }).collect(),
            useful: vec![1.0; wants.len()],
            shares: vec![0.0; wants.len()],
            changed: false,
        }
    }

    /// The number of groups.
    pub fn groups(&self) -> usize {
        self.demands.len()
    }

    /// Whether any flow of `group` is active.
    fn is_active(&self, group: usize) -> bool {
        self.demands[group].flows > 0
    }

    /// A flow of `group` becomes active.
    pub fn begin(&mut self, group: usize) {
        self.demands[group].flows += 1;
        self.changed = true;
    }

    /// An active flow of `group` ends.
    pub fn end(&mut self, group: usize) {
        self.demands[group].flows -= 1;
        self.changed = true;
    }

    /// All flows of `group` end.
    pub fn end_all(&mut self, group: usize) {
        self.demands[group].flows = 0;
        self.changed = true;
    }

    /// The share of each active flow by group in bit/s, as goodput; 0 for groups without one.
    pub fn shares(&mut self) -> &[f64] {
        if std::mem::take(&mut self.changed) {
            let active: Vec<usize> = (0..self.demands.len()).filter(|group| self.is_active(*group)).collect();
            let demands: Vec<FlowDemand> = active.iter().map(|group| self.demands[*group].clone()).collect();
            self.shares.fill(0.0);
            for (group, share) in active.into_iter().zip(max_min(&self.capacities, &demands)) {
                self.shares[group] = share * self.useful[group];
            }
        }
        &self.shares
    }
}
