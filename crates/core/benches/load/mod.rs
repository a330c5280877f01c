//! A steady load for one discipline, and a bare ring buffer as the lower bound of the cost.

use std::collections::VecDeque;

use aqm::{Backlog, Cx, Discipline, FlowId, LinkInfo, Packet, Rate, Rng, Sink, Span, Time, Why};

/// The limit of every discipline, in packets.
pub const LIMIT: u32 = 1000;
pub const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(10_000_000_000), 1000, 7);

/// The lower bound of the cost: a FIFO without limit.
#[derive(Default)]
pub struct BareRing {
    packets: VecDeque<Packet<()>>,
    bytes: u64,
}

impl Discipline<()> for BareRing {
    #[inline]
    fn enqueue(&mut self, packet: Packet<()>, _: &mut Cx<'_, ()>) {
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
    }
    #[inline]
    fn dequeue(&mut self, _: &mut Cx<'_, ()>) -> Option<Packet<()>> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }
    #[inline]
    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u32, bytes: self.bytes }
    }
}

/// Counts dropped packets.
#[derive(Default)]
pub struct Drops(pub u64);

impl Sink<()> for Drops {
    fn dropped(&mut self, _: Packet<()>, _: Why, _: Time) {
        self.0 += 1;
    }
    fn marked(&mut self, _: &Packet<()>, _: Why, _: Time) {}
}

/// A discipline under a steady load: packets of `flows` flows in turn, as fast as the link sends them.
pub struct SteadyLoad<D> {
    pub discipline: D,
    flows: u64,
    length: u32,
    offered: u64,
    now: Time,
    rng: Rng,
    pub drops: Drops,
}

impl<D: Discipline<()>> SteadyLoad<D> {
    pub fn new(discipline: D, flows: u64, length: u32) -> Self {
        SteadyLoad { discipline, flows, length, offered: 0, now: Time::ZERO, rng: Rng::new(1), drops: Drops::default() }
    }

    /// Whether a packet left.
    #[inline]
    pub fn offer(&mut self) -> bool {
        // The golden ratio visits the flows evenly and in no order that a table could profit from.
        let turn = self.offered.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let flow = FlowId(((u128::from(turn) * u128::from(self.flows)) >> 64) as u64);
        self.offered += 1;
        self.now += Span::from_nanos(800);
        let mut cx = Cx::new(self.now, &mut self.rng, &mut self.drops);
        self.discipline.enqueue(Packet { arrived: self.now, ..Packet::new(flow, 1000, ()) }, &mut cx);
        self.discipline.backlog().packets > self.length && self.discipline.dequeue(&mut cx).is_some()
    }
}
