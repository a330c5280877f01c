//! Max-min fair shares of a network, by progressive filling (Bertsekas, Gallager: Data Networks, 2nd ed., 6.5.2).

/// Identical flows: same demand, same route.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowDemand {
    /// Number of flows.
    pub flows: u32,
    /// Rate of each flow if it were alone; infinite if unbounded.
    pub want: f64,
    /// The links each flow crosses, as indices into the capacities.
    pub route: Vec<usize>,
}

/// Max-min fair shares of the demands' flows on links of these `capacities`. No flow gets more than it wants. A flow
/// could only get more by taking from a flow whose share is not larger. An unbounded flow without links gets infinity.
pub fn max_min(capacities: &[f64], demands: &[FlowDemand]) -> Vec<f64> {
    let mut filling = Filling {
        left: capacities.to_vec(),
        rising: vec![0; capacities.len()],
        shares: vec![None; demands.len()],
        demands,
    };
    for demand in demands {
        demand.route.iter().for_each(|link| filling.rising[*link] += u64::from(demand.flows));
    }
    let mut level = 0.0;
    while filling.shares.contains(&None) {
        // Rounding can put the next level below the last.
        level = filling.next_level().max(level);
        filling.settle(level);
    }
    filling.shares.into_iter().flatten().collect()
}

/// Progressive filling: all rates rise together until a flow's demand is met or a link is full.
struct Filling<'a> {
    demands: &'a [FlowDemand],
    /// Capacity of each link less the settled shares.
    left: Vec<f64>,
    /// Unsettled flows per link.
    rising: Vec<u64>,
    shares: Vec<Option<f64>>,
}

impl Filling<'_> {
    /// Equal share of each unsettled flow on this link; infinite if there is none.
    fn room(&self, link: usize) -> f64 {
        if self.rising[link] == 0 { f64::INFINITY } else { self.left[link] / self.rising[link] as f64 }
    }

    /// The lowest level at which a flow is settled.
    fn next_level(&self) -> f64 {
        let wants = self.unsettled().map(|class| self.demands[class].want);
        wants.chain((0..self.left.len()).map(|link| self.room(link))).fold(f64::INFINITY, f64::min)
    }

    /// Settles the flows that want at most `level`, and the flows on links full at that level.
    fn settle(&mut self, level: f64) {
        let full: Vec<bool> = (0..self.left.len()).map(|link| self.room(link) <= level).collect();
        let done = |class: &usize| {
            let demand = &self.demands[*class];
            demand.want <= level || demand.route.iter().any(|link| full[*link])
        };
        for class in self.unsettled().filter(done).collect::<Vec<_>>() {
            let FlowDemand { flows, want, route } = &self.demands[class];
            let share = want.min(level);
            self.shares[class] = Some(share);
            for link in route {
                self.left[*link] -= share * f64::from(*flows);
                self.rising[*link] -= u64::from(*flows);
            }
        }
    }

    fn unsettled(&self) -> impl Iterator<Item = usize> {
        (0..self.shares.len()).filter(|class| self.shares[*class].is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GREEDY: f64 = f64::INFINITY;

    fn demand(flows: u32, want: f64, route: &[usize]) -> FlowDemand {
        FlowDemand { flows, want, route: route.to_vec() }
    }

    #[test]
    fn small_demands_are_met_and_the_other_flows_share_equally() {
        let wants = [demand(1, GREEDY, &[0]), demand(1, 1.0, &[0]), demand(1, 5.0, &[0]), demand(1, GREEDY, &[0])];
        assert_eq!(max_min(&[10.0], &wants), [3.0, 1.0, 3.0, 3.0]);
        assert_eq!(max_min(&[10.0], &[demand(2, 1.0, &[0]), demand(1, 2.0, &[0])]), [1.0, 2.0]);
        assert_eq!(max_min(&[10.0], &[]), []);
    }

    #[test]
    fn shares_of_a_chain_of_links_match_a_calculation_by_hand() {
        // Link 0 of 10 carries the long flow and two short ones: 10/3 each. Link 1 of 4 carries the long flow and
        // another: 2 each, so the long flow gets 2 and the two short ones of link 0 share the other 8.
        let wants = [demand(1, GREEDY, &[0, 1]), demand(2, GREEDY, &[0]), demand(1, GREEDY, &[1])];
        assert_eq!(max_min(&[10.0, 4.0], &wants), [2.0, 4.0, 2.0]);
    }

    #[test]
    fn a_flow_limited_elsewhere_leaves_its_share_to_the_others() {
        // Links have capacity 1. Three flows share link 1 and get a third each. One of them also crosses link 2, where
        // the other flow gets the remaining two thirds.
        let wants = [demand(2, GREEDY, &[1]), demand(1, GREEDY, &[1, 2]), demand(1, GREEDY, &[2, 3])];
        let shares = max_min(&[1.0; 4], &wants);
        assert_eq!((shares[0], shares[1]), (1.0 / 3.0, 1.0 / 3.0));
        assert!((shares[2] - 2.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn a_link_without_capacity_gives_no_share_and_a_flow_without_links_is_unbounded() {
        assert_eq!(max_min(&[0.0, 1.0], &[demand(3, GREEDY, &[0, 1]), demand(1, GREEDY, &[1])]), [0.0, 1.0]);
        assert_eq!(max_min(&[], &[demand(1, GREEDY, &[]), demand(1, 2.0, &[])]), [GREEDY, 2.0]);
    }

    fn network() -> impl Strategy<Value = (Vec<f64>, Vec<FlowDemand>)> {
        prop::collection::vec(0.1f64..100.0, 1..6).prop_flat_map(|capacities| {
            let links = capacities.len();
            let want = prop_oneof![0.0f64..50.0, Just(GREEDY)];
            let route = prop::sample::subsequence((0..links).collect::<Vec<_>>(), 1..=links);
            let class = (1u32..5, want, route).prop_map(|(flows, want, route)| FlowDemand { flows, want, route });
            (Just(capacities), prop::collection::vec(class, 1..12))
        })
    }

    proptest! {
        #[test]
        fn a_flow_can_gain_only_from_a_flow_that_has_no_more((capacities, demands) in network()) {
            let shares = max_min(&capacities, &demands);
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.max(1.0);
            let on = |link: usize| demands.iter().zip(&shares).filter(move |(demand, _)| demand.route.contains(&link));
            let full = |link: usize| {
                let used: f64 = on(link).map(|(demand, share)| share * f64::from(demand.flows)).sum();
                assert!(used <= capacities[link] * (1.0 + 1e-9), "no link exceeds its capacity");
                close(used, capacities[link])
            };
            let largest = |link: usize| on(link).map(|(_, share)| *share).fold(0.0, f64::max);
            let full: Vec<bool> = (0..capacities.len()).map(full).collect();
            // Bertsekas, Gallager, section 6.5.2: a division is max-min fair if and only if each flow has a bottleneck,
            // a full link on which no flow has a larger share. A flow's demand is such a link of its own.
            for (demand, share) in demands.iter().zip(&shares) {
                prop_assert!(*share <= demand.want);
                let held = demand.route.iter().any(|link| full[*link] && *share >= largest(*link) * (1.0 - 1e-9));
                prop_assert!(close(*share, demand.want) || held, "{:?} gets {}", demand, share);
            }
        }
    }
}
