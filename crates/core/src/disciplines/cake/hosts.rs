//! The hosts at one end of a tin's flows, and how many bulk flows each has.

use alloc::vec::Vec;

use crate::params::BuildError;
use crate::parts::ways::{SLOTS, Ways};
use crate::tables::Tables;

/// Hosts by slot, like the flows' queues. A host without bulk flows needs no slot.
#[derive(Clone, Debug)]
pub struct HostLoads {
    slots: Ways,
    bulk_flows: Vec<u32>,
}

impl HostLoads {
    /// No host has a bulk flow.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(tables: Tables<'_>) -> Result<HostLoads, BuildError> {
        Ok(HostLoads { slots: Ways::new(tables)?, bulk_flows: tables.filled(SLOTS, 0)? })
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
