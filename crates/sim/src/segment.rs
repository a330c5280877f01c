//! Contents of simulated packets, and slabs for contents too large for a packet.
//!
//! A packet is copied often, so its contents fill eight bytes ([`Segment`]). SACK blocks, delays and TFRC reports are
//! in a [`Slab`], and the packet holds their index.

use std::num::NonZeroU32;

use aqm::{Packet, Span, Time};
use headgate_measure::{HasFlow, SendingOrder};

use crate::send_clock::{SEND_TIME_BITS, SendClock, Timestamp};
use crate::tcp::{Ace, EcnCounts};
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
        /// The ACE field of accurate ECN feedback (RFC 9768), in place of the echo; else 0. On the wire it shares a flag
        /// with the echo. Here each has bits of its own, so that nobody reads one as the other.
        ace: Ace,
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
// acknowledgement has three more of its ACE field and 26 of its options' slab index (0: none). Data has 29 bits of send
// time.
const KIND: u32 = 32;
const FLAG: u32 = 34;
const SEND_TIME: u32 = 35;
const ACE: u32 = 35;
const OPTIONS: u32 = ACE + Ace::BITS;

const DATA: u64 = 0;
const ACK: u64 = 1;
const DATAGRAM: u64 = 2;
const REPORT: u64 = 3;
const REPLY: u64 = 1 << KIND;

const _: () = assert!(SEND_TIME + SEND_TIME_BITS == u64::BITS && OPTIONS + SlabId::BITS == u64::BITS);

impl Segment {
    #[inline]
    pub fn data(seq: u32, cwr: bool) -> Segment {
        Segment(u64::from(seq) | DATA << KIND | u64::from(cwr) << FLAG)
    }

