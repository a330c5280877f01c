//! A record of every segment outstanding: when it was sent, and whether it has arrived, is lost, or is in flight.
//!
//! Senders keep it that detect losses by time (RFC 8985), reduce in proportion (RFC 9937) or sample their rate; it takes
//! the place of the [scoreboard](super::Scoreboard), which counts duplicates with less memory. A segment is in one of
//! three states: in flight, arrived (known by a selective acknowledgement), or lost and not sent again yet. Those in
//! flight form a list in the order in which they were sent, so that the oldest are found without a search.

use std::collections::VecDeque;

use headgate_core::Time;

use super::filed::Filed;
use super::rate_sample::Snapshot;
use super::scoreboard::DUP_THRESH;
use crate::segment::Block;

/// What is known of one segment outstanding.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// When it was last sent.
    pub sent: Time,
    /// Which transmission that was, of all the connection made, from 1. RFC 8985 compares times and then sequence
    /// numbers; the order itself needs no rule for equal times.
    pub order: u32,
    /// It was sent more than once.
    pub again: bool,
    /// Where delivery stood then.
    pub then: Snapshot,
    state: State,
    /// Its neighbours in the list of those in flight; [`NONE`] at the ends.
    earlier: u32,
    later: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Arrived,
    Lost,
}

/// No segment has this number.
const NONE: u32 = u32::MAX;

/// The segments outstanding.
#[derive(Clone, Debug)]
pub struct Outstanding {
    /// The first unacknowledged segment, which `records[0]` stands for.
    base: u32,
    records: VecDeque<Record>,
    filed: Filed,
    arrived: u32,
    lost: u32,
    /// No segment below it is lost.
    lost_from: u32,
    /// None at or beyond it has arrived.
    top: u32,
    /// Below it the count of those that arrived above was taken into account.
    judged: u32,
    /// The ends of the list of those in flight.
    oldest: u32,
    newest: u32,
    /// Transmissions so far.
    sent: u32,
}

impl Default for Outstanding {
    fn default() -> Outstanding {
        Outstanding {
            base: 0,
            records: VecDeque::new(),
            filed: Filed::default(),
            arrived: 0,
            lost: 0,
            lost_from: 0,
            top: 0,
            judged: 0,
            oldest: NONE,
            newest: NONE,
            sent: 0,
        }
    }
}

