//! Flow queueing: flows hashed to queues that are served in turn, those that begin to send first.
//!
//! T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet, "The Flow Queue CoDel Packet Scheduler and Active
//! Queue Management Algorithm", RFC 8290, 2018, section 4. What manages each queue is its user's business: the user takes
//! packets from the queue whose turn it is and says what was sent.

use alloc::vec::Vec;

use super::hash::bucket;
use super::sub_queues::SubQueues;
use crate::cx::Cx;
use crate::packet::{Backlog, FlowId, Packet};
use crate::reason::Why;
use crate::units::Limit;

const NONE: u32 = u32::MAX;

/// A queue's place among the others.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// Bytes it may send before its turn ends.
    deficit: i64,
    /// The next in its list.
    after: u32,
    /// Whether it is in a list; it may be empty and still be.
    listed: bool,
}

/// Queues in line, through [`Turn::after`].
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
    len: u32,
}

const EMPTY: List = List { first: NONE, last: NONE, len: 0 };

/// Queues of packets, and whose turn it is. It has no limit of its own: its user drops what is too much.
#[derive(Clone, Debug)]
pub struct FlowScheduler<T> {
    queues: SubQueues<T>,
    turns: Vec<Turn>,
    new: List,
    old: List,
    quantum: i64,
    key: u64,
}

impl<T> FlowScheduler<T> {
    /// `queues` empty queues (at least one), each of which may send `quantum` bytes a turn (at least one); flows are hashed
    /// to them under `key`.
    pub fn new(queues: u32, quantum: u64, key: u64) -> FlowScheduler<T> {
        let count = queues.max(1) as usize;
        let turns = alloc::vec![Turn { deficit: 0, after: NONE, listed: false }; count];
        // Compared in bytes, as the RFC has it.
        let queues = SubQueues::new(count, Limit::Bytes(1));
        let quantum = i64::try_from(quantum.max(1)).unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
        FlowScheduler { queues, turns, new: EMPTY, old: EMPTY, quantum, key }
    }

    /// Where the packets of `flow` go.
    #[inline]
    pub fn queue_of(&self, flow: FlowId) -> usize {
        bucket(self.key, flow, self.turns.len())
    }

    /// What all queues hold.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.queues.backlog()
    }

    /// What `queue` holds.
    #[inline]
    pub fn backlog_of(&self, queue: usize) -> Backlog {
        self.queues.backlog_of(queue)
    }

    /// The queue with the most bytes, to within a sixteenth; of several, the one that came to its length last. `None` if
    /// all are empty.
    #[inline]
    pub fn fattest(&self) -> Option<usize> {
        self.queues.longest()
    }

    /// Drops a packet of the fattest queue, because a parent is overloaded.
    pub fn shed(&mut self, cx: &mut Cx<'_, T>) {
        if let Some(packet) = self.fattest().and_then(|queue| self.pop(queue)) {
            cx.drop(packet, Why::Overload);
        }
    }

    /// Adds the packet at the tail of `queue`. A queue that is in neither list joins the new ones, with a quantum to spend
    /// (section 4.1).
    #[inline]
    pub fn push(&mut self, queue: usize, packet: Packet<T>) {
        self.queues.push(queue, packet);
        if !self.turns[queue].listed {
            (self.turns[queue].listed, self.turns[queue].deficit) = (true, self.quantum);
            append(&mut self.new, &mut self.turns, queue);
        }
    }

    /// Takes the oldest packet of `queue`.
    #[inline]
    pub fn pop(&mut self, queue: usize) -> Option<Packet<T>> {
        self.queues.pop(queue)
    }

    /// Whose turn it is (section 4.2): the first of the new queues, or of the old ones if there are none. One that has spent
    /// its deficit gets another quantum and goes to the end of the old ones. `None` if no queue is in a list. The queue may be
    /// empty: its user then calls [`emptied`](FlowScheduler::emptied) and asks again.
    #[inline]
    pub fn turn(&mut self) -> Option<usize> {
        let mut passed = 0;
        loop {
            let queue = if self.new.first == NONE { self.old.first } else { self.new.first } as usize;
            // There is none of the number `NONE`.
            let turn = self.turns.get_mut(queue)?;
            if turn.deficit > 0 {
                return Some(queue);
            }
            turn.deficit += self.quantum;
            self.demote(queue);
            passed += 1;
            if passed == self.new.len + self.old.len {
                self.skip_rounds();
            }
        }
    }

    /// Grants at once the rounds in which no queue could send: a packet may be millions of quanta long. All queues are in
    /// the old list by now, and a whole round leaves its order as it was.
    #[cold]
    fn skip_rounds(&mut self) {
        let (mut rounds, mut queue) = (i64::MAX, self.old.first);
        while let Some(turn) = self.turns.get(queue as usize) {
            rounds = rounds.min((-turn.deficit).max(0) / self.quantum);
            queue = turn.after;
        }
        let mut queue = self.old.first;
        while let Some(turn) = self.turns.get_mut(queue as usize) {
            turn.deficit += rounds * self.quantum;
            queue = turn.after;
        }
    }

    /// To be told that the queue whose turn it is sent `bytes`.
    #[inline]
    pub fn charge(&mut self, queue: usize, bytes: u32) {
        self.turns[queue].deficit -= i64::from(bytes);
    }

    /// To be told that the queue whose turn it is had nothing to send: a new one goes to the end of the old ones, so that it
    /// cannot come back ahead of them at once; an old one leaves (section 4.2).
    #[inline]
    pub fn emptied(&mut self, queue: usize) {
        if self.new.first == queue as u32 {
            self.demote(queue);
        } else {
            self.old.first = self.turns[queue].after;
            self.old.len -= 1;
            self.turns[queue].listed = false;
        }
    }

    /// Moves the first of its list to the end of the old ones.
    fn demote(&mut self, queue: usize) {
        let list = if self.new.first == queue as u32 { &mut self.new } else { &mut self.old };
        list.first = self.turns[queue].after;
        list.len -= 1;
        append(&mut self.old, &mut self.turns, queue);
    }

    /// The bytes that `queue` may still send, or owes; `None` if it is in neither list.
    pub fn deficit(&self, queue: usize) -> Option<i64> {
        self.turns[queue].listed.then_some(self.turns[queue].deficit)
    }

    /// How many new queues there are, and how many old ones.
    pub fn lengths(&self) -> [u32; 2] {
        [self.new.len, self.old.len]
    }

    /// The new queues, in the order of their turns.
    pub fn new_queues(&self) -> impl Iterator<Item = usize> {
        self.line(self.new)
    }

    /// The old queues, in the order of their turns.
    pub fn old_queues(&self) -> impl Iterator<Item = usize> {
        self.line(self.old)
    }

    fn line(&self, list: List) -> impl Iterator<Item = usize> {
        let mut next = list.first;
        core::iter::from_fn(move || {
            let queue = next as usize;
            next = self.turns.get(queue)?.after;
            Some(queue)
        })
    }
}

