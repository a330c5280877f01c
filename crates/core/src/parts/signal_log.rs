//! A finite log of whose packets were dropped or marked: what a penalty box judges by.

use alloc::collections::VecDeque;
use core::cmp::Reverse;

use super::FlowTable;
use crate::packet::FlowId;

/// The flows of the last signals, at most `capacity`; a further one forgets the oldest.
#[derive(Clone, Debug)]
pub struct SignalLog {
    flows: VecDeque<FlowId>,
    counts: FlowTable<u32>,
    capacity: usize,
}

impl SignalLog {
    /// An empty log for `capacity` signals (at least one), its flows hashed under `key`.
    pub fn new(capacity: u32, key: u64) -> SignalLog {
        let capacity = capacity.clamp(1, u32::MAX - 1);
        SignalLog { flows: VecDeque::new(), counts: FlowTable::new(capacity, key), capacity: capacity as usize }
    }

    /// A packet of `flow` was signalled.
    pub fn record(&mut self, flow: FlowId) {
        if self.flows.len() == self.capacity {
            self.forget();
        }
        self.flows.push_back(flow);
        match self.counts.get(flow) {
            Some(count) => *count += 1,
            // As many flows as signals fit, so there is room.
            None => drop(self.counts.insert(flow, 1)),
        }
    }

    /// Forgets the oldest signal, if there is one.
    fn forget(&mut self) {
        let Some(flow) = self.flows.pop_front() else { return };
        let position = self.counts.position(flow).expect("a flow in the log is counted");
        let count = self.counts.at(position).1;
        *count -= 1;
        if *count == 0 {
            self.counts.remove_at(position);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        while !self.flows.is_empty() {
            self.forget();
        }
    }

    /// Signals in the log.
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Flows in the log.
    pub fn flows(&self) -> usize {
        self.counts.len()
    }

    /// The flow with most signals, and their number; of several the one of the smallest name.
    pub fn most(&self) -> Option<(FlowId, u32)> {
        let all = self.counts.iter().map(|(flow, count)| (flow, *count));
        all.max_by_key(|(flow, count)| (*count, Reverse(*flow)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_signal_makes_room_and_counts_follow() {
        let mut log = SignalLog::new(4, 7);
        assert_eq!(log.most(), None);
        for (flow, most, flows) in
            [(5, (5, 1), 1), (5, (5, 2), 1), (3, (5, 2), 2), (9, (5, 2), 3), (3, (3, 2), 3), (9, (3, 2), 2)]
        {
            log.record(FlowId(flow));
            assert_eq!((log.most(), log.flows()), (Some((FlowId(most.0), most.1)), flows));
        }
        assert_eq!(log.len(), 4);
        log.clear();
        assert!(log.is_empty() && log.flows() == 0);
    }
}
