use alloc::collections::VecDeque;

use crate::cx::Cx;
use crate::packet::{Backlog, Packet};
use crate::reason::Why;
use crate::units::Limit;

/// First in, first out, with a limit: packets that do not fit are dropped.
#[derive(Clone, Debug)]
pub struct Fifo<T> {
    packets: VecDeque<Packet<T>>,
    bytes: u64,
    limit: Limit,
}

impl<T> Fifo<T> {
    /// An empty queue limited to `limit`.
    pub fn new(limit: Limit) -> Fifo<T> {
        Fifo { packets: VecDeque::new(), bytes: 0, limit }
    }

    /// Whether a packet of `bytes` fits.
    #[inline]
    pub fn admits(&self, bytes: u32) -> bool {
        self.limit.admits(self.backlog(), bytes)
    }

    /// Stores the packet, or drops it for [`Why::Overflow`]. Returns whether it was stored.
    #[inline]
    pub fn push(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) -> bool {
        if !self.admits(packet.bytes) {
            cx.drop(packet, Why::Overflow);
            return false;
        }
        self.put(packet);
        true
    }

    /// Stores a packet that fits ([`admits`](Fifo::admits)).
    #[inline]
    pub fn put(&mut self, packet: Packet<T>) {
        debug_assert!(self.admits(packet.bytes), "{} bytes do not fit", packet.bytes);
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
    }

    /// Takes the oldest packet.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet<T>> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    /// The oldest packet.
    #[inline]
    pub fn head(&self) -> Option<&Packet<T>> {
        self.packets.front()
    }

    /// Packets and bytes held.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        // 2^32 descriptors exceed any machine's memory.
        Backlog { packets: self.packets.len() as u32, bytes: self.bytes }
    }

    /// The limit.
    pub fn limit(&self) -> Limit {
        self.limit
    }
}
