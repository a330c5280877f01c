//! The scoreboard of a SACK sender: the state of each outstanding segment (RFC 6675).
//!
//! A segment is in flight, lost, retransmitted, or has arrived ([`SegmentState`]). One byte per segment holds that
//! state. Segments beyond the stored states are in flight or, after a timeout, lost. A flow without losses therefore
//! stores nothing.
//!
//! Counters of the states give `pipe`, the number of segments in flight, without a scan. Every SACK sender keeps a
//! scoreboard, whether it detects losses by count or by time. Send times are in
//! [`Transmissions`](super::transmissions::Transmissions).
//!
//! | RFC 6675 | here |
//! | --- | --- |
//! | HighACK | `base`, less one |
//! | Update | [`on_ack`](Scoreboard::on_ack) |
//! | IsLost | [`detect_losses`](Scoreboard::detect_losses) |
//! | SetPipe | [`pipe`](Scoreboard::pipe) |
//! | HighRxt | `retransmit_from`: segments below it have arrived or were retransmitted |
//! | RescueRxt | `rescue_from`, less two |
//! | NextSeg | [`Scoreboard::first_lost`], new data, [`Scoreboard::next_hole`], [`Scoreboard::rescue`] |

use std::collections::VecDeque;

use super::Ack;
use super::recent_blocks::RecentBlocks;
use crate::segment::SackBlock;

/// Later arrivals that make a segment count as lost (RFC 6675, section 2).
pub const DUP_THRESH: u32 = 3;

/// The state of one outstanding segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SegmentState {
    /// Sent once, and not known to be lost.
    InFlight,
    /// Lost and not yet retransmitted.
    Lost,
    /// Lost, retransmitted, and in flight again.
    Retransmitted,
    /// Retransmitted while the first transmission may still be in flight: both count.
    InFlightTwice,
    Arrived,
}

#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    /// The first unacknowledged segment: the number of `states[0]`.
    base: u32,
    states: VecDeque<SegmentState>,
    recent_blocks: RecentBlocks,
    /// A timeout declared all segments below this number lost. Segments beyond `states` are lost below it, and in
    /// flight from it on.
    lost_below: u32,
    /// The number of segments in each of these states.
    arrived: u32,
    lost: u32,
    in_flight_twice: u32,
    /// Loss detection by count has judged all segments below this number.
    judged_below: u32,
    /// No lost segment below it waits for retransmission.
    retransmit_from: u32,
    /// A rescue retransmission is allowed once all segments below it are acknowledged.
    rescue_from: u32,
}

impl Scoreboard {
    #[inline]
    pub fn arrived(&self) -> u32 {
        self.arrived
    }

    /// Whether lost segments wait for retransmission.
    #[inline]
    pub fn any_lost(&self) -> bool {
        self.lost > 0
    }

    /// Segments found lost: waiting for their retransmission, and retransmitted. Scans the stored states.
    pub fn lost_and_retransmitted(&self) -> (u32, u32) {
        let retransmitted = self.states.iter().filter(|state| **state == SegmentState::Retransmitted).count();
        (self.lost, retransmitted as u32)
    }

    /// Transmissions in flight among the segments before `next_new` (RFC 6675, SetPipe).
    #[inline]
    pub fn pipe(&self, next_new: u32) -> u32 {
        next_new - self.base - self.arrived - self.lost + self.in_flight_twice
    }

    /// Whether enough later segments have arrived to call `seq` lost (IsLost), retransmitted or not.
    pub fn is_lost(&self, seq: u32) -> bool {
        seq < self.judged_below && self.state(seq) != SegmentState::Arrived
    }

    /// The first lost segment not yet retransmitted (NextSeg, rule 1).
    #[inline]
    pub fn first_lost(&mut self) -> Option<u32> {
        if self.lost == 0 { None } else { self.find(SegmentState::Lost) }
    }

    /// The first segment below the highest arrived that has neither arrived nor been retransmitted (NextSeg, rule 3).
    pub fn next_hole(&mut self) -> Option<u32> {
        self.find(SegmentState::InFlight)
    }

