//! Jain's fairness index (RFC 5166, section 2.3.1) on several time scales. A link shared fairly over ten seconds may be
//! shared unfairly over a tenth of a second. RFC 5166 measures the variation of rates in the same way (section 2.2.2).
//!
//! From the end of the warm-up, time is divided into slots of each scale. In a slot, x is a flow's goodput over its
//! group's fair share in the slot ([`shares`](super::shares)). The index of n flows is (Σx)² / (n Σx²): 1 if all flows
//! get their share, 1/n if one flow gets everything. If the scenario states another unit than the flow, its units count
//! in place of flows ([`unit_slots`](super::unit_slots)).
//!
//! A delivery adds to the flow's bytes in the current shortest slot, and to nothing else. When that slot closes, both
//! sums of every scale are updated, once for each flow with a delivery. If a flow with `a` bytes in a slot gets `b`
//! more, the first sum grows by b and the second by b (2a + b). The state is 32 bytes a flow, whatever the number of
//! slots.
//!
//! A flow counts in a slot if it is active for a part of it: from its start until its last data is acknowledged.

use aqm::{Span, Time};

use super::group_slots::{GroupSlots, IndexedGroup};
use super::shares::ShareMeter;
use super::unit_slots::UnitSlots;
use crate::cohorts::Cohorts;
use crate::shared_links::SharedLinks;
use crate::table::{Column, FieldColumns, Unit, rows, statistics};

/// The time scales: multiples of the first.
const SCALES: [Span; 3] = [Span::from_millis(100), Span::from_secs(1), Span::from_secs(10)];

rows! {
    /// Jain's index on one time scale.
    pub struct FairnessRow derives Clone Debug PartialEq {
        /// Length of a slot: 0.1, 1 or 10 s.
        scale_s: f64 as Unit::Seconds,
        /// Index of every whole slot with a delivery and at least two active flows or units, ascending.
        indices: Vec<f64> as IndexColumns,
    }
}

/// Columns of Jain's index: number of slots, mean and quantiles.
struct IndexColumns;

impl FieldColumns<Vec<f64>> for IndexColumns {
    fn columns<R: 'static>(&self, _: &str, _: &str, get: fn(&R) -> &Vec<f64>) -> Vec<Column<R>> {
        let slots = "Whole slots with a delivery and at least two active units of fairness, by default flows.";
        let mut all = vec![Column::new("slots", Unit::Count, slots, move |row| get(row).len() as u64)];
        let index = (
            "jain",
            Unit::Ratio,
            "Jain's index of goodput over fair share in a slot, over the scenario's units of fairness",
        );
        let parts = [("mean", None), ("min", Some(0.0)), ("p05", Some(0.05)), ("p50", Some(0.5))];
        all.extend(statistics(index, &parts, move |row, share| {
            share.map_or(mean(get(row)), |share| quantile(get(row), share))
        }));
        all
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The `share` quantile of ascending values, by the rule of [`Histogram::quantile`](aqm::parts::Histogram::quantile).
fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    Some(values[((share * values.len() as f64) as usize).min(last)])
}

/// Measures Jain's index.
pub struct FairnessMeter {
    flows: Vec<FlowSlots>,
    sums: SlotSums,
    shares: ShareMeter<{ SCALES.len() }>,
    scales: [Scale; SCALES.len()],
    /// Flows with a delivery in the current shortest slot, with their groups.
    active: Vec<(u32, u16)>,
    /// Number and end of the current shortest slot.
    slot: u32,
    end: Time,
}

/// The sums of the current slots, over flows or over units of several flows.
enum SlotSums {
    OfFlows(Vec<GroupSlots<{ SCALES.len() }>>),
    OfUnits(UnitSlots<{ SCALES.len() }>),
}

