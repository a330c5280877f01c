//! A flow monitored by RED-PD: its drop probability before the queue, and the test of its response to drops.
//!
//! The probability increases when the flow is identified again, and decreases when it appears in no list. Before each
//! increase, the flow's arrival and drop rates are kept as an observation. If the rate does not fall from observation
//! to observation as TCP's would, the flow is unresponsive.
//!
//! Source: R. Mahajan, S. Floyd, D. Wetherall, "Controlling high-bandwidth flows at the congested router", ICNP 2001,
//! section 4.2, figures 7 and 8, and section 7. Further details follow the authors' ns-2.35 script
//! `tcl/ex/red-pd/monitoring.tcl`.

use crate::rng::Rng;
use crate::time::{Span, Time};

/// How the probability of a flow changes.
#[derive(Clone, Copy, Debug)]
pub struct ChangeRules {
    /// A probability below the quantum is multiplied by this. A larger one grows by `growth` - 1 quanta.
    pub growth: f64,
    /// A flow with a probability at or below this is released instead of decreased.
    pub release: f64,
    /// A probability up to `easing` times maxdecrease is divided by this. A larger one falls by maxdecrease.
    pub easing: f64,
}

/// The rules for monitored flows.
#[derive(Clone, Copy, Debug)]
pub struct MonitorRules {
    /// Changes of responsive flows.
    pub responsive: ChangeRules,
    /// Changes of unresponsive flows: faster increases, slower decreases (section 7).
    pub unresponsive: ChangeRules,
    /// Maximum decrease at a time.
    pub max_decrease: f64,
    /// Two drop rates are compared only if the smaller is more than this share of the larger.
    pub comparable: f64,
    /// Whether flows are tested for their response.
    pub test: bool,
}

/// Number of observations kept.
const OBSERVATIONS: usize = 5;

/// A flow's traffic during one drop list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListTraffic {
    /// Arrivals at the router, in packets or bytes as the discipline counts.
    pub arrived: u64,
    /// Arrivals dropped or marked, before or at the queue.
    pub dropped: u64,
    /// Arrivals in bytes.
    pub bytes: u64,
}

/// A flow's rates in the last list before an increase of its probability.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowObservation {
    /// Arrivals per second, in packets or bytes as the discipline counts.
    pub arrival_rate: f64,
    /// The share of arrivals dropped or marked, before or at the queue.
    pub drop_rate: f64,
}

/// Comparison of a flow's observations in pairs: did its rate fall when its drop rate rose?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResponseScore {
    /// Pairs in which the rate fell at least like TCP's, with the square root of the drop rate.
    pub good: u32,
    /// Other pairs.
    pub bad: u32,
}

impl ResponseScore {
    /// Whether the flow counts as unresponsive.
    pub fn is_unresponsive(self) -> bool {
        match self.good {
            0 => self.bad >= 3,
            1 => self.bad >= 4,
            good => self.bad >= 4 * good,
        }
    }
}

/// A monitored flow.
#[derive(Clone, Debug)]
pub struct MonitoredFlow {
    /// The drop probability before spacing.
    pub probability: f64,
    /// Packets passed since the last drop before the queue.
    pub passed: u64,
    /// When the probability last changed.
    pub changed: Time,
    /// Whether the flow was found unresponsive. This holds until its release.
    pub unresponsive: bool,
    /// Traffic in the list being filled.
    pub current: ListTraffic,
    /// Traffic in the newest finished list.
    pub last: ListTraffic,
    seen: [FlowObservation; OBSERVATIONS],
    observations: usize,
}

impl MonitoredFlow {
    /// A flow monitored from `now` with its first probability.
    pub fn new(probability: f64, now: Time) -> MonitoredFlow {
        let (seen, none) = ([FlowObservation::default(); OBSERVATIONS], ListTraffic::default());
        let (current, last) = (none, none);
        MonitoredFlow {
            probability,
            passed: 0,
            changed: now,
            unresponsive: false,
            current,
            last,
            seen,
            observations: 0,
        }
    }

    /// The kept observations, oldest first.
    pub fn observations(&self) -> &[FlowObservation] {
        &self.seen[..self.observations]
    }

    /// Counts an arrival, of `units` as the discipline counts and of `bytes`.
    #[inline]
    pub fn arrived(&mut self, units: u32, bytes: u32) {
        self.current.arrived = self.current.arrived.saturating_add(u64::from(units));
        self.current.bytes = self.current.bytes.saturating_add(u64::from(bytes));
    }

    /// Counts a drop or mark.
    #[inline]
    pub fn dropped(&mut self, units: u32) {
        self.current.dropped = self.current.dropped.saturating_add(u64::from(units));
    }

