//! The hosts at one end of a tin's flows, and how many bulk flows each has.

use alloc::vec::Vec;

use crate::parts::ways::{SLOTS, Ways};

/// Hosts by slot, like the flows' queues. A host without bulk flows needs no slot.
#[derive(Clone, Debug)]
pub struct HostLoads {
    slots: Ways,
    bulk_flows: Vec<u32>,
}

impl Default for HostLoads {
    fn default() -> HostLoads {
        HostLoads { slots: Ways::default(), bulk_flows: alloc::vec![0; SLOTS] }
    }
}

impl HostLoads {
    pub fn table_bytes(&self) -> usize {
        self.slots.table_bytes() + size_of_val(&*self.bulk_flows)
    }

    /// The slot of the host with this hash.
    pub fn slot(&mut self, hash: u64) -> u16 {
        // Lossless: there are 1024 slots.
        self.slots.give(hash, |slot| self.bulk_flows[slot] > 0).number as u16
    }

    /// Bulk flows of the host.
    #[inline]
    pub fn load(&self, host: u16) -> u32 {
        self.bulk_flows[usize::from(host)]
    }

    pub fn add_flow(&mut self, host: u16) {
        self.bulk_flows[usize::from(host)] += 1;
    }

    pub fn remove_flow(&mut self, host: u16) {
        self.bulk_flows[usize::from(host)] -= 1;
    }
}
