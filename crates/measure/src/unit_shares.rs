//! Fair shares by unit: hosts, groups or classes ([`FairUnit`](headgate_scenario::FairUnit)).
//!
//! The links are divided among the units with an active flow, as [`max_min`] divides them among flows. A unit demands
//! what its active flows demand together. Within a unit, its flows divide its share in the same way.

use std::collections::BTreeMap;

use crate::cohorts::{CohortUnits, Cohorts};
use crate::max_min::{FlowDemand, max_min};

/// The unit with the least weight counts as this many equal parts, the others as more of them in proportion. The number has
/// every divisor up to 10, so usual ratios of weights are exact.
const PARTS: f64 = 5040.0;

/// The active flows of a unit by group, and the bits of its weight. Units with equal ones have equal shares, so thousands
/// of hosts cost as much as a few.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Composition {
    weight: u64,
    flows: Vec<(usize, u32)>,
}

/// A composition, and the number of units that have it. Without units, its place in the list is free.
#[derive(Default)]
struct UnitKind {
    composition: Composition,
    units: u32,
}

/// A unit: its cohorts, which take one route, its weight, and the number of its kind; `None` without active flows.
struct SharingUnit {
    cohorts: Vec<usize>,
    weight: f64,
    kind: Option<usize>,
}

/// The units that share links.
pub struct SharingUnits {
    /// By cohort: its unit and its group.
    place_of_cohort: Vec<(usize, usize)>,
    units: Vec<SharingUnit>,
    kinds: Vec<UnitKind>,
    free: Vec<usize>,
    numbers: BTreeMap<Composition, usize>,
}

impl SharingUnits {
    /// The units of a scenario's cohorts, without active flows; `None` if each flow is a unit.
    pub fn new(cohorts: &Cohorts) -> Option<SharingUnits> {
        let CohortUnits { of_cohort, weights } = cohorts.units.as_ref()?;
        let mut units: Vec<SharingUnit> =
            weights.iter().map(|weight| SharingUnit { cohorts: Vec::new(), weight: *weight, kind: None }).collect();
        for (cohort, unit) in of_cohort.iter().enumerate() {
            units[*unit as usize].cohorts.push(cohort);
        }
        let units_of_cohorts = of_cohort.iter().map(|unit| *unit as usize);
        let place_of_cohort = units_of_cohorts.zip(cohorts.groups.iter().copied()).collect();
        Some(SharingUnits { place_of_cohort, units, kinds: Vec::new(), free: Vec::new(), numbers: BTreeMap::new() })
    }

    /// The number of active flows of `cohort` has changed to that in `demands`.
    pub fn flows_change(&mut self, cohort: usize, demands: &[FlowDemand]) {
        let number = self.place_of_cohort[cohort].0;
        let SharingUnit { cohorts, weight, kind } = &self.units[number];
        let active = cohorts.iter().filter(|cohort| demands[**cohort].flows > 0);
        let flows: Vec<_> = active.map(|cohort| (self.place_of_cohort[*cohort].1, demands[*cohort].flows)).collect();
        let composition = Composition { weight: weight.to_bits(), flows };
        if let Some(kind) = *kind {
            self.leave(kind);
        }
        self.units[number].kind = (!composition.flows.is_empty()).then(|| self.join(composition));
    }

    fn leave(&mut self, kind: usize) {
        let UnitKind { composition, units } = &mut self.kinds[kind];
        *units -= 1;
        if *units == 0 {
            self.numbers.remove(composition);
            self.free.push(kind);
        }
    }

    fn join(&mut self, composition: Composition) -> usize {
        let number = self.numbers.get(&composition).copied().unwrap_or_else(|| {
            let number = self.free.pop().unwrap_or(self.kinds.len());
            self.kinds.resize_with(self.kinds.len().max(number + 1), UnitKind::default);
            self.kinds[number].composition = composition.clone();
            self.numbers.insert(composition, number);
            number
        });
        self.kinds[number].units += 1;
        number
    }

    /// The share of each active flow by cohort, in bit/s on the wire; 0 for cohorts without one. `demands` are the cohorts'
    /// active flows.
    pub fn shares(&self, capacities: &[f64], demands: &[FlowDemand]) -> Vec<f64> {
        let within = self.shares_within(capacities, demands);
        let mut shares = vec![0.0; demands.len()];
        for SharingUnit { cohorts, kind, .. } in &self.units {
            let of_kind = kind.iter().flat_map(|kind| &within[*kind]);
            let active = cohorts.iter().filter(|cohort| demands[**cohort].flows > 0);
            active.zip(of_kind).for_each(|(cohort, share)| shares[*cohort] = *share);
        }
        shares
    }