    /// The segment for a rescue retransmission: the last one before `next_new` that has not arrived (NextSeg, rule 4).
    /// Too few later segments can arrive to show its loss, so otherwise only the timer would repair it. A recovery has
    /// at most one rescue: the next is allowed when `recover`, where this recovery ends, is acknowledged.
    pub fn rescue(&mut self, next_new: u32, recover: u32) -> Option<u32> {
        if self.base < self.rescue_from {
            return None;
        }
        let last = (self.base..next_new).rev().find(|&seq| self.state(seq) != SegmentState::Arrived)?;
        self.rescue_from = recover + 1;
        Some(last)
    }

    /// Records a retransmission of `seq`. A segment that was not known to be lost still counts once in `pipe`.
    pub fn record_retransmission(&mut self, seq: u32) {
        if self.state(seq) == SegmentState::Lost {
            *self.state_mut(seq) = SegmentState::Retransmitted;
            self.lost -= 1;
        }
    }

    /// Records a retransmission of `seq`, a hole. Both transmissions count in `pipe` until the segment is known to be
    /// lost (SetPipe, steps a and b).
    pub fn record_hole_retransmission(&mut self, seq: u32) {
        *self.state_mut(seq) = SegmentState::InFlightTwice;
        self.in_flight_twice += 1;
    }

