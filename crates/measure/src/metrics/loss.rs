//! Loss patterns of flows at one port: runs of losses and distances between losses (RFC 7928, section 2.3; RFC 3357).
//!
//! A run is the number of packets of a flow lost in a row. A distance is the number of its packets from one loss to the
//! next: 1 for adjacent losses. Both need the position of a lost packet in its flow:
//! - Dropped on arrival: the number of the flow's arrivals. This is exact.
//! - Dropped from the queue: the number of packets that the flow has sent. This is exact at the head (CoDel) and an
//!   estimate in the middle (CHOKe).
//! - Lost by the medium: the number of packets that the flow has sent. This is exact if the flow has no drops.

use aqm::Time;
use aqm::parts::Histogram;

/// Loss distributions of one group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LossPattern {
    /// Packets lost in a row (the length of a loss period, RFC 3357, section 6.3).
    pub runs: Histogram,
    /// Loss distance: packets of the flow from one loss to the next, 1 for adjacent losses (RFC 3357, section 4).
    pub distances: Histogram,
    /// The time from one loss of the flow to the next, in nanoseconds.
    pub intervals: Histogram,
}

/// A lost packet, with its flow's counts at the port up to and including it.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// The packet's flow.
    pub flow: usize,
    /// The flow's group.
    pub group: usize,
    /// Whether it was dropped on arrival rather than from the queue.
    pub on_arrival: bool,
    /// Packets of the flow that arrived.
    pub arrived: u32,
    /// Packets of the flow that were sent and not lost on the link.
    pub sent: u32,
}

/// The loss patterns of all flows at one port.
#[derive(Clone, Debug, Default)]
pub struct LossMeter {
    /// The number of flows.
    total_flows: usize,
    /// By flow; empty before the first loss.
    flows: Vec<LastLoss>,
    groups: Vec<LossPattern>,
}

/// A flow's last loss, and the length of its run.
#[derive(Clone, Copy, Debug, Default)]
struct LastLoss {
    time: Time,
    arrived: u32,
    sent: u32,
    /// 0 before the first loss.
    run: u32,
}

impl LossMeter {
    /// Empty patterns of `flows` flows in `groups` groups.
    pub fn new(flows: usize, groups: usize) -> LossMeter {
        LossMeter { total_flows: flows, flows: Vec::new(), groups: vec![LossPattern::default(); groups] }
    }

    /// Discards all losses.
    pub fn restart(&mut self) {
        self.flows.fill(LastLoss::default());
        self.groups.fill(LossPattern::default());
    }

    /// Records a loss.
    pub fn record(&mut self, loss: Loss, now: Time) {
        let Loss { flow, group, on_arrival, arrived, sent } = loss;
        if self.flows.is_empty() {
            self.flows.resize(self.total_flows, LastLoss::default());
        }
        let (last, pattern) = (&mut self.flows[flow], &mut self.groups[group]);
        if last.run > 0 {
            let distance = if on_arrival { arrived - last.arrived } else { sent - last.sent + 1 };
            pattern.distances.record(u64::from(distance.max(1)));
            pattern.intervals.record((now - last.time).as_nanos());
            if distance > 1 {
                pattern.runs.record(u64::from(last.run));
                last.run = 0;
            }
        }
        *last = LastLoss { time: now, arrived, sent, run: last.run + 1 };
    }

