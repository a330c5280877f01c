//! The event queue: a hierarchical timing wheel (G. Varghese, T. Lauck, "Hashed and Hierarchical Timing Wheels", SOSP
//! 1987).
//!
//! The queue returns events in order of time. Events of equal time leave in the order of insertion. Adding and
//! removing cost O(1), so the cost per packet stays flat from ten flows to a hundred thousand.
//!
//! Time is divided into ticks of 2^`shift` ns. A tick number has seven digits of ten bits, and the wheel has one level
//! for each digit. A level has 1024 slots, one for each value of its digit. An event is stored at the level of the
//! highest digit in which its tick differs from the current tick.
//!
//! - `push` appends the event to its slot. On the lowest level a slot is one tick, and its events are kept sorted by
//!   time.
//! - `pop` takes the head of the first non-empty slot of the lowest level. Bitmaps find that slot in two steps.
//! - If the lowest level is empty, `refill_lowest` moves the events of the next slot of a higher level down, in order.
//!
//! If thousands of flows send at once, a tick holds thousands of events, and keeping them sorted would cost their square.
//! After an insertion that took many steps the queue shortens its ticks (`shorten_ticks`), or sorts what it moves down as
//! a whole (`move_down_sorted`).
//!
//! With many thousand events, cache misses dominate. The higher levels therefore keep ticks and event numbers in
//! chunks, which move without reading the events. An event that reaches the lowest level is passed to the caller, who
//! can prefetch the memory that the event will need.

use std::num::{NonZeroU16, NonZeroU64};

use aqm::Time;

use crate::prefetch::prefetch;

const DIGIT: u32 = 10;
const SLOTS: usize = 1 << DIGIT;
const LEVELS: usize = 7;
const NONE: u32 = u32::MAX;

/// Events in order of time, and of insertion at equal times.
pub struct EventQueue<E> {
    shift: u32,
    tick: u64,
    levels: [WheelLevel; LEVELS],
    nodes: Vec<EventNode<E>>,
    /// The first free node. The list of free nodes ends with a number that no node has yet.
    free: u32,
    chunks: Vec<EventChunk>,
    free_chunk: u32,
    /// The most steps of one insertion before ticks get shorter.
    longest_walk: u32,
}

/// A queued event. With the simulator's events, a node fills half a cache line.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct EventNode<E> {
    time: u64,
    next: u32,
    event: E,
}

/// Ticks and numbers of up to fifteen events of a slot of a higher level; two cache lines. The slot gives the higher
/// digits of a tick, so its lowest 32 bits are enough up to level [`NEAR`].
#[derive(Clone, Copy)]
#[repr(align(64))]
struct EventChunk {
    ticks: [u32; CHUNK],
    nodes: [u32; CHUNK],
    next: u32,
}

const CHUNK: usize = 15;
/// The highest level whose slots last less than 2^32 ticks.
const NEAR: u32 = u32::BITS / DIGIT;
/// The most steps of one sorted insertion. A longer walk shortens the ticks, which have at most 40 binary digits: that
/// happens at most 14 times in a run.
const LONGEST_WALK: u32 = 1024;
/// Binary digits by which ticks get shorter at once.
const SHORTER_BY: u32 = 3;
/// On the higher levels, the lowest `LEN` bits of a slot's tail hold the number of events in its last chunk.
const LEN: u32 = 4;
const LEN_MASK: usize = (1 << LEN) - 1;

/// One level of the wheel: 1024 slots, each a list (head and tail) of nodes or, on the higher levels, of chunks. One
/// bitmap marks the non-empty slots, a second one the non-zero words of the first.
struct WheelLevel {
    slots: Box<[(u32, u32); SLOTS]>,
    filled: [u64; SLOTS / 64],
    words: u16,
}

