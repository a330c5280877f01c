//! Send time and order of each outstanding segment.
//!
//! RACK (RFC 8985), PRR (RFC 9937) and rate samples need the last transmission of a segment. Segments in flight form a
//! list in sending order, so the oldest are found without a search. Arrivals and losses are in
//! [`Scoreboard`](super::scoreboard::Scoreboard).

use std::collections::VecDeque;

use aqm::Time;

use super::rate_sample::DeliveryState;

/// A segment's last transmission.
#[derive(Clone, Copy, Debug)]
pub struct Transmission {
    pub sent: Time,
    /// The number of the transmission in the connection, from 1. RFC 8985 compares times and then sequence numbers;
    /// this number needs no rule for equal times.
    pub order: u32,
    /// The segment was sent more than once.
    pub retransmitted: bool,
}

/// The last transmission of one segment, and its links in the list of segments in flight.
#[derive(Clone, Copy, Debug)]
struct SegmentEntry {
    sent: Time,
    order: u32,
    /// Its neighbors among the segments in flight; [`NONE`] at the ends.
    earlier: u32,
    later: u32,
    retransmitted: bool,
    in_flight: bool,
    delivered: bool,
}

/// No segment has this number.
const NONE: u32 = u32::MAX;

/// The last transmission of each segment outstanding.
#[derive(Clone, Debug)]
pub struct Transmissions {
    /// The first unacknowledged segment: the number of `entries[0]`.
    base: u32,
    entries: VecDeque<SegmentEntry>,
    /// The delivery state at each sending; empty if rates are not sampled.
    delivery_states: VecDeque<DeliveryState>,
    /// The ends of the list of segments in flight.
    oldest: u32,
    newest: u32,
    /// Transmissions so far.
    count: u32,
}

impl Default for Transmissions {
    fn default() -> Transmissions {
        Transmissions {
            base: 0,
            entries: VecDeque::new(),
            delivery_states: VecDeque::new(),
            oldest: NONE,
            newest: NONE,
            count: 0,
        }
    }
}

impl Transmissions {
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Records the sending of `seq`, new or again. A connection passes a `delivery_state` each time or never.
    pub fn record_send(&mut self, seq: u32, now: Time, delivery_state: Option<DeliveryState>) {
        self.count += 1;
        let retransmitted = seq < self.base + self.entries.len() as u32;
        if retransmitted {
            self.unlink(seq);
        }
        let (order, earlier) = (self.count, self.newest);
        let entry =
            SegmentEntry { sent: now, order, earlier, later: NONE, retransmitted, in_flight: true, delivered: false };
        if retransmitted {
            let delivered = self.entry_mut(seq).delivered;
            *self.entry_mut(seq) = SegmentEntry { delivered, ..entry };
        } else {
            self.entries.push_back(entry);
        }
        match delivery_state {
            Some(delivery_state) if retransmitted => self.delivery_states[(seq - self.base) as usize] = delivery_state,
            Some(delivery_state) => self.delivery_states.push_back(delivery_state),
            None => {}
        }
        match self.newest {
            NONE => self.oldest = seq,
            newest => self.entry_mut(newest).later = seq,
        }
        self.newest = seq;
    }

    /// Records the arrival of `seq`. Returns its last transmission, or `None` if it had arrived before.
    pub fn record_arrival(&mut self, seq: u32) -> Option<Transmission> {
        let entry = self.entry_mut(seq);
        let SegmentEntry { sent, order, retransmitted, .. } = *entry;
        let already_delivered = std::mem::replace(&mut entry.delivered, true);
        self.unlink(seq);
        (!already_delivered).then_some(Transmission { sent, order, retransmitted })
    }

    /// Advances the cumulative acknowledgement to `una`: all before have [arrived](Transmissions::record_arrival).
    pub fn advance(&mut self, una: u32) {
        for _ in self.base..una {
            self.entries.pop_front();
            self.delivery_states.pop_front();
        }
        self.base = una;
    }

    /// Records the loss of `seq`.
    pub fn record_loss(&mut self, seq: u32) {
        self.unlink(seq);
    }

    /// The number of retransmissions in flight.
    pub fn retransmissions_in_flight(&self) -> u32 {
        self.entries.iter().filter(|entry| entry.in_flight && entry.retransmitted).count() as u32
    }

    /// Puts all segments that were taken for lost back in flight, where their last transmission stands in order.
    pub fn restore_lost(&mut self) {
        // The latest segment first: the earlier ones then usually come just before it.
        for seq in (self.base..self.base + self.entries.len() as u32).rev() {
            let SegmentEntry { in_flight, delivered, .. } = *self.entry_mut(seq);
            if !in_flight && !delivered {
                self.link(seq);
            }
        }
    }

    /// Adds `seq` to the list of segments in flight.
    fn link(&mut self, seq: u32) {
        let order = self.entry_mut(seq).order;
        let (mut earlier, mut later) = (NONE, self.oldest);
        while later != NONE && self.entry_mut(later).order < order {
            (earlier, later) = (later, self.entry_mut(later).later);
        }
        let entry = self.entry_mut(seq);
        (entry.in_flight, entry.earlier, entry.later) = (true, earlier, later);
        match earlier {
            NONE => self.oldest = seq,
            earlier => self.entry_mut(earlier).later = seq,
        }
        match later {
            NONE => self.newest = seq,
            later => self.entry_mut(later).earlier = seq,
        }
    }

