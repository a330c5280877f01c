//! Demand and max-min fair share of each group's flows in the long run.
//!
//! [`max_min`](crate::max_min()) divides the links among the [demands](crate::group_demands), in bits on the wire. Demand and
//! share are then scaled to goodput by the useful fraction of a packet.

use headgate_scenario::Scenario;

use crate::cohorts::Cohorts;
use crate::group_demands::{GroupDemand, group_demands};
use crate::shared_links::SharedLinks;

/// Demand and fair share of each flow of a group, as goodput in bit/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FairShare {
    /// Long-run demand of the flow alone: its source's rate, limited by its own rate, window and access links.
    pub demand_bps: f64,
    /// Its max-min fair share of the links it crosses.
    pub fair_bps: f64,
    /// Whether its source ends.
    pub ends: bool,
    /// Whether it reduces its rate on loss or marks: TCP, and UDP with congestion control.
    pub responsive: bool,
}

impl FairShare {
    /// Whether the demand exceeds the fair share.
    pub fn is_greedy(&self) -> bool {
        // Tolerates rounding differences.
        self.demand_bps > self.fair_bps * (1.0 + 1e-9)
    }

    /// Whether its source ends and demands at most its fair share. Its goodput then shows its demand, not its
    /// treatment.
    pub fn is_brief(&self) -> bool {
        self.ends && !self.is_greedy()
    }
}

/// Demand and fair share by group in the long run, TCP before UDP, by the unit that the scenario states, else by flow. Of
/// flows of one group in several units, the least share counts.
pub fn fair_shares(scenario: &Scenario) -> Vec<FairShare> {
    let (groups, cohorts) = (group_demands(scenario), Cohorts::stated(scenario));
    let mut least = vec![f64::INFINITY; groups.len()];
    for (group, share) in cohorts.groups.iter().zip(long_run_shares(scenario, &cohorts)) {
        least[*group] = least[*group].min(share);
    }
    let fair_share = |(group, fair_bps): (GroupDemand, f64)| FairShare {
        demand_bps: group.over_run.want * group.useful,
        fair_bps,
        ends: group.ends,
        responsive: group.responsive,
    };
    groups.into_iter().zip(least).map(fair_share).collect()
}

/// The fair share of each cohort's flows in the long run, as goodput in bit/s, if all flows demand their mean rates.
pub fn long_run_shares(scenario: &Scenario, cohorts: &Cohorts) -> Vec<f64> {
    let mut links = SharedLinks::in_long_run(scenario, cohorts);
    cohorts.of_flow.iter().for_each(|cohort| links.begin(*cohort as usize));
    links.shares().to_vec()
}

#[cfg(test)]
mod tests {
    use headgate_scenario::Changes;

    use super::*;

    /// Demands and shares on 10 Mbit/s over 100 s, for packets without headers.
    fn on_ten(groups: &str) -> Vec<FairShare> {
        let text = format!(
            "name = \"due\"\nduration = \"100s\"\nqdiscs = [\"droptail\"]\n[link]\nrate = \"10Mbit/s\"\n\
             delay = \"10ms\"\nlimit = \"100p\"\n{groups}"
        );
        let changes = Changes::default();
        fair_shares(&Scenario::read(&text, "due.toml", &changes).unwrap_or_else(|error| panic!("{error}")))
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected, "{found}, expected {expected}");
    }

    #[test]
    fn calls_get_their_demand_and_greedy_flows_share_the_rest() {
        let found = on_ten(
            "[[tcp]]\nflows = 2\nheader = \"0B\"\n[[udp]]\nflows = 10\nheader = \"28B\"\npacket = \"200B\"\n\
             traffic = \"voip\"\n",
        );
        // ITU-T P.59: 172 bytes each 20 ms, 1.004 s of 2.591 s; with headers 200.
        let call = 172.0 * 8.0 / 0.02 * 1.004 / 2.591;
        near(found[1].demand_bps, call);
        near(found[1].fair_bps, call);
        near(found[0].fair_bps, (10e6 - 10.0 * call * 200.0 / 172.0) / 2.0);
        assert_eq!([found[0].is_greedy(), found[1].is_greedy()], [true, false]);
        assert_eq!([found[0].responsive, found[1].responsive], [true, false]);
    }

    #[test]
    fn the_demand_of_transfers_is_their_bytes_over_the_run() {
        let found = on_ten(
            "[[tcp]]\nheader = \"0B\"\n[[tcp]]\nheader = \"0B\"\ntraffic = \"ftp:size=10KB\"\n\
             start = { load = 0.5 }\n[[tcp]]\nheader = \"0B\"\nflows = 4\ntraffic = \"ftp:size=1MB\"\n",
        );
        // Four times 1 MB in 100 s are 320 kbit/s. Transfers at random times demand half of the link.
        near(found[2].fair_bps, 80e3);
        near(found[0].fair_bps, 5e6 - 320e3);
        assert!(found[1].is_brief() && found[2].is_brief() && !found[0].is_brief());
    }

    #[test]
    fn a_transfer_too_large_for_its_share_is_as_greedy_as_one_without_end() {
        let found = on_ten("[[tcp]]\nheader = \"0B\"\n[[tcp]]\nheader = \"0B\"\ntraffic = \"ftp:size=1000MB\"\n");
        assert_eq!([found[0].fair_bps, found[1].fair_bps], [5e6, 5e6]);
        assert!(found[1].is_greedy() && !found[1].is_brief());
    }

    #[test]
    fn a_schedule_of_rates_demands_its_greatest_whatever_the_group_begins_with() {
        let schedule = "schedule = [{ at = \"10s\", rate = \"5Mbit/s\" }]";
        let inside = format!("[[udp]]\ntraffic = {{ name = \"cbr\", rate = \"500kbit/s\", {schedule} }}\n");
        let outside = format!("[[udp]]\nrate = \"500kbit/s\"\ntraffic = {{ name = \"cbr\", {schedule} }}\n");
        for group in [inside, outside] {
            let found = on_ten(&format!("{group}[[tcp]]\n"));
            near(found[1].demand_bps, 5e6 * 972.0 / 1000.0);
        }
    }

    #[test]
    fn tfrc_is_responsive_and_a_constant_rate_is_not() {
        let found = on_ten("[[udp]]\ncc = \"tfrc\"\n[[udp]]\nrate = \"8Mbit/s\"\n[[udp]]\nrate = \"1Mbit/s\"\n");
        let responsive: Vec<bool> = found.iter().map(|due| due.responsive).collect();
        let greedy: Vec<bool> = found.iter().map(|due| due.is_greedy()).collect();
        assert_eq!((responsive, greedy), (vec![true, false, false], vec![true, true, false]));
    }
}
