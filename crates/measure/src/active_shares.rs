//! Fair share of each flow over the time in which it is active.
//!
//! At any time the flows that are active share the links max-min fairly. A flow's fair share over the measured window is
//! the mean of its share at each time, 0 while it is not active. A flow that is active for a part of the window is thus
//! compared with what it could get in that part.

use aqm::Time;
use headgate_scenario::Scenario;

use crate::shared_links::{SharedLinks, stop_times};

/// The fair share of every flow in bit/s, as goodput, averaged over the window; `None` for a flow that is not active in
/// it. `lifetimes` has the begin and end of each flow by number. A flow of a group with a `stop` is active until then.
pub fn active_fair_shares(
    scenario: &Scenario,
    window: [Time; 2],
    lifetimes: impl Iterator<Item = [Time; 2]>,
) -> Vec<Option<f64>> {
    let mut links = SharedLinks::new(scenario);
    let stops = stop_times(scenario);
    let group_of_flow = scenario.groups().flat_map(|group| (0..group.flows).map(move |_| group.index));
    let flows: Vec<ActiveFlow> = group_of_flow
        .zip(lifetimes)
        .map(|(group, [begins, ends])| ActiveFlow {
            group,
            from: begins.max(window[0]),
            to: ends.min(stops[group]).min(window[1]),
        })
        .collect();
    mean_shares(&mut links, &flows, window)
}

/// A flow's group, and the part of the window in which it is active; none if that is empty.
struct ActiveFlow {
    group: usize,
    from: Time,
    to: Time,
}

/// The mean share of each flow over the window.
fn mean_shares(links: &mut SharedLinks, flows: &[ActiveFlow], [start, end]: [Time; 2]) -> Vec<Option<f64>> {
    let mut changes: Vec<(Time, usize, bool)> = Vec::with_capacity(2 * flows.len());
    for (number, flow) in flows.iter().enumerate().filter(|(_, flow)| flow.from < flow.to) {
        changes.extend([(flow.from, number, true), (flow.to, number, false)]);
    }
    changes.sort_unstable();
    // By group: the share of an active flow so far, averaged over the window.
    let mut sums = vec![0.0; links.groups()];
    let mut shares = vec![None; flows.len()];
    let (mut now, whole) = (start, (end - start).as_secs_f64());
    for (at, number, begins) in changes {
        if at > now {
            let part = (at - now).as_secs_f64() / whole;
            sums.iter_mut().zip(links.shares()).for_each(|(sum, share)| *sum += share * part);
            now = at;
        }
        let group = flows[number].group;
        if begins {
            links.begin(group);
            shares[number] = Some(sums[group]);
        } else {
            links.end(group);
            shares[number] = shares[number].map(|before| sums[group] - before);
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
    fn shares(groups: &str, lifetimes: &[(f64, f64)]) -> Vec<Option<f64>> {
        let text = format!(
            "name = \"due\"\nduration = \"10s\"\nwarmup = \"2s\"\nqdiscs = [\"droptail\"]\n[link]\n\
             rate = \"10Mbit/s\"\ndelay = \"10ms\"\nlimit = \"100p\"\n{groups}"
        );
        let scenario = Scenario::read(&text, "due.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"));
        let lifetimes = lifetimes.iter().map(|&(from, to)| [at(from), at(to)]);
        active_fair_shares(&scenario, [at(2.0), at(10.0)], lifetimes)
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
    }
}
