//! Members sorted by tag, for schedulers that serve the smallest tag first.
//!
//! Tags are finish times, and a member's tag lies at most a packet after the current time. So a wheel with a slot for
//! each of the next tags finds the smallest one by a bitmap, without comparing members (as timers of R. Brown's calendar
//! queue and of G. Varghese, A. Lauck, "Hashed and hierarchical timing wheels", ACM SOSP 1987). Members of a slot have
//! the same tag and are served in the order in which they joined. Tags beyond the wheel wait in a heap.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::params::BuildError;
use crate::tables::Tables;

const NONE: u32 = u32::MAX;
/// Words of the bitmap, as many as a word of 32 bits can list.
const WORDS: u32 = 32;
/// Slots of the wheel: more than the bytes of an Ethernet frame.
const SLOTS: u64 = 64 * WORDS as u64;

#[derive(Clone, Copy, Debug)]
struct TaggedMember {
    tag: u64,
    /// Counts insertions, to order members of the same tag. 0 for a member that waits nowhere.
    order: u64,
    /// Neighbors in the slot; [`NONE`] at its ends.
    before: u32,
    after: u32,
    /// Whether it is in the heap.
    far: bool,
}

const OUT: TaggedMember = TaggedMember { tag: 0, order: 0, before: NONE, after: NONE, far: false };

#[derive(Clone, Copy, Debug)]
struct WheelSlot {
    first: u32,
    last: u32,
}

/// Waiting members by tag, then by order of insertion. The caller numbers members densely from 0.
#[derive(Clone, Debug)]
pub struct TagWheel {
    members: Vec<TaggedMember>,
    slots: Vec<WheelSlot>,
    /// One bit per slot with members, and one per word with bits.
    used: [u64; WORDS as usize],
    words: u32,
    /// Tag, order and number of members beyond the wheel. Stale if the member's order differs.
    far: BinaryHeap<Reverse<(u64, u64, u32)>>,
    order: u64,
}

