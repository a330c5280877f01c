//! A discipline for each class, served in turn by weight: tc's drr with its classes.
//!
//! What a discipline inside would send next cannot be known without taking it: so a class with any credit sends, and pays
//! a debt in later turns, as in fq_codel (surplus round robin; [`DeficitRing`] has both). Over any time the shares differ
//! from those of deficit round robin by a packet at the most.

use alloc::vec::Vec;

use super::{Children, DeficitRing};
use crate::cx::Cx;
use crate::discipline::{Discipline, Place};
use crate::packet::{Backlog, Packet};
use crate::params::BuildError;
use crate::qdisc::Qdisc;
use crate::reason::Why;
use crate::time::Time;
use crate::units::Limit;

/// Classes that share a link by their weights, and a room.
pub struct ClassQueues<T> {
    limit: Limit,
    children: Children<T>,
    ring: DeficitRing,
    /// Bytes a turn, by child.
    quanta: Vec<u32>,
}

impl<T: 'static> ClassQueues<T> {
    /// The disciplines in `qdiscs`, at least one, each for the class of its number; a class of weight w sends w times
    /// `quantum` bytes a turn.
    ///
    /// # Errors
    /// [`BuildError::Nested`] for the first that cannot be built.
    pub fn new(qdiscs: &[Qdisc], limit: Limit, quantum: u32, place: &Place) -> Result<Self, BuildError> {
        let children = Children::new("classes", qdiscs, limit, place)?;
        // Child 0 is class 1's.
        let weight = |child: usize| place.classes.get(child + 1).map_or(1.0, |class| class.weight);
        // Saturates.
        let quanta = (0..qdiscs.len()).map(|child| ((f64::from(quantum) * weight(child)) as u32).max(1));
        Ok(ClassQueues { limit, children, ring: DeficitRing::new(), quanta: quanta.collect() })
    }
}

impl<T> ClassQueues<T> {
    /// How many classes have packets, or had when their turn last came.
    pub fn in_use(&self) -> usize {
        self.ring.len() as usize
    }

    /// The child that holds the most bytes a weight.
    pub fn longest(&self) -> usize {
        let load = |child: &usize| self.children.backlog_of(*child).bytes as f64 / f64::from(self.quanta[*child]);
        let held = (0..self.children.len()).filter(|child| self.children.backlog_of(*child).packets > 0);
        held.max_by(|a, b| load(a).total_cmp(&load(b))).unwrap_or(0)
    }

    /// What a child holds.
    pub fn backlog_of(&self, child: usize) -> Backlog {
        self.children.backlog_of(child)
    }

    /// Lets in every class that holds packets, those too that had none ready when they were last asked.
    fn gather(&mut self) {
        for child in 0..self.children.len() {
            if self.children.backlog_of(child).packets > 0 && self.ring.credit(child).is_none() {
                self.ring.join(child, self.quanta[child]);
            }
        }
    }
}

impl<T> Discipline<T> for ClassQueues<T> {
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        if !self.limit.admits(Backlog::default(), packet.bytes) {
            return cx.drop(packet, Why::Overflow);
        }
        self.children.enqueue(self.children.of_class(packet.class), packet, cx);
        while !self.limit.holds(self.children.backlog()) {
            self.shed(cx);
        }
    }

    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        self.gather();
        while let Some(child) = self.ring.next(|_| 1) {
            if let Some(packet) = self.children.dequeue(child, cx) {
                self.ring.charge(child, packet.bytes);
                return Some(packet);
            }
            // It has nothing, or nothing yet.
            self.ring.leave(child);
        }
        None
    }

    fn backlog(&self) -> Backlog {
        self.children.backlog()
    }

    fn ready_at(&self, now: Time) -> Option<Time> {
        self.children.ready_at(now)
    }

    /// The class that holds the most for its weight drops.
    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        if self.children.backlog().packets > 0 {
            self.children.shed(self.longest(), cx);
        }
    }
}
