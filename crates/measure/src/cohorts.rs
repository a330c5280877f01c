//! Cohorts: the flows of one group in one unit of fairness.
//!
//! The flows of a cohort have equal demands and equal routes, so those that are active have equal fair shares. If each
//! flow is a unit, all flows of a group are alike, and the group is the cohort.

use std::collections::BTreeMap;

use headgate_scenario::{FairUnit, Scenario};

/// The cohorts of a scenario, in the order of their first flows.
pub struct Cohorts {
    /// The cohort of each flow.
    pub of_flow: Vec<u32>,
    /// The group of each cohort.
    pub groups: Vec<usize>,
    /// The units of the cohorts; `None` if each flow is a unit.
    pub units: Option<CohortUnits>,
}

/// The units of a scenario's cohorts.
#[derive(Clone)]
pub struct CohortUnits {
    /// The unit of each cohort.
    pub of_cohort: Vec<u32>,
    /// The weight of each unit.
    pub weights: Vec<f64>,
}

impl Cohorts {
    /// The cohorts by the unit that `scenario` states, else by flow.
    pub fn stated(scenario: &Scenario) -> Cohorts {
        Cohorts::new(scenario, scenario.fair.unwrap_or(FairUnit::Flow))
    }

    /// The cohorts by `unit`. Units of one flow each are the flows.
    pub fn new(scenario: &Scenario, unit: FairUnit) -> Cohorts {
        let units = scenario.fair_units(unit);
        let alike = units.weights.len() == units.of_flow.len() && units.weights.windows(2).all(|two| two[0] == two[1]);
        let (mut numbers, mut groups, mut of_cohort) = (BTreeMap::new(), Vec::new(), Vec::new());
        let group_of_flow = scenario.groups().flat_map(|group| std::iter::repeat_n(group.index, group.flows as usize));
        let cohort = |(unit, group): (u32, usize)| {
            let unit = if alike { 0 } else { unit };
            *numbers.entry((unit, group)).or_insert_with(|| {
                groups.push(group);
                of_cohort.push(unit);
                groups.len() as u32 - 1
            })
        };
        let of_flow = units.of_flow.into_iter().zip(group_of_flow).map(cohort).collect();
        let units = (!alike).then_some(CohortUnits { of_cohort, weights: units.weights });
        Cohorts { of_flow, groups, units }
    }
}

#[cfg(test)]
mod tests {
    use headgate_scenario::Changes;

    use super::*;

    fn cohorts(groups: &str, unit: FairUnit) -> Cohorts {
        let text = format!(
            "name = \"due\"\nduration = \"10s\"\nqdiscs = [\"droptail\"]\n[link]\nrate = \"10Mbit/s\"\n\
             delay = \"10ms\"\nlimit = \"100p\"\n{groups}"
        );
        let scenario = Scenario::read(&text, "due.toml", &Changes::default());
        Cohorts::new(&scenario.unwrap_or_else(|error| panic!("{error}")), unit)
    }

    const HOME: &str = "[[tcp]]\nflows = 3\ndestination = \"192.168.1.2/31\"\n\
                        [[udp]]\nrate = \"1Mbit/s\"\ndestination = \"192.168.1.3\"\n";

    #[test]
    fn a_cohort_is_a_group_in_a_unit() {
        let by_host = cohorts(HOME, FairUnit::Host);
        assert_eq!((by_host.of_flow, by_host.groups), (vec![0, 1, 0, 2], vec![0, 0, 1]));
        assert_eq!(by_host.units.map(|units| units.of_cohort), Some(vec![0, 1, 1]));
    }

    #[test]
    fn units_of_one_flow_each_are_the_flows() {
        for (groups, unit) in [(HOME, FairUnit::Flow), (&HOME.replace("flows = 3", ""), FairUnit::Group)] {
            let by_flow = cohorts(groups, unit);
            assert!(by_flow.units.is_none() && by_flow.groups == [0, 1]);
        }
    }
}
