//! The flows that take more than a given share of the packets, found with few counters and in constant time.
//!
//! R. Karp, S. Shenker, C. Papadimitriou, "A simple algorithm for finding frequent elements in streams and bags", ACM
//! TODS 28(1), 2003; known before as J. Misra, D. Gries, "Finding repeated elements", 1982. With k counters, a flow
//! that sent more than n/(k + 1) of n packets holds one.
//!
//! Counters stand in an array in the order of their counts, in runs of equal count. A counter is raised by moving it to
//! the end of its run and from there into the next run, and all counters are lowered by raising the base from which
//! they count: each packet costs the same few steps, however many flows and counters there are.

use alloc::vec::Vec;

use super::FlowTable;
use crate::packet::FlowId;

/// A set of at most `k` flows, each with a lower bound of its packets. [`WeightedHitters`](super::WeightedHitters) does
/// the same with bytes.
#[derive(Clone, Debug)]
pub struct HeavyHitters {
    /// Whose counter each is: a flow's position here is its counter's number. Flows stay until another needs theirs.
    names: FlowTable<()>,
    counters: Vec<Counter>,
    /// Counters in the order of their counts.
    order: Vec<u32>,
    runs: Vec<Run>,
    /// Runs in no use.
    spare: Vec<u32>,
    /// The count that means nothing: what a counter has above it is its value.
    base: u64,
}

#[derive(Clone, Copy, Debug)]
struct Counter {
    /// Where it stands in `order`.
    place: u32,
    run: u32,
}

/// Neighbours in `order` with the same count.
#[derive(Clone, Copy, Debug)]
struct Run {
    count: u64,
    /// The place of the last of them.
    end: u32,
}

impl HeavyHitters {
    /// An empty set of `capacity` counters, at least one, hashed under `key`.
    pub fn new(capacity: u32, key: u64) -> HeavyHitters {
        let capacity = capacity.max(1);
        HeavyHitters {
            names: FlowTable::new(capacity, key),
            counters: (0..capacity).map(|place| Counter { place, run: 0 }).collect(),
            order: (0..capacity).collect(),
            runs: alloc::vec![Run { count: 0, end: capacity - 1 }],
            spare: Vec::new(),
            base: 0,
        }
    }

    /// How many flows it can hold.
    pub fn capacity(&self) -> usize {
        self.counters.len()
    }

    /// What `flow`'s counter shows: at most the packets counted of it, and fewer by at most n/(k + 1) of all n; 0 if it
    /// has none.
    #[inline]
    pub fn value(&self, flow: FlowId) -> u64 {
        self.counter(flow).map_or(0, |counter| self.worth(counter))
    }

    /// The counter of `flow`, if it has one, perhaps worth nothing by now. It holds until the next count.
    #[inline]
    pub fn counter(&self, flow: FlowId) -> Option<u32> {
        self.names.position(flow).map(|position| position as u32)
    }