    /// By kind: the share of an active flow of each cohort that has any, in a unit of the kind.
    fn shares_within(&self, capacities: &[f64], demands: &[FlowDemand]) -> Vec<Vec<f64>> {
        let mut members: Vec<Vec<FlowDemand>> = vec![Vec::new(); self.kinds.len()];
        for SharingUnit { cohorts, kind, .. } in &self.units {
            if let Some(kind) = *kind
                && members[kind].is_empty()
            {
                members[kind] = cohorts.iter().map(|cohort| demands[*cohort].clone()).collect();
                members[kind].retain(|demand| demand.flows > 0);
            }
        }
        let wholes = self.whole_shares(capacities, &members);
        let inside = |demand: FlowDemand| FlowDemand { route: vec![0], ..demand };
        let divided = |(members, whole): (Vec<FlowDemand>, f64)| {
            max_min(&[whole], &members.into_iter().map(inside).collect::<Vec<_>>())
        };
        members.into_iter().zip(wholes).map(divided).collect()
    }

    /// The share of a unit of each kind; 0 for kinds without units.
    fn whole_shares(&self, capacities: &[f64], members: &[Vec<FlowDemand>]) -> Vec<f64> {
        let present = || self.kinds.iter().enumerate().filter(|(_, kind)| kind.units > 0);
        let weights = || present().map(|(_, kind)| f64::from_bits(kind.composition.weight));
        let lightest = weights().fold(f64::INFINITY, f64::min);
        let equal = weights().all(|weight| weight == lightest);
        let demand = |((number, kind), weight): ((usize, &UnitKind), f64)| {
            let parts = if equal { 1 } else { (weight / lightest * PARTS).round() as u32 };
            let want: f64 = members[number].iter().map(|demand| demand.want * f64::from(demand.flows)).sum();
            let (flows, route) = (parts.saturating_mul(kind.units), members[number][0].route.clone());
            (FlowDemand { flows, want: want / f64::from(parts), route }, (number, f64::from(parts)))
        };
        let (demands, places): (Vec<_>, Vec<_>) = present().zip(weights()).map(demand).unzip();
        let mut wholes = vec![0.0; self.kinds.len()];
        for (share, (number, parts)) in max_min(capacities, &demands).into_iter().zip(places) {
            wholes[number] = share * parts;
        }
        wholes
    }
}

#[cfg(test)]
mod tests {
    use headgate_scenario::{Changes, FairUnit, Scenario};

    use crate::cohorts::Cohorts;
    use crate::fair_share::{FairShare, fair_shares};
    use crate::shared_links::SharedLinks;

