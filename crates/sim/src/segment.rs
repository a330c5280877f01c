//! Contents of simulated packets, and slabs for contents too large for a packet.
//!
//! A packet is copied often, so its contents fill eight bytes ([`Segment`]). SACK blocks, delays and TFRC reports are
//! in a [`Slab`], and the packet holds their index.

use std::num::NonZeroU32;

use aqm::{Packet, Span, Time};
use headgate_measure::{HasFlow, SendingOrder};

use crate::tfrc::TfrcReport;

pub type SimPacket = Packet<Segment>;

/// A packet's contents in eight bytes: packets are copied often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment(u64);

/// The decoded contents of a [`Segment`]. Sequence numbers count segments from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentContents {
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
        /// Its options in [`AckOptionSlab`], if any.
        options: Option<SlabId>,
    },
    /// A datagram of a constant-rate source.
    Datagram,
    /// A datagram of a flow with congestion control, which keeps the remaining fields.
    Controlled { seq: u32 },
    /// A report of such a flow's receiver, kept in a slab of its kind, such as [`ReportSlab`].
    Report(SlabId),
}

// Bits from the low end: 32 of sequence number (in a datagram: its number, in a report: its slab index), two of kind,
// one flag. The lower bit of the kind tells replies from data. The flag tells datagrams with congestion control from others. An
// acknowledgement has two more flags and 27 bits of its options' slab index (0: none). Data has 29 bits of send time.
const KIND: u32 = 32;
const FLAG: u32 = 34;
const OPTIONS: u32 = 37;
const SEND_TIME: u32 = 35;

const DATA: u64 = 0;
const ACK: u64 = 1;
const DATAGRAM: u64 = 2;
const REPORT: u64 = 3;
const REPLY: u64 = 1 << KIND;

/// Send times count 2^10 ns and wrap after 549 s: longer than any packet is in flight.
const SEND_TIME_BITS: u32 = 10;
pub const SEND_TIME_UNIT: Span = Span::from_nanos(1 << SEND_TIME_BITS);

/// A time in the resolution of timestamps (RFC 7323), rounded down.
#[inline]
pub fn timestamp(at: Time) -> Time {
    Time::from_nanos(at.as_nanos() >> SEND_TIME_BITS << SEND_TIME_BITS)
}

impl Segment {
    #[inline]
    pub fn data(seq: u32, cwr: bool) -> Segment {
        Segment(u64::from(seq) | DATA << KIND | u64::from(cwr) << FLAG)
    }

    #[inline]
    pub fn ack(ack: u32, ece: bool, ace: u8, options: Option<SlabId>) -> Segment {
        let options = options.map_or(0, |id| u64::from(id.0.get()));
        Segment(u64::from(ack) | ACK << KIND | u64::from(u8::from(ece) | ace) << FLAG | options << OPTIONS)
    }

    /// A datagram of a flow without congestion control, the `number`-th of its flow.
    #[inline]
    pub fn datagram(number: u32) -> Segment {
        Segment(u64::from(number) | DATAGRAM << KIND)
    }

    pub fn controlled(seq: u32) -> Segment {
        Segment(u64::from(seq) | DATAGRAM << KIND | 1 << FLAG)
    }

    pub fn report(id: SlabId) -> Segment {
        Segment(u64::from(id.0.get()) | REPORT << KIND)
    }

    /// The contents as a number, for an event's packet.
    #[inline]
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// The contents that [`to_bits`](Segment::to_bits) returned.
    #[inline]
    pub fn from_bits(bits: u64) -> Segment {
        Segment(bits)
    }

    /// Whether it travels from receiver to sender, on the reverse route.
    #[inline]
    pub fn is_reply(self) -> bool {
        self.0 & REPLY != 0
    }

    /// Whether it is a datagram, with congestion control or without.
    #[inline]
    pub fn is_any_datagram(self) -> bool {
        self.0 >> KIND & 3 == DATAGRAM
    }

    /// Whether it is a datagram of a flow without congestion control.
    #[inline]
    pub fn is_datagram(self) -> bool {
        self.0 >> KIND & 7 == DATAGRAM
    }

    /// Sets the send time; not for acknowledgements.
    #[inline]
    pub fn with_send_time(self, now: Time) -> Segment {
        debug_assert!(!self.is_reply(), "an acknowledgement has no room for a send time");
        // The shift discards the high bits: the time wraps.
        Segment(self.0 & ((1 << SEND_TIME) - 1) | (now.as_nanos() >> SEND_TIME_BITS) << SEND_TIME)
    }

    /// The time since it was sent, within 2^10 ns.
    #[inline]
    pub fn age(self, now: Time) -> Span {
        let units = (now.as_nanos() >> SEND_TIME_BITS).wrapping_sub(self.0 >> SEND_TIME) << SEND_TIME >> SEND_TIME;
        Span::from_nanos(units << SEND_TIME_BITS)
    }

    /// The place among the packets of its flow in the order of sending; not for acknowledgements.
    #[inline]
    pub fn sending_order(self, now: Time) -> SendingOrder {
        SendingOrder::new(Time::ZERO + (timestamp(now) - (Time::ZERO + self.age(now))), self.0 as u32)
    }

    /// Decodes the contents.
    #[inline]
    pub fn contents(self) -> SegmentContents {
        let (number, flag) = (self.0 as u32, self.0 >> FLAG & 1 == 1);
        match self.0 >> KIND & 3 {
            DATA => SegmentContents::Data { seq: number, cwr: flag },
            ACK => {
                let (ace, options) = ((self.0 >> FLAG & 7) as u8, SlabId::new((self.0 >> OPTIONS) as u32));
                SegmentContents::Ack { ack: number, ece: flag, ace, options }
            }
            REPORT => SlabId::new(number).map_or(SegmentContents::Datagram, SegmentContents::Report),
            _ if flag => SegmentContents::Controlled { seq: number },
            _ => SegmentContents::Datagram,
        }
    }
}