    /// The flows in the set with their values, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (FlowId, u64)> {
        let named = self.names.iter().zip(0..);
        named.map(|((flow, ()), counter)| (flow, self.worth(counter))).filter(|(_, value)| *value > 0)
    }

    /// Counts a packet of `flow`.
    #[inline]
    pub fn count(&mut self, flow: FlowId) {
        self.count_known(flow, self.counter(flow));
    }

    /// Counts a packet of `flow`, whose [`counter`](HeavyHitters::counter), if it has one, is `known`.
    #[inline]
    pub fn count_known(&mut self, flow: FlowId, known: Option<u32>) {
        if let Some(counter) = known {
            // Its counter may be worth nothing by now, and free; then it is as good as any other free one.
            return self.raise(counter);
        }
        let least = self.runs[self.counters[self.order[0] as usize].run as usize];
        if least.count > self.base {
            // None is free: all are lowered, and the packet is lost with them.
            self.base += 1;
            return;
        }
        let counter = match self.names.insert(flow, ()) {
            // No flow ever had it: it is worth nothing.
            Some(position) => position as u32,
            None => {
                let counter = self.order[least.end as usize];
                self.names.rename_at(counter as usize, flow);
                counter
            }
        };
        self.raise(counter);
    }

    /// What `counter` shows; see [`value`](HeavyHitters::value).
    #[inline]
    pub fn worth(&self, counter: u32) -> u64 {
        self.runs[self.counters[counter as usize].run as usize].count - self.base
    }

    /// Adds one to `counter`.
    #[inline]
    fn raise(&mut self, counter: u32) {
        let Counter { place, run, .. } = self.counters[counter as usize];
        let Run { count, end } = self.runs[run as usize];
        let last = self.order[end as usize];
        self.order.swap(place as usize, end as usize);
        self.counters[last as usize].place = place;
        self.counters[counter as usize].place = end;
        let run_at = |place: u32| self.order.get(place as usize).map(|id| self.counters[*id as usize].run);
        let alone = end == 0 || run_at(end - 1) != Some(run);
        let next = run_at(end + 1).filter(|next| self.runs[*next as usize].count == count + 1);
        match (next, alone) {
            (None, true) => self.runs[run as usize].count += 1,
            (Some(next), true) => {
                self.spare.push(run);
                self.counters[counter as usize].run = next;
            }
            (next, false) => {
                self.runs[run as usize].end -= 1;
                let next = next.unwrap_or_else(|| self.open(Run { count: count + 1, end }));
                self.counters[counter as usize].run = next;
            }
        }
    }

    fn open(&mut self, run: Run) -> u32 {
        match self.spare.pop() {
            Some(id) => {
                self.runs[id as usize] = run;
                id
            }
            None => {
                self.runs.push(run);
                self.runs.len() as u32 - 1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    /// As published: a loop over all counters. Gives how many times it ran.
    fn naive(counters: &mut BTreeMap<FlowId, u64>, capacity: usize, flow: FlowId) -> u64 {
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
        fn it_counts_as_the_published_loop_does(
            capacity in 1u32..9, flows in prop::collection::vec((0u64..16, 1usize..6), 0..300),
        ) {
            let (mut set, mut model) = (HeavyHitters::new(capacity, 5), BTreeMap::new());
            let (mut sent, mut n, mut lowered) = (BTreeMap::<FlowId, u64>::new(), 0, 0);
            for flow in flows.into_iter().flat_map(|(flow, times)| core::iter::repeat_n(FlowId(flow), times)) {
                set.count(flow);
                lowered += naive(&mut model, capacity as usize, flow);
                *sent.entry(flow).or_default() += 1;
                n += 1;
                prop_assert_eq!(set.iter().collect::<BTreeMap<_, _>>(), model.clone());
                // The guarantee: all that was ever taken off a counter is at most n/(k + 1).
                prop_assert!(lowered * (u64::from(capacity) + 1) <= n);
                for (flow, sent) in &sent {
                    prop_assert!(set.value(*flow) <= *sent && set.value(*flow) + lowered >= *sent);
                }
            }
        }

        #[test]
        fn runs_cover_the_order_and_are_never_more_than_counters(
            capacity in 1u32..9, flows in prop::collection::vec(0u64..16, 0..300),
        ) {
            let mut set = HeavyHitters::new(capacity, 5);
            for flow in flows {
                set.count(FlowId(flow));
                let counts: Vec<u64> = set.order.iter().map(|id| set.base + set.worth(*id)).collect();
                prop_assert!(counts.is_sorted() && set.runs.len() <= capacity as usize);
                let place_of = |id: u32| set.counters[id as usize].place as usize;
                prop_assert!(set.order.iter().enumerate().all(|(place, id)| place_of(*id) == place));
                let ends = (0..counts.len()).filter(|place| counts.get(place + 1) != Some(&counts[*place]));
                let run = |place: usize| set.runs[set.counters[set.order[place] as usize].run as usize];
                prop_assert!(ends.clone().all(|place| run(place).end as usize == place));
                prop_assert_eq!(set.runs.len() - set.spare.len(), ends.count());
            }
        }
    }

    #[test]
    fn a_flow_above_its_share_is_held_whatever_the_others_do() {
        // One packet in four is flow 0's, the others are all different: three counters cannot lose it.
        let mut set = HeavyHitters::new(3, 5);
        for packet in 0..100_000u64 {
            set.count(FlowId(if packet % 4 == 0 { 0 } else { 1000 + packet }));
        }
        set.count(FlowId(0));
        assert!(set.value(FlowId(0)) > 0 && set.iter().count() <= 3);
    }
}