impl<E: Copy + Default> EventQueue<E> {
    /// An empty queue. A tick close to the typical gap between events is fastest; any length gives the same order.
    pub fn new(typical_gap_nanos: u64) -> EventQueue<E> {
        EventQueue {
            shift: 63 - typical_gap_nanos.clamp(1, 1 << 40).leading_zeros(),
            tick: 0,
            levels: std::array::from_fn(|_| WheelLevel::empty()),
            nodes: Vec::new(),
            free: 0,
            chunks: Vec::new(),
            free_chunk: NONE,
            longest_walk: LONGEST_WALK,
        }
    }

    /// Reserves room for `events` events. A list that grows is copied, and both copies then take memory. Room that no
    /// event has used takes none.
    pub fn reserve(&mut self, events: usize) {
        self.nodes.reserve_exact(events);
        self.chunks.reserve_exact(events / CHUNK);
    }

    /// Adds an event at `time`; a time already past counts as now.
    ///
    /// The caller writes the event into its node: as an argument, it would be copied into memory first.
    #[inline(always)]
    pub fn push(&mut self, time: Time, event: E) {
        let time = time.as_nanos();
        let at = self.free;
        let node = match self.nodes.get_mut(at as usize) {
            Some(node) => node,
            None => add_node(&mut self.nodes),
        };
        self.free = node.next;
        // Field by field: as a whole, the node would be made elsewhere first.
        (node.time, node.next, node.event) = (time, NONE, event);
        self.insert_new(time, at);
    }

    #[inline(never)]
    fn insert_new(&mut self, time: u64, node: u32) {
        if self.insert(time, node) {
            self.shorten_ticks();
        }
    }

    /// Stores all events anew, in order, under shorter ticks.
    #[cold]
    #[inline(never)]
    fn shorten_ticks(&mut self) {
        let (shorter, now) = (self.shift.saturating_sub(SHORTER_BY), self.tick);
        let mut all = Vec::with_capacity(self.nodes.len());
        while let Some(event) = self.pop(Time::NEVER, |_| ()) {
            all.push(event);
        }
        self.tick = now << (self.shift - shorter);
        self.shift = shorter;
        all.into_iter().for_each(|(time, event)| self.push(time, event));
    }

    /// Removes and returns the next event, if it is not later than `until`. Calls `on_lowest`, in no fixed order, with
    /// events that reach the lowest level.
    #[inline(always)]
    pub fn pop(&mut self, until: Time, on_lowest: impl FnMut(&E)) -> Option<(Time, E)> {
        let slot = match self.levels[0].first() {
            Some(slot) => slot,
            None => self.refill_lowest(until, on_lowest)?,
        };
        let at = self.levels[0].slots[slot].0;
        let node = &mut self.nodes[at as usize];
        if node.time > until.as_nanos() {
            return None;
        }
        self.tick = self.tick & !(SLOTS as u64 - 1) | slot as u64;
        let next = std::mem::replace(&mut node.next, self.free);
        self.free = at;
        self.levels[0].set_head(slot, next);
        Some((Time::from_nanos(node.time), node.event))
    }

    /// Stores a node in the slot of its tick. Most find an empty slot of the lowest level: a tick is short. Returns
    /// whether ticks should be shorter.
    #[inline(always)]
    fn insert(&mut self, time: u64, node: u32) -> bool {
        let tick = (time >> self.shift).max(self.tick);
        let ahead = tick ^ self.tick;
        if ahead >= SLOTS as u64 {
            self.insert_higher(node, tick, ahead);
            return false;
        }
        let slot = tick as usize & (SLOTS - 1);
        if self.levels[0].slots[slot].0 == NONE {
            self.levels[0].begin(slot, node);
            false
        } else {
            self.insert_sorted(time, node, slot)
        }
    }

    /// Stores a node at the level of the highest digit of `ahead`, in which its tick differs from the current one.
    #[inline(never)]
    fn insert_higher(&mut self, node: u32, tick: u64, ahead: u64) {
        let level = (63 - ahead.leading_zeros()) / DIGIT;
        let slot = (tick >> (DIGIT * level)) as usize & (SLOTS - 1);
        self.append_to_chunk(level as usize, slot, tick as u32, node);
    }

