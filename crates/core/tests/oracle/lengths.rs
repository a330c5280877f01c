//! Finds the longest queue by comparing all queues.

use std::collections::BTreeMap;

use crate::oracle::harness::Arrival;

/// The lengths of queues by number, and for each the number of the change that gave it this length.
pub struct Lengths {
    /// Compares lengths in packets. Without it, compares the five leading bits of lengths in bytes.
    in_packets: bool,
    queues: BTreeMap<u64, (u64, u64)>,
    changes: u64,
}

impl Lengths {
    pub fn new(in_packets: bool) -> Lengths {
        Lengths { in_packets, queues: BTreeMap::new(), changes: 0 }
    }

    /// Updates the length of a queue. Call it after each change.
    pub fn changed<'a>(&mut self, name: u64, packets: impl IntoIterator<Item = &'a Arrival>) {
        let sizes: Vec<u64> = packets.into_iter().map(|packet| u64::from(packet.bytes)).collect();
        self.changes += 1;
        let length = match self.in_packets || sizes.is_empty() {
            true => sizes.len() as u64,
            false => {
                let (bytes, mut unit) = (sizes.iter().sum::<u64>(), 1);
                while bytes / unit >= 32 {
                    unit *= 2;
                }
                bytes / unit * unit + 1
            }
        };
        let known = self.queues.entry(name).or_default();
        if known.0 != length {
            *known = (length, self.changes);
        }
    }

    /// The longest queue; among equals the last to reach its length.
    pub fn longest(&self) -> u64 {
        *self.queues.iter().max_by_key(|(_, length)| **length).expect("a queue").0
    }
}