impl HasFlow for Segment {
    #[inline]
    fn flow(packet: &SimPacket) -> u32 {
        packet.flow.0 as u32
    }

    #[inline]
    fn is_data(packet: &SimPacket) -> bool {
        !packet.handle.is_reply()
    }

    fn handle_bits(packet: &SimPacket) -> u64 {
        packet.handle.to_bits()
    }
}

/// Received segments `start..end` beyond the cumulative acknowledgement.
pub type SackBlock = (u32, u32);

/// The blocks of one acknowledgement, at most three (RFC 2018, section 3), newest first; empty ones are `(0, 0)`.
pub type SackBlocks = [SackBlock; 3];

/// The options of an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckOptions {
    pub blocks: Option<SackBlocks>,
    /// The one-way delay (RFC 6817, section 2.3).
    pub delay: Option<Span>,
    /// The echoed timestamp (TSecr, RFC 7323).
    pub echo: Option<Time>,
}

impl From<SackBlocks> for AckOptions {
    fn from(blocks: SackBlocks) -> AckOptions {
        AckOptions { blocks: Some(blocks), ..AckOptions::default() }
    }
}

/// The options of all acknowledgements in flight.
pub type AckOptionSlab = Slab<AckOptions>;

/// The TFRC reports in flight.
pub type ReportSlab = Slab<TfrcReport>;

/// Index into a [`Slab`], from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlabId(NonZeroU32);

impl SlabId {
    fn new(number: u32) -> Option<SlabId> {
        NonZeroU32::new(number).map(SlabId)
    }
}

/// Contents too large for a packet, by index. Few packets need one, and all packets stay small.
pub struct Slab<T> {
    slots: Vec<T>,
    free: Vec<SlabId>,
}

impl<T> Default for Slab<T> {
    fn default() -> Slab<T> {
        Slab { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Slab<T> {
    pub fn insert(&mut self, value: T) -> SlabId {
        if let Some(id) = self.free.pop() {
            self.slots[id.0.get() as usize - 1] = value;
            return id;
        }
        self.slots.push(value);
        // 2^27 acknowledgements with options in flight would take 13 GB with their events: memory runs out first.
        SlabId::new(self.slots.len() as u32).expect("the length after a push is not zero")
    }

    pub fn get(&self, id: SlabId) -> &T {
        &self.slots[id.0.get() as usize - 1]
    }

    pub fn remove(&mut self, id: SlabId) -> T {
        self.free.push(id);
        self.slots[id.0.get() as usize - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_decodes_to_its_contents() {
        let mut ack_options = AckOptionSlab::default();
        let id = ack_options.insert([(1, 2); 3].into());
        let options = Some(id);
        for flag in [false, true] {
            assert!(!Segment::data(u32::MAX, flag).is_reply() && Segment::ack(u32::MAX, flag, 0, options).is_reply());
            assert_eq!(Segment::data(u32::MAX, flag).contents(), SegmentContents::Data { seq: u32::MAX, cwr: flag });
            let expected = SegmentContents::Ack { ack: u32::MAX, ece: flag, ace: u8::from(flag), options };
            assert_eq!(Segment::ack(u32::MAX, flag, 0, options).contents(), expected);
            assert_eq!(
                Segment::ack(0, false, 6, None).contents(),
                SegmentContents::Ack { ack: 0, ece: false, ace: 6, options: None }
            );
        }
        let sent = Segment::controlled(u32::MAX).with_send_time(Time::from_nanos(1 << 30));
        assert!(!sent.is_reply() && !sent.is_datagram());
        assert_eq!(sent.contents(), SegmentContents::Controlled { seq: u32::MAX });
        assert!(Segment::report(id).is_reply());
        assert_eq!(Segment::report(id).contents(), SegmentContents::Report(id));
        assert!(!Segment::datagram(3).is_reply());
        assert_eq!(Segment::datagram(3).contents(), SegmentContents::Datagram);
        assert_eq!(size_of::<SimPacket>(), 32);
    }

    #[test]
    fn the_age_of_a_segment_is_right_when_the_send_time_wraps() {
        let turn = 1u64 << (29 + SEND_TIME_BITS);
        for start in [0, 12_345, turn - 1_000_000, turn, 86_400_000_000_000] {
            for age in [0, 2_000, 32_000_000, 60_000_000_000] {
                let segment = Segment::data(7, true).with_send_time(Time::from_nanos(start));
                let got = segment.age(Time::from_nanos(start + age)).as_nanos();
                assert!(got.abs_diff(age) <= 1 << SEND_TIME_BITS, "{got} for {age} after {start}");
                assert_eq!(segment.contents(), SegmentContents::Data { seq: 7, cwr: true });
            }
        }
        let datagram = Segment::datagram(3).with_send_time(Time::from_nanos(u64::MAX));
        assert!(datagram.is_datagram() && datagram.contents() == SegmentContents::Datagram);
    }

    #[test]
    fn slots_of_a_slab_are_reused() {
        let mut ack_options = AckOptionSlab::default();
        let first = ack_options.insert([(1, 2); 3].into());
        assert_eq!(ack_options.remove(first), [(1, 2); 3].into());
        assert_eq!(ack_options.insert([(5, 6); 3].into()), first);
    }
}