    /// Whether to drop this packet before the queue, with probability P/(1 - count P). P includes the factor `penalty`;
    /// count is the number of packets passed since the last such drop. Gaps are therefore uniform in 1..1/P. Draws at
    /// most one number.
    ///
    /// Without `demand` for the link the packet passes in any case (as in ns-2).
    #[inline]
    pub fn filter(&mut self, penalty: f64, demand: bool, rng: &mut Rng) -> bool {
        let probability = self.probability * penalty;
        let open = 1.0 - self.passed as f64 * probability;
        let hit =
            rng.chance(if open > probability { probability / open } else { f64::from(u8::from(probability > 0.0)) });
        if hit && demand {
            self.passed = 0;
            return true;
        }
        self.passed = self.passed.saturating_add(1);
        false
    }

    /// Ends a list.
    pub fn end_list(&mut self) {
        self.last = core::mem::take(&mut self.current);
    }

    /// Raises the probability because the flow was identified again (figure 8). `increase` is its quantum and `length`
    /// the duration of the last list. If `rules` has the test, earlier observations are judged first.
    pub fn increase(&mut self, increase: f64, rules: &MonitorRules, length: Span, now: Time) {
        self.unresponsive |= rules.test && self.response_score(rules.comparable).is_unresponsive();
        let growth = self.change_rules(rules).growth;
        let step = if increase > self.probability { self.probability } else { increase };
        let raised = self.probability + (growth - 1.0) * step;
        self.probability = if raised < 1.0 { raised } else { 1.0 - (1.0 - self.probability) / growth };
        self.changed = now;
        self.observe(length);
    }

    /// Lowers the probability of a flow in no list (figure 7, paper's maxdecrease). Returns whether to keep monitoring.
    pub fn decrease(&mut self, rules: &MonitorRules, now: Time) -> bool {
        let (ChangeRules { release, easing, .. }, max_decrease) = (self.change_rules(rules), rules.max_decrease);
        if self.probability <= release {
            return false;
        }
        let small = self.probability <= easing * max_decrease;
        self.probability = if small { self.probability / easing } else { self.probability - max_decrease };
        self.changed = now;
        true
    }

    /// Compares all pairs of observations with drop rates p1 < p2 where p1 is more than the share `comparable` of p2.
    /// TCP's rate would have fallen by the factor sqrt(p1/p2).
    pub fn response_score(&self, comparable: f64) -> ResponseScore {
        let mut verdict = ResponseScore::default();
        for before in self.observations() {
            for after in self.observations() {
                let ratio = before.drop_rate / after.drop_rate;
                if before.drop_rate >= after.drop_rate || ratio <= comparable {
                    continue;
                }
                let slowed = after.arrival_rate / before.arrival_rate <= libm::sqrt(ratio);
                *if slowed { &mut verdict.good } else { &mut verdict.bad } += 1;
            }
        }
        verdict
    }

    fn change_rules(&self, rules: &MonitorRules) -> ChangeRules {
        if self.unresponsive { rules.unresponsive } else { rules.responsive }
    }

