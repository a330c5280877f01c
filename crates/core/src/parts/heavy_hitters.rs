//! Finds all flows that send more than a given share of packets or bytes, with few counters.
//!
//! A packet adds its weight, 1 or its bytes, to its flow's counter. If the flow has none, the packet takes a free
//! counter. If no counter is free, all counters and the packet's weight decrease by the smallest counter, or by the
//! weight if that is less. A packet with weight left takes a counter that has reached zero. With k counters, a flow
//! with more than n/(k + 1) of the total weight n always has one.
//!
//! A heap yields the smallest counter. Stored counters only grow, because a decrease of all counters is stored in one
//! number, `base`. An outdated heap entry therefore sinks when it reaches the top. Counting takes O(1) for a flow in
//! the set, and O(log k) on average for other flows.
//!
//! Source: R. Karp, S. Shenker, C. Papadimitriou, "A simple algorithm for finding frequent elements in streams and
//! bags", ACM TODS 28(1), 2003. Earlier: J. Misra, D. Gries, "Finding repeated elements", 1982.

use alloc::vec::Vec;

use super::FlowTable;
use crate::packet::FlowId;
use crate::params::BuildError;
use crate::tables::Tables;

/// At most `k` flows, each with a lower bound of its packets or bytes.
#[derive(Clone, Debug)]
pub struct HeavyHitters {
    /// The flow of each counter, at the same position. A flow stays until its counter is reassigned.
    flows: FlowTable<()>,
    counters: Vec<u64>,
    /// A binary heap with the least count on top. An entry holds a past count of its counter. Counts only grow, so a
    /// counter never belongs higher than its entry.
    heap: Vec<(u64, u32)>,
    /// Subtracted from every stored count. Lowering all counters raises this instead.
    base: u64,
}