    fn scenario(groups: &str) -> Scenario {
        let text = format!(
            "name = \"due\"\nduration = \"100s\"\nqdiscs = [\"droptail\"]\n[link]\nrate = \"12Mbit/s\"\n\
             delay = \"10ms\"\nlimit = \"100p\"\nreverse = {{ rate = \"6Mbit/s\" }}\n{groups}"
        );
        Scenario::read(&text, "due.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Shares of active flows in Mbit/s, rounded to a bit/s; 0 for others.
    fn shares_of_active(groups: &str, unit: FairUnit, is_active: impl Fn(usize) -> bool) -> Vec<f64> {
        let scenario = scenario(groups);
        let cohorts = Cohorts::new(&scenario, unit);
        let mut links = SharedLinks::in_long_run(&scenario, &cohorts);
        let flows = || cohorts.of_flow.iter().enumerate().map(|(flow, cohort)| (is_active(flow), *cohort as usize));
        flows().filter(|(active, _)| *active).for_each(|(_, cohort)| links.begin(cohort));
        let shares = links.shares();
        flows().map(|(active, cohort)| if active { shares[cohort].round() / 1e6 } else { 0.0 }).collect()
    }

    fn shares(groups: &str, unit: FairUnit) -> Vec<f64> {
        shares_of_active(groups, unit, |_| true)
    }

    const HOME: &str = "[[tcp]]\nheader = \"0B\"\ndestination = \"192.168.1.2\"\n\
                        [[tcp]]\nflows = 5\nheader = \"0B\"\ndestination = \"192.168.1.3\"\n";

    #[test]
    fn hosts_with_one_and_five_downloads_get_the_same() {
        assert_eq!(shares(HOME, FairUnit::Host), [6.0, 1.2, 1.2, 1.2, 1.2, 1.2]);
        assert_eq!(shares(HOME, FairUnit::Group), [6.0, 1.2, 1.2, 1.2, 1.2, 1.2]);
        assert_eq!(shares(HOME, FairUnit::Flow), [2.0; 6]);
    }

    #[test]
    fn a_host_that_demands_less_than_its_share_leaves_the_rest() {
        let call = "[[udp]]\nrate = \"2Mbit/s\"\nheader = \"0B\"\ndestination = \"192.168.1.4\"\n";
        assert_eq!(shares(&format!("{HOME}{call}"), FairUnit::Host), [5.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]);
        // The call of a host with a download comes out of the host's share.
        let call = call.replace("1.4", "1.2").replace("[[udp]]", "[[udp]]\nname = 'call'");
        assert_eq!(shares(&format!("{HOME}{call}"), FairUnit::Host), [4.0, 1.2, 1.2, 1.2, 1.2, 1.2, 2.0]);
    }

    #[test]
    fn a_server_of_the_whole_home_is_no_host_but_one_of_a_part_is() {
        let served = HOME.replace("header", "source = \"10.9.9.9\"\nheader");
        assert_eq!(shares(&served, FairUnit::Host), [6.0, 1.2, 1.2, 1.2, 1.2, 1.2]);
        let uploads = HOME.replace("destination", "source");
        assert_eq!(shares(&uploads, FairUnit::Host), [6.0, 1.2, 1.2, 1.2, 1.2, 1.2]);
    }

    #[test]
    fn uploads_and_downloads_of_one_host_share_different_links() {
        let upload = "[[tcp]]\nname = \"up\"\nflows = 2\nheader = \"0B\"\nfrom = \"right\"\nto = \"left\"\n\
                      source = \"192.168.1.3\"\n";
        assert_eq!(shares(&format!("{HOME}{upload}"), FairUnit::Host), [6.0, 1.2, 1.2, 1.2, 1.2, 1.2, 3.0, 3.0]);
    }

    #[test]
    fn classes_get_shares_by_weight_whatever_their_flows() {
        let classes =
            "[[class]]\nname = \"high\"\nweight = 3\ndestination = \"192.168.1.2\"\n[[class]]\nname = \"low\"\n";
        assert_eq!(shares(&format!("{HOME}{classes}"), FairUnit::Class), [9.0, 0.6, 0.6, 0.6, 0.6, 0.6]);
        // Half of the link for the first class; the second has two children with one and two thirds of the other half,
        // and a third child without flows.
        let nested = "[[class]]\nname = \"high\"\ndestination = \"192.168.1.2\"\n[[class]]\nname = \"low\"\n\
                      [[class]]\nname = \"a\"\nparent = \"low\"\nprotocol = \"udp\"\nweight = 2\n\
                      [[class]]\nname = \"b\"\nparent = \"low\"\nprotocol = \"tcp\"\n\
                      [[class]]\nname = \"c\"\nparent = \"low\"\nprotocol = \"icmp\"\nweight = 9\n\
                      [[udp]]\nrate = \"50Mbit/s\"\nheader = \"0B\"\n";
        assert_eq!(shares(&format!("{HOME}{nested}"), FairUnit::Class), [6.0, 0.4, 0.4, 0.4, 0.4, 0.4, 4.0]);
    }

    #[test]
    fn flows_that_are_not_active_leave_their_share_to_their_unit() {
        let active = |flows: &[usize]| shares_of_active(HOME, FairUnit::Host, |flow| flows.contains(&flow));
        assert_eq!(active(&[0, 1, 2, 3, 4]), [6.0, 1.5, 1.5, 1.5, 1.5, 0.0]);
        assert_eq!(active(&[0]), [12.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_group_is_greedy_by_the_share_of_the_unit_that_its_scenario_states() {
        let home = format!("{HOME}[[udp]]\nrate = \"3Mbit/s\"\ndestination = \"192.168.1.4\"\n");
        let greedy = |scenario: &Scenario| fair_shares(scenario).iter().map(FairShare::is_greedy).collect::<Vec<_>>();
        let mut scenario = scenario(&home);
        assert_eq!(greedy(&scenario), [true, true, true]);
        scenario.fair = Some(FairUnit::Host);
        assert_eq!(greedy(&scenario), [true, true, false]);
    }
}