    /// Applies an acknowledgement to the segments before `next_new` (Update); calls `delivered` with each new arrival.
    /// Returns whether its SACK blocks report new arrivals.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, next_new: u32, mut delivered: impl FnMut(u32)) -> bool {
        self.advance(ack.ack, &mut delivered);
        let Some(blocks) = ack.blocks else { return false };
        let before = self.arrived;
        blocks.into_iter().for_each(|block| self.apply_block(block, next_new, &mut delivered));
        self.arrived > before
    }

    /// Advances the cumulative acknowledgement to `una`.
    #[inline]
    fn advance(&mut self, una: u32, mut delivered: impl FnMut(u32)) {
        while self.base < una {
            let state = self.states.pop_front().unwrap_or_else(|| self.implied_state(self.base));
            self.uncount(state);
            match state {
                SegmentState::Arrived => self.arrived -= 1,
                _ => delivered(self.base),
            }
            self.base += 1;
        }
    }

    /// Applies one SACK block; ignores segments that are not outstanding.
    fn apply_block(&mut self, (start, end): SackBlock, next_new: u32, mut delivered: impl FnMut(u32)) {
        let (start, end) = (start.max(self.base), end.min(next_new));
        if start >= end || self.recent_blocks.contain((start, end)) {
            return;
        }
        let mut next = start;
        while let Some(seq) = self.recent_blocks.first_new((next, end)) {
            let state = std::mem::replace(self.state_mut(seq), SegmentState::Arrived);
            if state != SegmentState::Arrived {
                self.uncount(state);
                self.arrived += 1;
                delivered(seq);
            }
            next = seq + 1;
        }
        self.recent_blocks.remember((start, end));
    }

    /// Finds losses by the number of later arrivals (IsLost); calls `lost` with each. The loss of a retransmission is
    /// not detected.
    pub fn detect_losses(&mut self, mut lost: impl FnMut(u32)) {
        if self.arrived < DUP_THRESH {
            return;
        }
        let highest_first = self.states.iter().enumerate().rev().filter(|(_, state)| **state == SegmentState::Arrived);
        let third = highest_first.map(|(i, _)| self.base + i as u32).nth(DUP_THRESH as usize - 1);
        let edge = third.unwrap_or(self.base);
        for seq in self.judged_below.max(self.base)..edge {
            match self.state(seq) {
                SegmentState::InFlight => {
                    self.record_loss(seq);
                    lost(seq);
                }
                SegmentState::InFlightTwice => {
                    *self.state_mut(seq) = SegmentState::Retransmitted;
                    self.in_flight_twice -= 1;
                }
                SegmentState::Lost | SegmentState::Retransmitted | SegmentState::Arrived => {}
            }
        }
        self.judged_below = self.judged_below.max(edge);
    }

    /// Records the loss of `seq`, which is in flight.
    pub fn record_loss(&mut self, seq: u32) {
        *self.state_mut(seq) = SegmentState::Lost;
        self.lost += 1;
        self.retransmit_from = self.retransmit_from.min(seq);
    }

    /// Takes back all losses that wait for a retransmission: the segments are in flight.
    pub fn forget_losses(&mut self) {
        self.states
            .iter_mut()
            .filter(|state| **state == SegmentState::Lost)
            .for_each(|state| *state = SegmentState::InFlight);
        (self.lost, self.lost_below, self.judged_below) = (0, 0, self.base);
    }

    /// Begins a recovery and forgets earlier retransmissions: those segments are lost again. HighRxt and RescueRxt
    /// restart at the first segment (section 5, step 4.3). Calls `lost` with each newly lost segment.
    pub fn begin_recovery(&mut self, mut lost: impl FnMut(u32)) {
        for seq in self.base..self.end() {
            match self.state(seq) {
                SegmentState::Retransmitted => {
                    self.record_loss(seq);
                    lost(seq);
                }
                SegmentState::InFlightTwice => {
                    *self.state_mut(seq) = SegmentState::InFlight;
                    self.in_flight_twice -= 1;
                }
                SegmentState::InFlight | SegmentState::Lost | SegmentState::Arrived => {}
            }
        }
        (self.retransmit_from, self.rescue_from) = (self.base, self.base + 2);
    }

    /// Retransmission timeout: all segments before `next_new` are lost, even arrived ones, since the receiver may have
    /// discarded them (RFC 2018, section 5).
    pub fn lose_all(&mut self, next_new: u32) {
        let (base, lost) = (self.base, next_new - self.base);
        let states = std::mem::take(&mut self.states);
        *self = Scoreboard { base, lost, lost_below: next_new, retransmit_from: base, ..Scoreboard::default() };
        self.states = states;
        self.states.clear();
    }

    fn state(&self, seq: u32) -> SegmentState {
        self.states.get((seq - self.base) as usize).copied().unwrap_or_else(|| self.implied_state(seq))
    }

    /// The state of a segment beyond `states`.
    fn implied_state(&self, seq: u32) -> SegmentState {
        if seq < self.lost_below { SegmentState::Lost } else { SegmentState::InFlight }
    }

    fn state_mut(&mut self, seq: u32) -> &mut SegmentState {
        while self.end() <= seq {
            let state = self.implied_state(self.end());
            self.states.push_back(state);
        }
        &mut self.states[(seq - self.base) as usize]
    }

    /// The number after the last segment with a stored state.
    fn end(&self) -> u32 {
        self.base + self.states.len() as u32
    }

    /// Updates the counts for the arrival of a segment that was in `state`.
    fn uncount(&mut self, state: SegmentState) {
        match state {
            SegmentState::Lost => self.lost -= 1,
            SegmentState::InFlightTwice => self.in_flight_twice -= 1,
            SegmentState::InFlight | SegmentState::Retransmitted | SegmentState::Arrived => {}
        }
    }

    /// The first segment in `state` from `retransmit_from` on.
    fn find(&mut self, state: SegmentState) -> Option<u32> {
        let end = self.end().max(self.lost_below);
        let found = (self.retransmit_from.max(self.base)..end).find(|&seq| self.state(seq) == state);
        self.retransmit_from = found.unwrap_or(end);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sacked(blocks: [SackBlock; 3]) -> Ack {
        Ack { blocks: Some(blocks), ..Ack::default() }
    }

    #[test]
    fn a_segment_is_delivered_once() {
        let (mut out, mut delivered) = (Scoreboard::default(), Vec::new());
        assert!(out.on_ack(&sacked([(2, 4), (0, 0), (0, 0)]), 5, |seq| delivered.push(seq)));
        assert!(
            out.on_ack(&sacked([(2, 9), (0, 0), (0, 0)]), 5, |seq| delivered.push(seq)),
            "5 and more were never sent"
        );
        assert!(!out.on_ack(&sacked([(2, 5), (0, 0), (0, 0)]), 5, |seq| delivered.push(seq)), "nothing new");
        out.on_ack(&Ack { ack: 5, ..Ack::default() }, 5, |seq| delivered.push(seq));
        assert_eq!((delivered, out.pipe(5), out.arrived()), (vec![2, 3, 4, 0, 1], 0, 0));
    }

    #[test]
    fn three_later_arrivals_make_a_segment_lost_unless_it_was_retransmitted() {
        let (mut out, mut lost) = (Scoreboard::default(), 0);
        out.on_ack(&sacked([(2, 4), (0, 0), (0, 0)]), 8, |_| {});
        out.detect_losses(|_| lost += 1);
        assert_eq!(lost, 0);
        out.on_ack(&sacked([(5, 6), (2, 4), (0, 0)]), 8, |_| {});
        out.detect_losses(|_| lost += 1);
        assert_eq!((lost, out.first_lost(), out.pipe(8)), (2, Some(0), 3));
        out.record_retransmission(0);
        out.record_retransmission(1);
        out.on_ack(&sacked([(5, 8), (2, 4), (0, 0)]), 8, |_| {});
        out.detect_losses(|_| lost += 1);
        // Segments 5, 6 and 7 arrived after 4, so 4 is lost. Segments 0 and 1 are in flight again.
        assert_eq!((lost, out.first_lost(), out.pipe(8)), (3, Some(4), 2));
    }

    #[test]
    fn a_timeout_loses_all_segments_and_a_new_recovery_forgets_retransmissions() {
        let mut out = Scoreboard::default();
        out.on_ack(&sacked([(3, 4), (0, 0), (0, 0)]), 5, |_| {});
        out.lose_all(5);
        assert_eq!((out.arrived(), out.pipe(5), out.first_lost()), (0, 0, Some(0)));
        (0..3).for_each(|seq| out.record_retransmission(seq));
        out.on_ack(&sacked([(3, 4), (0, 0), (0, 0)]), 5, |_| {});
        assert_eq!((out.pipe(5), out.first_lost()), (3, Some(4)), "3 has arrived after all");
        let mut anew = Vec::new();
        out.begin_recovery(|seq| anew.push(seq));
        assert_eq!((anew, out.pipe(5), out.first_lost()), (vec![0, 1, 2], 0, Some(0)));
    }

    /// RFC 6675's SetPipe, literally: a segment that has not arrived counts unless it is lost (step a), and once more
    /// if it was retransmitted (step b).
    fn pipe_by_scan(arrived: &[bool], again: &[bool], una: u32, next_new: u32) -> u32 {
        let above = |seq: u32| arrived[seq as usize + 1..next_new as usize].iter().filter(|a| **a).count() as u32;
        let counts = |seq: u32| u32::from(above(seq) < DUP_THRESH) + u32::from(again[seq as usize]);
        (una..next_new).filter(|seq| !arrived[*seq as usize]).map(counts).sum()
    }

    proptest! {
        #[test]
        fn pipe_agrees_with_a_scan_and_nextseg_with_the_rfc(steps in prop::collection::vec((0u8..4, 0u32..60, 1u32..8), 1..80)) {
            let next_new = 60;
            let mut out = Scoreboard::default();
            let (mut arrived, mut again) = (vec![false; next_new as usize], vec![false; next_new as usize]);
            let mut una = 0;
            for (what, start, length) in steps {
                match what {
                    0 | 1 if start > una => {
                        let end = (start + length).min(next_new);
                        out.on_ack(&Ack { ack: una, ..sacked([(start, end), (0, 0), (0, 0)]) }, next_new, |_| {});
                        out.detect_losses(|_| {});
                        arrived[start as usize..end as usize].fill(true);
                    }
                    2 => {
                        let lost = out.first_lost();
                        let next_hole = lost.or_else(|| out.next_hole());
                        // The first segment below the highest arrived one that has neither arrived nor been
                        // retransmitted.
                        let top = (una..next_new).rev().find(|&seq| arrived[seq as usize]).unwrap_or(una);
                        let open = |&seq: &u32| !arrived[seq as usize] && !again[seq as usize];
                        prop_assert_eq!(next_hole, (una..top).find(open));
                        match (lost, next_hole) {
                            (Some(seq), _) => out.record_retransmission(seq),
                            (None, Some(seq)) => out.record_hole_retransmission(seq),
                            (None, None) => continue,
                        }
                        again[next_hole.unwrap() as usize] = true;
                    }
                    3 if start > una => {
                        una = start + arrived[start as usize..].iter().take_while(|a| **a).count() as u32;
                        out.on_ack(&Ack { ack: una, ..Ack::default() }, next_new, |_| {});
                    }
                    _ => continue,
                }
                prop_assert_eq!(out.pipe(next_new), pipe_by_scan(&arrived, &again, una, next_new));
                prop_assert_eq!(out.arrived() as usize, arrived[una as usize..].iter().filter(|a| **a).count());
            }
        }
    }

    #[test]
    fn the_scoreboard_fills_88_bytes_and_a_byte_a_segment() {
        assert_eq!((size_of::<Scoreboard>(), size_of::<SegmentState>()), (88, 1));
    }
}
