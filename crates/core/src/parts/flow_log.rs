use alloc::vec::Vec;
use core::cmp::Reverse;

use super::FlowTable;
use crate::packet::FlowId;

/// The flows of the last `capacity` recorded packets. Recording takes O(1) time and forgets the oldest packet if full.
#[derive(Clone, Debug)]
pub struct FlowLog {
    /// A ring buffer; once full, `next` is the oldest.
    flows: Vec<FlowId>,
    next: usize,
    capacity: usize,
    counts: FlowTable<u32>,
}

impl FlowLog {
    /// An empty log for `capacity` (at least one) packets; flows are hashed under `key`.
    pub fn new(capacity: u32, key: u64) -> FlowLog {
        let capacity = capacity.clamp(1, u32::MAX - 1);
        // At most one flow per packet, so the table never fills.
        let counts = FlowTable::new(capacity, key);
        FlowLog { flows: Vec::new(), next: 0, capacity: capacity as usize, counts }
    }

    /// Records a packet of `flow`.
    pub fn record(&mut self, flow: FlowId) {
        if self.flows.len() < self.capacity {
            self.flows.push(flow);
        } else {
            let oldest = core::mem::replace(&mut self.flows[self.next], flow);
            self.next = (self.next + 1) % self.capacity;
            self.forget(oldest);
        }
        match self.counts.get(flow) {
            Some(count) => *count += 1,
            None => drop(self.counts.insert(flow, 1)),
        }
    }

    fn forget(&mut self, flow: FlowId) {
        let position = self.counts.position(flow).expect("a flow in the log is counted");
        let count = self.counts.at(position).1;
        *count -= 1;
        if *count == 0 {
            self.counts.remove_at(position);
        }
    }

    /// Empties the log.
    pub fn clear(&mut self) {
        while let Some(flow) = self.flows.pop() {
            self.forget(flow);
        }
        self.next = 0;
    }

    /// The number of `flow`'s packets in the log.
    #[inline]
    pub fn count(&self, flow: FlowId) -> u32 {
        self.counts.peek(flow).copied().unwrap_or(0)
    }

    /// Packets in the log.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether the log is empty.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// The number of flows in the log.
    pub fn flows(&self) -> usize {
        self.counts.len()
    }

    /// The flow with the most packets, and their number; among equals the flow with the lowest identifier.
    pub fn top_flow(&self) -> Option<(FlowId, u32)> {
        let all = self.counts.iter().map(|(flow, count)| (flow, *count));
        all.max_by_key(|(flow, count)| (*count, Reverse(*flow)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::{BTreeMap, VecDeque};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_counts_the_last_packets_by_flow(capacity in 1u32..20, flows in prop::collection::vec(0u64..12, 0..200)) {
            let (mut log, mut model) = (FlowLog::new(capacity, 3), VecDeque::new());
            for flow in flows.into_iter().map(FlowId) {
                log.record(flow);
                model.push_back(flow);
                if model.len() > capacity as usize {
                    model.pop_front();
                }
                let mut counts = BTreeMap::new();
                model.iter().for_each(|flow| *counts.entry(*flow).or_insert(0) += 1);
                prop_assert_eq!(log.counts.iter().map(|(flow, count)| (flow, *count)).collect::<BTreeMap<_, _>>(), counts);
                prop_assert_eq!((log.len(), log.count(FlowId(99))), (model.len(), 0));
            }
        }
    }

    #[test]
    fn a_full_log_forgets_its_oldest_signal_and_the_counts_follow() {
        let mut log = FlowLog::new(4, 7);
        assert_eq!(log.top_flow(), None);
        for (flow, most, flows) in
            [(5, (5, 1), 1), (5, (5, 2), 1), (3, (5, 2), 2), (9, (5, 2), 3), (3, (3, 2), 3), (9, (3, 2), 2)]
        {
            log.record(FlowId(flow));
            assert_eq!((log.top_flow(), log.flows()), (Some((FlowId(most.0), most.1)), flows));
        }
        assert_eq!(log.len(), 4);
        log.clear();
        assert!(log.is_empty() && log.flows() == 0);
    }
}
