//! The flows whose data crosses one link direction, numbered from zero there.
//!
//! A link keeps its counts of flows by these numbers, so that they take memory for the flows that cross it, not for
//! all flows of the scenario.

use headgate_scenario::{Group, Hop, Scenario};

/// Up to so many consecutive flows that do not cross the link get numbers too: two ranges cost more time than the
/// memory of these flows is worth.
const GAP: u32 = 4096;

/// Flows with consecutive numbers that cross a link.
#[derive(Clone, Copy, Debug)]
struct FlowRange {
    /// The number of the first flow in the scenario.
    first: u32,
    /// Its number at the link.
    first_here: u32,
    flows: u32,
}

/// Maps a flow's number in the scenario to its number at one link.
#[derive(Clone, Debug)]
pub struct CrossingFlows {
    /// In order, with more than [`GAP`] other flows between each two. Never empty, but the only one may be.
    ranges: Vec<FlowRange>,
    /// `first` of the only range; `None` if there are several.
    only: Option<u32>,
}

impl CrossingFlows {
    /// The flows whose data crosses `hop`, and the groups of all flows that have numbers there, in order.
    pub fn new<'a>(scenario: &'a Scenario, hop: Hop) -> (CrossingFlows, Vec<Group<'a>>) {
        let (mut ranges, mut groups): (Vec<FlowRange>, Vec<_>) = (Vec::new(), Vec::new());
        // The groups since the last one that crosses the link.
        let mut gap: Vec<Group<'_>> = Vec::new();
        let mut number = 0;
        for group in scenario.groups() {
            if !group.route.contains(&hop) {
                gap.push(group);
                number += group.flows;
                continue;
            }
            let skipped: u32 = gap.iter().map(|group| group.flows).sum();
            match ranges.last_mut() {
                Some(last) if skipped <= GAP => {
                    last.flows += skipped + group.flows;
                    groups.append(&mut gap);
                }
                last => {
                    let first_here = last.map_or(0, |last| last.first_here + last.flows);
                    ranges.push(FlowRange { first: number, first_here, flows: group.flows });
                }
            }
            gap.clear();
            groups.push(group);
            number += group.flows;
        }
        if ranges.is_empty() {
            ranges.push(FlowRange { first: 0, first_here: 0, flows: 0 });
        }
        let only = (ranges.len() == 1).then(|| ranges[0].first);
        (CrossingFlows { ranges, only }, groups)
    }

    /// The number at the link of `flow` in the scenario; beyond all numbers if the flow has none.
    #[inline(always)]
    pub fn number_here(&self, flow: u32) -> usize {
        match self.only {
            Some(first) => flow.wrapping_sub(first) as usize,
            None => self.find(flow),
        }
    }

    #[inline(never)]
    fn find(&self, flow: u32) -> usize {
        let after = self.ranges.partition_point(|range| range.first <= flow);
        let before = after.checked_sub(1).map(|index| self.ranges[index]);
        let range = before.filter(|range| flow - range.first < range.flows);
        range.map_or(usize::MAX, |range| (range.first_here + (flow - range.first)) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headgate_scenario::Changes;

    /// Groups of `flows` flows each, with their routes over the links A-B and B-C: the numbers of flows at A-B, at B-C,
    /// and in the reverse direction from B to A; and the count of numbered flows.
    fn crossing(flows: u32, routes: &[&str]) -> [(Vec<(u32, usize)>, u32); 3] {
        let mut text = String::from("name = \"test\"\nduration = \"1s\"\nqdiscs = [\"droptail\"]\n");
        for (name, from, to, rest) in [("ab", "A", "B", ""), ("bc", "B", "C", "qdisc = \"droptail\"\n")] {
            text += &format!("[[link]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n");
            text += &format!("delay = \"1ms\"\nlimit = \"9p\"\nrate = \"1Mbit/s\"\n{rest}");
        }
        for (index, route) in routes.iter().enumerate() {
            let nodes: Vec<String> = route.chars().map(|node| format!("\"{node}\"")).collect();
            text += &format!("[[tcp]]\nname = \"g{index}\"\nflows = {flows}\nroute = [{}]\n", nodes.join(", "));
        }
        let scenario =
            Scenario::read(&text, "test.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
        let hops: Vec<Hop> = scenario.hops().collect();
        [hops[0], hops[2], hops[1]].map(|hop| {
            let (crossing, groups) = CrossingFlows::new(&scenario, hop);
            let numbered: u32 = groups.iter().map(|group| group.flows).sum();
            let numbers = (0..scenario.total_flows()).map(|flow| (flow, crossing.number_here(flow)));
            (numbers.filter(|(_, here)| *here < numbered as usize).collect(), numbered)
        })
    }

    fn expected(flows: impl Iterator<Item = u32> + Clone) -> (Vec<(u32, usize)>, u32) {
        (flows.clone().zip(0..).collect(), flows.count() as u32)
    }

    #[test]
    fn flows_that_cross_a_link_have_consecutive_numbers_there() {
        let n = GAP + 1;
        let [ab, bc, back] = crossing(n, &["AB", "BC", "ABC", "BC", "AB"]);
        assert_eq!(ab, expected((0..n).chain(2 * n..3 * n).chain(4 * n..5 * n)));
        assert_eq!(bc, expected(n..4 * n));
        assert_eq!(back, expected(0..0));
    }

    #[test]
    fn small_gaps_get_numbers_too() {
        let [ab, bc, _] = crossing(3, &["BC", "AB", "BC", "AB", "BC"]);
        assert_eq!(ab, expected(3..12));
        assert_eq!(bc, expected(0..15));
    }
}
