//! The SACK scoreboard: which outstanding segments have arrived, which are lost, which were sent again (RFC 6675).
//!
//! It spans from the first unacknowledged segment to the highest one known to have arrived, and keeps its counts as it
//! changes, so that `pipe` is never computed by a scan.

use std::collections::VecDeque;

use super::filed::Filed;
use crate::segment::Block;

/// Segments that must have arrived above one before it counts as lost (RFC 6675, section 2).
pub const DUP_THRESH: u32 = 3;

/// What selective acknowledgements have told of the segments outstanding.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    /// The first unacknowledged segment, which `arrived[0]` stands for.
    base: u32,
    arrived: VecDeque<bool>,
    filed: Filed,
    /// How many of them have arrived.
    sacked: u32,
    /// Below it, what has not arrived is lost.
    lost_below: u32,
    /// How many segments are lost.
    lost: u32,
    /// Below it, what had not arrived was sent again: RFC 6675's HighRxt, plus one.
    resent_below: u32,
    /// How many segments below it have not arrived.
    resent: u32,
    /// A rescue retransmission may be made once all below it are acknowledged, and more: RFC 6675's RescueRxt, plus
    /// one.
    rescue_above: u32,
}

impl Scoreboard {
    /// How many outstanding segments have arrived.
    #[inline]
    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    /// How many of those from `seq` on have arrived.
    pub fn sacked_from(&self, seq: u32) -> u32 {
        let below = self.arrived.iter().take((seq - self.base) as usize).filter(|arrived| **arrived).count();
        self.sacked - below as u32
    }

    /// The number after the highest segment known to have arrived; `base` if there is none.
    pub fn end(&self) -> u32 {
        self.base + self.arrived.len() as u32
    }

    /// Whether `seq` is known to have arrived.
    pub fn has(&self, seq: u32) -> bool {
        seq.checked_sub(self.base).and_then(|i| self.arrived.get(i as usize)).is_some_and(|arrived| *arrived)
    }

    /// Whether `seq` is lost: enough segments above it have arrived (RFC 6675, IsLost).
    pub fn is_lost(&self, seq: u32) -> bool {
        seq < self.lost_below && !self.has(seq)
    }

    /// Segments in the network, of `base..max` (RFC 6675, SetPipe).
    pub fn pipe(&self, max: u32) -> u32 {
        max - self.base - self.sacked - self.lost + self.resent
    }

    /// The cumulative acknowledgement moved up to `una`.
    pub fn advance(&mut self, una: u32) {
        while self.base < una {
            let arrived = self.arrived.pop_front();
            match arrived {
                Some(true) => self.sacked -= 1,
                _ => self.leaves(self.base),
            }
            self.base += 1;
            if self.arrived.is_empty() {
                // Nothing beyond is known: the rest of the way needs no steps unless something there was sent again.
                self.base = if self.resent == 0 && self.lost == 0 { una.max(self.base) } else { self.base };
            }
        }
        self.lost_below = self.lost_below.max(self.base);
        self.resent_below = self.resent_below.max(self.base);
    }

    /// Takes one block of an acknowledgement (RFC 6675, Update); what lies outside `base..max` is ignored. Says
    /// whether it told anything new.
    pub fn file(&mut self, (start, end): Block, max: u32) -> bool {
        let (start, end) = (start.max(self.base), end.min(max));
        if start >= end {
            return false;
        }
        let before = self.sacked;
        if end > self.end() {
            self.arrived.resize((end - self.base) as usize, false);
        }
        let mut filed = std::mem::take(&mut self.filed);
        filed.news((start, end), |seq| {
            let arrived = &mut self.arrived[(seq - self.base) as usize];
            if !std::mem::replace(arrived, true) {
                self.sacked += 1;
                self.leaves(seq);
            }
        });
        self.filed = filed;
        self.sacked > before
    }

    /// Moves the edge of what is lost; call it after the blocks of an acknowledgement were filed.
    pub fn judge(&mut self) {
        if self.sacked < DUP_THRESH {
            return;
        }
        let highest_first = self.arrived.iter().enumerate().rev().filter(|(_, arrived)| **arrived);
        let third = highest_first.map(|(i, _)| self.base + i as u32).nth(DUP_THRESH as usize - 1);
        let edge = third.unwrap_or(self.base);
        while self.lost_below < edge {
            self.lost += u32::from(!self.has(self.lost_below));
            self.lost_below += 1;
        }
    }

