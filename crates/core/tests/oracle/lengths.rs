//! Which queue is the longest, by looking at all of them.

use std::collections::BTreeMap;

use crate::harness::Arrival;

/// The lengths of queues, named by number, and when each came to its length.
pub struct Lengths {
    /// Lengths are compared in packets; else in bytes, of which the five leading bits count.
    in_packets: bool,
    queues: BTreeMap<u64, (u64, u64)>,
    changes: u64,
}

impl Lengths {
    pub fn new(in_packets: bool) -> Lengths {
        Lengths { in_packets, queues: BTreeMap::new(), changes: 0 }
    }

    /// To be told of each queue that changed.
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

    /// The longest queue; of several the one that came to its length last.
    pub fn longest(&self) -> u64 {
        *self.queues.iter().max_by_key(|(_, length)| **length).expect("a queue").0
    }
}
