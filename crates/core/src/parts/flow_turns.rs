//! Round robin over queues or classes that serves new members first.
//!
//! A member that becomes active joins the list of new members, which is served before the list of old members. After it
//! has sent a quantum, it moves to the end of the old list. A new member that has nothing left to send moves there too,
//! so that it cannot become new again at once.
//!
//! Source: T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet, "The Flow Queue CoDel Packet Scheduler
//! and Active Queue Management Algorithm", RFC 8290, 2018, section 4. Linux's `sch_hhf.c` does the same for two
//! classes.

use alloc::vec::Vec;

use crate::params::BuildError;
use crate::tables::Tables;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct TurnState {
    /// Bytes it may still send in its turn, or owes if negative.
    credit: i64,
    after: u32,
    /// Whether it is in a list. A listed member may have nothing to send.
    listed: bool,
}

#[derive(Clone, Copy, Debug)]
struct TurnList {
    first: u32,
    last: u32,
    len: u32,
}

const EMPTY: TurnList = TurnList { first: NONE, last: NONE, len: 0 };

/// Lists of new and old members in turn order. Members are numbered from 0.
#[derive(Clone, Debug)]
pub struct FlowTurns {
    turns: Vec<TurnState>,
    new: TurnList,
    old: TurnList,
}

impl FlowTurns {
    /// `members` members, in neither list.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(members: usize, tables: Tables<'_>) -> Result<FlowTurns, BuildError> {
        let turns = tables.filled(members, TurnState { credit: 0, after: NONE, listed: false })?;
        Ok(FlowTurns { turns, new: EMPTY, old: EMPTY })
    }

    /// Reports that `member` has packets to send. If it is in neither list, it joins the new list if `as_new`, else the
    /// old list. It may send `quantum` bytes in its first turn (section 4.1).
    #[inline(always)]
    pub fn join(&mut self, member: usize, quantum: i64, as_new: bool) {
        if !self.turns[member].listed {
            (self.turns[member].listed, self.turns[member].credit) = (true, quantum);
            append(if as_new { &mut self.new } else { &mut self.old }, &mut self.turns, member);
        }
    }

    /// The next member to serve (section 4.2): the first new member, or else the first old one. A member whose credit
    /// is used up gets another `quantum` and moves to the end of the old list. `None` if both lists are empty. If the
    /// member has nothing to send, call [`pass_turn`](FlowTurns::pass_turn) and ask again.
    #[inline(always)]
    pub fn turn(&mut self, quantum: impl Fn(usize) -> i64) -> Option<usize> {
        let mut passed = 0;
        loop {
            let member = if self.new.first == NONE { self.old.first } else { self.new.first } as usize;
            let turn = self.turns.get_mut(member)?;
            if turn.credit > 0 {
                return Some(member);
            }
            turn.credit += quantum(member);
            self.demote(member);
            passed += 1;
            if passed == self.new.len + self.old.len {
                self.skip_rounds(&quantum);
            }
        }
    }

    /// Grants at once all rounds in which no member can send, because a packet may be millions of quanta long. All
    /// members are in the old list by then, and a whole round leaves its order unchanged.
    #[cold]
    fn skip_rounds(&mut self, quantum: &impl Fn(usize) -> i64) {
        let owed = |member: usize| (-self.turns[member].credit).max(0) / quantum(member);
        let rounds = self.old_members().map(owed).min().unwrap_or(0);
        let mut member = self.old.first as usize;
        while let Some(turn) = self.turns.get_mut(member) {
            turn.credit += rounds * quantum(member);
            member = turn.after as usize;
        }
    }

    /// Charges `bytes` sent to the current member.
    #[inline]
    pub fn charge(&mut self, member: usize, bytes: u32) {
        self.turns[member].credit -= i64::from(bytes);
    }

    /// Reports that the current member had nothing to send (section 4.2). A new member moves to the end of the old
    /// list. An old member leaves its list.
    #[inline]
    pub fn pass_turn(&mut self, member: usize) {
        if self.new.first == member as u32 {
            self.demote(member);
        } else {
            self.old.first = self.turns[member].after;
            self.old.len -= 1;
            self.turns[member].listed = false;
        }
    }

    /// Moves the first member of its list to the end of the old list.
    #[inline]
    fn demote(&mut self, member: usize) {
        let list = if self.new.first == member as u32 { &mut self.new } else { &mut self.old };
        list.first = self.turns[member].after;
        list.len -= 1;
        append(&mut self.old, &mut self.turns, member);
    }

    /// Bytes `member` may still send, or owes if negative; `None` if it is in neither list.
    pub fn credit(&self, member: usize) -> Option<i64> {
        self.turns[member].listed.then_some(self.turns[member].credit)
    }

    /// The numbers of new and old members.
    pub fn lengths(&self) -> [u32; 2] {
        [self.new.len, self.old.len]
    }

    /// New members in turn order.
    pub fn new_members(&self) -> impl Iterator<Item = usize> {
        self.members(self.new)
    }

    /// Old members in turn order.
    pub fn old_members(&self) -> impl Iterator<Item = usize> {
        self.members(self.old)
    }

    fn members(&self, list: TurnList) -> impl Iterator<Item = usize> {
        let mut next = list.first;
        core::iter::from_fn(move || {
            let member = next as usize;
            next = self.turns.get(member)?.after;
            Some(member)
        })
    }
}