    fn observe(&mut self, length: Span) {
        let ListTraffic { arrived, dropped, .. } = self.last;
        if arrived == 0 {
            return;
        }
        if self.observations == OBSERVATIONS {
            self.seen.rotate_left(1);
            self.observations -= 1;
        }
        let arrival_rate = arrived as f64 / length.as_secs_f64();
        self.seen[self.observations] = FlowObservation { arrival_rate, drop_rate: dropped as f64 / arrived as f64 };
        self.observations += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    const RULES: MonitorRules = MonitorRules {
        responsive: ChangeRules { growth: 2.0, release: 0.005, easing: 2.0 },
        unresponsive: ChangeRules { growth: 3.0, release: 0.0025, easing: 1.5 },
        max_decrease: 0.05,
        comparable: 0.1,
        test: false,
    };

    fn flow(probability: f64, unresponsive: bool) -> MonitoredFlow {
        MonitoredFlow { unresponsive, ..MonitoredFlow::new(probability, Time::ZERO) }
    }

    fn raised(probability: f64, unresponsive: bool, increase: f64) -> f64 {
        let mut flow = flow(probability, unresponsive);
        flow.increase(increase, &RULES, Span::from_millis(100), at(1));
        assert_eq!(flow.changed, at(1));
        flow.probability
    }

    /// Probabilities are binary fractions in these tests, so sums are exact.
    #[test]
    fn the_probability_doubles_or_grows_by_the_quantum_and_never_reaches_one() {
        assert_eq!([raised(0.125, false, 0.25), raised(0.25, false, 0.125)], [0.25, 0.375]);
        assert_eq!([raised(0.5, false, 0.75), raised(0.75, false, 0.5)], [0.75, 0.875], "half of it still passes");
    }

    #[test]
    fn the_probability_of_an_unresponsive_flow_triples_or_grows_by_twice_the_quantum() {
        assert_eq!([raised(0.125, true, 0.25), raised(0.25, true, 0.125)], [0.375, 0.5]);
        assert_eq!(raised(0.625, true, 0.5), 0.875, "a third of it still passes");
    }

    #[test]
    fn easing_takes_small_steps_from_large_probabilities_and_halves_small_ones() {
        let eased = |probability, unresponsive| {
            let mut flow = flow(probability, unresponsive);
            flow.decrease(&RULES, at(1)).then(|| (flow.probability * 1e6).round_ties_even() as u32)
        };
        assert_eq!(
            [0.5, 0.11, 0.1, 0.006, 0.005].map(|p| eased(p, false)),
            [450_000, 60_000, 50_000, 3_000, 0].map(some)
        );
        // 0.076 - 0.05; 0.075/1.5; 0.003/1.5.
        assert_eq!([0.076, 0.075, 0.003, 0.0025].map(|p| eased(p, true)), [26_000, 50_000, 2_000, 0].map(some));
    }

    fn some(n: u32) -> Option<u32> {
        (n > 0).then_some(n)
    }

    #[test]
    fn the_filter_spaces_its_drops_and_spares_packets_without_demand_for_the_link() {
        // P = 1/4: gaps are even in 1..=4, mean 2.5.
        let (mut flow, mut rng) = (flow(0.25, false), Rng::new(1));
        let (mut gaps, mut gap) = ([0u32; 5], 0);
        for _ in 0..100_000 {
            gap += 1;
            if flow.filter(1.0, true, &mut rng) {
                gaps[gap.min(5) - 1] += 1;
                gap = 0;
            }
        }
        // 10 000 of each gap are expected, with a standard deviation of about 90. The tolerance is five of them.
        assert!(gaps[..4].iter().all(|n| n.abs_diff(10_000) < 450) && gaps[4] == 0, "{gaps:?}");
        assert!((0..100).all(|_| !flow.filter(1.0, false, &mut rng)), "no demand");
        assert!(flow.filter(1.0, true, &mut rng), "a drop is long due");
        assert!((0..100).all(|_| !flow.filter(0.0, true, &mut rng)), "a penalty of 0");
    }

    /// The verdict on a flow with these numbers of arrivals and drops, in lists of one second.
    fn judged(seen: &[(u64, u64)]) -> ResponseScore {
        let mut flow = flow(0.125, false);
        for (arrived, dropped) in seen {
            (0..*arrived).for_each(|_| flow.arrived(1, 1000));
            (0..*dropped).for_each(|_| flow.dropped(1));
            flow.end_list();
            flow.increase(0.0, &RULES, Span::from_secs(1), at(1));
        }
        flow.response_score(RULES.comparable)
    }

    #[test]
    fn a_constant_rate_fails_in_every_pair_and_tcps_rate_in_none() {
        // 400 packets each time, losing 4, 8 and 16: three pairs.
        assert_eq!(judged(&[(400, 4), (400, 8), (400, 16)]), ResponseScore { good: 0, bad: 3 });
        // By the equation, 16 times the drop rate allows a quarter of the rate; 400 at 1/100 and 200 at 4/100 just fit.
        assert_eq!(judged(&[(400, 4), (200, 8), (100, 9)]), ResponseScore { good: 3, bad: 0 });
    }

    #[test]
    fn only_five_observations_count_and_only_drop_rates_within_a_factor_of_ten() {
        // A drop rate of 1/1000 lies too far from the four others. Pairs with equal drop rates are not compared.
        let five = [(1000, 1), (1000, 20), (1000, 20), (1000, 40), (1000, 40)];
        assert_eq!(judged(&five), ResponseScore { good: 0, bad: 4 });
        assert_eq!(
            judged(&[&[(1000, 30)], &five[..]].concat()),
            ResponseScore { good: 0, bad: 4 },
            "the oldest is forgotten"
        );
    }

    #[test]
    fn a_verdict_needs_three_bad_pairs_and_four_for_each_good_one() {
        let unresponsive = |good, bad| ResponseScore { good, bad }.is_unresponsive();
        assert_eq!(
            [(0, 2), (0, 3), (1, 3), (1, 4), (2, 7), (2, 8)].map(|(g, b)| unresponsive(g, b)),
            [false, true, false, true, false, true]
        );
    }

    #[test]
    fn a_flow_once_found_unresponsive_stays_so() {
        let mut flow = flow(0.001, false);
        let mut list = |arrived: u64, dropped: u64| {
            (0..arrived).for_each(|_| flow.arrived(1, 1000));
            (0..dropped).for_each(|_| flow.dropped(1));
            flow.end_list();
            flow.increase(0.001, &MonitorRules { test: true, ..RULES }, Span::from_secs(1), at(1));
            flow.unresponsive
        };
        // An increase judges only earlier observations. The third observation completes three bad pairs.
        assert_eq!([list(400, 4), list(400, 8), list(400, 16), list(400, 16)], [false, false, false, true]);
        assert!((0..5).all(|_| list(10, 10)), "good behavior comes too late");
    }
}
