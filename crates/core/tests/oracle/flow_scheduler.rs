//! The scheduler of RFC 8290, section 4, with lists: shared by the oracles of FQ-CoDel, FQ-COBALT and FQ-PIE.

use std::collections::{BTreeMap, VecDeque};

use aqm::Why;

use super::codel::{Queue, TimedArrival};
use crate::oracle::harness::{Decision, NamedState, entry};

pub struct FlowQueue {
    pub packets: VecDeque<TimedArrival>,
    deficit: i64,
    /// Its length, as precisely as the discipline compares lengths, and the number of the change that gave it this
    /// length.
    length: (u64, u64),
}

pub struct PlainFlowScheduler {
    pub queues: BTreeMap<usize, FlowQueue>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    quantum: i64,
    changes: u64,
}

impl PlainFlowScheduler {
    /// Empty queues, for the numbers in `used`.
    pub fn new(used: impl Iterator<Item = usize>, quantum: i64) -> PlainFlowScheduler {
        let queue = || FlowQueue { packets: VecDeque::new(), deficit: 0, length: (0, 0) };
        let queues = used.map(|number| (number, queue())).collect();
        PlainFlowScheduler { queues, new: VecDeque::new(), old: VecDeque::new(), quantum, changes: 0 }
    }

    pub fn packets(&self) -> usize {
        self.queues.values().map(|queue| queue.packets.len()).sum()
    }

    pub fn bytes(&self) -> u64 {
        self.queues.keys().map(|queue| self.bytes_of(*queue)).sum()
    }

    pub fn bytes_of(&self, queue: usize) -> u64 {
        self.queues[&queue].packets.iter().map(|(packet, _)| u64::from(packet.bytes)).sum()
    }

    pub fn push(&mut self, queue: usize, packet: TimedArrival) {
        let held = self.queues.get_mut(&queue).unwrap();
        held.packets.push_back(packet);
        if !self.new.contains(&queue) && !self.old.contains(&queue) {
            self.new.push_back(queue);
            held.deficit = self.quantum;
        }
        self.measure(queue);
    }

    pub fn pop(&mut self, queue: usize) -> Option<TimedArrival> {
        let packet = self.queues.get_mut(&queue).unwrap().packets.pop_front();
        self.measure(queue);
        packet
    }

    /// Updates the length of `queue`. Two lengths differ if the leading five bits of their bytes differ.
    fn measure(&mut self, queue: usize) {
        let bytes = self.bytes_of(queue);
        let mut unit = 1;
        while bytes / unit >= 32 {
            unit *= 2;
        }
        self.changes += 1;
        let (leading, changes) = (bytes / unit * unit, self.changes);
        let held = self.queues.get_mut(&queue).unwrap();
        let empty = held.packets.is_empty();
        if held.length.0 != leading || empty {
            held.length = (leading, if empty { 0 } else { changes });
        }
    }

    fn fattest(&self) -> Option<usize> {
        let filled = self.queues.iter().filter(|(_, queue)| !queue.packets.is_empty());
        filled.max_by_key(|(_, queue)| queue.length).map(|(number, _)| *number)
    }

    /// Section 4.1: drops from the longest queue. Returns the queue and the number of drops.
    pub fn cut(&mut self, batch: usize, said: &mut Vec<Decision>) -> (usize, usize) {
        let fattest = self.fattest().unwrap();
        let half = self.bytes_of(fattest) / 2;
        let (mut packets, mut bytes) = (0, 0);
        loop {
            let (packet, _) = self.pop(fattest).unwrap();
            said.push(Decision::Dropped(packet.number, Why::FlowLimit));
            packets += 1;
            bytes += u64::from(packet.bytes);
            if packets == batch || bytes >= half {
                return (fattest, packets);
            }
        }
    }

    /// The queue to serve next, and whether it is in the new list.
    pub fn next(&mut self) -> Option<(usize, bool)> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let queue = self.queues.get_mut(&number).unwrap();
            if queue.deficit > 0 {
                return Some((number, is_new));
            }
            queue.deficit += self.quantum;
            list.pop_front();
            self.old.push_back(number);
        }
    }

    pub fn sent(&mut self, queue: usize, bytes: u32) {
        self.queues.get_mut(&queue).unwrap().deficit -= i64::from(bytes);
    }

    pub fn emptied(&mut self, queue: usize, is_new: bool) {
        if is_new {
            self.new.pop_front();
            self.old.push_back(queue);
        } else {
            self.old.pop_front();
        }
    }

    pub fn state(&self) -> NamedState {
        let mut state = vec![entry("packets", self.packets() as u32), entry("bytes", self.bytes() as f64)];
        state.extend(places("new", self.new.iter().copied()));
        state.extend(places("old", self.old.iter().copied()));
        let listed = self.new.iter().chain(&self.old);
        state.extend(listed.map(|number| entry(format!("deficit {number}"), self.queues[number].deficit as f64)));
        state
    }
}

fn places(list: &str, queues: impl Iterator<Item = usize>) -> NamedState {
    queues.enumerate().map(|(place, queue)| entry(format!("{list} {place}"), queue as u32)).collect()
}

/// The state of the discipline under test.
pub fn seen(flows: &aqm::parts::FlowScheduler<usize>) -> NamedState {
    let held = flows.backlog();
    let mut state = vec![entry("packets", held.packets), entry("bytes", held.bytes as f64)];
    state.extend(places("new", flows.turns.new_members()));
    state.extend(places("old", flows.turns.old_members()));
    let listed = flows.turns.new_members().chain(flows.turns.old_members());
    state.extend(listed.map(|queue| entry(format!("deficit {queue}"), flows.turns.credit(queue).unwrap() as f64)));
    state
}

/// One queue of the scheduler, for CoDel.
pub struct One<'a> {
    pub scheduler: &'a mut PlainFlowScheduler,
    pub queue: usize,
    /// Whether CoDel compares `mtu` with the bytes of all queues.
    pub shared: bool,
}

impl Queue for One<'_> {
    fn deque(&mut self) -> Option<TimedArrival> {
        self.scheduler.pop(self.queue)
    }
    fn bytes(&self) -> u64 {
        if self.shared { self.scheduler.bytes() } else { self.scheduler.bytes_of(self.queue) }
    }
}