    #[inline]
    pub fn ack(ack: u32, ece: bool, ace: Ace, options: Option<SlabId>) -> Segment {
        let options = options.map_or(0, |id| u64::from(id.0.get()));
        let ecn = u64::from(ece) << FLAG | u64::from(ace.bits()) << ACE;
        Segment(u64::from(ack) | ACK << KIND | ecn | options << OPTIONS)
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

    /// The number of a datagram in its flow; the sequence number of others.
    #[inline]
    pub fn number(self) -> u32 {
        self.0 as u32
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
    pub fn with_send_time(self, now: Time, clock: SendClock) -> Segment {
        debug_assert!(!self.is_reply(), "an acknowledgement has no room for a send time");
        Segment(self.0 & ((1 << SEND_TIME) - 1) | clock.upper_bits(now))
    }

    /// The time since it was sent, within a unit of the clock.
    #[inline]
    pub fn age(self, now: Time, clock: SendClock) -> Span {
        clock.age(self.0, now)
    }

    /// The place among the packets of its flow in the order of sending. `sent` is the unit of the clock in which it was
    /// sent. Not for acknowledgements.
    #[inline]
    pub fn sending_order(self, sent: Time) -> SendingOrder {
        SendingOrder::new(sent, self.0 as u32)
    }

    /// The flags AE, CWR and ECE of an acknowledgement on the wire.
    #[inline]
    pub fn ecn_flags(ece: bool, ace: Ace) -> u8 {
        u8::from(ece) | ace.bits()
    }

    /// Decodes the contents.
    #[inline]
    pub fn contents(self) -> SegmentContents {
        let (number, flag) = (self.0 as u32, self.0 >> FLAG & 1 == 1);
        match self.0 >> KIND & 3 {
            DATA => SegmentContents::Data { seq: number, cwr: flag },
            ACK => {
                let ace = Ace::from_bits((self.0 >> ACE) as u8);
                let options = SlabId::new((self.0 >> OPTIONS) as u32);
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
    /// Selective acknowledgements beyond the cumulative one; with RACK, a duplicate comes first.
    pub blocks: Option<SackBlocks>,
    /// The one-way delay (RFC 6817, section 2.3).
    pub delay: Option<Span>,
    /// The echoed timestamp (TSecr, RFC 7323).
    pub echo: Option<Timestamp>,
    /// The counts of the option AccECN (RFC 9768, section 3.2.3).
    pub counts: Option<EcnCounts>,
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
    /// Bits of the largest index, which an acknowledgement has room for.
    const BITS: u32 = 26;

    fn new(number: u32) -> Option<SlabId> {
        NonZeroU32::new(number).map(SlabId)
    }
}

/// Contents too large for a packet, by index. Few packets need one, and all packets stay small.
pub struct Slab<T> {
    slots: Vec<T>,
    free: Vec<SlabId>,
    /// A value found no room.
    overflowed: bool,
}

impl<T> Default for Slab<T> {
    fn default() -> Slab<T> {
        Slab { slots: Vec::new(), free: Vec::new(), overflowed: false }
    }
}

impl<T: Copy> Slab<T> {
    /// Stores a value. `None` if the slab is full, with 2^26 - 1 values.
    pub fn insert(&mut self, value: T) -> Option<SlabId> {
        if let Some(id) = self.free.pop() {
            self.slots[id.0.get() as usize - 1] = value;
            return Some(id);
        }
        if self.slots.len() + 1 == 1 << SlabId::BITS {
            self.overflowed = true;
            return None;
        }
        self.slots.push(value);
        SlabId::new(self.slots.len() as u32)
    }

    /// Whether a value found no room.
    pub fn has_overflowed(&self) -> bool {
        self.overflowed
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
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_segment_decodes_to_what_went_in(number: u32, flag: bool, ace in 0..8_u8, id in 0..1_u32 << SlabId::BITS) {
            let (ace, options) = (Ace::from_bits(ace), SlabId::new(id));
            let ack = Segment::ack(number, flag, ace, options);
            prop_assert_eq!(ack.contents(), SegmentContents::Ack { ack: number, ece: flag, ace, options });
            prop_assert!(ack.is_reply() && !ack.is_any_datagram());
            if let Some(id) = options {
                prop_assert_eq!(Segment::report(id).contents(), SegmentContents::Report(id));
                prop_assert!(Segment::report(id).is_reply());
            }
        }

        #[test]
        fn data_keeps_its_contents_and_its_send_time(number: u32, flag: bool, length in 1..1_u64 << 50, sent: u64, now: u64) {
            let clock = SendClock::of_run(Span::from_nanos(length));
            let now = Time::from_nanos(now % length);
            let sent = Time::from_nanos(sent % (now.as_nanos() + 1));
            let kinds = [
                (Segment::data(number, flag), SegmentContents::Data { seq: number, cwr: flag }),
                (Segment::controlled(number), SegmentContents::Controlled { seq: number }),
                (Segment::datagram(number), SegmentContents::Datagram),
            ];
            for (segment, contents) in kinds {
                let segment = segment.with_send_time(sent, clock);
                prop_assert_eq!(segment.contents(), contents);
                prop_assert!(!segment.is_reply());
                prop_assert_eq!(segment.is_datagram(), contents == SegmentContents::Datagram);
                let age = segment.age(now, clock).as_nanos();
                prop_assert!(age.abs_diff((now - sent).as_nanos()) < clock.unit().as_nanos());
            }
        }
    }

    #[test]
    fn a_packet_fills_half_a_cache_line() {
        assert_eq!(size_of::<SimPacket>(), 32);
    }

    #[test]
    fn a_full_slab_takes_no_more() {
        let mut slab = Slab { slots: vec![0_u8; (1 << SlabId::BITS) - 2], ..Slab::default() };
        let last = slab.insert(1);
        assert_eq!(last, SlabId::new((1 << SlabId::BITS) - 1));
        assert!(!slab.has_overflowed());
        assert_eq!(slab.insert(2), None);
        assert!(slab.has_overflowed());
        assert_eq!(slab.remove(last.unwrap()), 1);
        assert_eq!(slab.insert(2), last);
    }

    #[test]
    fn slots_of_a_slab_are_reused() {
        let mut ack_options = AckOptionSlab::default();
        let first = ack_options.insert([(1, 2); 3].into()).unwrap();
        assert_eq!(ack_options.remove(first), [(1, 2); 3].into());
        assert_eq!(ack_options.insert([(5, 6); 3].into()), Some(first));
    }
}