    /// Appends to a slot of a higher level. The chunk is only written, never read: it is probably not in the cache.
    #[inline]
    fn append_to_chunk(&mut self, level: usize, slot: usize, tick: u32, node: u32) {
        let (head, tail) = self.levels[level].slots[slot];
        let (mut at, mut len) = (tail >> LEN, tail as usize & LEN_MASK);
        if head == NONE || len == CHUNK {
            at = self.new_chunk();
            len = 0;
            if self.levels[level].append(slot, at).is_some() {
                self.chunks[(tail >> LEN) as usize].next = at;
            }
        }
        let chunk = &mut self.chunks[at as usize];
        (chunk.ticks[len % CHUNK], chunk.nodes[len % CHUNK]) = (tick, node);
        self.levels[level].slots[slot].1 = at << LEN | (len + 1) as u32;
    }

    #[inline(never)]
    fn new_chunk(&mut self) -> u32 {
        let at = self.free_chunk;
        if let Some(chunk) = self.chunks.get_mut(at as usize) {
            self.free_chunk = std::mem::replace(&mut chunk.next, NONE);
            return at;
        }
        push_tightly(&mut self.chunks, EventChunk { ticks: [0; CHUNK], nodes: [NONE; CHUNK], next: NONE });
        (self.chunks.len() - 1) as u32
    }

    /// Inserts into a slot of the lowest level that is not empty, after every event that is not later. Returns whether
    /// ticks should be shorter.
    #[inline(never)]
    fn insert_sorted(&mut self, time: u64, node: u32, slot: usize) -> bool {
        let (head, tail) = self.levels[0].slots[slot];
        if self.nodes[tail as usize].time <= time {
            self.levels[0].slots[slot].1 = node;
            self.nodes[tail as usize].next = node;
        } else if self.nodes[head as usize].time > time {
            self.nodes[node as usize].next = head;
            self.levels[0].slots[slot].0 = node;
        } else {
            return self.insert_after(head, time, node);
        }
        false
    }

    /// Inserts between two events of one tick. Few events share a tick, so the walk is short. Returns whether it was too long.
    fn insert_after(&mut self, mut before: u32, time: u64, node: u32) -> bool {
        for step in 0.. {
            let after = self.nodes[before as usize].next;
            if self.nodes[after as usize].time > time {
                self.nodes[node as usize].next = after;
                self.nodes[before as usize].next = node;
                return step >= self.longest_walk && self.shift > 0;
            }
            before = after;
        }
        unreachable!("the last event of the tick is later")
    }

    /// Refills the empty lowest level from the higher ones and returns its first slot. `None` if all events are later
    /// than `until`. The tick never passes `until`: what the caller pushes next may lie before those events, and all of
    /// it would share the slot of the tick.
    #[inline(never)]
    fn refill_lowest(&mut self, until: Time, mut on_lowest: impl FnMut(&E)) -> Option<usize> {
        loop {
            let level = (0..LEVELS).find(|&level| self.levels[level].words != 0)?;
            let slot = self.levels[level].first()?;
            if level == 0 {
                return Some(slot);
            }
            let (here, above) = (DIGIT * level as u32, DIGIT * (level as u32 + 1));
            let prefix = if above < u64::BITS { self.tick >> above << above } else { 0 };
            let tick = prefix | (slot as u64) << here;
            if tick > until.as_nanos() >> self.shift {
                return None;
            }
            self.tick = tick;
            let (mut at, tail) = self.levels[level].slots[slot];
            self.levels[level].set_head(slot, NONE);
            while at != NONE {
                let chunk = self.chunks[at as usize];
                self.chunks[at as usize].next = self.free_chunk;
                self.free_chunk = at;
                let len = if at == tail >> LEN { tail as usize & LEN_MASK } else { CHUNK };
                let far = match level {
                    1 => self.move_to_lowest(&chunk.nodes[..len], &mut on_lowest),
                    _ => self.move_down(level as u32, &chunk.ticks[..len], &chunk.nodes[..len]),
                };
                at = chunk.next;
                if far && at != NONE {
                    self.move_down_sorted((at, tail), &mut on_lowest);
                    break;
                }
            }
        }
    }