impl Outstanding {
    /// How many are in flight: RFC 6675's pipe, a segment that was sent again counting once.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.records.len() as u32 - self.arrived - self.lost
    }

    /// How many have arrived.
    #[inline]
    pub fn arrived(&self) -> u32 {
        self.arrived
    }

    /// How many transmissions there have been.
    pub fn transmissions(&self) -> u32 {
        self.sent
    }

    /// The first of those lost.
    pub fn first_lost(&mut self) -> Option<u32> {
        if self.lost == 0 {
            return None;
        }
        self.lost_from = self.lost_from.max(self.base);
        while self.get(self.lost_from)?.state != State::Lost {
            self.lost_from += 1;
        }
        Some(self.lost_from)
    }

    /// `seq` was sent: the next new one, or one of those outstanding again.
    pub fn transmit(&mut self, seq: u32, now: Time, then: Snapshot) {
        self.sent += 1;
        let again = seq < self.end();
        let record = Record {
            sent: now,
            order: self.sent,
            again,
            then,
            state: State::InFlight,
            earlier: self.newest,
            later: NONE,
        };
        if again {
            match self.get(seq).map(|record| record.state) {
                Some(State::InFlight) => self.unlink(seq),
                Some(State::Lost) => self.lost -= 1,
                Some(State::Arrived) => self.arrived -= 1,
                None => return,
            }
            // Taking it out of the list may have moved the end.
            *self.at(seq) = Record { earlier: self.newest, ..record };
        } else {
            self.records.push_back(record);
        }
        match self.newest {
            NONE => self.oldest = seq,
            newest => self.at(newest).later = seq,
        }
        self.newest = seq;
    }

    /// The cumulative acknowledgement moved up to `una`; calls `delivered` with what it newly says to have arrived.
    pub fn advance(&mut self, una: u32, mut delivered: impl FnMut(u32, &Record)) {
        while self.base < una {
            let seq = self.base;
            self.leave(seq, &mut delivered);
            if self.records.pop_front().is_none() {
                return;
            }
            self.arrived -= 1;
            self.base += 1;
        }
    }

    /// Takes one block of selective acknowledgements; what lies outside is ignored.
    pub fn file(&mut self, (start, end): Block, mut delivered: impl FnMut(u32, &Record)) {
        let mut filed = std::mem::take(&mut self.filed);
        filed.news((start.max(self.base), end.min(self.end())), |seq| self.leave(seq, &mut delivered));
        self.filed = filed;
    }

    /// Marks what is lost by the count of those that arrived above (RFC 6675, IsLost), of segments sent once; calls
    /// `lost` with each.
    pub fn judge(&mut self, mut lost: impl FnMut(&Record)) {
        if self.arrived < DUP_THRESH {
            return;
        }
        let mut from_the_top = (self.base..self.top).rev().filter(|&seq| self.has(seq));
        let edge = from_the_top.nth(DUP_THRESH as usize - 1).unwrap_or(self.base);
        for seq in self.judged.max(self.base)..edge {
            if let Some(record) = self.get(seq).filter(|record| record.state == State::InFlight && !record.again) {
                lost(record);
                self.lose(seq);
            }
        }
        self.judged = self.judged.max(edge);
    }

    /// Marks lost, from the oldest on, those in flight of which `lost` says so, until it says to stop.
    pub fn lose_while(&mut self, mut lost: impl FnMut(u32, &Record) -> Verdict) {
        let mut seq = self.oldest;
        while seq != NONE {
            let record = *self.at(seq);
            match lost(seq, &record) {
                Verdict::Lost => self.lose(seq),
                Verdict::Wait => {}
                Verdict::Stop => return,
            }
            seq = record.later;
        }
    }

    /// Whether `seq` is known to have arrived.
    fn has(&self, seq: u32) -> bool {
        self.get(seq).is_some_and(|record| record.state == State::Arrived)
    }

    /// The number after the last segment sent.
    fn end(&self) -> u32 {
        self.base + self.records.len() as u32
    }

    fn get(&self, seq: u32) -> Option<&Record> {
        self.records.get(seq.checked_sub(self.base)? as usize)
    }

    fn at(&mut self, seq: u32) -> &mut Record {
        &mut self.records[(seq - self.base) as usize]
    }

    /// `seq` has arrived.
    fn leave(&mut self, seq: u32, delivered: &mut impl FnMut(u32, &Record)) {
        let Some(record) = self.get(seq).copied() else { return };
        match record.state {
            State::InFlight => self.unlink(seq),
            State::Lost => self.lost -= 1,
            State::Arrived => return,
        }
        delivered(seq, &record);
        self.arrived += 1;
        self.top = self.top.max(seq + 1);
        self.at(seq).state = State::Arrived;
    }

    fn lose(&mut self, seq: u32) {
        self.unlink(seq);
        self.at(seq).state = State::Lost;
        self.lost += 1;
        self.lost_from = self.lost_from.min(seq);
    }

    /// Takes `seq` out of the list of those in flight.
    fn unlink(&mut self, seq: u32) {
        let Record { earlier, later, .. } = *self.at(seq);
        match earlier {
            NONE => self.oldest = later,
            earlier => self.at(earlier).later = later,
        }
        match later {
            NONE => self.newest = earlier,
            later => self.at(later).earlier = earlier,
        }
    }
}

/// What is to become of a segment in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is lost.
    Lost,
    /// Not yet known.
    Wait,
    /// Nor are those that were sent after it.
    Stop,
}

#[cfg(test)]
mod tests {
    use super::*;
    use headgate_core::Span;
    use proptest::prelude::*;

    fn at(n: u64) -> Time {
        Time::ZERO + Span::from_millis(n)
    }

    fn sent(n: u32) -> Outstanding {
        let mut out = Outstanding::default();
        (0..n).for_each(|seq| out.transmit(seq, at(u64::from(seq)), Snapshot::default()));
        out
    }

    fn in_order(out: &Outstanding) -> Vec<u32> {
        let first = Some(out.oldest).filter(|seq| *seq != NONE);
        let next = |&seq: &u32| Some(out.get(seq)?.later).filter(|seq| *seq != NONE);
        std::iter::successors(first, next).collect()
    }