/// Appends `member` to `list`. `last` is ignored while `first` is [`NONE`].
#[inline]
fn append(list: &mut TurnList, turns: &mut [TurnState], member: usize) {
    turns[member].after = NONE;
    match list.first {
        NONE => list.first = member as u32,
        _ => turns[list.last as usize].after = member as u32,
    }
    list.last = member as u32;
    list.len += 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use proptest::prelude::*;

    /// The class that counts as new when it begins to send.
    const LIGHT: usize = 1;

    /// As in Linux's sch_hhf: two lists, one quantum at a time.
    #[derive(Default)]
    struct HhfModel {
        new: VecDeque<usize>,
        old: VecDeque<usize>,
        deficit: [i64; 2],
    }

    impl HhfModel {
        fn lists(&self, class: usize) -> bool {
            self.new.contains(&class) || self.old.contains(&class)
        }

        fn next(&mut self, held: [u32; 2], quantum: [i64; 2]) -> Option<usize> {
            loop {
                let from_new = !self.new.is_empty();
                let list = if from_new { &mut self.new } else { &mut self.old };
                let class = *list.front()?;
                if self.deficit[class] <= 0 {
                    list.pop_front();
                    self.old.push_back(class);
                    self.deficit[class] += quantum[class];
                } else if held[class] > 0 {
                    return Some(class);
                } else {
                    list.pop_front();
                    if from_new && !self.old.is_empty() {
                        self.old.push_back(class);
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn turns_are_as_in_linux_without_counting_idle_rounds(
            calls in prop::collection::vec((0usize..4, prop::sample::select(&[0u32, 1, 40, 1500, 90_000][..])), 0..200),
            quantum in 1i64..2000, weight in 1i64..4,
        ) {
            let (mut turns, mut held) = (FlowTurns::new(2, Tables::ALLOCATE).unwrap(), [0u32; 2]);
            let (mut plain, quantum) = (HhfModel::default(), [quantum, quantum * weight]);
            for (call, bytes) in calls {
                if call < 2 {
                    held[call] += 1;
                    turns.join(call, quantum[call], call == LIGHT);
                    if !plain.lists(call) {
                        plain.deficit[call] = quantum[call];
                        if call == LIGHT { plain.new.push_back(call) } else { plain.old.push_back(call) }
                    }
                } else {
                    let sender = loop {
                        match turns.turn(|class| quantum[class]) {
                            Some(class) if held[class] == 0 => turns.pass_turn(class),
                            turn => break turn,
                        }
                    };
                    prop_assert_eq!(sender, plain.next(held, quantum));
                    if let Some(class) = sender {
                        held[class] -= 1;
                        turns.charge(class, bytes);
                        plain.deficit[class] -= i64::from(bytes);
                    }
                }
                let deficits = [0, 1].map(|class| plain.lists(class).then_some(plain.deficit[class]));
                prop_assert_eq!([0, 1].map(|class| turns.credit(class)), deficits);
            }
        }
    }
}