    /// Moves a chunk's events to the lowest level; calls `on_lowest` with each. Returns whether an insertion took too
    /// many steps.
    #[inline]
    fn move_to_lowest(&mut self, nodes: &[u32], on_lowest: &mut impl FnMut(&E)) -> bool {
        // All reads first, without branches: the cache misses overlap.
        nodes.iter().for_each(|&node| prefetch(self.nodes[node as usize].time));
        let mut far = false;
        for &node in nodes {
            far |= self.insert(self.nodes[node as usize].time, node);
            on_lowest(&self.nodes[node as usize].event);
        }
        far
    }

    /// Moves a chunk's events of a slot of a `level` above the first to their new slots, most of them without a look at
    /// the events. Returns whether an insertion took too many steps.
    fn move_down(&mut self, level: u32, ticks: &[u32], nodes: &[u32]) -> bool {
        let mut far = false;
        for (&tick, &node) in ticks.iter().zip(nodes) {
            let low = u64::from(tick) & ((1 << (DIGIT * level)) - 1);
            if level <= NEAR && low >= SLOTS as u64 {
                self.insert_higher(node, self.tick | low, low);
            } else {
                far |= self.insert(self.nodes[node as usize].time, node);
            }
        }
        far
    }

    /// Moves the chunks from `at` to the tail of a slot down to the lowest level. Sorts their events together with those
    /// already there, so that each insertion appends.
    #[cold]
    #[inline(never)]
    fn move_down_sorted(&mut self, (mut at, tail): (u32, u32), on_lowest: &mut impl FnMut(&E)) {
        let mut all: Vec<(u64, u32)> = Vec::new();
        while let Some(slot) = self.levels[0].first() {
            let mut node = self.levels[0].slots[slot].0;
            self.levels[0].set_head(slot, NONE);
            while node != NONE {
                let EventNode { time, ref mut next, .. } = self.nodes[node as usize];
                all.push((time, node));
                node = std::mem::replace(next, NONE);
            }
        }
        while at != NONE {
            let chunk = self.chunks[at as usize];
            self.chunks[at as usize].next = self.free_chunk;
            self.free_chunk = at;
            let len = if at == tail >> LEN { tail as usize & LEN_MASK } else { CHUNK };
            all.extend(chunk.nodes[..len].iter().map(|&node| (self.nodes[node as usize].time, node)));
            at = chunk.next;
        }
        // Stable: events of equal time stay in order.
        all.sort_by_key(|(time, _)| *time);
        for (time, node) in all {
            self.insert(time, node);
            on_lowest(&self.nodes[node as usize].event);
        }
    }
}

/// Adds a free node; the one after it will be the next to be added.
#[cold]
#[inline(never)]
fn add_node<E: Default>(nodes: &mut Vec<EventNode<E>>) -> &mut EventNode<E> {
    let at = nodes.len();
    push_tightly(nodes, EventNode { time: 0, next: at as u32 + 1, event: E::default() });
    &mut nodes[at]
}

/// Appends to a list that grows by a sixteenth: one that doubles may be half empty.
#[inline]
fn push_tightly<T>(list: &mut Vec<T>, item: T) {
    if list.len() == list.capacity() {
        list.reserve_exact((list.len() / 16).max(64));
    }
    list.push(item);
}

impl WheelLevel {
    fn empty() -> WheelLevel {
        WheelLevel { slots: Box::new([(NONE, NONE); SLOTS]), filled: [0; SLOTS / 64], words: 0 }
    }

    /// Appends a node or chunk to a slot's list and returns its predecessor, if any.
    #[inline]
    fn append(&mut self, slot: usize, node: u32) -> Option<u32> {
        let (head, tail) = &mut self.slots[slot];
        if *head != NONE {
            return Some(std::mem::replace(tail, node));
        }
        self.begin(slot, node);
        None
    }