    #[test]
    fn those_in_flight_stand_in_the_order_in_which_they_were_sent() {
        let mut out = sent(6);
        out.lose_while(|seq, _| if seq < 2 { Verdict::Lost } else { Verdict::Stop });
        assert_eq!((in_order(&out), out.first_lost(), out.lost), (vec![2, 3, 4, 5], Some(0), 2));
        out.transmit(0, at(10), Snapshot::default());
        assert_eq!((in_order(&out), out.first_lost()), (vec![2, 3, 4, 5, 0], Some(1)));
        out.file((3, 4), |_, _| {});
        out.transmit(5, at(11), Snapshot::default());
        assert_eq!((in_order(&out), out.in_flight(), out.arrived()), (vec![2, 4, 0, 5], 4, 1));
        assert_eq!(out.get(5).map(|record| (record.order, record.again)), Some((8, true)));
    }

    #[test]
    fn a_segment_is_delivered_once_and_lost_once() {
        let mut out = sent(5);
        let mut told = Vec::new();
        out.file((2, 4), |seq, _| told.push(seq));
        out.file((2, 5), |seq, _| told.push(seq));
        out.advance(5, |seq, _| told.push(seq));
        assert_eq!((told, out.in_flight()), (vec![2, 3, 4, 0, 1], 0));
    }

    #[test]
    fn three_that_arrived_above_make_a_segment_lost_unless_it_was_sent_again() {
        let mut out = sent(8);
        let mut lost = 0;
        out.file((2, 4), |_, _| {});
        out.judge(|_| lost += 1);
        assert_eq!(lost, 0);
        out.file((5, 6), |_, _| {});
        out.judge(|_| lost += 1);
        assert_eq!((lost, out.first_lost(), out.in_flight()), (2, Some(0), 3));
        out.transmit(0, at(20), Snapshot::default());
        out.transmit(1, at(20), Snapshot::default());
        out.file((6, 8), |_, _| {});
        out.judge(|_| lost += 1);
        // 5, 6 and 7 are above 4; 0 and 1 are in flight again.
        assert_eq!((lost, out.first_lost(), out.in_flight()), (3, Some(4), 2));
    }

    proptest! {
        #[test]
        fn counts_and_order_agree_with_plain_lists(steps in prop::collection::vec((0u8..6, 0u32..40), 1..200)) {
            // The plain model: state and transmission of each segment from `una` on.
            let (mut out, mut model, mut una, mut order) = (Outstanding::default(), Vec::new(), 0u32, 0u32);
            for (what, n) in steps {
                let max = una + model.len() as u32;
                let pick = (!model.is_empty()).then(|| n as usize % model.len().max(1));
                match (what, pick) {
                    (0 | 1, _) => {
                        order += 1;
                        out.transmit(max, at(u64::from(order)), Snapshot::default());
                        model.push((State::InFlight, order));
                    }
                    (2, Some(i)) if model[i].0 != State::Arrived => {
                        order += 1;
                        out.transmit(una + i as u32, at(u64::from(order)), Snapshot::default());
                        model[i] = (State::InFlight, order);
                    }
                    (3, Some(i)) => {
                        out.file((una + i as u32, una + i as u32 + 2), |_, _| {});
                        model.iter_mut().skip(i).take(2).for_each(|m| m.0 = State::Arrived);
                    }
                    (4, Some(i)) => {
                        let before = order.saturating_sub(n);
                        out.lose_while(|_, r| if r.order <= before { Verdict::Lost } else { Verdict::Stop });
                        let old = |m: &&mut (State, u32)| m.0 == State::InFlight && m.1 <= before;
                        model.iter_mut().filter(old).for_each(|m| m.0 = State::Lost);
                        let _ = i;
                    }
                    (5, Some(i)) => {
                        una += i as u32;
                        out.advance(una, |_, _| {});
                        model.drain(..i);
                    }
                    _ => continue,
                }
                let count = |state| model.iter().filter(|m| m.0 == state).count() as u32;
                prop_assert_eq!((out.in_flight(), out.arrived(), out.lost),
                    (count(State::InFlight), count(State::Arrived), count(State::Lost)));
                let lost = model.iter().position(|m| m.0 == State::Lost);
                prop_assert_eq!(out.first_lost(), lost.map(|i| una + i as u32));
                let mut flying: Vec<_> = (una..).zip(&model).filter(|(_, m)| m.0 == State::InFlight).collect();
                flying.sort_by_key(|(_, m)| m.1);
                prop_assert_eq!(in_order(&out), flying.iter().map(|(seq, _)| *seq).collect::<Vec<_>>());
            }
        }
    }
}