/// A flow's useful bytes in the current slots. An amount is valid only if it was updated within the slot.
#[derive(Clone, Copy, Debug, Default)]
struct FlowSlots {
    /// In the shortest slot with the number `updated_in`.
    latest: u64,
    /// In the slots of the longer scales, without `latest`.
    amounts: [u64; SCALES.len() - 1],
    updated_in: u32,
    /// Number of the last shortest slot whose bytes are part of `amounts`.
    summed_in: u32,
}

struct Scale {
    length: Span,
    /// Start of the current slot, and the number of the first shortest slot in it.
    since: Time,
    first: u32,
    indices: Vec<f64>,
}

impl FairnessMeter {
    /// Empty indices for `flows` flows in these `groups`, which share `links`. Each flow is a unit.
    pub fn new(flows: usize, groups: impl Iterator<Item = IndexedGroup>, links: SharedLinks) -> FairnessMeter {
        let groups: Vec<IndexedGroup> = groups.collect();
        let shares = ShareMeter::new(links, groups.iter().map(|group| group.stop), flows);
        FairnessMeter::of_sums(flows, SlotSums::OfFlows(groups.into_iter().map(GroupSlots::new).collect()), shares)
    }

    /// The same for flows in `cohorts`, by the unit of these.
    pub fn by_cohorts(cohorts: Cohorts, groups: &[IndexedGroup], links: SharedLinks) -> FairnessMeter {
        let flows = cohorts.of_flow.len();
        let Some(units) = cohorts.units.clone() else {
            return FairnessMeter::new(flows, groups.iter().copied(), links);
        };
        let shares = ShareMeter::new(links, cohorts.groups.iter().map(|group| groups[*group].stop), flows);
        let sums = UnitSlots::new(cohorts, &units, |group| groups[group].counts);
        FairnessMeter::of_sums(flows, SlotSums::OfUnits(sums), shares)
    }

    fn of_sums(flows: usize, sums: SlotSums, shares: ShareMeter<{ SCALES.len() }>) -> FairnessMeter {
        let scale = |length| Scale { length, since: Time::ZERO, first: 1, indices: Vec::new() };
        FairnessMeter {
            flows: vec![FlowSlots::default(); flows],
            sums,
            shares,
            scales: SCALES.map(scale),
            active: Vec::with_capacity(flows),
            slot: 1,
            end: Time::ZERO + SCALES[0],
        }
    }

    /// `flow` of `group` has data to send from `at` on.
    pub fn flow_begins(&mut self, flow: usize, group: usize, at: Time) {
        self.shares.flow_begins(self.sums.cohort(flow, group), at);
    }

    /// `flow` of `group`, which has begun, has nothing more to send and nothing in flight.
    pub fn flow_ends(&mut self, flow: usize, group: usize, now: Time) {
        self.advance(now);
        if let SlotSums::OfFlows(groups) = &mut self.sums {
            groups[group].flow_ends();
        }
        self.shares.flow_ends(self.sums.cohort(flow, group), now);
    }

    /// Adds useful bytes of `flow`, which leave their last queue at `now`; returns whether they are its first. No earlier
    /// time may follow.
    #[inline(always)]
    pub fn deliver(&mut self, flow: usize, group: usize, bytes: u64, now: Time) -> bool {
        if now >= self.end {
            self.advance(now);
        }
        let FlowSlots { latest, updated_in, .. } = &mut self.flows[flow];
        if *updated_in == self.slot {
            *latest += bytes;
            return false;
        }
        self.begin_slot(flow, group, bytes)
    }

    /// The first delivery of `flow` in the current shortest slot.
    #[inline(never)]
    fn begin_slot(&mut self, flow: usize, group: usize, bytes: u64) -> bool {
        self.active.push((flow as u32, group as u16));
        let FlowSlots { latest, updated_in, .. } = &mut self.flows[flow];
        *latest = bytes;
        std::mem::replace(updated_in, self.slot) == 0
    }

