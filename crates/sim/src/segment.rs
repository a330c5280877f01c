//! What simulated packets carry, and the store of selective acknowledgements.

use headgate_core::Packet;

/// A simulated packet: the discipline's descriptor and what it carries.
pub type SimPacket = Packet<Segment>;

/// What a packet carries. Sequence numbers count segments from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// A full segment of data.
    Data {
        /// Its number.
        seq: u32,
        /// Congestion window reduced (RFC 3168, section 6.1.2).
        cwr: bool,
    },
    /// A pure acknowledgement.
    Ack {
        /// The next segment expected: all before it have arrived.
        ack: u32,
        /// ECN echo (RFC 3168, section 6.1.3).
        ece: bool,
        /// Its blocks in [`Sacks`], if it has any.
        sack: Option<SackId>,
    },
    /// A datagram of a constant-rate source.
    Datagram,
}

/// Received segments `start..end` beyond the cumulative acknowledgement.
pub type Block = (u32, u32);

/// The blocks of one acknowledgement, at most three (RFC 2018, section 3), newest first; empty ones are `(0, 0)`.
pub type Blocks = [Block; 3];

/// Where an acknowledgement's blocks are kept. Few acknowledgements have any: kept apart, they do not make every
/// packet larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackId(std::num::NonZeroU32);

/// The blocks of all acknowledgements under way.
#[derive(Default)]
pub struct Sacks {
    slots: Vec<Blocks>,
    free: Vec<SackId>,
}

impl Sacks {
    /// Keeps `blocks` until they are taken.
    pub fn keep(&mut self, blocks: Blocks) -> SackId {
        if let Some(id) = self.free.pop() {
            self.slots[id.0.get() as usize - 1] = blocks;
            return id;
        }
        self.slots.push(blocks);
        SackId(std::num::NonZeroU32::new(self.slots.len() as u32).expect("the length after a push is not zero"))
    }

    /// Gives the blocks and frees their place.
    pub fn take(&mut self, id: SackId) -> Blocks {
        self.free.push(id);
        self.slots[id.0.get() as usize - 1]
    }
}
