//! The packets inside a qdisc of the kernel, as a discipline of the link's queue.
//!
//! The queue's port then counts arrivals, departures, drops, marks and queueing delays by flow, with the code of a live run.
//! The kernel tells of a drop at arrival. It does not tell of a later one: a packet counts as dropped when a later
//! packet of its connection is released. The qdiscs send the packets of a connection in order.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use aqm::{Backlog, Cx, Discipline, Packet, Time, Why};

use crate::io::ReleasedPacket;
use crate::io::pool::FrameId;

/// Packets that may arrive while a packet is queued. After that it counts as dropped: its number will be used again.
const LONGEST_AGE: u64 = 1 << 15;

/// The state that the discipline shares with the [path](super::path::KernelPath) of its packets.
#[derive(Debug, Default)]
pub(super) struct MirrorState {
    /// The packet that is about to arrive.
    pub(super) offered: Option<OfferedPacket>,
    /// The packet that was released and is about to depart.
    pub(super) released: Option<ReleasedPacket>,
    /// Packets that arrived.
    arrived: u64,
    /// In order of arrival.
    held: VecDeque<HeldPacket>,
    backlog: Backlog,
    /// Released packets that had been counted as dropped.
    pub(super) strays: u64,
}

/// A packet that was given to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OfferedPacket {
    /// Protocol and ports.
    pub(super) connection: u64,
    /// Whether the qdisc kept it.
    pub(super) kept: bool,
}

#[derive(Debug)]
struct HeldPacket {
    arrival: u64,
    connection: u64,
    packet: Packet<FrameId>,
}

impl MirrorState {
    /// Number of the next packet that arrives.
    pub(super) fn next_number(&self) -> u16 {
        self.arrived as u16
    }

    fn remove(&mut self, place: usize) -> Option<Packet<FrameId>> {
        let held = self.held.remove(place)?;
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(held.packet.bytes);
        Some(held.packet)
    }

    fn arrive(&mut self, packet: Packet<FrameId>, cx: &mut Cx<'_, FrameId>) {
        let offered = self.offered.take();
        let arrival = self.arrived;
        self.arrived += 1;
        let Some(OfferedPacket { connection, .. }) = offered.filter(|offered| offered.kept) else {
            return cx.drop(packet, Why::Overflow);
        };
        while self.held.front().is_some_and(|oldest| arrival - oldest.arrival >= LONGEST_AGE)
            && let Some(oldest) = self.remove(0)
        {
            cx.drop(oldest, Why::Overflow);
        }
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.bytes);
        self.held.push_back(HeldPacket { arrival, connection, packet });
    }

    /// Removes the released packet and returns it. Earlier packets of its connection count as dropped.
    fn depart(&mut self, cx: &mut Cx<'_, FrameId>) -> Option<Packet<FrameId>> {
        let ReleasedPacket { number, marked } = self.released.take()?;
        let Some(mut place) = self.held.iter().position(|held| held.arrival as u16 == number) else {
            self.strays += 1;
            return None;
        };
        let connection = self.held[place].connection;
        let mut earlier = 0;
        while earlier < place {
            if self.held[earlier].connection != connection {
                earlier += 1;
            } else if let Some(dropped) = self.remove(earlier) {
                cx.drop(dropped, Why::Overflow);
                place -= 1;
            }
        }
        let packet = self.remove(place)?;
        if marked && packet.ecn.is_capable() { cx.signal(packet, Why::Overflow, true) } else { Some(packet) }
    }
}

/// The discipline. The packets' frames stay in the loop's memory; the kernel has copies.
pub(super) struct Mirror(pub(super) Rc<RefCell<MirrorState>>);

impl Discipline<FrameId> for Mirror {
    fn enqueue(&mut self, packet: Packet<FrameId>, cx: &mut Cx<'_, FrameId>) {
        self.0.borrow_mut().arrive(packet, cx);
    }

    fn dequeue(&mut self, cx: &mut Cx<'_, FrameId>) -> Option<Packet<FrameId>> {
        self.0.borrow_mut().depart(cx)
    }

    fn backlog(&self) -> Backlog {
        self.0.borrow().backlog
    }

    /// The loop wakes the queue when the kernel has released a packet.
    fn ready_at(&self, _: Time) -> Option<Time> {
        (self.backlog().packets > 0).then_some(Time::NEVER)
    }
}

#[cfg(test)]
mod tests;
