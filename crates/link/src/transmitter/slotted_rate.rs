//! Slots of a rate.

use aqm::{Rate, Span, Time};
use headgate_measure::CapacityUse;

/// Work of a byte: bits x 10^9 (nanoseconds x bit/s).
const BYTE: u128 = 8_000_000_000;

/// Slots of equal length, as in 5G. A packet that is queued when a slot begins is sent in it. Bytes of a slot are lost if no
/// packet is queued to use them. A packet larger than the rest of a slot continues in the next.
#[derive(Debug)]
pub(super) struct SlottedRate {
    /// Length of a slot in nanoseconds, and its work.
    length: u64,
    slot_work: u128,
    /// The next slot. Slot k begins at k times the length.
    next: u64,
    /// Begin of the slot in use, and its remaining bytes.
    current: (Time, u64),
    /// Bytes sent before the latest packets, and the latest packets, which use successive slots.
    sent_before: u64,
    latest: u64,
    /// The first slot of the latest packets.
    latest_first: u64,
}

impl SlottedRate {
    pub(super) fn new(rate: Rate, length: Span) -> SlottedRate {
        let length = length.as_nanos();
        SlottedRate {
            length,
            slot_work: u128::from(rate.as_bits()) * u128::from(length),
            next: 0,
            current: (Time::NEVER, 0),
            sent_before: 0,
            latest: 0,
            latest_first: 0,
        }
    }

    /// Whole bytes that the first `slots` slots carry together. The remainder of each goes to the next.
    fn capacity(&self, slots: u64) -> u64 {
        u64::try_from(self.slot_work * u128::from(slots) / BYTE).unwrap_or(u64::MAX)
    }

    /// Number of slots that begin before `now`.
    fn begun_before(&self, now: Time) -> u64 {
        now.as_nanos().div_ceil(self.length)
    }

    /// Bytes of the latest packets whose slots begin before `now`.
    fn sent_of_latest(&self, now: Time) -> u64 {
        let begun = self.begun_before(now).max(self.latest_first);
        self.latest.min(self.capacity(begun) - self.capacity(self.latest_first))
    }

    /// Bytes of slots that begin before `now`: sent, and in all. No packet can use the slot at the start.
    pub(super) fn used(&self, now: Time) -> CapacityUse {
        let capacity = self.capacity(self.begun_before(now).max(1)) - self.capacity(1);
        let sent = self.sent_before + self.sent_of_latest(now);
        let work = |bytes: u64| u128::from(bytes) * BYTE;
        CapacityUse { sent: work(sent), capacity: work(capacity) }
    }

    /// Counts a packet that is taken at `now`. If it follows others in a slot, they share that slot.
    fn count(&mut self, bytes: u64, now: Time) {
        let follows = self.current.0 == now;
        let sent = if follows { self.sent_of_latest(now) } else { self.latest };
        self.latest_first = if follows { self.begun_before(now) } else { self.next };
        self.sent_before += sent;
        self.latest = self.latest - sent + bytes;
    }

    /// Begin of the slot in which the last byte of a packet is sent. The packet arrives a slot later.
    pub(super) fn transmission_end(&mut self, now: Time, bytes: u32) -> Time {
        let bytes = u64::from(bytes);
        if self.current.0 != now {
            // A slot that begins now is filled already.
            self.next = self.next.max(now.as_nanos() / self.length + 1);
            self.current.1 = 0;
        }
        self.count(bytes, now);
        let (moment, left) = self.current;
        if moment == now && bytes <= left {
            self.current.1 = left - bytes;
            return now;
        }
        let end = u128::from(self.capacity(self.next)) + u128::from(bytes - self.current.1);
        let slots = u64::try_from((end * BYTE).div_ceil(self.slot_work)).unwrap_or(u64::MAX).max(self.next + 1);
        self.current = (
            Time::from_nanos((slots - 1).saturating_mul(self.length)),
            self.capacity(slots) - u64::try_from(end).unwrap_or(u64::MAX).min(self.capacity(slots)),
        );
        self.next = slots;
        self.current.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// Slots of 500 us at 24 Mbit/s: 1500 bytes each.
    fn slots() -> SlottedRate {
        SlottedRate::new(Rate::from_bits(24_000_000), Span::from_micros(500))
    }

    #[test]
    fn a_packet_waits_for_the_next_slot_and_may_continue_in_the_one_after() {
        let mut slots = slots();
        assert_eq!(slots.transmission_end(us(0), 600), us(500), "the slot at 0 has begun");
        assert_eq!(slots.transmission_end(us(500), 900), us(500), "both fit");
        assert_eq!(slots.transmission_end(us(500), 1500), us(1000));
        assert_eq!(slots.transmission_end(us(1000), 2000), us(2000), "1500 bytes at 1500 us, 500 at 2000 us");
        assert_eq!(slots.transmission_end(us(2000), 1000), us(2000));
        // The slots up to 3000 us were lost: no packet was queued.
        assert_eq!(slots.transmission_end(us(2900), 1501), us(3500));
        assert_eq!(slots.transmission_end(us(3500), 1499), us(3500));
        assert_eq!(slots.transmission_end(us(5000), 100), us(5500), "a slot that begins now is filled already");
    }

    #[test]
    fn a_slot_of_a_fraction_of_a_byte_more_carries_it_in_time() {
        // 12.5 bytes a slot.
        let mut slots = SlottedRate::new(Rate::from_bits(100_000), Span::from_millis(1));
        let (mut now, mut sent) = (Time::ZERO, 0);
        while sent < 1250 {
            now = slots.transmission_end(now, 50);
            sent += 50;
        }
        // A hundred slots, of which the first begins at 1 ms.
        assert_eq!(now, us(100_000));
    }

    #[test]
    fn the_use_of_slots_is_compared_with_all_of_them() {
        let mut slots = slots();
        let used = |slots: &SlottedRate, at| {
            let CapacityUse { sent, capacity } = slots.used(us(at));
            [sent, capacity].map(|work| work / BYTE)
        };
        slots.transmission_end(us(0), 600);
        assert_eq!([0, 500, 501, 1001].map(|at| used(&slots, at)), [[0, 0], [0, 0], [600, 1500], [600, 3000]]);
        slots.transmission_end(us(500), 2000);
        assert_eq!(
            [500, 501, 1000, 1001].map(|at| used(&slots, at)),
            [[0, 0], [1500, 1500], [1500, 1500], [2600, 3000]]
        );
    }
}