    /// The first lost segment that was not yet sent again (RFC 6675, NextSeg, rule 1).
    pub fn next_lost(&self) -> Option<u32> {
        (self.resent_below.max(self.base)..self.lost_below.min(self.end())).find(|&seq| !self.has(seq))
    }

    /// The first segment below the highest arrived that has not arrived and was not sent again (NextSeg, rule 3).
    pub fn next_hole(&self) -> Option<u32> {
        (self.resent_below.max(self.base)..self.end()).find(|&seq| !self.has(seq))
    }

    /// `seq` was sent again: it is the highest so far.
    pub fn resend(&mut self, seq: u32) {
        while self.resent_below <= seq {
            self.resent += u32::from(!self.has(self.resent_below));
            self.resent_below += 1;
        }
    }

    /// Once a recovery, which ends at `recover`: the last of `base..max` that has not arrived, lest its loss go unseen
    /// until the timer (NextSeg, rule 4).
    pub fn rescue(&mut self, max: u32, recover: u32) -> Option<u32> {
        if self.base <= self.rescue_above {
            return None;
        }
        let last = (self.base..max).rev().find(|&seq| !self.has(seq))?;
        self.rescue_above = recover;
        Some(last)
    }

    /// When a recovery begins, forgets what was sent again, and sends the first segment again (RFC 6675, section 5,
    /// step 4.3 sets HighRxt and RescueRxt to it).
    pub fn begin(&mut self) {
        (self.resent_below, self.resent) = (self.base, 0);
        self.rescue_above = self.base + 1;
        self.resend(self.base);
    }

    /// Forgets everything beyond `base`: after a timeout the receiver may have thrown it away (RFC 2018, section 5).
    pub fn clear(&mut self) {
        *self = Scoreboard { base: self.base, lost_below: self.base, resent_below: self.base, ..Scoreboard::default() };
    }

    /// `seq`, which had not arrived, leaves the counts of those outstanding.
    fn leaves(&mut self, seq: u32) {
        self.lost -= u32::from(seq < self.lost_below);
        self.resent -= u32::from(seq < self.resent_below);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 6675's SetPipe, word by word, over plain sets.
    fn pipe_by_scan(board: &Scoreboard, arrived: &[bool], una: u32, max: u32) -> u32 {
        let above = |seq: u32| arrived[seq as usize + 1..max as usize].iter().filter(|a| **a).count() as u32;
        (una..max)
            .filter(|seq| !arrived[*seq as usize])
            .map(|seq| u32::from(above(seq) < DUP_THRESH) + u32::from(seq < board.resent_below))
            .sum()
    }

    proptest! {
        #[test]
        fn pipe_agrees_with_a_scan(steps in prop::collection::vec((0u8..4, 0u32..60, 1u32..8), 1..80)) {
            let max = 60;
            let mut board = Scoreboard::default();
            let mut arrived = vec![false; max as usize];
            let mut una = 0;
            for (what, start, length) in steps {
                match what {
                    0 | 1 if start > una => {
                        let end = (start + length).min(max);
                        board.file((start, end), max);
                        board.judge();
                        arrived[start as usize..end as usize].fill(true);
                    }
                    2 => {
                        if let Some(seq) = board.next_hole() {
                            board.resend(seq);
                        }
                    }
                    3 if start > una => {
                        una = start + arrived[start as usize..].iter().take_while(|a| **a).count() as u32;
                        board.advance(una);
                    }
                    _ => continue,
                }
                prop_assert_eq!(board.pipe(max), pipe_by_scan(&board, &arrived, una, max));
                prop_assert_eq!(board.sacked() as usize, arrived[una as usize..].iter().filter(|a| **a).count());
            }
        }
    }

    #[test]
    fn a_segment_is_lost_once_three_above_it_have_arrived() {
        let mut board = Scoreboard::default();
        for (block, lost) in [((1, 2), false), ((3, 4), false), ((5, 6), true)] {
            assert!(board.file(block, 10));
            board.judge();
            assert_eq!(board.is_lost(0), lost);
        }
        assert!(!board.is_lost(2) && !board.is_lost(4));
        assert!(!board.file((5, 6), 10), "it told nothing new");
    }
}