    /// Begins the list of an empty slot.
    #[inline(always)]
    fn begin(&mut self, slot: usize, node: u32) {
        self.slots[slot] = (node, node);
        self.filled[slot / 64] |= 1 << (slot % 64);
        self.words |= 1 << (slot / 64);
    }

    /// The first non-empty slot.
    #[inline]
    fn first(&self) -> Option<usize> {
        // `NonZero` makes the count of trailing zeros one instruction.
        let word = NonZeroU16::new(self.words)?.trailing_zeros() as usize;
        let bit = NonZeroU64::new(self.filled[word])?.trailing_zeros() as usize;
        Some(word * 64 + bit)
    }

    /// Makes `next` the head of a slot's list; `NONE` empties it.
    #[inline]
    fn set_head(&mut self, slot: usize, next: u32) {
        self.slots[slot].0 = next;
        if next == NONE {
            let word = &mut self.filled[slot / 64];
            *word &= !(1 << (slot % 64));
            self.words &= !(u16::from(*word == 0) << (slot / 64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares the queue with a sorted list. Both must return the same order, with equal times in insertion order,
        /// for any length of tick.
        #[test]
        fn events_leave_by_time_and_then_by_order_of_arrival(
            gap in prop::sample::select(vec![1u64, 64, 65_536, 1 << 30]),
            longest_walk in prop::sample::select(vec![0, 3, LONGEST_WALK]),
            steps in prop::collection::vec((0u8..3, 0u32..50, 0u64..1000), 1..300),
        ) {
            let mut queue = EventQueue::new(gap);
            queue.longest_walk = longest_walk;
            let mut model: Vec<(u64, usize)> = Vec::new();
            let mut now = 0;
            for (id, (what, magnitude, offset)) in steps.into_iter().enumerate() {
                let time = now + (offset << magnitude);
                if what == 0 {
                    queue.push(Time::from_nanos(time), id);
                    let at = model.partition_point(|(other, _)| *other <= time);
                    model.insert(at, (time, id));
                } else {
                    let until = if what == 1 { u64::MAX } else { time };
                    let expected = model.first().is_some_and(|(time, _)| *time <= until).then(|| model.remove(0));
                    let got = queue.pop(Time::from_nanos(until), |_| ());
                    prop_assert_eq!(got.map(|(t, e)| (t.as_nanos(), e)), expected);
                    // Time advances to the bound even without an event, so later insertions may precede the remaining
                    // events.
                    now = expected.map_or(if what == 1 { now } else { until }, |(time, _)| time);
                }
            }
            while let Some((time, id)) = queue.pop(Time::NEVER, |_| ()) {
                prop_assert_eq!((time.as_nanos(), id), model.remove(0));
            }
            prop_assert!(model.is_empty());
        }
    }

    /// Events at four moments of one tick, from each of 20 000 flows in turn, pushed `ahead` of time. Sorted insertions
    /// one by one would take two billion steps. Returns the binary digits of a tick at the end.
    fn crowd(ahead: u64) -> u32 {
        let mut queue = EventQueue::new(1 << 20);
        let moments = [0u64, 300, 70_000, 900_000].map(|offset| Time::from_nanos(ahead + offset));
        let flows = 0..20_000;
        for flow in flows.clone() {
            moments.iter().for_each(|moment| queue.push(*moment, flow));
        }
        for moment in moments {
            for flow in flows.clone() {
                assert_eq!(queue.pop(Time::NEVER, |_| ()), Some((moment, flow)));
                // A sender's next packet.
                queue.push(moment + aqm::Span::from_nanos(1 << 40), flow);
            }
        }
        queue.shift
    }

    #[test]
    fn thousands_of_flows_may_send_within_one_tick() {
        assert!(crowd(0) < 20, "ticks get shorter");
        assert_eq!(crowd(1 << 31), 20, "events that move down together are sorted");
    }
}
