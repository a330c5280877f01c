//! Round robin with a byte credit per member.
//!
//! Members that have packets form a ring. A turn adds a member's quantum to its credit. The member sends while its
//! credit covers its need, and then the next member has its turn. The caller chooses the need, which gives two
//! schedulers:
//!
//! - the size of the next packet: deficit round robin. No member sends ahead of its credit.
//! - 1: surplus round robin, as in Linux's sch_sfq and sch_fq_codel. Any positive credit suffices, and the debt is paid
//!   in later rounds.
//!
//! With a quantum, need and cost of 1, each member sends one packet per turn.
//!
//! Source: M. Shreedhar, G. Varghese, "Efficient fair queuing using deficit round robin", ACM SIGCOMM 1995, figure 2.
//! The ring is the paper's active list, the credit its deficit counter.

use alloc::vec::Vec;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct RingMember {
    before: u32,
    after: u32,
    quantum: u32,
    credit: i64,
}

const OUT: RingMember = RingMember { before: NONE, after: NONE, quantum: 1, credit: 0 };

/// Members with packets to send, in order of their turns. The caller numbers members densely from 0.
#[derive(Clone, Debug, Default)]
pub struct DeficitRing {
    members: Vec<RingMember>,
    turn: u32,
    len: u32,
    /// Whether the member at `turn` has received its quantum.
    paid: bool,
}

impl DeficitRing {
    /// An empty ring.
    pub fn new() -> DeficitRing {
        DeficitRing::default()
    }

    /// The number of members in the ring.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether the ring is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The credit of `member`; `None` if it is not in the ring.
    pub fn credit(&self, member: usize) -> Option<i64> {
        self.members.get(member).filter(|found| found.after != NONE).map(|found| found.credit)
    }

