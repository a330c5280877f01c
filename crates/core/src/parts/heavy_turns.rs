//! Whose turn it is, of heavy flows and of all others.
//!
//! Weighted deficit round robin as in Linux's `net/sched/sch_hhf.c`, which has it from fq_codel (RFC 8290, section
//! 4.2): a class that begins to send comes first, with its quantum, unless it is the heavy one.

use alloc::collections::VecDeque;

/// The class of heavy flows.
pub const HEAVY: usize = 0;
/// The class of all others.
pub const LIGHT: usize = 1;

/// Two classes that are served in turn.
#[derive(Clone, Debug)]
pub struct HeavyTurns {
    quantum: [i64; 2],
    deficit: [i64; 2],
    /// The light class has just begun to send.
    new: bool,
    /// The others that are listed, in the order of their turns.
    old: VecDeque<usize>,
}

impl HeavyTurns {
    /// Neither class has anything to send. In a turn the heavy one may send `quantum` bytes, the light one `weight`
    /// times as many; at least 1, and below 10^9 and 10^3.
    pub fn new(quantum: u64, weight: u32) -> HeavyTurns {
        let quantum = quantum as i64;
        HeavyTurns {
            quantum: [quantum, quantum * i64::from(weight)],
            deficit: [0; 2],
            new: false,
            old: VecDeque::new(),
        }
    }

    #[inline]
    fn lists(&self, class: usize) -> bool {
        (self.new && class == LIGHT) || self.old.contains(&class)
    }

    /// To be told that `class` has got a packet.
    #[inline]
    pub fn joins(&mut self, class: usize) {
        if self.lists(class) {
            return;
        }
        self.deficit[class] = self.quantum[class];
        match class {
            LIGHT => self.new = true,
            _ => self.old.push_back(class),
        }
    }

    /// Who sends next; `holds` says whether a class has anything to send.
    #[inline]
    pub fn next(&mut self, holds: impl Fn(usize) -> bool) -> Option<usize> {
        loop {
            let class = if self.new { LIGHT } else { *self.old.front()? };
            if self.deficit[class] <= 0 {
                self.deficit[class] += self.quantum[class];
                self.unlist_first();
                self.old.push_back(class);
                self.skip_rounds();
            } else if holds(class) {
                return Some(class);
            } else if self.unlist_first() && !self.old.is_empty() {
                // Not ahead again before the other had its turn.
                self.old.push_back(class);
            }
        }
    }

    /// To be told that `class` sent `bytes`.
    #[inline]
    pub fn charge(&mut self, class: usize, bytes: u32) {
        self.deficit[class] -= i64::from(bytes);
    }

    /// The bytes that `class` may still send in its turn, or owes; `None` if it has none.
    pub fn deficit(&self, class: usize) -> Option<i64> {
        self.lists(class).then_some(self.deficit[class])
    }

    /// Takes the class whose turn it is off its list; whether that was the new one's.
    fn unlist_first(&mut self) -> bool {
        if !self.new {
            self.old.pop_front();
        }
        core::mem::take(&mut self.new)
    }

    /// Grants at once the rounds in which neither could send: a packet may be millions of quanta long.
    fn skip_rounds(&mut self) {
        if self.new || self.old.iter().any(|class| self.deficit[*class] > 0) {
            return;
        }
        let rounds = self.old.iter().map(|class| -self.deficit[*class] / self.quantum[*class]).min().unwrap_or(0);
        for class in &self.old {
            self.deficit[*class] += rounds * self.quantum[*class];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As in Linux: two lists, and a grant at a time.
    #[derive(Default)]
    struct Plain {
        new: VecDeque<usize>,
        old: VecDeque<usize>,
        deficit: [i64; 2],
    }

    impl Plain {
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
            let (mut turns, mut held) = (HeavyTurns::new(quantum as u64, weight as u32), [0u32; 2]);
            let (mut plain, quantum) = (Plain::default(), [quantum, quantum * weight]);
            for (call, bytes) in calls {
                if call < 2 {
                    held[call] += 1;
                    turns.joins(call);
                    if !plain.lists(call) {
                        plain.deficit[call] = quantum[call];
                        if call == LIGHT { plain.new.push_back(call) } else { plain.old.push_back(call) }
                    }
                } else {
                    let sender = turns.next(|class| held[class] > 0);
                    prop_assert_eq!(sender, plain.next(held, quantum));
                    if let Some(class) = sender {
                        held[class] -= 1;
                        turns.charge(class, bytes);
                        plain.deficit[class] -= i64::from(bytes);
                    }
                }
                let deficits = [0, 1].map(|class| plain.lists(class).then_some(plain.deficit[class]));
                prop_assert_eq!([0, 1].map(|class| turns.deficit(class)), deficits);
            }
        }
    }
}
