use alloc::collections::VecDeque;

use crate::cx::Cx;
use crate::packet::{Backlog, FlowId, Packet};
use crate::reason::Why;
use crate::rng::Rng;
use crate::units::Limit;

/// A FIFO with a limit, uniform random draws, and removal from the middle.
///
/// Removal leaves a hole. [`pop`](SampledFifo::pop) skips holes, and a draw that hits one is repeated. A draw first
/// compacts the queue if holes outnumber packets. Each hole is thus skipped or removed once, and a draw takes at most
/// two tries on average. All calls take amortized constant time. Without draws the cost is that of a ring buffer.
#[derive(Clone, Debug)]
pub struct SampledFifo<T> {
    slots: VecDeque<Option<Packet<T>>>,
    held: Backlog,
    limit: Limit,
}

impl<T> SampledFifo<T> {
    /// An empty queue limited to `limit`.
    pub fn new(limit: Limit) -> SampledFifo<T> {
        SampledFifo { slots: VecDeque::new(), held: Backlog::default(), limit }
    }

    /// Whether a packet of `bytes` fits.
    #[inline]
    pub fn admits(&self, bytes: u32) -> bool {
        self.limit.admits(self.held, bytes)
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

    /// Stores a packet that fits ([`admits`](SampledFifo::admits)).
    #[inline]
    pub fn put(&mut self, packet: Packet<T>) {
        debug_assert!(self.admits(packet.bytes), "{} bytes do not fit", packet.bytes);
        self.held.packets += 1;
        self.held.bytes += u64::from(packet.bytes);
        self.slots.push_back(Some(packet));
    }

    /// Takes the oldest packet.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet<T>> {
        loop {
            if let Some(packet) = self.slots.pop_front()? {
                self.forget(&packet);
                return Some(packet);
            }
        }
    }

    /// Draws a packet uniformly. Returns its slot, valid until the next push, pop or draw, and its flow. Slots are
    /// counted from the oldest, holes included; a hole is drawn again. `None`, without a draw, if the queue is empty.
    #[inline(always)]
    pub fn draw(&mut self, rng: &mut Rng) -> Option<(usize, FlowId)> {
        if self.slots.len() > 2 * self.held.packets as usize {
            // A queue of holes only stays as it is.
            if self.held.packets == 0 {
                return None;
            }
            self.compact();
        }
        // 0, without a draw, if there is no slot.
        let slot = rng.below(self.slots.len() as u32) as usize;
        match self.slots.get(slot)? {
            Some(packet) => Some((slot, packet.flow)),
            None => self.draw_again(rng),
        }
    }

    /// Draws until a packet is found. A separate function, because holes are few in most queues.
    #[cold]
    fn draw_again(&self, rng: &mut Rng) -> Option<(usize, FlowId)> {
        loop {
            let slot = rng.below(self.slots.len() as u32) as usize;
            if let Some(packet) = self.slots.get(slot)? {
                return Some((slot, packet.flow));
            }
        }
    }

    #[cold]
    fn compact(&mut self) {
        self.slots.retain(Option::is_some);
    }

    /// Removes the packet in a drawn slot.
    #[inline]
    pub fn take(&mut self, slot: usize) -> Option<Packet<T>> {
        let packet = self.slots.get_mut(slot)?.take()?;
        self.forget(&packet);
        Some(packet)
    }

    /// Packets and bytes held.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.held
    }

    #[inline]
    fn forget(&mut self, packet: &Packet<T>) {
        self.held.packets -= 1;
        self.held.bytes -= u64::from(packet.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::FlowId;
    use crate::time::Time;
    use alloc::vec::Vec;
    use proptest::prelude::{prop, prop_assert, prop_assert_eq, proptest};

    proptest! {
        #[test]
        fn it_behaves_like_a_list_with_few_holes(calls in prop::collection::vec(0u8..5, 0..600)) {
            let mut queue = SampledFifo::new(Limit::Bytes(4000));
            let mut model: Vec<Packet<()>> = Vec::new();
            let mut rng = Rng::new(9);
            for (step, call) in calls.into_iter().enumerate() {
                match call {
                    0 | 1 => {
                        let packet = Packet::new(FlowId(step as u64), 1 + step as u32 % 200, ());
                        let bytes: u32 = model.iter().map(|p| p.bytes).sum();
                        let kept = queue.push(packet, &mut Cx::new(Time::ZERO, &mut Rng::new(1), &mut ()));
                        prop_assert_eq!(kept, bytes + packet.bytes <= 4000);
                        model.extend(kept.then_some(packet));
                    }
                    2 => {
                        let oldest = (!model.is_empty()).then(|| model.remove(0));
                        prop_assert_eq!(queue.pop(), oldest);
                    }
                    _ => match queue.draw(&mut rng) {
                        Some((slot, flow)) => {
                            prop_assert!(queue.slots.len() <= 2 * model.len());
                            let drawn = queue.slots[slot].unwrap();
                            prop_assert_eq!(drawn.flow, flow);
                            let rank = model.iter().position(|p| *p == drawn);
                            model.remove(rank.expect("a draw gives a queued packet"));
                            prop_assert_eq!(queue.take(slot), Some(drawn));
                            prop_assert!(queue.take(slot).is_none());
                        }
                        None => prop_assert!(model.is_empty()),
                    },
                }
                let bytes: u64 = model.iter().map(|p| u64::from(p.bytes)).sum();
                prop_assert_eq!(queue.backlog(), Backlog { packets: model.len() as u32, bytes });
            }
        }
    }

    #[test]
    fn every_packet_is_drawn_equally_often_also_beside_holes() {
        let mut queue = SampledFifo::new(Limit::Packets(20));
        let mut rng = Rng::new(4);
        for flow in 0..20 {
            queue.push(Packet::new(FlowId(flow), 1, ()), &mut Cx::new(Time::ZERO, &mut Rng::new(1), &mut ()));
        }
        (0..10).for_each(|slot| assert!(queue.take(slot).is_some()));
        let mut drawn = [0u32; 20];
        for _ in 0..100_000 {
            let (_, flow) = queue.draw(&mut rng).unwrap();
            drawn[flow.0 as usize] += 1;
        }
        // 10 000 draws of each are expected, with a standard deviation of 95. The tolerance is five of them.
        assert!(drawn[..10] == [0; 10] && drawn[10..].iter().all(|n| n.abs_diff(10_000) < 475), "{drawn:?}");
    }

    #[test]
    fn removal_from_the_middle_costs_the_same_at_any_queue_length() {
        // Counts moves instead of time. A removal moves no packet, and compacting moves at most as many packets as
        // there are holes, so a million removals move less than a million packets.
        let mut queue = SampledFifo::new(Limit::Packets(100_000));
        let (mut rng, mut moved, mut taken) = (Rng::new(4), 0, 0);
        for flow in 0..100_000 {
            queue.push(Packet::new(FlowId(flow), 1, ()), &mut Cx::new(Time::ZERO, &mut Rng::new(1), &mut ()));
        }
        while queue.backlog().packets > 0 {
            let slots = queue.slots.len();
            let (slot, _) = queue.draw(&mut rng).unwrap();
            moved += if queue.slots.len() < slots { queue.slots.len() } else { 0 };
            taken += usize::from(queue.take(slot).is_some());
        }
        assert!(taken == 100_000 && moved < taken, "{moved} packets moved for {taken} taken");
    }
}
