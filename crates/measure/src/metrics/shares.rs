//! Fair shares in the slots of Jain's index.
//!
//! If each flow is a unit, the share of a group in a slot is the mean over the slot of the share that each of its active
//! flows has, 0 while none is active. A flow that begins later or ends earlier than others of its group is thus compared
//! with these. With units of several flows, a [cohort](crate::cohorts) is due what its active flows have together.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use aqm::Time;

use crate::shared_links::SharedLinks;

/// A change in the number of active flows of a cohort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ActivityChange {
    Begin(u32),
    End(u32),
    /// All its flows stop.
    Stop(u32),
}

/// Averages the cohorts' fair shares over the slots of each scale.
pub struct ShareMeter<const SCALES: usize> {
    links: SharedLinks,
    stops: Vec<Time>,
    changes: BinaryHeap<Reverse<(Time, ActivityChange)>>,
    now: Time,
    /// By cohort and scale: bits that each active flow is due in the slot, or all together.
    due: Vec<[f64; SCALES]>,
}

impl<const SCALES: usize> ShareMeter<SCALES> {
    /// No flow has begun. There will be `flows`, which stop at the times of their cohorts.
    pub fn new(links: SharedLinks, stops: impl Iterator<Item = Time>, flows: usize) -> ShareMeter<SCALES> {
        let stops: Vec<Time> = stops.collect();
        let mut changes = BinaryHeap::with_capacity(flows + stops.len());
        let stopping = (0..).zip(&stops).filter(|(_, stop)| **stop != Time::NEVER);
        changes.extend(stopping.map(|(cohort, stop)| Reverse((*stop, ActivityChange::Stop(cohort)))));
        ShareMeter { due: vec![[0.0; SCALES]; links.cohorts()], links, stops, changes, now: Time::ZERO }
    }

    /// A flow of `cohort` begins at `at`.
    pub fn flow_begins(&mut self, cohort: usize, at: Time) {
        self.changes.push(Reverse((at, ActivityChange::Begin(cohort as u32))));
    }

    /// A flow of `cohort` ends at `at`.
    pub fn flow_ends(&mut self, cohort: usize, at: Time) {
        self.changes.push(Reverse((at, ActivityChange::End(cohort as u32))));
    }

    /// Adds up the shares until `until`. Calls `began` with the cohort of each flow that begins before it.
    pub fn advance(&mut self, until: Time, mut began: impl FnMut(usize)) {
        while let Some(&Reverse((at, change))) = self.changes.peek()
            && at < until
        {
            self.changes.pop();
            self.add_until(at);
            if let ActivityChange::Begin(cohort) = change {
                began(cohort as usize);
            }
            self.apply(change, at);
        }
        self.add_until(until);
        if self.changes.is_empty() {
            self.changes = BinaryHeap::new(); // frees its memory
        }
    }

    fn apply(&mut self, change: ActivityChange, at: Time) {
        match change {
            ActivityChange::Stop(cohort) => self.links.end_all(cohort as usize),
            ActivityChange::Begin(cohort) | ActivityChange::End(cohort) if at >= self.stops[cohort as usize] => {}
            ActivityChange::Begin(cohort) => self.links.begin(cohort as usize),
            ActivityChange::End(cohort) => self.links.end(cohort as usize),
        }
    }

    fn add_until(&mut self, until: Time) {
        let time = (until - self.now).as_secs_f64();
        if time > 0.0 {
            for (due, share) in self.due.iter_mut().zip(self.links.due()) {
                due.iter_mut().for_each(|bits| *bits += share * time);
            }
        }
        self.now = self.now.max(until);
    }

    /// Forgets the slots so far.
    pub fn restart(&mut self) {
        self.due.fill([0.0; SCALES]);
    }

    /// Ends the slot of a scale: the bits by cohort that each active flow, or all together, are due in it; 0 without any.
    pub fn take(&mut self, scale: usize) -> Vec<f64> {
        self.due.iter_mut().map(|due| std::mem::take(&mut due[scale])).collect()
    }
}
