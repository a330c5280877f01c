//! Finds flows that sent more than a given number of bytes, without per-flow counters.
//!
//! Each stage hashes a flow to a counter. A flow whose counters are all large counts as large. The filter never misses
//! a large flow. A small flow is mistaken for a large one only if all its counters are shared with other flows that
//! raise them.
//!
//! Source: C. Estan, G. Varghese, "New directions in traffic measurement and accounting", ACM SIGCOMM 2002, section
//! 3.2, with shielding (3.3.1) and conservative update (3.3.2).

use alloc::vec::Vec;

use super::hash::keyed;
use crate::packet::FlowId;
use crate::params::BuildError;
use crate::tables::Tables;

const STAGES: usize = 4;
/// Counters per stage, indexed by 10 bits of the hash.
const COUNTERS: usize = 1024;

/// Four stages of 1024 counters of bytes.
#[derive(Clone, Debug)]
pub struct MultistageFilter {
    counters: Vec<u64>,
    key: u64,
}

impl MultistageFilter {
    /// A filter with all counters 0; flows are hashed under `key`.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(key: u64, tables: Tables<'_>) -> Result<MultistageFilter, BuildError> {
        Ok(MultistageFilter { counters: tables.filled(STAGES * COUNTERS, 0)?, key })
    }

    /// Upper bound of `flow`'s bytes since the last [`reset`](MultistageFilter::reset): its least counter.
    pub fn estimate(&self, flow: FlowId) -> u64 {
        self.indices(flow).iter().map(|index| self.counters[*index]).min().unwrap_or(0)
    }

    /// Counts `bytes` of `flow`, unless its estimate would then exceed `most`. Returns whether it would. A flow found
    /// large is no longer counted, to spare flows with the same counters (shielding). A counter rises only to the
    /// flow's new upper bound (conservative update).
    #[inline(always)]
    pub fn exceeds(&mut self, flow: FlowId, bytes: u32, most: u64) -> bool {
        let indices = self.indices(flow);
        let least = indices.iter().map(|index| self.counters[*index]).min().unwrap_or(0) + u64::from(bytes);
        if least > most {
            return true;
        }
        for index in indices {
            self.counters[index] = self.counters[index].max(least);
        }
        false
    }

    /// Resets all counters.
    pub fn reset(&mut self) {
        self.counters.fill(0);
    }

    /// The flow's counters, each from a part of one hash.
    #[inline]
    fn indices(&self, flow: FlowId) -> [usize; STAGES] {
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
        fn a_flow_above_the_threshold_is_always_identified(
            packets in prop::collection::vec((0u64..3000, 0u32..3000), 0..3000), most in 1000u64..50_000,
        ) {
            let (mut filter, mut counted) = (MultistageFilter::new(3, Tables::ALLOCATE).unwrap(), BTreeMap::<FlowId, u64>::new());
            for (flow, bytes) in packets {
                // Two of three packets belong to flow 0.
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
    fn small_flows_are_rarely_mistaken_for_large_flows() {
        // 1000 flows of 10 packets fill counters to about 15 KB. Exceeding 40 KB takes collisions in every stage.
        let mut filter = MultistageFilter::new(9, Tables::ALLOCATE).unwrap();
        let found = (0..10_000u64).filter(|n| filter.exceeds(FlowId(n % 1000), 1500, 40_000)).count();
        assert_eq!(found, 0);
        filter.reset();
        assert_eq!(filter.estimate(FlowId(5)), 0);
    }

    #[test]
    fn a_lone_flow_is_heavy_from_its_first_byte_above_the_threshold() {
        let mut filter = MultistageFilter::new(9, Tables::ALLOCATE).unwrap();
        assert!(!filter.exceeds(FlowId(1), 1000, 3000) && !filter.exceeds(FlowId(1), 2000, 3000));
        assert!(!filter.exceeds(FlowId(1), 0, 3000) && filter.exceeds(FlowId(1), 1, 3000));
        assert_eq!(filter.estimate(FlowId(1)), 3000, "shielded");
    }
}