    /// Adds the bytes of the shortest slot, which closes, to the sums of all scales.
    fn sum_slot(&mut self) {
        let groups = match &mut self.sums {
            SlotSums::OfFlows(groups) => groups,
            SlotSums::OfUnits(units) => {
                self.active.drain(..).for_each(|(flow, _)| units.add(flow as usize, self.flows[flow as usize].latest));
                return;
            }
        };
        for (flow, group) in self.active.drain(..) {
            let FlowSlots { latest, amounts, summed_in, .. } = &mut self.flows[flow as usize];
            let [shortest, longer @ ..] = &mut groups[usize::from(group)].sums;
            let bytes = *latest;
            *shortest = (shortest.0 + bytes as f64, shortest.1 + bytes as f64 * bytes as f64);
            for ((amount, scale), sum) in amounts.iter_mut().zip(&self.scales[1..]).zip(longer) {
                let before = if *summed_in < scale.first { 0 } else { *amount };
                *amount = before + bytes;
                *sum = (sum.0 + bytes as f64, sum.1 + bytes as f64 * (2 * before + bytes) as f64);
            }
            *summed_in = self.slot;
        }
    }

    /// Restarts at `now`, the end of the warm-up.
    pub fn restart(&mut self, now: Time) {
        self.slot += 1;
        self.end = now + SCALES[0];
        self.active.clear();
        for scale in &mut self.scales {
            (scale.since, scale.first, scale.indices) = (now, self.slot, Vec::new());
        }
        self.count_starts(now);
        self.shares.restart();
        match &mut self.sums {
            SlotSums::OfFlows(groups) => groups.iter_mut().for_each(GroupSlots::restart),
            SlotSums::OfUnits(units) => units.restart(),
        }
    }

    /// The index on each scale, over the slots that ended by `now`.
    pub fn rows(&mut self, now: Time) -> Vec<FairnessRow> {
        self.advance(now);
        let row = |scale: &Scale| {
            let mut indices = scale.indices.clone();
            indices.sort_unstable_by(f64::total_cmp);
            FairnessRow { scale_s: scale.length.as_secs_f64(), indices }
        };
        self.scales.iter().map(row).collect()
    }

    /// Closes every slot that ends by `now`.
    #[inline(never)]
    fn advance(&mut self, now: Time) {
        while self.end <= now {
            let (ends, next) = (self.end, self.slot + 1);
            self.count_starts(ends);
            self.sum_slot();
            if let SlotSums::OfFlows(groups) = &mut self.sums {
                groups.iter_mut().for_each(GroupSlots::remove_ended);
            }
            for (index_of_scale, scale) in self.scales.iter_mut().enumerate() {
                if ends - scale.since >= scale.length {
                    let due = self.shares.take(index_of_scale);
                    scale.indices.extend(self.sums.close(index_of_scale, &due, scale.since));
                    (scale.since, scale.first) = (ends, next);
                }
            }
            (self.slot, self.end) = (next, ends + SCALES[0]);
        }
    }

    /// Adds the flows that begin before `ends`: a flow counts if it is active for part of a slot.
    fn count_starts(&mut self, ends: Time) {
        let FairnessMeter { shares, sums, .. } = self;
        match sums {
            SlotSums::OfFlows(groups) => shares.advance(ends, |group| groups[group].flow_begins()),
            SlotSums::OfUnits(_) => shares.advance(ends, |_| {}),
        }
    }
}

impl SlotSums {
    /// The cohort of a flow.
    fn cohort(&self, flow: usize, group: usize) -> usize {
        match self {
            SlotSums::OfFlows(_) => group,
            SlotSums::OfUnits(units) => units.cohort(flow),
        }
    }

