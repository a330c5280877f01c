//! Fair share of each flow over the time in which it is active.
//!
//! At any time, the flows or units that are active share the links max-min fairly. A flow's fair share over the measured
//! window is the mean of its share at each time, 0 while it is not active. A flow that is active for a part of the
//! window is thus compared with what it could get in that part. A unit is active while one of its flows is.

use aqm::Time;
use headgate_scenario::{FairUnit, Scenario};

use crate::cohorts::Cohorts;
use crate::shared_links::{SharedLinks, stop_times};

/// The time in which a flow is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// When it begins to send; [`Time::NEVER`] if it does not.
    pub from: Time,
    /// When its last data is acknowledged, or its group stops; [`Time::NEVER`] if it does not end.
    pub until: Time,
}

impl Activity {
    /// The part of it in a window; nothing if the flow is not active then.
    fn within(self, [start, end]: [Time; 2]) -> Option<Activity> {
        let part = Activity { from: self.from.max(start), until: self.until.min(end) };
        (part.from < part.until).then_some(part)
    }

    /// When it begins and ends, if that is before `end`.
    pub fn known_before(self, end: Time) -> [Option<Time>; 2] {
        let active = self.within([Time::ZERO, end]);
        [active.map(|active| active.from), active.map(|active| active.until).filter(|until| *until < end)]
    }
}

/// The activity of every flow. `lifetimes` has the times at which each begins, and has its last data acknowledged. A flow
/// of a group with a `stop` is active until then.
pub fn activities(scenario: &Scenario, lifetimes: impl Iterator<Item = [Time; 2]>) -> Vec<Activity> {
    let stops = stop_times(scenario).into_iter().zip(scenario.groups());
    let stops = stops.flat_map(|(stop, group)| std::iter::repeat_n(stop, group.flows as usize));
    lifetimes.zip(stops).map(|([from, ends], stop)| Activity { from, until: ends.min(stop) }).collect()
}

/// The fair share of every flow by `unit` in bit/s, as goodput, averaged over the window; `None` for a flow that is not
/// active in it.
pub fn active_fair_shares(
    scenario: &Scenario,
    unit: FairUnit,
    window: [Time; 2],
    activities: &[Activity],
) -> Vec<Option<f64>> {
    let cohorts = Cohorts::new(scenario, unit);
    let flows = cohorts.of_flow.iter().zip(activities);
    let flows: Vec<(usize, Option<Activity>)> =
        flows.map(|(cohort, activity)| (*cohort as usize, activity.within(window))).collect();
    mean_shares(&mut SharedLinks::new(scenario, &cohorts), &flows, window)
}

