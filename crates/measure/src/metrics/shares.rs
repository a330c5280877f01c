//! Fair shares in the slots of Jain's index.
//!
//! The share of a group in a slot is the mean over the slot of the share that each of its active flows has, 0 while none is
//! active. A flow that begins later or ends earlier than others of its group is thus compared with these.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use aqm::Time;

use crate::shared_links::SharedLinks;

/// A change in the number of active flows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ActivityChange {
    Begin(u16),
    End(u16),
    /// All its flows stop.
    Stop(u16),
}

/// Averages the groups' fair shares over the slots of each scale.
pub struct ShareMeter<const SCALES: usize> {
    links: SharedLinks,
    stops: Vec<Time>,
    changes: BinaryHeap<Reverse<(Time, ActivityChange)>>,
    now: Time,
    /// By group and scale: bits that each active flow is due in the slot.
    due: Vec<[f64; SCALES]>,
}

impl<const SCALES: usize> ShareMeter<SCALES> {
    /// No flow has begun. There will be `flows`, which stop at the times of their groups.
    pub fn new(links: SharedLinks, stops: impl Iterator<Item = Time>, flows: usize) -> ShareMeter<SCALES> {
        let stops: Vec<Time> = stops.collect();
        let mut changes = BinaryHeap::with_capacity(flows + stops.len());
        let stopping = (0..).zip(&stops).filter(|(_, stop)| **stop != Time::NEVER);
        changes.extend(stopping.map(|(group, stop)| Reverse((*stop, ActivityChange::Stop(group)))));
        ShareMeter { due: vec![[0.0; SCALES]; links.groups()], links, stops, changes, now: Time::ZERO }
    }

    /// A flow of `group` begins at `at`.
    pub fn flow_begins(&mut self, group: usize, at: Time) {
        self.changes.push(Reverse((at, ActivityChange::Begin(group as u16))));
    }

    /// A flow of `group` ends at `at`.
    pub fn flow_ends(&mut self, group: usize, at: Time) {
        self.changes.push(Reverse((at, ActivityChange::End(group as u16))));
    }

    /// Adds up the shares until `until`. Calls `began` with the group of each flow that begins before it.
    pub fn advance(&mut self, until: Time, mut began: impl FnMut(usize)) {
        while let Some(&Reverse((at, change))) = self.changes.peek()
            && at < until
        {
            self.changes.pop();
            self.add_until(at);
            if let ActivityChange::Begin(group) = change {
                began(usize::from(group));
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
            ActivityChange::Stop(group) => self.links.end_all(group.into()),
            ActivityChange::Begin(group) | ActivityChange::End(group) if at >= self.stops[usize::from(group)] => {}
            ActivityChange::Begin(group) => self.links.begin(group.into()),
            ActivityChange::End(group) => self.links.end(group.into()),
        }
    }

    fn add_until(&mut self, until: Time) {
        let time = (until - self.now).as_secs_f64();
        if time > 0.0 {
            for (due, share) in self.due.iter_mut().zip(self.links.shares()) {
                due.iter_mut().for_each(|bits| *bits += share * time);
            }
        }
        self.now = self.now.max(until);
    }

    /// Forgets the slots so far.
    pub fn restart(&mut self) {
        self.due.fill([0.0; SCALES]);
    }

    /// Ends the slot of a scale: the bits that each active flow of a group is due in it; 0 for a group without any.
    pub fn take(&mut self, scale: usize) -> Vec<f64> {
        self.due.iter_mut().map(|due| std::mem::take(&mut due[scale])).collect()
    }
}
