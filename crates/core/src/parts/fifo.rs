use alloc::collections::VecDeque;

use crate::cx::Cx;
use crate::packet::{Backlog, Packet};
use crate::reason::Why;
use crate::units::Limit;

/// First in, first out, with a limit: packets that do not fit are dropped. Each packet has a tag `X`, such as the slot
/// of its flow. A queue of its own for the tags would cost as much as the packets.
#[derive(Clone, Debug)]
pub struct Fifo<T, X = ()> {
    packets: VecDeque<(Packet<T>, X)>,
    bytes: u64,
    limit: Limit,
}

impl<T> Fifo<T> {
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
        self.put_tagged(packet, ());
    }

    /// Takes the oldest packet.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet<T>> {
        self.pop_tagged().map(|(packet, ())| packet)
    }
}

impl<T, X> Fifo<T, X> {
    /// An empty queue limited to `limit`.
    pub fn new(limit: Limit) -> Fifo<T, X> {
        Fifo { packets: VecDeque::new(), bytes: 0, limit }
    }

    /// Whether a packet of `bytes` fits.
    #[inline]
    pub fn admits(&self, bytes: u32) -> bool {
        self.limit.admits(self.backlog(), bytes)
    }

    /// Stores a packet that fits ([`admits`](Fifo::admits)) with its tag.
    #[inline]
    pub fn put_tagged(&mut self, packet: Packet<T>, tag: X) {
        debug_assert!(self.admits(packet.bytes), "{} bytes do not fit", packet.bytes);
        if self.packets.len() == self.packets.capacity() {
            self.grow();
        }
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back((packet, tag));
    }

    /// Doubles the room, up to the limit: twice the room that a limit of 40 000 packets needs would be a megabyte.
    #[cold]
    fn grow(&mut self) {
        let held = self.packets.len();
        let most = match self.limit {
            Limit::Packets(most) => most as usize,
            Limit::Bytes(_) => usize::MAX,
        };
        self.packets.reserve_exact(held.max(4).min(most.saturating_sub(held)));
    }

    /// Takes the oldest packet and its tag.
    #[inline]
    pub fn pop_tagged(&mut self) -> Option<(Packet<T>, X)> {
        let (packet, tag) = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some((packet, tag))
    }

    /// The oldest packet.
    #[inline]
    pub fn head(&self) -> Option<&Packet<T>> {
        self.packets.front().map(|(packet, _)| packet)
    }

    /// The tags, oldest packet first.
    pub fn tags(&self) -> impl Iterator<Item = &X> {
        self.packets.iter().map(|(_, tag)| tag)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlowId, Rng, Time};

    #[test]
    fn a_full_queue_has_room_for_its_limit_only() {
        for most in [1, 4, 5, 40, 1000] {
            let (mut fifo, mut rng) = (Fifo::new(Limit::Packets(most)), Rng::new(1));
            let mut stored = 0;
            for _ in 0..2 * most {
                stored +=
                    u32::from(fifo.push(Packet::new(FlowId(0), 1000, ()), &mut Cx::new(Time::ZERO, &mut rng, &mut ())));
            }
            assert_eq!((stored, fifo.packets.capacity()), (most, most as usize), "limit {most}");
        }
    }
}
