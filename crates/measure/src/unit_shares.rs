//! Fair shares by unit: the max-min fair shares of flows, hosts, groups or classes ([`FairUnit`]).
//!
//! The links are divided among the units as [`max_min`] divides them among flows. A unit demands what its flows demand
//! together. Within a unit, its flows divide its share in the same way.

use std::collections::BTreeMap;

use headgate_scenario::{FairUnit, Scenario};

use crate::fair_share::{FairShare, GroupDemand, fair_shares, group_demands};
use crate::max_min::{FlowDemand, max_min};

/// The unit with the least weight counts as this many equal parts, the others as more of them in proportion. The number has
/// every divisor up to 10, so usual ratios of weights are exact.
const PARTS: f64 = 5040.0;

/// The active flows of each group in a unit, by group.
type Members = BTreeMap<usize, u32>;

/// The fair share of each flow by `unit`, as goodput in bit/s. Flows that are not `active` get 0 and count nowhere.
pub fn unit_shares(scenario: &Scenario, unit: FairUnit, active: impl Fn(usize) -> bool) -> Vec<f64> {
    let groups = group_demands(scenario);
    let units = scenario.fair_units(unit);
    let group_of_flow = scenario.groups().flat_map(|group| std::iter::repeat_n(group.index, group.flows as usize));
    let placed: Vec<(u32, usize)> = units.of_flow.into_iter().zip(group_of_flow).collect();
    let mut members: Vec<Members> = vec![Members::new(); units.weights.len()];
    for (flow, (unit, group)) in placed.iter().enumerate() {
        if active(flow) {
            *members[*unit as usize].entry(*group).or_default() += 1;
        }
    }
    let whole = shares_of_units(scenario, &groups, &members, &units.weights);
    let within: Vec<BTreeMap<usize, f64>> =
        members.iter().zip(whole).map(|(members, share)| divided(&groups, members, share)).collect();
    let share = |(flow, (unit, group)): (usize, &(u32, usize))| match within[*unit as usize].get(group) {
        Some(share) if active(flow) => share * groups[*group].useful(),
        _ => 0.0,
    };
    placed.iter().enumerate().map(share).collect()
}

/// Demand and fair share of each group as in [`fair_shares`], but by `unit`: of the flow of the group with the least
/// share.
pub fn unit_of_groups(scenario: &Scenario, unit: FairUnit) -> Vec<FairShare> {
    let shares = unit_shares(scenario, unit, |_| true);
    let mut rest = shares.as_slice();
    let of_group = |(group, share): (headgate_scenario::Group<'_>, FairShare)| {
        let (own, others) = rest.split_at(group.flows as usize);
        rest = others;
        let least = own.iter().copied().fold(f64::INFINITY, f64::min);
        if own.is_empty() { share } else { FairShare { fair_bps: least, ..share } }
    };
    scenario.groups().zip(fair_shares(scenario)).map(of_group).collect()
}

/// The share of each unit in bit/s on the wire; 0 of a unit without members.
fn shares_of_units(scenario: &Scenario, groups: &[GroupDemand], members: &[Members], weights: &[f64]) -> Vec<f64> {
    let capacities: Vec<f64> = scenario.hops().map(|hop| scenario.packet_rate(hop).as_bits() as f64).collect();
    let inhabited = || members.iter().enumerate().filter(|(_, members)| !members.is_empty());
    let lightest = inhabited().map(|(unit, _)| weights[unit]).fold(f64::INFINITY, f64::min);
    let equal = inhabited().all(|(unit, _)| weights[unit] == lightest);
    let demand = |(unit, members): (usize, &Members)| {
        let parts = if equal { 1 } else { (weights[unit] / lightest * PARTS).round() as u32 };
        let want: f64 = members.iter().map(|(group, flows)| groups[*group].over_run().want * f64::from(*flows)).sum();
        // All members of a unit take the same route.
        let route = members.keys().next().map(|group| groups[*group].over_run().route.clone()).unwrap_or_default();
        FlowDemand { flows: parts, want: want / f64::from(parts), route }
    };
    let demands: Vec<FlowDemand> = inhabited().map(demand).collect();
    let shares = max_min(&capacities, &demands);
    let mut whole = vec![0.0; members.len()];
    for (((unit, _), share), demand) in inhabited().zip(shares).zip(&demands) {
        whole[unit] = share * f64::from(demand.flows);
    }
    whole
}

/// The share of a flow of each group in a unit that has `share`, in bit/s on the wire.
fn divided(groups: &[GroupDemand], members: &Members, share: f64) -> BTreeMap<usize, f64> {
    let demand = |(group, flows): (&usize, &u32)| FlowDemand {
        flows: *flows,
        want: groups[*group].over_run().want,
        route: vec![0],
    };
    let shares = max_min(&[share], &members.iter().map(demand).collect::<Vec<_>>());
    members.keys().copied().zip(shares).collect()
}

#[cfg(test)]
mod tests {
    use headgate_scenario::Changes;

    use super::*;

    fn scenario(groups: &str) -> Scenario {
        let text = format!(
            "name = \"due\"\nduration = \"100s\"\nqdiscs = [\"droptail\"]\n[link]\nrate = \"12Mbit/s\"\n\
             delay = \"10ms\"\nlimit = \"100p\"\nreverse = {{ rate = \"6Mbit/s\" }}\n{groups}"
        );
        Scenario::read(&text, "due.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Shares in Mbit/s, rounded to a bit/s.
    fn shares(groups: &str, unit: FairUnit) -> Vec<f64> {
        unit_shares(&scenario(groups), unit, |_| true).iter().map(|share| share.round() / 1e6).collect()
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
    fn shares_by_flow_are_those_of_the_table() {
        let scenario = scenario(HOME);
        let of_flows = fair_shares(&scenario);
        let shares = unit_shares(&scenario, FairUnit::Flow, |_| true);
        for (share, group) in shares.iter().zip([0, 1, 1, 1, 1, 1]) {
            assert!((share - of_flows[group].fair_bps).abs() < 1e-6 * share);
        }
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
        let scenario = scenario(HOME);
        let shares = unit_shares(&scenario, FairUnit::Host, |flow| flow != 5);
        assert_eq!(shares.iter().map(|share| share.round() / 1e6).collect::<Vec<_>>(), [6.0, 1.5, 1.5, 1.5, 1.5, 0.0]);
        assert_eq!(unit_shares(&scenario, FairUnit::Host, |flow| flow == 0)[0].round(), 12e6);
    }

    #[test]
    fn a_group_is_greedy_by_its_hosts_share() {
        let home = format!("{HOME}[[udp]]\nrate = \"3Mbit/s\"\ndestination = \"192.168.1.4\"\n");
        let greedy = |shares: Vec<FairShare>| shares.iter().map(FairShare::is_greedy).collect::<Vec<_>>();
        assert_eq!(greedy(fair_shares(&scenario(&home))), [true, true, true]);
        assert_eq!(greedy(unit_of_groups(&scenario(&home), FairUnit::Host)), [true, true, false]);
    }
}
