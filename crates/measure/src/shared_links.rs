//! The max-min fair shares of the flows that are active at a time, or of their units.

use aqm::Time;
use headgate_scenario::Scenario;

use crate::cohorts::Cohorts;
use crate::group_demands::{GroupDemand, group_demands};
use crate::max_min::{FlowDemand, max_min};
use crate::unit_shares::SharingUnits;

/// When the flows of each group stop, TCP before UDP; [`Time::NEVER`] if they do not.
pub fn stop_times(scenario: &Scenario) -> Vec<Time> {
    let stops = scenario.tcp.iter().map(|group| group.stop).chain(scenario.udp.iter().map(|group| group.stop));
    stops.map(|stop| stop.map_or(Time::NEVER, |at| Time::ZERO + at)).collect()
}

/// The links of a scenario, and the number of active flows of each cohort.
pub struct SharedLinks {
    capacities: Vec<f64>,
    /// By cohort: the demand of an active flow, and the number of active ones.
    demands: Vec<FlowDemand>,
    /// By cohort: the useful fraction of a packet.
    useful: Vec<f64>,
    /// `None` if each flow is a unit.
    units: Option<SharingUnits>,
    /// By cohort: the share of each active flow; out of date if `changed`.
    shares: Vec<f64>,
    changed: bool,
}

impl SharedLinks {
    /// Links without active flows, which will demand what they want while they are active.
    pub fn new(scenario: &Scenario, cohorts: &Cohorts) -> SharedLinks {
        SharedLinks::of_demands(scenario, cohorts, GroupDemand::while_active)
    }

    /// Links without active flows, which will demand their long-run rates.
    pub fn in_long_run(scenario: &Scenario, cohorts: &Cohorts) -> SharedLinks {
        SharedLinks::of_demands(scenario, cohorts, |group| group.over_run.clone())
    }

    fn of_demands(scenario: &Scenario, cohorts: &Cohorts, demand: impl Fn(&GroupDemand) -> FlowDemand) -> SharedLinks {
        let groups = group_demands(scenario);
        let of_cohorts = || cohorts.groups.iter().map(|group| &groups[*group]);
        SharedLinks {
            capacities: scenario.hops().map(|hop| scenario.packet_rate(hop).as_bits() as f64).collect(),
            demands: of_cohorts().map(|group| FlowDemand { flows: 0, ..demand(group) }).collect(),
            useful: of_cohorts().map(|group| group.useful).collect(),
            units: SharingUnits::new(cohorts),
            shares: vec![0.0; cohorts.groups.len()],
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
            units: None,
            shares: vec![0.0; wants.len()],
            changed: false,
        }
    }

    /// The number of cohorts.
    pub fn cohorts(&self) -> usize {
        self.demands.len()
    }

    /// A flow of `cohort` becomes active.
    pub fn begin(&mut self, cohort: usize) {
        self.change(cohort, |flows| flows + 1);
    }

    /// An active flow of `cohort` ends.
    pub fn end(&mut self, cohort: usize) {
        self.change(cohort, |flows| flows - 1);
    }

    /// All flows of `cohort` end.
    pub fn end_all(&mut self, cohort: usize) {
        self.change(cohort, |_| 0);
    }

    fn change(&mut self, cohort: usize, change: impl Fn(u32) -> u32) {
        let flows = &mut self.demands[cohort].flows;
        *flows = change(*flows);
        self.changed = true;
        if let Some(units) = &mut self.units {
            units.flows_change(cohort, &self.demands);
        }
    }

    /// The share of each active flow by cohort in bit/s, as goodput; 0 for cohorts without one.
    pub fn shares(&mut self) -> &[f64] {
        if std::mem::take(&mut self.changed) {
            let on_wire = match &self.units {
                Some(units) => units.shares(&self.capacities, &self.demands),
                None => self.shares_among_flows(),
            };
            for ((share, on_wire), useful) in self.shares.iter_mut().zip(on_wire).zip(&self.useful) {
                *share = on_wire * useful;
            }
        }
        &self.shares
    }

    /// What slots of Jain's index compare with: the share of each active flow by cohort, or of all of them together if
    /// units of several flows share the links.
    pub fn due(&mut self) -> impl Iterator<Item = f64> {
        self.shares();
        let counts = self.units.is_some();
        let times = move |demand: &FlowDemand| if counts { f64::from(demand.flows) } else { 1.0 };
        self.shares.iter().zip(&self.demands).map(move |(share, demand)| share * times(demand))
    }

    fn shares_among_flows(&self) -> Vec<f64> {
        let active: Vec<usize> = (0..self.demands.len()).filter(|cohort| self.demands[*cohort].flows > 0).collect();
        let demands: Vec<FlowDemand> = active.iter().map(|cohort| self.demands[*cohort].clone()).collect();
        let mut shares = vec![0.0; self.demands.len()];
        for (cohort, share) in active.into_iter().zip(max_min(&self.capacities, &demands)) {
            shares[cohort] = share;
        }
        shares
    }
}