    /// Asks `decide` about each segment in flight, oldest first, and takes the lost ones out of flight.
    pub fn scan_in_flight(&mut self, mut decide: impl FnMut(&Transmissions, u32) -> LossDecision) {
        let mut seq = self.oldest;
        while seq != NONE {
            let later = self.entry_mut(seq).later;
            match decide(self, seq) {
                LossDecision::Lost => self.unlink(seq),
                LossDecision::Wait => {}
                LossDecision::Stop => return,
            }
            seq = later;
        }
    }

    /// The last transmission of `seq`.
    #[inline]
    pub fn transmission(&self, seq: u32) -> Transmission {
        let SegmentEntry { sent, order, retransmitted, .. } = self.entries[(seq - self.base) as usize];
        Transmission { sent, order, retransmitted }
    }

    /// The delivery state when `seq` was last sent, if the congestion control samples rates.
    pub fn delivery_state(&self, seq: u32) -> DeliveryState {
        self.delivery_states.get((seq - self.base) as usize).copied().unwrap_or_default()
    }

    fn entry_mut(&mut self, seq: u32) -> &mut SegmentEntry {
        &mut self.entries[(seq - self.base) as usize]
    }

    /// Removes `seq` from the list of segments in flight, if it is there.
    fn unlink(&mut self, seq: u32) {
        let entry = self.entry_mut(seq);
        if !std::mem::replace(&mut entry.in_flight, false) {
            return;
        }
        let SegmentEntry { earlier, later, .. } = *entry;
        match earlier {
            NONE => self.oldest = later,
            earlier => self.entry_mut(earlier).later = later,
        }
        match later {
            NONE => self.newest = earlier,
            later => self.entry_mut(later).earlier = earlier,
        }
    }
}

/// The result of checking one segment in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDecision {
    Lost,
    /// Not yet lost.
    Wait,
    /// Not yet lost, and the later segments need no check.
    Stop,
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::Span;
    use proptest::prelude::*;

    fn at(n: u64) -> Time {
        Time::ZERO + Span::from_millis(n)
    }

    fn in_order(sent: &Transmissions) -> Vec<u32> {
        let first = Some(sent.oldest).filter(|seq| *seq != NONE);
        let next = |&seq: &u32| Some(sent.entries[(seq - sent.base) as usize].later).filter(|seq| *seq != NONE);
        std::iter::successors(first, next).collect()
    }

    #[test]
    fn segments_in_flight_stand_in_the_order_in_which_they_were_sent() {
        let mut sent = Transmissions::default();
        (0..6).for_each(|seq| sent.record_send(seq, at(u64::from(seq)), None));
        sent.scan_in_flight(|_, seq| if seq < 2 { LossDecision::Lost } else { LossDecision::Stop });
        assert_eq!(in_order(&sent), [2, 3, 4, 5]);
        sent.record_send(0, at(10), None);
        assert_eq!(in_order(&sent), [2, 3, 4, 5, 0]);
        assert!(sent.record_arrival(3).is_some() && sent.record_arrival(3).is_none());
        sent.record_send(5, at(11), None);
        assert_eq!(in_order(&sent), [2, 4, 0, 5]);
        let transmission = sent.transmission(5);
        assert_eq!((transmission.order, transmission.retransmitted, transmission.sent), (8, true, at(11)));
    }

    proptest! {
        #[test]
        fn the_order_agrees_with_a_plain_list(steps in prop::collection::vec((0u8..6, 0u32..40), 1..200)) {
            // The plain model: for each segment from `una` on, its transmission if the segment is in flight.
            let (mut sent, mut model, mut una) = (Transmissions::default(), Vec::new(), 0u32);
            for (what, n) in steps {
                let pick = (!model.is_empty()).then(|| n as usize % model.len().max(1));
                match (what, pick) {
                    (0 | 1, _) => {
                        sent.record_send(una + model.len() as u32, at(1), None);
                        model.push(Some(sent.count()));
                    }
                    (2, Some(i)) => {
                        sent.record_send(una + i as u32, at(2), None);
                        model[i] = Some(sent.count());
                    }
                    (3, Some(i)) => {
                        sent.record_arrival(una + i as u32);
                        model[i] = None;
                    }
                    (4, _) => {
                        let before = sent.count().saturating_sub(n);
                        sent.scan_in_flight(|sent, seq| if sent.transmission(seq).order <= before { LossDecision::Lost } else { LossDecision::Stop });
                        model.iter_mut().for_each(|order| *order = order.filter(|order| *order > before));
                    }
                    (5, Some(i)) => {
                        (0..i as u32).for_each(|i| _ = sent.record_arrival(una + i));
                        una += i as u32;
                        sent.advance(una);
                        model.drain(..i);
                    }
                    _ => continue,
                }
                let mut flying: Vec<_> = (una..).zip(&model).filter(|(_, order)| order.is_some()).collect();
                flying.sort_by_key(|(_, order)| **order);
                prop_assert_eq!(in_order(&sent), flying.iter().map(|(seq, _)| *seq).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn an_entry_fills_24_bytes() {
        assert_eq!(size_of::<SegmentEntry>(), 24);
    }
}