/// `queue` at the end of `list`. A list whose first is [`NONE`] is empty, whatever it says was last.
#[inline]
fn append(list: &mut List, turns: &mut [Turn], queue: usize) {
    turns[queue].after = NONE;
    match list.first {
        NONE => list.first = queue as u32,
        _ => turns[list.last as usize].after = queue as u32,
    }
    list.last = queue as u32;
    list.len += 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use proptest::prelude::*;

    fn packet(bytes: u32) -> Packet<()> {
        Packet::new(FlowId(0), bytes, ())
    }

    /// Sends a packet, as a user without management of its queues would.
    fn send(flows: &mut FlowScheduler<()>) -> Option<(usize, u32)> {
        loop {
            let queue = flows.turn()?;
            match flows.pop(queue) {
                Some(packet) => {
                    flows.charge(queue, packet.bytes);
                    return Some((queue, packet.bytes));
                }
                None => flows.emptied(queue),
            }
        }
    }

    /// The same with lists, and no shortcut.
    #[derive(Default)]
    struct Model {
        queues: Vec<(VecDeque<u32>, i64)>,
        new: VecDeque<usize>,
        old: VecDeque<usize>,
    }

    impl Model {
        fn push(&mut self, queue: usize, bytes: u32, quantum: i64) {
            self.queues[queue].0.push_back(bytes);
            if !self.new.contains(&queue) && !self.old.contains(&queue) {
                self.new.push_back(queue);
                self.queues[queue].1 = quantum;
            }
        }
        fn send(&mut self, quantum: i64) -> Option<(usize, u32)> {
            loop {
                let is_new = !self.new.is_empty();
                let list = if is_new { &mut self.new } else { &mut self.old };
                let queue = *list.front()?;
                let (packets, deficit) = &mut self.queues[queue];
                if *deficit <= 0 {
                    *deficit += quantum;
                    list.pop_front();
                    self.old.push_back(queue);
                } else if let Some(bytes) = packets.pop_front() {
                    *deficit -= i64::from(bytes);
                    return Some((queue, bytes));
                } else {
                    list.pop_front();
                    if is_new {
                        self.old.push_back(queue);
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn turns_go_round_as_the_rfc_says(
            calls in prop::collection::vec((0..6usize, 0..3usize, any::<bool>()), 0..400), quantum in 1u32..3000,
        ) {
            let mut flows = FlowScheduler::new(6, u64::from(quantum), 1);
            let mut model = Model { queues: alloc::vec![(VecDeque::new(), 0); 6], ..Model::default() };
            for (queue, size, sends) in calls {
                if sends {
                    prop_assert_eq!(send(&mut flows), model.send(i64::from(quantum)));
                } else {
                    let bytes = [0, 700, 1500][size];
                    flows.push(queue, packet(bytes));
                    model.push(queue, bytes, i64::from(quantum));
                }
                prop_assert_eq!(flows.new_queues().collect::<VecDeque<_>>(), model.new.clone());
                prop_assert_eq!(flows.old_queues().collect::<VecDeque<_>>(), model.old.clone());
                prop_assert_eq!(flows.lengths(), [model.new.len() as u32, model.old.len() as u32]);
                for queue in model.new.iter().chain(&model.old) {
                    prop_assert_eq!(flows.deficit(*queue), Some(model.queues[*queue].1));
                }
            }
        }
    }

    #[test]
    fn a_packet_of_four_gigabytes_and_a_quantum_of_a_byte_take_no_rounds_but_those_in_which_somebody_sends() {
        let mut flows = FlowScheduler::new(2, 1, 1);
        for queue in [0, 1, 0, 1] {
            flows.push(queue, packet(u32::MAX - queue as u32));
        }
        let sent: Vec<_> = core::iter::from_fn(|| send(&mut flows)).map(|(queue, _)| queue).collect();
        // Both owe; queue 1 has paid its smaller debt a round earlier, but queue 0 stands before it in the round that follows.
        assert_eq!(sent, [0, 1, 1, 0]);
    }
}