impl TagWheel {
    /// An empty wheel.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(tables: Tables<'_>) -> Result<TagWheel, BuildError> {
        let slots = tables.filled(SLOTS as usize, WheelSlot { first: NONE, last: NONE })?;
        let used = [0; WORDS as usize];
        Ok(TagWheel { members: Vec::new(), slots, used, words: 0, far: BinaryHeap::new(), order: 0 })
    }

    /// The tag of `member`; `None` if it does not wait.
    pub fn tag(&self, member: usize) -> Option<u64> {
        self.members.get(member).filter(|found| found.order > 0).map(|found| found.tag)
    }

    /// Inserts `member`, which must not wait, with a `tag` of at least `now`.
    #[inline(always)]
    pub fn insert(&mut self, member: usize, tag: u64, now: u64) {
        if member >= self.members.len() {
            self.members.resize(member + 1, OUT);
        }
        debug_assert!(self.members[member].order == 0, "member {member} waits already");
        self.order += 1;
        if tag - now >= SLOTS {
            return self.insert_far(member, tag);
        }
        let place = (tag % SLOTS) as usize;
        let slot = &mut self.slots[place];
        let before = core::mem::replace(&mut slot.last, member as u32);
        self.members[member] = TaggedMember { tag, order: self.order, before, after: NONE, far: false };
        if before == NONE {
            slot.first = member as u32;
            self.used[place / 64] |= 1 << (place % 64);
            self.words |= 1 << (place / 64);
        } else {
            self.members[before as usize].after = member as u32;
        }
    }

    #[cold]
    fn insert_far(&mut self, member: usize, tag: u64) {
        self.members[member] = TaggedMember { tag, order: self.order, far: true, ..OUT };
        self.far.push(Reverse((tag, self.order, member as u32)));
        if self.far.len() > 2 * self.members.len() + 16 {
            let members = &self.members;
            self.far.retain(|Reverse((_, order, member))| members[*member as usize].order == *order);
        }
    }

    /// The member with the smallest tag, the first to join among equals. No tag is below `now`.
    #[inline(always)]
    pub fn first(&mut self, now: u64) -> Option<usize> {
        if !self.far.is_empty() {
            return self.first_of_both(now);
        }
        self.first_in_wheel(now)
    }

    #[inline(always)]
    fn first_in_wheel(&self, now: u64) -> Option<usize> {
        let (word, bit) = ((now % SLOTS / 64) as u32, (now % 64) as u32);
        // Slots from `now` on; then the other words in a circle, and last the rest of the first word.
        let here = self.used[word as usize] & (u64::MAX << bit);
        let word = if here != 0 {
            word
        } else if self.words != 0 {
            (self.words.rotate_right(word + 1).trailing_zeros() + word + 1) % WORDS
        } else {
            return None;
        };
        let bits = if here != 0 { here } else { self.used[word as usize] };
        let place = 64 * word as usize + bits.trailing_zeros() as usize;
        Some(self.slots[place].first as usize)
    }

    #[cold]
    fn first_of_both(&mut self, now: u64) -> Option<usize> {
        let near = self.first_in_wheel(now);
        let far = loop {
            let Some(Reverse((tag, order, member))) = self.far.peek().copied() else { return near };
            if self.members[member as usize].order == order {
                break (tag, order, member as usize);
            }
            self.far.pop();
        };
        near.filter(|near| (self.members[*near].tag, self.members[*near].order) < (far.0, far.1)).or(Some(far.2))
    }

    /// Removes the [`first`](TagWheel::first) member and returns it with its tag.
    #[inline(always)]
    pub fn pop_first(&mut self, now: u64) -> Option<(usize, u64)> {
        let first = self.first(now)?;
        let tag = self.members[first].tag;
        self.remove(first);
        Some((first, tag))
    }

    /// Removes `member`, which must wait.
    #[inline(always)]
    pub fn remove(&mut self, member: usize) {
        let TaggedMember { tag, order, before, after, far } = core::mem::replace(&mut self.members[member], OUT);
        debug_assert!(order > 0, "member {member} does not wait");
        if far {
            return;
        }
        let place = (tag % SLOTS) as usize;
        match self.members.get_mut(before as usize) {
            Some(before) => before.after = after,
            None => self.slots[place].first = after,
        }
        match self.members.get_mut(after as usize) {
            Some(after) => after.before = before,
            None => self.slots[place].last = before,
        }
        if self.slots[place].first == NONE {
            let word = place / 64;
            self.used[word] &= !(1 << (place % 64));
            self.words &= !(u32::from(self.used[word] == 0) << word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn members_leave_in_the_order_of_tags_and_of_insertion(
            calls in prop::collection::vec((0usize..20, prop_oneof![0u64..8, 0u64..2000, 2000u64..2100, 0u64..1 << 33], 0u8..4), 1..400),
            start in prop_oneof![Just(0u64), any::<u32>().prop_map(u64::from)],
        ) {
            let (mut wheel, mut model, mut now) = (TagWheel::new(Tables::ALLOCATE).unwrap(), BTreeMap::new(), start);
            for (step, (member, after, call)) in calls.into_iter().enumerate() {
                let waits = model.iter().find(|(_, found)| **found == member).map(|(key, _)| *key);
                prop_assert_eq!(wheel.tag(member), waits.map(|(tag, _)| tag));
                match (call, waits) {
                    (0, Some(key)) => {
                        wheel.remove(member);
                        model.remove(&key);
                    }
                    (1 | 2, None) => {
                        wheel.insert(member, now + after, now);
                        model.insert((now + after, step), member);
                    }
                    _ => {
                        let first = model.pop_first().map(|((tag, _), member)| (member, tag));
                        prop_assert_eq!(wheel.pop_first(now), first);
                        now = first.map_or(now, |(_, tag)| tag);
                    }
                }
                prop_assert_eq!(wheel.first(now), model.first_key_value().map(|(_, member)| *member));
            }
        }
    }

    #[test]
    fn members_removed_from_the_heap_do_not_pile_up_there() {
        let mut wheel = TagWheel::new(Tables::ALLOCATE).unwrap();
        wheel.insert(1, 10_000, 0);
        for tag in 0..10_000 {
            wheel.insert(0, 5000 + tag, 0);
            wheel.remove(0);
        }
        assert!(wheel.far.len() <= 2 * 2 + 16, "{}", wheel.far.len());
        assert_eq!(wheel.first(0), Some(1));
    }
}