    /// The members in order of turns, the current one first.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let mut next = self.turn;
        (0..self.len).map(move |_| {
            let member = next as usize;
            next = self.members[member].after;
            member
        })
    }

    /// Adds `member`, which must not be in the ring, at the end of the round. It begins without credit. Each of its
    /// turns adds `quantum`, at least 1.
    #[inline(always)]
    pub fn join(&mut self, member: usize, quantum: u32) {
        if member >= self.members.len() {
            self.members.resize(member + 1, OUT);
        }
        debug_assert!(self.members[member].after == NONE, "member {member} is in the ring already");
        let (new, quantum) = (member as u32, quantum.max(1));
        if self.len == 0 {
            self.members[member] = RingMember { before: new, after: new, quantum, credit: 0 };
            (self.turn, self.paid) = (new, false);
        } else {
            let after = self.turn;
            let before = core::mem::replace(&mut self.members[after as usize].before, new);
            self.members[before as usize].after = new;
            self.members[member] = RingMember { before, after, quantum, credit: 0 };
        }
        self.len += 1;
    }

    /// Removes `member` and forgets its credit.
    #[inline(always)]
    pub fn leave(&mut self, member: usize) {
        let RingMember { before, after, .. } = core::mem::replace(&mut self.members[member], OUT);
        debug_assert!(after != NONE, "member {member} is not in the ring");
        if after != member as u32 {
            self.members[before as usize].after = after;
            self.members[after as usize].before = before;
        }
        if self.turn == member as u32 {
            (self.turn, self.paid) = (after, false);
        }
        self.len -= 1;
    }

    /// Returns the next sender: the first member in turn order whose credit covers its `need`. `None` if the ring is
    /// empty. Members before the sender have had their turn.
    ///
    /// A member may send again while its credit lasts. If no credit covers its member's need, whole rounds are granted
    /// at once, so a call passes the ring at most three times. If every quantum covers every need, it checks at most
    /// two members.
    #[inline(always)]
    pub fn next(&mut self, need: impl Fn(usize) -> u32) -> Option<usize> {
        if self.len == 0 {
            return None;
        }
        let mut passed = 0;
        loop {
            let turn = self.turn as usize;
            let member = &mut self.members[turn];
            if !self.paid {
                member.credit += i64::from(member.quantum);
                self.paid = true;
            }
            if member.credit >= i64::from(need(turn)) {
                return Some(turn);
            }
            (self.turn, self.paid) = (member.after, false);
            passed += 1;
            if passed == self.len {
                self.skip_rounds(&need);
            }
        }
    }

    /// Removes every member.
    pub fn clear(&mut self) {
        (0..self.len).for_each(|_| self.leave(self.turn as usize));
    }

    /// Subtracts `cost` from the credit of a `member` that has sent.
    #[inline]
    pub fn charge(&mut self, member: usize, cost: u32) {
        self.members[member].credit -= i64::from(cost);
    }

    /// Ends the turn of the member whose turn it is: members that join later send after it.
    #[inline]
    pub fn end_turn(&mut self) {
        if self.len > 0 {
            (self.turn, self.paid) = (self.members[self.turn as usize].after, false);
        }
    }

    /// Grants at once the rounds that must pass before the next packet, except the last one.
    #[cold]
    fn skip_rounds(&mut self, need: &impl Fn(usize) -> u32) {
        let rounds = |member: usize| {
            let RingMember { credit, quantum, .. } = self.members[member];
            // At least 1: with enough credit the member would have sent.
            let short = (i64::from(need(member)) - credit).unsigned_abs();
            short.div_ceil(u64::from(quantum)) as i64
        };
        let least = self.iter().map(rounds).min().unwrap_or(1);
        let mut next = self.turn;
        for _ in 0..self.len {
            let member = &mut self.members[next as usize];
            member.credit += (least - 1) * i64::from(member.quantum);
            next = member.after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use proptest::prelude::*;

    /// Figure 2 of the paper, one packet per call, without skipping rounds.
    #[derive(Default)]
    struct PaperRing {
        /// Member, quantum, deficit counter.
        active: VecDeque<(usize, u32, i64)>,
        paid: bool,
    }

    impl PaperRing {
        fn next(&mut self, need: impl Fn(usize) -> u32) -> Option<usize> {
            loop {
                let (member, quantum, deficit) = self.active.front_mut()?;
                if !self.paid {
                    *deficit += i64::from(*quantum);
                    self.paid = true;
                }
                if *deficit >= i64::from(need(*member)) {
                    return Some(*member);
                }
                self.active.rotate_left(1);
                self.paid = false;
            }
        }

        fn leave(&mut self, member: usize) {
            let place = self.active.iter().position(|(other, ..)| *other == member).unwrap();
            self.paid &= place != 0;
            self.active.remove(place);
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum RingCall {
        Join(usize, u32),
        Leave(usize),
        Send,
    }

    fn calls() -> impl Strategy<Value = Vec<RingCall>> {
        let call = prop_oneof![
            3 => (0usize..6, prop_oneof![Just(1u32), 1u32..2000]).prop_map(|(member, quantum)| RingCall::Join(member, quantum)),
            1 => (0usize..6).prop_map(RingCall::Leave),
            6 => Just(RingCall::Send),
        ];
        prop::collection::vec(call, 0..200)
    }

    proptest! {
        #[test]
        fn it_takes_turns_as_the_paper_does_without_counting_idle_rounds(calls in calls(), surplus in any::<bool>()) {
            let (mut ring, mut paper) = (DeficitRing::new(), PaperRing::default());
            for (step, call) in calls.into_iter().enumerate() {
                let size = |member: usize| ((member * 7919 + step * 104_729) % 5001) as u32;
                let need = |member| if surplus { 1 } else { size(member) };
                match call {
                    RingCall::Join(member, quantum) if ring.credit(member).is_none() => {
                        ring.join(member, quantum);
                        paper.active.push_back((member, quantum, 0));
                    }
                    RingCall::Leave(member) if ring.credit(member).is_some() => {
                        ring.leave(member);
                        paper.leave(member);
                    }
                    RingCall::Send => {
                        let sender = ring.next(need);
                        prop_assert_eq!(sender, paper.next(need));
                        if let Some(sender) = sender {
                            ring.charge(sender, size(sender));
                            paper.active[0].2 -= i64::from(size(sender));
                        }
                    }
                    _ => {}
                }
                let state: Vec<(usize, i64)> = ring.iter().map(|m| (m, ring.credit(m).unwrap())).collect();
                let expected: Vec<(usize, i64)> = paper.active.iter().map(|(m, _, deficit)| (*m, *deficit)).collect();
                prop_assert_eq!(state, expected);
            }
        }
    }

    #[test]
    fn a_packet_of_four_gigabytes_needs_no_four_billion_rounds() {
        let mut ring = DeficitRing::new();
        [0, 1].into_iter().for_each(|member| ring.join(member, 1));
        let need = |member: usize| u32::MAX - member as u32;
        assert_eq!(ring.next(need), Some(1));
        assert_eq!([0, 1].map(|member| ring.credit(member)), [Some(i64::from(u32::MAX) - 1); 2]);
    }

    #[test]
    fn a_cleared_ring_works_like_a_new_one() {
        let mut ring = DeficitRing::new();
        (0..3).for_each(|member| ring.join(member, 10));
        ring.next(|_| 1);
        ring.clear();
        assert_eq!((ring.len(), ring.credit(0), ring.next(|_| 0)), (0, None, None));
        ring.join(2, 5);
        assert_eq!((ring.next(|_| 5), ring.credit(2), ring.next(|_| 0)), (Some(2), Some(5), Some(2)));
    }

    #[test]
    fn quanta_are_weights() {
        let mut ring = DeficitRing::new();
        ring.join(0, 500);
        ring.join(1, 1500);
        let mut sent = [0; 2];
        for _ in 0..4000 {
            let sender = ring.next(|_| 1000).unwrap();
            ring.charge(sender, 1000);
            sent[sender] += 1;
        }
        assert_eq!(sent, [1000, 3000]);
    }
}
