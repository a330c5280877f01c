//! Weighted round robin over classes, each with its own discipline, as in tc's drr.
//!
//! The size of a nested discipline's next packet is unknown until the packet is dequeued. A class therefore sends with
//! any positive credit and pays its debt in later turns (surplus round robin, see [`DeficitRing`]). Shares differ from
//! those of deficit round robin by at most a packet.

use alloc::vec::Vec;

use super::{Children, DeficitRing};
use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{Backlog, Packet};
use crate::params::BuildError;
use crate::qdisc::Qdisc;
use crate::reason::Why;
use crate::time::Time;
use crate::units::Limit;

/// Classes that share a link by weight, and a limit.
pub struct ClassQueues<T> {
    limit: Limit,
    children: Children<T>,
    ring: DeficitRing,
    /// Bytes per turn, by child.
    quanta: Vec<u32>,
}

impl<T: 'static> ClassQueues<T> {
    /// Builds `qdiscs`, at least one: the first for class 1, the second for class 2. A class of weight w sends w times
    /// `quantum` bytes a turn.
    ///
    /// # Errors
    /// [`BuildError::Nested`] for the first discipline that cannot be built, [`BuildError::Memory`].
    pub fn new(qdiscs: &[Qdisc], limit: Limit, quantum: u32, link: &LinkInfo) -> Result<Self, BuildError> {
        let children = Children::new("classes", qdiscs, limit, link)?;
        // Child 0 belongs to class 1.
        let weight = |child: usize| link.classes.get(child + 1).map_or(1.0, |class| class.weight);
        let quantum_of = |child: usize| ((f64::from(quantum) * weight(child)) as u32).max(1);
        let quanta = link.tables.filled_with(qdiscs.len(), |child| Ok(quantum_of(child)))?;
        Ok(ClassQueues { limit, children, ring: DeficitRing::new(), quanta })
    }
}

impl<T> ClassQueues<T> {
    /// The number of classes in the ring. A class that has become empty stays until its next turn.
    pub fn in_use(&self) -> usize {
        self.ring.len() as usize
    }

    /// The child with the most bytes relative to its weight.
    pub fn longest(&self) -> usize {
        let load = |child: &usize| self.children.backlog_of(*child).bytes as f64 / f64::from(self.quanta[*child]);
        let held = (0..self.children.len()).filter(|child| self.children.backlog_of(*child).packets > 0);
        held.max_by(|a, b| load(a).total_cmp(&load(b))).unwrap_or(0)
    }

    /// The backlog of a child.
    pub fn backlog_of(&self, child: usize) -> Backlog {
        self.children.backlog_of(child)
    }

    /// Adds every class with packets to the ring, including classes whose packets were not ready before.
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
            // The child is empty, or a shaper whose packet is not ready.
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

    /// Drops from the class with the largest backlog for its weight.
    fn shed(&mut self, cx: &mut Cx<'_, T>) {
        if self.children.backlog().packets > 0 {
            self.children.shed(self.longest(), cx);
        }
    }
}
