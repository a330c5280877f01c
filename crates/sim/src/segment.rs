//! Contents of simulated packets, and stores for contents too large for a packet.

use std::num::NonZeroU32;

use headgate_core::{Packet, Span, Time};
use headgate_measure::Counted;

use crate::tfrc::Feedback;

pub type SimPacket = Packet<Segment>;

/// A packet's contents in eight bytes: packets are copied often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment(u64);

/// The decoded contents of a [`Segment`]. Sequence numbers count segments from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// A full segment of data.
    Data {
        seq: u32,
        /// Congestion window reduced (RFC 3168, section 6.1.2).
        cwr: bool,
    },
    /// A pure acknowledgement.
    Ack {
        /// The next segment expected.
        ack: u32,
        /// ECN echo (RFC 3168, section 6.1.3).
        ece: bool,
        /// The ACE field of accurate ECN feedback (RFC 9768): the flags AE, CWR and ECE.
        ace: u8,
        /// Its options in [`Sacks`], if any.
        sack: Option<StoreId>,
    },
    /// A datagram of a constant-rate source.
    Datagram,
    /// A TFRC datagram. Its flow keeps the remaining fields.
    Tfrc { seq: u32 },
    /// A TFRC report, kept in [`Reports`].
    Report(StoreId),
}

// From the low end: 32 bits of sequence number (of a report: its store index), two of kind, and a flag that tells
// TFRC's reports from its data. An acknowledgement has two more flags and 27 bits of its options' store index (0:
// none). Data has 29 bits of send time.
const KIND: u32 = 32;
const FLAG: u32 = 34;
const SACK: u32 = 37;
const STAMP: u32 = 35;

const DATA: u64 = 0;
const ACK: u64 = 1;
const DATAGRAM: u64 = 2;
const TFRC: u64 = 3;

/// Send times count 2^10 ns and wrap after 549 s: longer than any packet is in flight.
const STAMP_UNIT: u32 = 10;

impl Segment {
    pub const DATAGRAM: Segment = Segment(DATAGRAM << KIND);

    #[inline]
    pub fn data(seq: u32, cwr: bool) -> Segment {
        Segment(u64::from(seq) | DATA << KIND | u64::from(cwr) << FLAG)
    }

    #[inline]
    pub fn ack(ack: u32, ece: bool, ace: u8, sack: Option<StoreId>) -> Segment {
        let sack = sack.map_or(0, |id| u64::from(id.0.get()));
        Segment(u64::from(ack) | ACK << KIND | u64::from(u8::from(ece) | ace) << FLAG | sack << SACK)
    }

    pub fn tfrc(seq: u32) -> Segment {
        Segment(u64::from(seq) | TFRC << KIND)
    }

    pub fn report(id: StoreId) -> Segment {
        Segment(u64::from(id.0.get()) | TFRC << KIND | 1 << FLAG)
    }

    /// Whether it travels from receiver to sender, on the reverse route.
    #[inline]
    pub fn is_reply(self) -> bool {
        match self.0 >> KIND & 3 {
            ACK => true,
            TFRC => self.0 >> FLAG & 1 == 1,
            _ => false,
        }
    }

    #[inline]
    pub fn is_datagram(self) -> bool {
        self.0 >> KIND & 3 == DATAGRAM
    }

    /// Sets the send time; not for acknowledgements.
    #[inline]
    pub fn sent_at(self, now: Time) -> Segment {
        debug_assert!(!self.is_reply(), "an acknowledgement has no room for it");
        // The shift discards the high bits: the time wraps.
        Segment(self.0 & ((1 << STAMP) - 1) | (now.as_nanos() >> STAMP_UNIT) << STAMP)
    }

    /// The time since it was sent, within 2^10 ns.
    #[inline]
    pub fn age(self, now: Time) -> Span {
        let units = (now.as_nanos() >> STAMP_UNIT).wrapping_sub(self.0 >> STAMP) << STAMP >> STAMP;
        Span::from_nanos(units << STAMP_UNIT)
    }

    /// Decodes the contents.
    #[inline]
    pub fn carried(self) -> Carried {
        let (number, flag) = (self.0 as u32, self.0 >> FLAG & 1 == 1);
        match self.0 >> KIND & 3 {
            DATA => Carried::Data { seq: number, cwr: flag },
            ACK => {
                let (ace, sack) = ((self.0 >> FLAG & 7) as u8, StoreId::new((self.0 >> SACK) as u32));
                Carried::Ack { ack: number, ece: flag, ace, sack }
            }
            TFRC if flag => StoreId::new(number).map_or(Carried::Datagram, Carried::Report),
            TFRC => Carried::Tfrc { seq: number },
            _ => Carried::Datagram,
        }
    }
}

