//! Loss detection from gaps in sequence numbers (RFC 5348, sections 5.1 and 5.2).
//!
//! A missing packet is lost once three packets with higher numbers have arrived. Its loss is dated by interpolation
//! between its neighbors.

use std::collections::VecDeque;

use aqm::{Span, Time};

/// A packet is lost once this many with higher numbers have arrived (section 5.1).
const NDUPACK: u8 = 3;

/// The arrivals, and the gaps that may still be filled.
#[derive(Clone, Debug, Default)]
pub struct LossDetector {
    /// One beyond the highest number that arrived, and the arrival time of that packet.
    next: u32,
    newest_at: Time,
    /// Open gaps in order of numbers. A gap has counted at least as many later packets as the gap after it.
    open: VecDeque<Hole>,
}

/// Numbers `from..to` that have not arrived.
#[derive(Clone, Copy, Debug)]
struct Hole {
    from: u32,
    to: u32,
    /// The packets on either side of the gap when it opened, with their arrivals: losses are interpolated between
    /// them.
    before: (u32, Time),
    after: (u32, Time),
    /// Packets with higher numbers that arrived since.
    later: u8,
}

impl LossDetector {
    pub fn next(&self) -> u32 {
        self.next
    }

    pub fn newest_at(&self) -> Time {
        self.newest_at
    }

    /// Whether packets are missing: only then can an arrival show a loss.
    pub fn has_gaps(&self) -> bool {
        !self.open.is_empty()
    }

    /// Packet `seq` arrives; `lost` receives each packet that is now lost, with its nominal arrival time, in order. A
    /// packet that arrives after it was declared lost changes nothing, although section 5.1 allows its loss to be
    /// undone.
    pub fn arrive(&mut self, seq: u32, now: Time, mut lost: impl FnMut(u32, Time)) {
        if seq < self.next {
            self.fill(seq);
        } else {
            self.extend(seq, now);
        }
        for hole in self.open.iter_mut().take_while(|hole| hole.to <= seq) {
            hole.later += 1;
        }
        while let Some(&hole) = self.open.front()
            && hole.later >= NDUPACK
        {
            self.open.pop_front();
            (hole.from..hole.to).for_each(|missing| lost(missing, hole.nominal_arrival(missing)));
        }
    }

    fn extend(&mut self, seq: u32, now: Time) {
        if seq > self.next {
            // Before the first arrival there is no packet to interpolate from.
            let before = if self.next == 0 { (0, now) } else { (self.next - 1, self.newest_at) };
            self.open.push_back(Hole { from: self.next, to: seq, before, after: (seq, now), later: 0 });
        }
        (self.next, self.newest_at) = (seq + 1, now);
    }

    /// Removes a late packet from its gap.
    fn fill(&mut self, seq: u32) {
        let Some(at) = self.open.iter().position(|hole| (hole.from..hole.to).contains(&seq)) else { return };
        let whole = self.open[at];
        let parts = [Hole { to: seq, ..whole }, Hole { from: seq + 1, ..whole }];
        self.open.remove(at);
        for part in parts.into_iter().rev().filter(|part| part.from < part.to) {
            self.open.insert(at, part);
        }
    }
}

impl Hole {
    /// `T_loss` of section 5.2.
    fn nominal_arrival(&self, seq: u32) -> Time {
        let ((s_before, t_before), (s_after, t_after)) = (self.before, self.after);
        let share = f64::from(seq - s_before) / f64::from((s_after - s_before).max(1));
        t_before + Span::from_secs_f64((t_after - t_before).as_secs_f64() * share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Packets arrive 10 ms apart; returns each loss with the arrivals so far and its nominal arrival in ms.
    fn losses(arrivals: &[u32]) -> Vec<(usize, u32, u64)> {
        let (mut detector, mut lost) = (LossDetector::default(), Vec::new());
        for (n, &seq) in arrivals.iter().enumerate() {
            let now = at(10 * (n as u64 + 1));
            detector.arrive(seq, now, |missing, when| lost.push((n + 1, missing, when.as_nanos() / 1_000_000)));
        }
        lost
    }

    #[test]
    fn a_packet_is_lost_when_three_later_ones_have_arrived() {
        assert_eq!(losses(&[0, 1, 3, 4]), []);
        // Between packet 1 at 20 ms and packet 3 at 30 ms.
        assert_eq!(losses(&[0, 1, 3, 4, 5]), [(5, 2, 25)]);
    }

    #[test]
    fn a_late_packet_that_fills_its_gap_in_time_is_not_lost() {
        assert_eq!(losses(&[0, 2, 3, 1, 4, 5, 6]), []);
        // Of the missing packets 1 to 3, packet 2 arrives. It counts as a later arrival for packet 1.
        assert_eq!(losses(&[0, 4, 2, 5, 6]), [(4, 1, 12), (5, 3, 17)]);
    }

    #[test]
    fn packets_of_a_gap_are_lost_one_by_one() {
        assert_eq!(losses(&[0, 2, 4, 5, 6]), [(4, 1, 15), (5, 3, 25)]);
        // Packet 4 has a lower number than the gap at 5, so it does not count as a later arrival.
        assert_eq!(losses(&[0, 2, 3, 6, 4, 7]), [(4, 1, 15)]);
    }

    #[test]
    fn losses_of_a_long_gap_lie_evenly_in_it() {
        assert_eq!(losses(&[0, 5, 6, 7]), [(4, 1, 12), (4, 2, 14), (4, 3, 16), (4, 4, 18)]);
    }

    #[test]
    fn the_first_packet_can_be_lost() {
        assert_eq!(losses(&[1, 2, 3]), [(3, 0, 10)]);
    }

    proptest! {
        #[test]
        fn a_lost_packet_has_not_arrived_before_and_is_lost_once(
            order in Just((0u32..60).collect::<Vec<_>>()).prop_shuffle(),
            keep in 1usize..60,
        ) {
            let (mut detector, mut lost) = (LossDetector::default(), std::collections::BTreeSet::new());
            let mut arrived = std::collections::BTreeSet::new();
            for (n, &seq) in order[..keep].iter().enumerate() {
                arrived.insert(seq);
                let mut now_lost = Vec::new();
                detector.arrive(seq, at(n as u64), |missing, _| now_lost.push(missing));
                for missing in now_lost {
                    prop_assert!(!arrived.contains(&missing));
                    prop_assert!(arrived.range(missing..).count() >= 3);
                    prop_assert!(lost.insert(missing));
                }
                // Every packet with three later arrivals has arrived or is lost.
                for missing in (0..seq).filter(|missing| !arrived.contains(missing)) {
                    prop_assert!(lost.contains(&missing) || arrived.range(missing..).count() < 3);
                }
            }
        }
    }
}