    /// Closes the slot of a scale that began at `since`. `due` are the bits that each active flow of a group was due in
    /// it, or all flows of a cohort. Returns its index, or `None` without deliveries or a second flow or unit.
    fn close(&mut self, scale: usize, due: &[f64], since: Time) -> Option<f64> {
        let add = |(units, sum, squares): (f64, f64, f64), (more, x, square): (f64, f64, f64)| {
            (units + more, sum + x, squares + square)
        };
        let (units, sum, squares) = match self {
            SlotSums::OfFlows(groups) => {
                let closed = groups.iter_mut().zip(due).map(|(group, due)| group.close(scale, *due, since));
                closed.fold((0.0, 0.0, 0.0), add)
            }
            SlotSums::OfUnits(units) => units.close(scale, due).map(|x| (1.0, x, x * x)).fold((0.0, 0.0, 0.0), add),
        };
        (units >= 2.0 && squares > 0.0).then(|| rounded(sum * sum / (units * squares)))
    }
}

/// Without the last digits of the sums, which put equal shares a little above or below 1.
fn rounded(index: f64) -> f64 {
    (index * 1e12).round() / 1e12
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    const LASTING: IndexedGroup = IndexedGroup { counts: true, stop: Time::NEVER };

    /// Flows of one group that have not begun.
    fn unstarted(flows: usize) -> FairnessMeter {
        FairnessMeter::new(flows, [LASTING].into_iter(), SharedLinks::of_wants(&[f64::INFINITY]))
    }

    /// Flows of one group that have all begun.
    fn group(flows: u32) -> FairnessMeter {
        let mut fairness = unstarted(flows as usize);
        (0..flows as usize).for_each(|flow| fairness.flow_begins(flow, 0, at(0)));
        fairness
    }

    /// Number of slots and mean index per scale.
    fn means(fairness: &mut FairnessMeter, millis: u64) -> Vec<(u64, f64)> {
        let rows = fairness.rows(at(millis));
        rows.iter().map(|row| (row.indices.len() as u64, mean(&row.indices).unwrap_or(0.0))).collect()
    }

    #[test]
    fn turns_are_unfair_over_a_tenth_of_a_second_and_fair_over_a_second() {
        // Two flows take turns in slots of 100 ms: the index is 1/2 at that scale and 1 over a second.
        let mut fairness = group(2);
        for slot in 0..100 {
            fairness.deliver(slot % 2, 0, 700, at(100 * slot as u64 + 50));
        }
        assert_eq!(means(&mut fairness, 10_000), [(100, 0.5), (10, 1.0), (1, 1.0)]);
    }

    #[test]
    fn the_index_of_a_slot_is_that_of_its_total_amounts() {
        // 1, 2 and 3 packets in any order, and a fourth flow without any: 36 / (4 x 14).
        let mut fairness = group(4);
        for flow in [2, 1, 0, 2, 1, 2] {
            fairness.deliver(flow, 0, 1000, at(10));
        }
        assert_eq!(means(&mut fairness, 100)[0], (1, rounded(36.0 / 56.0)));
    }

    #[test]
    fn goodput_is_weighed_by_the_groups_fair_share() {
        let groups =
            [LASTING, LASTING, IndexedGroup { counts: false, ..LASTING }, IndexedGroup { stop: at(0), ..LASTING }];
        let links = SharedLinks::of_wants(&[1e6, 2e6, 1e6, 1e6]);
        let mut fairness = FairnessMeter::new(4, groups.into_iter(), links);
        (0..4).for_each(|group| fairness.flow_begins(group, group, at(0)));
        for (flow, bytes) in [(0, 1000), (1, 2000), (2, 5000), (3, 5000)] {
            fairness.deliver(flow, flow, bytes, at(1));
        }
        assert_eq!(means(&mut fairness, 100)[0], (1, 1.0), "flows without a fair share and stopped flows do not count");
    }

    #[test]
    fn goodput_is_weighed_by_the_share_of_the_flows_that_are_active_in_the_slot() {
        // Two flows want all, and one 3 Mbit/s: 3.5, 3.5 and 3 Mbit/s. When the second has ended: 7 and 3 Mbit/s.
        let mut fairness =
            FairnessMeter::new(3, [LASTING; 2].into_iter(), SharedLinks::of_wants(&[f64::INFINITY, 3e6]));
        [(0, 0), (1, 0), (2, 1)].into_iter().for_each(|(flow, group)| fairness.flow_begins(flow, group, at(0)));
        [(0, 0, 3500), (1, 0, 3500), (2, 1, 3000)]
            .into_iter()
            .for_each(|(flow, group, bytes)| _ = fairness.deliver(flow, group, bytes, at(50)));
        fairness.flow_ends(0, 0, at(100));
        [(0, 0, 7000), (2, 1, 3000)]
            .into_iter()
            .for_each(|(flow, group, bytes)| _ = fairness.deliver(flow, group, bytes, at(250)));
        let rows = fairness.rows(at(300));
        assert!(rows[0].indices.len() == 2 && rows[0].indices.iter().all(|index| *index > 1.0 - 1e-12), "{rows:?}");
    }

    #[test]
    fn only_whole_slots_with_a_delivery_count_from_the_end_of_the_warm_up() {
        let mut fairness = group(2);
        assert!(fairness.deliver(0, 0, 1000, at(10)), "its first");
        fairness.restart(at(50));
        assert!(!fairness.deliver(0, 0, 1000, at(60)));
        assert!(fairness.deliver(1, 0, 1000, at(149)), "data of the warm-up does not count");
        fairness.deliver(1, 0, 1000, at(1_060));
        // At 50, 150 ... 1050 ms: the slot that begins at 1050 has not ended at 1149.
        assert_eq!(means(&mut fairness, 1_149), [(1, 1.0), (1, 1.0), (0, 0.0)]);
    }

    #[test]
    fn a_started_flow_counts_even_without_goodput() {
        let mut fairness = unstarted(2);
        fairness.flow_begins(0, 0, at(0));
        fairness.flow_begins(0, 0, at(150));
        for slot in 0..4 {
            fairness.deliver(0, 0, 1000, at(100 * slot));
        }
        assert_eq!(means(&mut fairness, 400)[0], (3, 0.5), "alone in the first slot, then one of two");
    }

    #[test]
    fn a_flow_that_has_ended_counts_to_the_end_of_its_slot_on_each_scale() {
        // The second flow exists only in the third tenth of a second and has no goodput: it counts in this slot and in
        // the first second. The first flow is alone in all other slots. A third flow starts at 1.05 s and shares
        // evenly.
        let mut fairness = unstarted(3);
        [0, 210, 1050].into_iter().for_each(|begins| fairness.flow_begins(0, 0, at(begins)));
        for slot in 0..20 {
            fairness.deliver(0, 0, 1000, at(100 * slot + 20));
            if slot == 2 {
                fairness.flow_ends(0, 0, at(250));
            }
            if slot >= 10 {
                fairness.deliver(2, 0, 1000, at(100 * slot + 60));
            }
        }
        let rows = fairness.rows(at(2000));
        let [short, long] = [0, 1].map(|row: usize| &rows[row].indices[..]);
        assert_eq!((short, long), (&[[0.5].as_slice(), &[1.0; 10]].concat()[..], &[0.5, 1.0][..]));
    }

    #[test]
    fn flows_that_ended_in_the_warm_up_do_not_count_after_it() {
        let mut fairness = group(3);
        fairness.flow_ends(0, 0, at(20));
        fairness.restart(at(50));
        [0, 1].into_iter().for_each(|flow| _ = fairness.deliver(flow, 0, 1000, at(60)));
        assert_eq!(means(&mut fairness, 150)[0], (1, 1.0));
    }

    #[test]
    fn a_lone_flow_has_no_index() {
        let mut fairness = group(1);
        fairness.deliver(0, 0, 1000, at(10));
        assert_eq!(means(&mut fairness, 100)[0], (0, 0.0));
    }

    #[test]
    fn a_flow_fills_half_a_cache_line() {
        assert_eq!(size_of::<FlowSlots>(), 32);
    }
}