/// The mean share over the window of each flow, given its cohort and its activity within the window.
fn mean_shares(
    links: &mut SharedLinks,
    flows: &[(usize, Option<Activity>)],
    [start, end]: [Time; 2],
) -> Vec<Option<f64>> {
    let mut changes: Vec<(Time, usize, bool)> = Vec::with_capacity(2 * flows.len());
    for (number, (_, activity)) in flows.iter().enumerate() {
        changes.extend(activity.iter().flat_map(|each| [(each.from, number, true), (each.until, number, false)]));
    }
    changes.sort_unstable();
    // By cohort: the share of an active flow so far, averaged over the window.
    let mut sums = vec![0.0; links.cohorts()];
    let mut shares = vec![None; flows.len()];
    let (mut now, whole) = (start, (end - start).as_secs_f64());
    for (at, number, begins) in changes {
        if at > now {
            let part = (at - now).as_secs_f64() / whole;
            sums.iter_mut().zip(links.shares()).for_each(|(sum, share)| *sum += share * part);
            now = at;
        }
        let (cohort, _) = flows[number];
        if begins {
            links.begin(cohort);
            shares[number] = Some(sums[cohort]);
        } else {
            links.end(cohort);
            shares[number] = shares[number].map(|before| sums[cohort] - before);
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use aqm::Span;
    use headgate_scenario::Changes;
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(seconds)
    }

    /// Shares of flows with these lifetimes on 10 Mbit/s, in packets without headers, from 2 to 10 s.
    fn shares_by(unit: FairUnit, groups: &str, lifetimes: &[(f64, f64)]) -> Vec<Option<f64>> {
        let text = format!(
            "name = \"due\"\nduration = \"10s\"\nwarmup = \"2s\"\nqdiscs = [\"droptail\"]\n[link]\n\
             rate = \"10Mbit/s\"\ndelay = \"10ms\"\nlimit = \"100p\"\n{groups}"
        );
        let scenario = Scenario::read(&text, "due.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
        let activities = activities(&scenario, lifetimes.iter().map(|&(from, to)| [at(from), at(to)]));
        active_fair_shares(&scenario, unit, [at(2.0), at(10.0)], &activities)
    }

    fn shares(groups: &str, lifetimes: &[(f64, f64)]) -> Vec<Option<f64>> {
        shares_by(FairUnit::Flow, groups, lifetimes)
    }

    const TCP: &str = "[[tcp]]\nheader = \"0B\"\nflows = 2\n";

    #[test]
    fn a_flow_that_stopped_before_the_window_has_no_share_and_the_others_have_it_all() {
        assert_eq!(shares(TCP, &[(0.0, 99.0), (0.0, 2.0)]), [Some(10e6), None]);
        assert_eq!(shares(TCP, &[(0.0, 99.0), (10.0, 99.0)]), [Some(10e6), None]);
        assert_eq!(shares(TCP, &[(0.0, 99.0), (0.0, 99.0)]), [Some(5e6), Some(5e6)]);
    }

    #[test]
    fn a_share_is_that_of_the_time_in_which_a_flow_is_active() {
        // Alone for 4 s and with a second one for 4 s: 10 and 5 Mbit/s.
        assert_eq!(shares(TCP, &[(0.0, 99.0), (6.0, 99.0)]), [Some(7.5e6), Some(2.5e6)]);
        let stops = format!("{TCP}[[tcp]]\nname = \"b\"\nheader = \"0B\"\nstop = \"4s\"\n");
        assert_eq!(shares(&stops, &[(6.0, 99.0), (6.0, 99.0), (0.0, 99.0)]), [Some(2.5e6), Some(2.5e6), Some(2.5e6)]);
    }

    #[test]
    fn a_transfer_is_compared_with_what_it_could_get_while_it_ran() {
        // It ran for 1 of 8 s, and could have got half of the link.
        let transfers = "[[tcp]]\nheader = \"0B\"\n[[tcp]]\nheader = \"0B\"\ntraffic = \"ftp:size=100KB\"\n";
        assert_eq!(shares(transfers, &[(0.0, 99.0), (3.0, 4.0)]), [Some(9.375e6), Some(0.625e6)]);
    }

    /// A host with one download and a host with two, whose flows stop at 4 s; and a third host.
    const HOSTS: &str = "[[tcp]]\nheader = \"0B\"\ndestination = \"192.168.1.2\"\n\
                         [[tcp]]\nflows = 2\nheader = \"0B\"\ndestination = \"192.168.1.3\"\nstop = \"4s\"\n";

    #[test]
    fn a_unit_has_a_share_while_it_has_an_active_flow() {
        let by_host = |lifetimes: &[(f64, f64)]| shares_by(FairUnit::Host, HOSTS, lifetimes);
        // Two of eight seconds: both hosts have half of the link. Then the first has it alone.
        assert_eq!(by_host(&[(0.0, 99.0); 3]), [Some(8.75e6), Some(0.625e6), Some(0.625e6)]);
        // One of its flows has all of a host's share while it is its only one.
        assert_eq!(by_host(&[(0.0, 99.0), (0.0, 3.0), (3.0, 99.0)]), [Some(8.75e6), Some(0.625e6), Some(0.625e6)]);
        assert_eq!(by_host(&[(0.0, 99.0), (0.0, 2.0), (9.0, 99.0)]), [Some(10e6), None, None], "gone in the window");
        assert_eq!(by_host(&[(9.0, 99.0), (0.0, 2.0), (0.0, 3.0)]), [Some(1.25e6), None, Some(1.25e6)]);
    }

    proptest! {
        /// The flows together are due the link for the time in which any of them is active.
        #[test]
        fn shares_add_up_to_the_link_while_a_flow_is_active(
            lifetimes in prop::collection::vec((0.0f64..12.0, 0.0f64..12.0), 5),
        ) {
            let found = shares(&TCP.replace("flows = 2", "flows = 5"), &lifetimes);
            let steps = 12_000;
            let busy = (0..steps).filter(|step| {
                let now = 2.0 + 8.0 * (f64::from(*step) + 0.5) / f64::from(steps);
                lifetimes.iter().any(|(from, to)| *from <= now && now < *to)
            });
            let expected = 10e6 * busy.count() as f64 / f64::from(steps);
            let sum: f64 = found.iter().flatten().sum();
            prop_assert!((sum - expected).abs() <= 10e6 * 12.0 / f64::from(steps), "{sum}, expected {expected}");
        }

        /// With one flow a unit, shares by unit are those by flow.
        #[test]
        fn units_of_one_flow_have_the_shares_of_their_flows(
            lifetimes in prop::collection::vec((0.0f64..12.0, 0.0f64..12.0), 4),
        ) {
            let groups: String = (1..=4)
                .map(|host| format!("[[tcp]]\nname = \"{host}\"\ndestination = \"10.0.0.{host}\"\nstop = \"{}s\"\n", 2 * host))
                .collect();
            let by_flow = shares_by(FairUnit::Flow, &groups, &lifetimes);
            for unit in [FairUnit::Host, FairUnit::Group] {
                prop_assert_eq!(&shares_by(unit, &groups, &lifetimes), &by_flow);
            }
            // A second host that is never active has a second flow, so units and flows differ.
            let second = format!("{groups}[[tcp]]\nname = \"other\"\nflows = 2\ndestination = \"10.0.0.9\"\n");
            let lifetimes = [&lifetimes[..], &[(20.0, 20.0); 2]].concat();
            for (share, expected) in shares_by(FairUnit::Host, &second, &lifetimes).iter().zip(&by_flow) {
                prop_assert_eq!(share.is_some(), expected.is_some());
                prop_assert!((share.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-3);
            }
        }
    }
}