impl HeavyHitters {
    /// A set of `capacity` counters, at least one, hashed under `key`.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(capacity: u32, key: u64, tables: Tables<'_>) -> Result<HeavyHitters, BuildError> {
        let capacity = capacity.max(1);
        Ok(HeavyHitters {
            flows: FlowTable::new(capacity, key),
            counters: tables.filled(capacity as usize, 0)?,
            heap: tables.filled_with(capacity as usize, |counter| Ok((0, counter as u32)))?,
            base: 0,
        })
    }

    /// The number of counters.
    pub fn capacity(&self) -> usize {
        self.counters.len()
    }

    /// The value of `flow`'s counter, or 0. It never exceeds the flow's weight and falls short by at most n/(k + 1).
    #[inline]
    pub fn value(&self, flow: FlowId) -> u64 {
        self.counter(flow).map_or(0, |counter| self.counter_value(counter))
    }

    /// The counter of `flow`, if it has one; its value may be 0. Valid until the next count.
    #[inline]
    pub fn counter(&self, flow: FlowId) -> Option<u32> {
        self.flows.position(flow).map(|position| position as u32)
    }

    /// The flows with their values, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (FlowId, u64)> {
        let named = self.flows.iter().zip(0..);
        named.map(|((flow, ()), counter)| (flow, self.counter_value(counter))).filter(|(_, value)| *value > 0)
    }

    /// Counts a packet of `flow` with a weight of `weight`.
    #[inline]
    pub fn count(&mut self, flow: FlowId, weight: u32) {
        self.count_known(flow, self.counter(flow), weight);
    }

    /// As [`count`](HeavyHitters::count), for a caller that knows the flow's [`counter`](HeavyHitters::counter).
    #[inline(always)]
    pub fn count_known(&mut self, flow: FlowId, known: Option<u32>, weight: u32) {
        let weight = u64::from(weight);
        if let Some(counter) = known {
            let count = &mut self.counters[counter as usize];
            *count = (*count).max(self.base).saturating_add(weight);
            return;
        }
        let least = self.least();
        let taken = self.counter_value(least).min(weight);
        self.base += taken;
        if weight > taken {
            self.assign(least, flow, weight - taken);
        }
    }

    /// Resets every counter, in linear time.
    pub fn clear(&mut self) {
        self.base = self.counters.iter().copied().max().unwrap_or(0).max(self.base);
    }

    /// Assigns an unused counter, or else `least`, to `flow`.
    #[inline(always)]
    fn assign(&mut self, least: u32, flow: FlowId, weight: u64) {
        let counter = self.flows.insert(flow, ()).unwrap_or_else(|| {
            self.flows.rename_at(least as usize, flow);
            least as usize
        });
        self.counters[counter] = self.base.saturating_add(weight);
    }

    /// The value of `counter`; see [`value`](HeavyHitters::value).
    #[inline]
    pub fn counter_value(&self, counter: u32) -> u64 {
        self.counters[counter as usize].saturating_sub(self.base)
    }

    fn least(&mut self) -> u32 {
        loop {
            let (known, counter) = self.heap[0];
            let count = self.counters[counter as usize];
            if known == count {
                return counter;
            }
            self.sink(count, counter);
        }
    }

    /// Moves `counter` from the top of the heap down to the position that `count` gives it.
    fn sink(&mut self, count: u64, counter: u32) {
        let mut position = 0;
        loop {
            let left = 2 * position + 1;
            let child = match (self.heap.get(left), self.heap.get(left + 1)) {
                (Some(one), Some(other)) if other.0 < one.0 => left + 1,
                (Some(_), _) => left,
                (None, _) => break,
            };
            if self.heap[child].0 >= count {
                break;
            }
            self.heap[position] = self.heap[child];
            position = child;
        }
        self.heap[position] = (count, counter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    /// The algorithm as a loop over all counters. Returns the weight subtracted from each counter.
    fn naive(counters: &mut BTreeMap<FlowId, u64>, capacity: usize, flow: FlowId, mut bytes: u64) -> u64 {
        let mut taken = 0;
        if !counters.contains_key(&flow) && counters.len() == capacity {
            taken = *counters.values().min().unwrap();
            taken = taken.min(bytes);
            counters.values_mut().for_each(|count| *count -= taken);
            counters.retain(|_, count| *count > 0);
            bytes -= taken;
        }
        if bytes > 0 {
            *counters.entry(flow).or_default() += bytes;
        }
        taken
    }

    /// The published algorithm for packets of weight 1, with a loop over all counters. Returns the number of loops.
    fn published(counters: &mut BTreeMap<FlowId, u64>, capacity: usize, flow: FlowId) -> u64 {
        if counters.contains_key(&flow) || counters.len() < capacity {
            *counters.entry(flow).or_default() += 1;
            return 0;
        }
        counters.values_mut().for_each(|count| *count -= 1);
        counters.retain(|_, count| *count > 0);
        1
    }

    proptest! {
        #[test]
        fn it_counts_as_a_loop_over_all_counters_does(
            capacity in 1u32..9, packets in prop::collection::vec((0u64..16, 0u32..6), 0..400), large: bool,
        ) {
            let (mut set, mut model) = (HeavyHitters::new(capacity, 5, Tables::ALLOCATE).unwrap(), BTreeMap::new());
            let (mut sent, mut n, mut lowered) = (BTreeMap::<FlowId, u64>::new(), 0, 0);
            for (flow, bytes) in packets {
                let (flow, bytes) = (FlowId(flow), if large { bytes * 700_000_000 } else { bytes });
                set.count(flow, bytes);
                lowered += naive(&mut model, capacity as usize, flow, u64::from(bytes));
                *sent.entry(flow).or_default() += u64::from(bytes);
                n += u64::from(bytes);
                prop_assert_eq!(set.iter().collect::<BTreeMap<_, _>>(), model.clone());
                prop_assert!(lowered * (u64::from(capacity) + 1) <= n);
                for (flow, sent) in &sent {
                    prop_assert!(set.value(*flow) <= *sent && set.value(*flow) + lowered >= *sent);
                }
            }
            set.clear();
            prop_assert_eq!(set.iter().count(), 0);
            set.count(FlowId(3), 5);
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), [(FlowId(3), 5)]);
        }

        #[test]
        fn with_packets_that_all_weigh_one_it_counts_as_the_published_loop_does(
            capacity in 1u32..9, flows in prop::collection::vec((0u64..16, 1usize..6), 0..300),
        ) {
            let (mut set, mut model) = (HeavyHitters::new(capacity, 5, Tables::ALLOCATE).unwrap(), BTreeMap::new());
            let (mut sent, mut n, mut lowered) = (BTreeMap::<FlowId, u64>::new(), 0, 0);
            for flow in flows.into_iter().flat_map(|(flow, times)| core::iter::repeat_n(FlowId(flow), times)) {
                set.count(flow, 1);
                lowered += published(&mut model, capacity as usize, flow);
                *sent.entry(flow).or_default() += 1;
                n += 1;
                prop_assert_eq!(set.iter().collect::<BTreeMap<_, _>>(), model.clone());
                // The guarantee: a counter is lowered by at most n/(k + 1).
                prop_assert!(lowered * (u64::from(capacity) + 1) <= n);
                for (flow, sent) in &sent {
                    prop_assert!(set.value(*flow) <= *sent && set.value(*flow) + lowered >= *sent);
                }
            }
        }
    }

    #[test]
    fn a_flow_with_more_than_its_share_of_packets_keeps_its_counter() {
        // One packet in four belongs to flow 0, the others to distinct flows: three counters cannot lose it.
        let mut set = HeavyHitters::new(3, 5, Tables::ALLOCATE).unwrap();
        for packet in 0..100_000u64 {
            set.count(FlowId(if packet % 4 == 0 { 0 } else { 1000 + packet }), 1);
        }
        set.count(FlowId(0), 1);
        assert!(set.value(FlowId(0)) > 0 && set.iter().count() <= 3);
    }
}
