//! Jain's index over units of several flows: the amounts of hosts, groups or classes in the slots of each scale.
//!
//! A unit's x in a slot is the goodput of its flows over the bits that they are due together: the unit's share at each
//! time in which it has an active flow. Brief flows add to neither, as they do not count in the index.

use crate::cohorts::{CohortUnits, Cohorts};

/// The amounts of all units.
pub struct UnitSlots<const SCALES: usize> {
    cohort_of_flow: Vec<u32>,
    /// The unit of each cohort; `None` for cohorts of brief flows.
    unit_of_cohort: Vec<Option<u32>>,
    /// By unit and scale: useful bytes in the current slot.
    bytes: Vec<[u64; SCALES]>,
}

impl<const SCALES: usize> UnitSlots<SCALES> {
    /// No amounts yet. `counts` tells whether the flows of a group count in the index.
    pub fn new(cohorts: Cohorts, units: &CohortUnits, counts: impl Fn(usize) -> bool) -> UnitSlots<SCALES> {
        let units_of_cohorts = cohorts.groups.iter().zip(&units.of_cohort);
        UnitSlots {
            unit_of_cohort: units_of_cohorts.map(|(group, unit)| counts(*group).then_some(*unit)).collect(),
            cohort_of_flow: cohorts.of_flow,
            bytes: vec![[0; SCALES]; units.weights.len()],
        }
    }

    /// The cohort of `flow`.
    pub fn cohort(&self, flow: usize) -> usize {
        self.cohort_of_flow[flow] as usize
    }

    /// Adds useful bytes of `flow` in the current slots.
    pub fn add(&mut self, flow: usize, bytes: u64) {
        if let Some(unit) = self.unit_of_cohort[self.cohort(flow)] {
            self.bytes[unit as usize].iter_mut().for_each(|amount| *amount += bytes);
        }
    }

    /// Forgets the slots so far.
    pub fn restart(&mut self) {
        self.bytes.fill([0; SCALES]);
    }

    /// Closes the slot of a scale, in which the cohorts were `due` so many bits. Returns x of each unit that was due any.
    pub fn close(&mut self, scale: usize, due: &[f64]) -> impl Iterator<Item = f64> {
        let mut of_units = vec![0.0; self.bytes.len()];
        for (unit, due) in self.unit_of_cohort.iter().zip(due) {
            if let Some(unit) = unit {
                of_units[*unit as usize] += due;
            }
        }
        let amounts = self.bytes.iter_mut().map(move |bytes| std::mem::take(&mut bytes[scale]));
        amounts.zip(of_units).filter(|(_, due)| *due > 0.0).map(|(bytes, due)| bytes as f64 / due)
    }
}
