//! Jain's index over flows: sums over the flows of each group in the slots of each scale.

use aqm::Time;

/// How a group's flows count in the index.
#[derive(Clone, Copy, Debug)]
pub struct IndexedGroup {
    /// Whether they count at all.
    pub counts: bool,
    /// Time from which the flows send nothing and do not count.
    pub stop: Time,
}

/// The sums of one group.
pub struct GroupSlots<const SCALES: usize> {
    group: IndexedGroup,
    /// Flows that have begun and not ended.
    present: u32,
    /// Flows that ended in the current shortest slot.
    ending: u32,
    /// Per scale: flows that ended in the current slot, but before the current shortest slot.
    ended: [u32; SCALES],
    /// Per scale: bytes in the current slot, and the sum of the flows' squares.
    pub sums: [(f64, f64); SCALES],
}

impl<const SCALES: usize> GroupSlots<SCALES> {
    /// No flow has begun.
    pub fn new(group: IndexedGroup) -> GroupSlots<SCALES> {
        GroupSlots { group, present: 0, ending: 0, ended: [0; SCALES], sums: [(0.0, 0.0); SCALES] }
    }

    /// A flow begins.
    pub fn flow_begins(&mut self) {
        self.present += 1;
    }

    /// A flow ends in the current shortest slot.
    pub fn flow_ends(&mut self) {
        self.ending += 1;
    }

    /// Removes flows that ended in the shortest slot. Flows that began in it were added before.
    pub fn remove_ended(&mut self) {
        let ending = std::mem::take(&mut self.ending);
        self.present -= ending;
        self.ended.iter_mut().for_each(|ended| *ended += ending);
    }

    /// Forgets the slots so far.
    pub fn restart(&mut self) {
        self.remove_ended();
        (self.sums, self.ended) = ([(0.0, 0.0); SCALES], [0; SCALES]);
    }

    /// Closes the slot of a scale that began at `since`, in which each active flow was `due` so many bits. Returns the
    /// number of flows, the sum of their x and that of the squares.
    pub fn close(&mut self, scale: usize, due: f64, since: Time) -> (f64, f64, f64) {
        let (bytes, of_squares) = std::mem::take(&mut self.sums[scale]);
        let active = self.present + std::mem::take(&mut self.ended[scale]);
        let IndexedGroup { counts, stop } = self.group;
        if counts && due > 0.0 && since < stop {
            (f64::from(active), bytes / due, of_squares / (due * due))
        } else {
            (0.0, 0.0, 0.0)
        }
    }
}
