//! RED-PD's drop history: flows with drops or marks in recent consecutive intervals.
//!
//! One drop shows little about a flow. Many drops in one window show no more. The history therefore keeps several
//! lists, and a fast flow appears in most of them.
//!
//! Memory is bounded. A finished list keeps the flows with the most drops (among equals, the lower identifiers), as the
//! authors' ns-2 scripts do. The list being filled uses n heavy-hitter counters. They never overcount a flow. A flow
//! with more than 1/(n+1) of the list's drops always has a counter, however many flows an attacker creates.
//!
//! Source: R. Mahajan, S. Floyd, D. Wetherall, "Controlling high-bandwidth flows at the congested router", ICNP 2001,
//! section 4.1.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::HeavyHitters;
use crate::packet::FlowId;
use crate::params::BuildError;
use crate::tables::Tables;

/// The size of a [`DropHistory`].
#[derive(Clone, Copy, Debug)]
pub struct HistorySize {
    /// Lists kept (M).
    pub lists: u32,
    /// Flows per finished list.
    pub list_flows: u32,
    /// Flow counters for the list being filled.
    pub counted_flows: u32,
}

/// A flow's record over all lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowDropRecord {
    /// The flow.
    pub flow: FlowId,
    /// Number of lists with the flow.
    pub lists: u32,
    /// Its drops over all lists, in packets or bytes as recorded.
    pub drops: u64,
    /// Whether the newest finished list has it.
    pub recent: bool,
}

/// Recent lists of flows with drops, and the list being filled.
#[derive(Clone, Debug)]
pub struct DropHistory {
    size: HistorySize,
    filling: HeavyHitters,
    lists: VecDeque<Vec<(FlowId, u64)>>,
    /// The lists merged and sorted by flow, rebuilt with each list.
    records: Vec<FlowDropRecord>,
}

impl DropHistory {
    /// An empty history with hash key `key`.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(size: HistorySize, key: u64, tables: Tables<'_>) -> Result<DropHistory, BuildError> {
        let filling = HeavyHitters::new(size.counted_flows, key, tables)?;
        Ok(DropHistory { size, filling, lists: VecDeque::new(), records: Vec::new() })
    }

    /// Adds a drop of `weight` packets or bytes to the list being filled. Zero weight is ignored.
    pub fn count_drop(&mut self, flow: FlowId, weight: u32) {
        self.filling.count(flow, weight);
    }

    /// Finishes the list being filled, and discards the oldest finished list if there are more than
    /// [`HistorySize::lists`].
    pub fn end_list(&mut self) {
        let full = self.lists.len() >= self.size.lists as usize;
        let mut list = if full { self.lists.pop_front() } else { None }.unwrap_or_default();
        list.clear();
        list.extend(self.filling.iter());
        self.filling.clear();
        list.sort_unstable_by(|(flow, drops), (other, others)| others.cmp(drops).then(flow.cmp(other)));
        list.truncate(self.size.list_flows as usize);
        self.lists.push_back(list);
        self.merge();
    }

    /// The records of all flows in a list, sorted by flow.
    pub fn records(&self) -> &[FlowDropRecord] {
        &self.records
    }

    /// The record of `flow`, if any.
    pub fn record_of(&self, flow: FlowId) -> Option<&FlowDropRecord> {
        self.records.binary_search_by_key(&flow, |seen| seen.flow).ok().map(|position| &self.records[position])
    }

    /// The finished lists, oldest first: flows with their drops, most drops first.
    pub fn lists(&self) -> impl Iterator<Item = &[(FlowId, u64)]> {
        self.lists.iter().map(Vec::as_slice)
    }

    /// Rebuilds the records from the lists.
    fn merge(&mut self) {
        self.records.clear();
        let newest = self.lists.len() - 1;
        for (age, list) in self.lists.iter().enumerate() {
            let seen = |&(flow, drops)| FlowDropRecord { flow, lists: 1, drops, recent: age == newest };
            self.records.extend(list.iter().map(seen));
        }
        self.records.sort_unstable_by_key(|seen| seen.flow);
        self.records.dedup_by(|next, seen| {
            let same = next.flow == seen.flow;
            if same {
                seen.lists += next.lists;
                seen.drops = seen.drops.saturating_add(next.drops);
                seen.recent |= next.recent;
            }
            same
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    fn history(lists: u32, list_flows: u32, counted_flows: u32) -> DropHistory {
        DropHistory::new(HistorySize { lists, list_flows, counted_flows }, 3, Tables::ALLOCATE).unwrap()
    }

    fn fill(history: &mut DropHistory, drops: &[(u64, u32)]) {
        drops.iter().for_each(|(flow, weight)| history.count_drop(FlowId(*flow), *weight));
        history.end_list();
    }

    #[test]
    fn a_flow_stays_in_the_records_as_long_as_a_list_with_its_drops_is_kept() {
        let mut history = history(3, 50, 50);
        fill(&mut history, &[(1, 1), (1, 1), (2, 1)]);
        fill(&mut history, &[(1, 1)]);
        let seen = |flow, lists, drops, recent| FlowDropRecord { flow: FlowId(flow), lists, drops, recent };
        assert_eq!(history.records(), [seen(1, 2, 3, true), seen(2, 1, 1, false)]);
        fill(&mut history, &[]);
        fill(&mut history, &[(7, 1)]);
        assert_eq!(history.records(), [seen(1, 1, 1, false), seen(7, 1, 1, true)]);
        assert_eq!((history.record_of(FlowId(7)), history.record_of(FlowId(2))), (Some(&seen(7, 1, 1, true)), None));
    }

    #[test]
    fn a_list_keeps_the_flows_with_most_drops_and_among_equals_the_lower_identifiers() {
        let mut history = history(2, 3, 50);
        fill(&mut history, &[(9, 1), (4, 2), (8, 1), (5, 7), (6, 1)]);
        let list: Vec<_> = history.lists().next().unwrap().iter().map(|(flow, drops)| (flow.0, *drops)).collect();
        assert_eq!(list, [(5, 7), (4, 2), (6, 1)]);
    }

    #[test]
    fn a_flow_without_a_free_counter_lowers_all_counters() {
        let mut history = history(1, 50, 3);
        // Counts are 5, 2 and 1, and flow 4 has a drop of weight 3. All counts and the weight fall by 1. Flow 3 loses
        // its counter to flow 4, which has a weight of 2 left.
        fill(&mut history, &[(1, 5), (2, 2), (3, 1), (4, 3)]);
        let list: Vec<_> = history.lists().next().unwrap().iter().map(|(flow, drops)| (flow.0, *drops)).collect();
        assert_eq!(list, [(1, 4), (4, 2), (2, 1)]);
    }

    proptest! {
        #[test]
        fn no_flow_is_overcounted_and_a_flow_above_its_part_of_the_drops_is_listed(
            drops in prop::collection::vec((0u64..30, 0u32..6), 0..300), counters in 1u32..12,
        ) {
            let mut history = history(1, 50, counters);
            let mut lost: BTreeMap<u64, u64> = BTreeMap::new();
            drops.iter().for_each(|(flow, weight)| *lost.entry(*flow).or_default() += u64::from(*weight));
            fill(&mut history, &drops);
            let all: u64 = lost.values().sum();
            for (flow, lost) in lost {
                let charged = history.record_of(FlowId(flow)).map_or(0, |seen| seen.drops);
                // Each decrease takes the same weight from every counter and from the arriving flow: at most all/(n +
                // 1) per flow.
                prop_assert!(charged <= lost && lost - charged <= all / (u64::from(counters) + 1));
            }
        }
    }
}
