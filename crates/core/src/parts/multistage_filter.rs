//! Which flows have sent more than so many bytes, found without a counter for each.
//!
//! C. Estan, G. Varghese, "New directions in traffic measurement and accounting", ACM SIGCOMM 2002, section 3.2: each
//! flow has a counter in every stage, under hash functions of their own, and a flow whose counters are all large is
//! taken to have sent much. One that has is never missed; another can be mistaken for it only where it meets large
//! flows in every stage. With shielding (section 3.3.1) and conservative update (3.3.2).

use alloc::vec::Vec;

use super::hash::keyed;
use crate::packet::FlowId;

const STAGES: usize = 4;
/// Counters in a stage, as many as 10 bits tell apart.
const COUNTERS: usize = 1024;

/// Four stages of 1024 counters of bytes.
#[derive(Clone, Debug)]
pub struct MultistageFilter {
    /// Stage after stage.
    counters: Vec<u64>,
    key: u64,
}

impl MultistageFilter {
    /// All counters at 0; flows are hashed under `key`.
    pub fn new(key: u64) -> MultistageFilter {
        MultistageFilter { counters: alloc::vec![0; STAGES * COUNTERS], key }
    }

    /// What `flow` has sent since the last [`reset`](MultistageFilter::reset), at most: the least of its counters.
    pub fn estimate(&self, flow: FlowId) -> u64 {
        self.places(flow).iter().map(|place| self.counters[*place]).min().unwrap_or(0)
    }

    /// Whether `bytes` more bring `flow` above `most`. If so they are not counted: who is found needs no counter any
    /// longer, and spares those it shares counters with. If not, a counter is raised only as far as the least of them
    /// shows that the flow can have sent.
    #[inline]
    pub fn exceeds(&mut self, flow: FlowId, bytes: u32, most: u64) -> bool {
        let places = self.places(flow);
        let least = places.iter().map(|place| self.counters[*place]).min().unwrap_or(0) + u64::from(bytes);
        if least > most {
            return true;
        }
        for place in places {
            self.counters[place] = self.counters[place].max(least);
        }
        false
    }

    /// Sets all counters to 0.
    pub fn reset(&mut self) {
        self.counters.fill(0);
    }

    /// Where the flow's counters stand, from as many parts of one hash.
    #[inline]
    fn places(&self, flow: FlowId) -> [usize; STAGES] {
        let hash = keyed(self.key, flow);
        core::array::from_fn(|stage| stage * COUNTERS + (hash >> (16 * stage)) as usize % COUNTERS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_flow_that_sent_too_much_is_never_missed(
            packets in prop::collection::vec((0u64..3000, 0u32..3000), 0..3000), most in 1000u64..50_000,
        ) {
            let (mut filter, mut counted) = (MultistageFilter::new(3), BTreeMap::<FlowId, u64>::new());
            for (flow, bytes) in packets {
                // Two in three packets are flow 0's.
                let flow = FlowId(flow.saturating_sub(2000));
                let counted = counted.entry(flow).or_default();
                let exceeds = filter.exceeds(flow, bytes, most);
                prop_assert!(exceeds || *counted + u64::from(bytes) <= most);
                *counted += if exceeds { 0 } else { u64::from(bytes) };
                prop_assert!(filter.estimate(flow) >= *counted);
            }
        }
    }

    #[test]
    fn small_flows_are_hardly_ever_mistaken_for_large_ones() {
        // 1000 flows of 10 packets fill the counters to about 15 KB. To be found above 40 KB a flow must meet others in
        // all stages that bring each of its counters there.
        let mut filter = MultistageFilter::new(9);
        let found = (0..10_000u64).filter(|n| filter.exceeds(FlowId(n % 1000), 1500, 40_000)).count();
        assert_eq!(found, 0);
        filter.reset();
        assert_eq!(filter.estimate(FlowId(5)), 0);
    }

    #[test]
    fn a_flow_alone_is_found_with_the_byte_that_is_too_much() {
        let mut filter = MultistageFilter::new(9);
        assert!(!filter.exceeds(FlowId(1), 1000, 3000) && !filter.exceeds(FlowId(1), 2000, 3000));
        assert!(!filter.exceeds(FlowId(1), 0, 3000) && filter.exceeds(FlowId(1), 1, 3000));
        assert_eq!(filter.estimate(FlowId(1)), 3000, "shielded");
    }
}