    /// The distributions by group, open runs included; `group_of` maps a flow to its group.
    pub fn patterns(&self, group_of: impl Fn(usize) -> usize) -> Vec<LossPattern> {
        let mut patterns = self.groups.clone();
        for (flow, last) in self.flows.iter().enumerate().filter(|(_, last)| last.run > 0) {
            patterns[group_of(flow)].runs.record(u64::from(last.run));
        }
        patterns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(histogram: &Histogram) -> Vec<(f64, u64)> {
        histogram.iter().collect()
    }

    /// A flow's packets, one a millisecond: `.` is sent at once, `x` dropped as it arrives.
    fn on_arrival(outcomes: &str) -> LossPattern {
        let mut losses = LossMeter::new(1, 1);
        let (mut arrived, mut sent) = (0, 0);
        for outcome in outcomes.chars() {
            arrived += 1;
            sent += u32::from(outcome == '.');
            if outcome == 'x' {
                let now = Time::from_nanos(u64::from(arrived) * 1_000_000);
                losses.record(Loss { flow: 0, group: 0, on_arrival: true, arrived, sent }, now);
            }
        }
        losses.patterns(|_| 0).remove(0)
    }

    #[test]
    fn runs_distances_and_intervals_match_a_count_by_hand() {
        let pattern = on_arrival(".xx..x.xxx..");
        assert_eq!(list(&pattern.runs), [(1.0, 1), (2.0, 1), (3.0, 1)]);
        assert_eq!(list(&pattern.distances), [(1.0, 3), (2.0, 1), (3.0, 1)]);
        assert_eq!(pattern.intervals.count(), 5);
        assert_eq!(pattern.intervals.mean(), Some(8e6 / 5.0), "from packet 2 to packet 10");
    }

    #[test]
    fn one_loss_is_a_run_and_no_interval() {
        let pattern = on_arrival("..x..");
        assert_eq!((list(&pattern.runs), pattern.distances.count()), (vec![(1.0, 1)], 0));
        assert_eq!(on_arrival("....").runs.count(), 0);
    }

    #[test]
    fn departures_between_two_drops_on_arrival_do_not_split_a_run() {
        // Three packets are queued. The fourth and the fifth are dropped on arrival, and one packet is sent in between.
        let mut losses = LossMeter::new(1, 1);
        losses.record(Loss { flow: 0, group: 0, on_arrival: true, arrived: 4, sent: 0 }, Time::from_nanos(4));
        losses.record(Loss { flow: 0, group: 0, on_arrival: true, arrived: 5, sent: 1 }, Time::from_nanos(5));
        assert_eq!(list(&losses.patterns(|_| 0)[0].runs), [(2.0, 1)]);
    }

    #[test]
    fn arrivals_between_two_head_drops_do_not_split_a_run() {
        // Two packets in a row are dropped from the head while others arrive at the tail. Two packets are sent before
        // the third drop.
        let mut losses = LossMeter::new(1, 1);
        for (arrived, sent) in [(10, 3), (12, 3), (13, 5)] {
            let loss = Loss { flow: 0, group: 0, on_arrival: false, arrived, sent };
            losses.record(loss, Time::from_nanos(arrived.into()));
        }
        let pattern = losses.patterns(|_| 0).remove(0);
        assert_eq!(
            (list(&pattern.runs), list(&pattern.distances)),
            (vec![(1.0, 1), (2.0, 1)], vec![(1.0, 1), (3.0, 1)])
        );
    }

    #[test]
    fn link_losses_are_numbered_by_the_packets_sent() {
        // ".xx..x": the link loses packets 2, 3 and 6, while three more packets are in the queue.
        let mut losses = LossMeter::new(1, 1);
        for (arrived, sent) in [(5, 1), (6, 1), (9, 3)] {
            losses
                .record(Loss { flow: 0, group: 0, on_arrival: false, arrived, sent }, Time::from_nanos(arrived.into()));
        }
        let pattern = losses.patterns(|_| 0).remove(0);
        assert_eq!(
            (list(&pattern.runs), list(&pattern.distances)),
            (vec![(1.0, 1), (2.0, 1)], vec![(1.0, 1), (3.0, 1)])
        );
    }

    #[test]
    fn losses_of_other_flows_do_not_count() {
        let mut losses = LossMeter::new(3, 2);
        for (arrived, flow) in [(7, 0), (7, 1), (7, 2), (8, 0)] {
            let loss = Loss { flow, group: flow / 2, on_arrival: true, arrived, sent: 0 };
            losses.record(loss, Time::from_nanos(arrived.into()));
        }
        let patterns = losses.patterns(|flow| flow / 2);
        assert_eq!((list(&patterns[0].runs), list(&patterns[1].runs)), (vec![(1.0, 1), (2.0, 1)], vec![(1.0, 1)]));
    }

    /// Independent losses with probability p: runs are geometric with mean 1 / (1 - p), distances with mean 1 / p.
    #[test]
    fn independent_losses_have_geometric_runs() {
        let (p, packets) = (0.2, 200_000);
        let mut rng = aqm::Rng::named(1, "losses");
        let fates: String = (0..packets).map(|_| if rng.chance(p) { 'x' } else { '.' }).collect();
        let pattern = on_arrival(&fates);
        // A geometric variable of mean m has variance m (m - 1): five standard errors of the mean.
        let near = |histogram: &Histogram, mean: f64| {
            let error = (mean * (mean - 1.0) / histogram.count() as f64).sqrt();
            let got = histogram.mean().unwrap();
            assert!((got - mean).abs() < 5.0 * error, "{got} for {mean} within {error}");
        };
        near(&pattern.runs, 1.0 / (1.0 - p));
        near(&pattern.distances, 1.0 / p);
    }
}