impl Counted for Segment {
    #[inline]
    fn flow(packet: &SimPacket) -> u32 {
        packet.flow.0 as u32
    }

    #[inline]
    fn is_data(packet: &SimPacket) -> bool {
        !packet.handle.is_reply()
    }
}

/// Received segments `start..end` beyond the cumulative acknowledgement.
pub type Block = (u32, u32);

/// The blocks of one acknowledgement, at most three (RFC 2018, section 3), newest first; empty ones are `(0, 0)`.
pub type Blocks = [Block; 3];

/// The options of an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub blocks: Option<Blocks>,
    /// The one-way delay (RFC 6817, section 2.3).
    pub delay: Option<Span>,
}

impl From<Blocks> for Options {
    fn from(blocks: Blocks) -> Options {
        Options { blocks: Some(blocks), delay: None }
    }
}

/// The options of all acknowledgements in flight.
pub type Sacks = Store<Options>;

/// The TFRC reports in flight.
pub type Reports = Store<Feedback>;

/// Index into a [`Store`]; never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreId(NonZeroU32);

impl StoreId {
    fn new(number: u32) -> Option<StoreId> {
        NonZeroU32::new(number).map(StoreId)
    }
}

/// Large contents of few packets, kept apart so that all packets stay small.
pub struct Store<T> {
    slots: Vec<T>,
    free: Vec<StoreId>,
}

impl<T> Default for Store<T> {
    fn default() -> Store<T> {
        Store { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Store<T> {
    pub fn keep(&mut self, value: T) -> StoreId {
        if let Some(id) = self.free.pop() {
            self.slots[id.0.get() as usize - 1] = value;
            return id;
        }
        self.slots.push(value);
        // 2^27 acknowledgements with options in flight would take 13 GB with their events: memory runs out first.
        StoreId::new(self.slots.len() as u32).expect("the length after a push is not zero")
    }

    pub fn read(&self, id: StoreId) -> &T {
        &self.slots[id.0.get() as usize - 1]
    }

    pub fn take(&mut self, id: StoreId) -> T {
        self.free.push(id);
        self.slots[id.0.get() as usize - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_says_what_was_put_into_it() {
        let mut sacks = Sacks::default();
        let id = sacks.keep([(1, 2); 3].into());
        let sack = Some(id);
        for flag in [false, true] {
            assert!(!Segment::data(u32::MAX, flag).is_reply() && Segment::ack(u32::MAX, flag, 0, sack).is_reply());
            assert_eq!(Segment::data(u32::MAX, flag).carried(), Carried::Data { seq: u32::MAX, cwr: flag });
            let expected = Carried::Ack { ack: u32::MAX, ece: flag, ace: u8::from(flag), sack };
            assert_eq!(Segment::ack(u32::MAX, flag, 0, sack).carried(), expected);
            assert_eq!(
                Segment::ack(0, false, 6, None).carried(),
                Carried::Ack { ack: 0, ece: false, ace: 6, sack: None }
            );
        }
        let sent = Segment::tfrc(u32::MAX).sent_at(Time::from_nanos(1 << 30));
        assert!(!sent.is_reply() && !sent.is_datagram());
        assert_eq!(sent.carried(), Carried::Tfrc { seq: u32::MAX });
        assert!(Segment::report(id).is_reply());
        assert_eq!(Segment::report(id).carried(), Carried::Report(id));
        assert!(!Segment::DATAGRAM.is_reply());
        assert_eq!(Segment::DATAGRAM.carried(), Carried::Datagram);
        assert_eq!(size_of::<SimPacket>(), 32);
    }

    #[test]
    fn a_segment_remembers_when_it_was_sent_across_the_stamps_turn() {
        let turn = 1u64 << (29 + STAMP_UNIT);
        for start in [0, 12_345, turn - 1_000_000, turn, 86_400_000_000_000] {
            for age in [0, 2_000, 32_000_000, 60_000_000_000] {
                let segment = Segment::data(7, true).sent_at(Time::from_nanos(start));
                let got = segment.age(Time::from_nanos(start + age)).as_nanos();
                assert!(got.abs_diff(age) <= 1 << STAMP_UNIT, "{got} for {age} after {start}");
                assert_eq!(segment.carried(), Carried::Data { seq: 7, cwr: true });
            }
        }
        let datagram = Segment::DATAGRAM.sent_at(Time::from_nanos(u64::MAX));
        assert!(datagram.is_datagram() && datagram.carried() == Carried::Datagram);
    }

    #[test]
    fn places_of_blocks_are_used_again() {
        let mut sacks = Sacks::default();
        let first = sacks.keep([(1, 2); 3].into());
        assert_eq!(sacks.take(first), [(1, 2); 3].into());
        assert_eq!(sacks.keep([(5, 6); 3].into()), first);
    }
}
