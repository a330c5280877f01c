//! The event queue: a hierarchical timing wheel (Varghese, Lauck: Hashed and hierarchical timing wheels, 1987).
//!
//! Events leave in order of time, and those of equal times in the order in which they were added. Adding and removing
//! cost O(1) however many events wait, which keeps the cost of a packet flat from ten flows to a hundred thousand.
//!
//! Time is cut into ticks of 2^`shift` ns, and a tick's number into digits of ten bits. An event waits on the level of
//! the highest digit in which its tick differs from the current one, so each level holds only what lies ahead within
//! the level's current turn. When the wheel enters a slot of a higher level, its events move down, in order; only
//! later can anything be added beside them. The events of the current tick stand sorted in `ready`.

use headgate_core::Time;

const DIGIT: u32 = 10;
const SLOTS: usize = 1 << DIGIT;
const LEVELS: usize = 7;
const NONE: u32 = u32::MAX;

/// Events of type `E`, by time.
pub struct Queue<E> {
    shift: u32,
    tick: u64,
    levels: Vec<Level>,
    nodes: Vec<Node<E>>,
    free: u32,
    /// The events of the current tick from `next` on, by time and then by order of arrival.
    ready: Vec<Ready>,
    next: usize,
}

#[derive(Clone, Copy)]
struct Node<E> {
    time: u64,
    next: u32,
    event: E,
}

#[derive(Clone, Copy)]
struct Ready {
    time: u64,
    order: u32,
    node: u32,
}

/// One turn of the wheel: 1024 slots, each a list of nodes, and a bit for each that is not empty.
struct Level {
    heads: Vec<u32>,
    tails: Vec<u32>,
    filled: [u64; SLOTS / 64],
}

impl<E: Copy> Queue<E> {
    /// An empty queue whose ticks are about as long as the typical time between two events. Any length gives the same
    /// order; one that fits gives the least work.
    pub fn new(typical_gap_nanos: u64) -> Queue<E> {
        let level = || Level { heads: vec![NONE; SLOTS], tails: vec![NONE; SLOTS], filled: [0; SLOTS / 64] };
        Queue {
            shift: 63 - typical_gap_nanos.clamp(1, 1 << 40).leading_zeros(),
            tick: 0,
            levels: (0..LEVELS).map(|_| level()).collect(),
            nodes: Vec::new(),
            free: NONE,
            ready: Vec::new(),
            next: 0,
        }
    }

    /// Adds an event at `time`; a time already past counts as now.
    #[inline]
    pub fn push(&mut self, time: Time, event: E) {
        let time = time.as_nanos();
        let node = self.store(Node { time, next: NONE, event });
        self.place(time, node);
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        if self.next == self.ready.len() && !self.advance() {
            return None;
        }
        let Ready { time, node, .. } = self.ready[self.next];
        self.next += 1;
        let slot = &mut self.nodes[node as usize];
        slot.next = self.free;
        self.free = node;
        Some((Time::from_nanos(time), slot.event))
    }

    fn store(&mut self, node: Node<E>) -> u32 {
        let at = self.free;
        if at == NONE {
            self.nodes.push(node);
            return (self.nodes.len() - 1) as u32;
        }
        self.free = self.nodes[at as usize].next;
        self.nodes[at as usize] = node;
        at
    }

    #[inline]
    fn place(&mut self, time: u64, node: u32) {
        let tick = time >> self.shift;
        if tick <= self.tick {
            return self.insert_ready(time, node);
        }
        let level = (63 - (tick ^ self.tick).leading_zeros()) / DIGIT;
        let slot = digit(tick, level);
        let level = &mut self.levels[level as usize];
        let tail = std::mem::replace(&mut level.tails[slot], node);
        match tail {
            NONE => {
                level.heads[slot] = node;
                level.filled[slot / 64] |= 1 << (slot % 64);
            }
            tail => self.nodes[tail as usize].next = node,
        }
    }

    /// Into the current tick, behind every event that is not later.
    fn insert_ready(&mut self, time: u64, node: u32) {
        let behind = self.ready[self.next..].iter().rposition(|other| other.time <= time);
        let at = self.next + behind.map_or(0, |i| i + 1);
        self.ready.insert(at, Ready { time, order: 0, node });
    }

    /// Moves to the next tick that has events and makes them ready; `false` if there are none.
    fn advance(&mut self) -> bool {
        self.ready.clear();
        self.next = 0;
        while self.ready.is_empty() {
            let Some((level, slot)) = self.next_slot() else { return false };
            let above = DIGIT * (level + 1);
            let prefix = if above < 64 { self.tick >> above << above } else { 0 };
            self.tick = prefix | (slot as u64) << (DIGIT * level);
            let first = self.levels[level as usize].take(slot);
            if level == 0 { self.collect(first) } else { self.descend(first) }
        }
        true
    }

    /// The first filled slot of the lowest level that has one. It lies ahead: what lay behind has left.
    #[inline]
    fn next_slot(&self) -> Option<(u32, usize)> {
        (0..LEVELS as u32).find_map(|level| self.levels[level as usize].first().map(|slot| (level, slot)))
    }

    fn collect(&mut self, mut node: u32) {
        while node != NONE {
            let Node { time, next, .. } = self.nodes[node as usize];
            self.ready.push(Ready { time, order: self.ready.len() as u32, node });
            node = next;
        }
        if self.ready.len() > 1 {
            self.ready.sort_unstable_by_key(|r| (r.time, r.order));
        }
    }

    fn descend(&mut self, mut node: u32) {
        while node != NONE {
            let Node { time, next, .. } = self.nodes[node as usize];
            self.nodes[node as usize].next = NONE;
            self.place(time, node);
            node = next;
        }
    }
}

impl Level {
    #[inline]
    fn first(&self) -> Option<usize> {
        let word = self.filled.iter().position(|word| *word != 0)?;
        Some(word * 64 + self.filled[word].trailing_zeros() as usize)
    }

    fn take(&mut self, slot: usize) -> u32 {
        self.filled[slot / 64] &= !(1 << (slot % 64));
        self.tails[slot] = NONE;
        std::mem::replace(&mut self.heads[slot], NONE)
    }
}

#[inline]
fn digit(tick: u64, level: u32) -> usize {
    (tick >> (DIGIT * level)) as usize & (SLOTS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a sorted list: the same order, equal times in order of arrival, at any length of tick.
        #[test]
        fn events_leave_by_time_and_then_by_order_of_arrival(
            gap in prop::sample::select(vec![1u64, 64, 65_536, 1 << 30]),
            steps in prop::collection::vec((any::<bool>(), 0u32..50, 0u64..1000), 1..300),
        ) {
            let mut queue = Queue::new(gap);
            let mut model: Vec<(u64, usize)> = Vec::new();
            let mut now = 0;
            for (id, (push, magnitude, offset)) in steps.into_iter().enumerate() {
                if push {
                    let time = now + (offset << magnitude);
                    queue.push(Time::from_nanos(time), id);
                    let at = model.partition_point(|(other, _)| *other <= time);
                    model.insert(at, (time, id));
                } else {
                    let expected = (!model.is_empty()).then(|| model.remove(0));
                    prop_assert_eq!(queue.pop().map(|(t, e)| (t.as_nanos(), e)), expected);
                    now = expected.map_or(now, |(time, _)| time);
                }
            }
            while let Some((time, id)) = queue.pop() {
                prop_assert_eq!((time.as_nanos(), id), model.remove(0));
            }
            prop_assert!(model.is_empty());
        }
    }
}
