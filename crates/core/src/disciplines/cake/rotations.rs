//! The three rotations of a tin's queues, as linked lists in one array.

use alloc::vec::Vec;

use crate::params::BuildError;
use crate::tables::Tables;

/// A rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// Queues that became active, until they have sent a quantum.
    New,
    /// Queues that have sent more.
    Old,
    /// Empty queues whose COBALT is not yet at rest.
    Decaying,
}

#[derive(Clone, Copy, Debug)]
struct Neighbors {
    before: u16,
    after: u16,
}

/// Queues in at most one rotation each.
#[derive(Clone, Debug)]
pub struct Rotations {
    /// Neighbors of each queue, then of three sentinels that close the lists. A queue alone is its own neighbor.
    links: Vec<Neighbors>,
    queues: u16,
}

impl Rotations {
    /// No queue is in a rotation.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(queues: u16, tables: Tables<'_>) -> Result<Rotations, BuildError> {
        let alone = |link: usize| Neighbors { before: link as u16, after: link as u16 };
        let links = tables.filled_with(usize::from(queues) + 3, |link| Ok(alone(link)))?;
        Ok(Rotations { links, queues })
    }

    /// The first queue of `rotation`.
    #[inline]
    pub fn first(&self, rotation: Rotation) -> Option<usize> {
        let sentinel = self.sentinel(rotation);
        let first = self.links[usize::from(sentinel)].after;
        (first != sentinel).then_some(usize::from(first))
    }

    /// Every queue of `rotation`, from the first.
    pub fn members(&self, rotation: Rotation) -> impl Iterator<Item = usize> {
        let sentinel = self.sentinel(rotation);
        let mut at = sentinel;
        core::iter::from_fn(move || {
            at = self.links[usize::from(at)].after;
            (at != sentinel).then_some(usize::from(at))
        })
    }

    /// Moves `queue` to the end of `rotation`, from wherever it is.
    #[inline]
    pub fn move_to_end(&mut self, queue: usize, rotation: Rotation) {
        self.remove(queue);
        let sentinel = self.sentinel(rotation);
        let last = self.links[usize::from(sentinel)].before;
        // Lossless: queues are numbered with 16 bits.
        let queue = queue as u16;
        self.links[usize::from(queue)] = Neighbors { before: last, after: sentinel };
        self.links[usize::from(last)].after = queue;
        self.links[usize::from(sentinel)].before = queue;
    }

    /// Removes `queue` from its rotation, if it is in one.
    #[inline]
    pub fn remove(&mut self, queue: usize) {
        let Neighbors { before, after } = self.links[queue];
        self.links[usize::from(before)].after = after;
        self.links[usize::from(after)].before = before;
        self.links[queue] = Neighbors { before: queue as u16, after: queue as u16 };
    }

    #[inline]
    fn sentinel(&self, rotation: Rotation) -> u16 {
        self.queues + rotation as u16
    }
}
