//! The numbers of the packets at one queue, in the order of their arrival.

use std::collections::BTreeSet;

use aqm::{Packet, Time};

use crate::has_flow::HasFlow;

/// Numbers arrivals from 0, and finds the number of a packet again when it is marked, dropped, sent or lost.
///
/// A packet does not carry its number: it would be longer, and every run would pay for it. Only a queue whose events
/// are recorded keeps the numbers of its queued packets, and finds them by the arrival time and the handle. The packets
/// of two equal entries are equal too, and the one with the lower number counts as the first to leave.
#[derive(Clone, Debug, Default)]
pub(crate) struct PacketNumbers {
    next: u64,
    queued: BTreeSet<NumberedPacket>,
    last_sent: Option<NumberedPacket>,
}

/// A packet with its number. The order of the fields is that of the set: arrivals enter at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NumberedPacket {
    arrived: Time,
    flow: u32,
    handle: u64,
    bytes: u32,
    number: u64,
}

impl NumberedPacket {
    fn new<T: HasFlow>(packet: &Packet<T>, number: u64) -> NumberedPacket {
        let (arrived, bytes) = (packet.arrived, packet.bytes);
        NumberedPacket { arrived, flow: T::flow(packet), handle: T::handle_bits(packet), bytes, number }
    }
}

impl PacketNumbers {
    /// Numbers a packet that arrives.
    pub fn arrive<T: HasFlow>(&mut self, packet: &Packet<T>) -> u64 {
        let number = self.next;
        self.next += 1;
        self.queued.insert(NumberedPacket::new(packet, number));
        number
    }

    /// The number of a queued packet; `None` if it arrived before the numbering began.
    pub fn of_queued<T: HasFlow>(&self, packet: &Packet<T>) -> Option<u64> {
        self.find(packet).map(|found| found.number)
    }

    /// Removes a packet that is dropped; returns its number.
    pub fn drop<T: HasFlow>(&mut self, packet: &Packet<T>) -> Option<u64> {
        let found = self.find(packet)?;
        self.queued.remove(&found);
        Some(found.number)
    }

    /// Removes a packet that is sent; returns its number.
    pub fn send<T: HasFlow>(&mut self, packet: &Packet<T>) -> Option<u64> {
        let found = self.find(packet);
        self.last_sent = found;
        self.queued.remove(&found?);
        found.map(|found| found.number)
    }

    /// The number of the packet that was just sent, which the medium loses.
    pub fn of_sent<T: HasFlow>(&self, packet: &Packet<T>) -> Option<u64> {
        let sent = self.last_sent?;
        debug_assert_eq!(sent, NumberedPacket::new(packet, sent.number), "the lost packet is not the last one sent");
        Some(sent.number)
    }

    fn find<T: HasFlow>(&self, packet: &Packet<T>) -> Option<NumberedPacket> {
        let first = NumberedPacket::new(packet, 0);
        let last = NumberedPacket { number: u64::MAX, ..first };
        self.queued.range(first..=last).next().copied()
    }
}

#[cfg(test)]
mod tests {
    use aqm::{FlowId, Span};

    use super::*;

    impl HasFlow for u8 {
        fn flow(packet: &Packet<u8>) -> u32 {
            packet.flow.0 as u32
        }
        fn is_data(_: &Packet<u8>) -> bool {
            true
        }
        fn handle_bits(packet: &Packet<u8>) -> u64 {
            packet.handle.into()
        }
    }

    fn packet(millis: u64, handle: u8) -> Packet<u8> {
        Packet { arrived: Time::ZERO + Span::from_millis(millis), ..Packet::new(FlowId(3), 100, handle) }
    }

    #[test]
    fn packets_that_arrive_together_are_told_apart_by_their_handles() {
        let mut numbers = PacketNumbers::default();
        let packets = [packet(1, 7), packet(1, 5), packet(2, 5)];
        assert_eq!(packets.map(|packet| numbers.arrive(&packet)), [0, 1, 2]);
        assert_eq!(numbers.drop(&packets[1]), Some(1));
        assert_eq!((numbers.of_queued(&packets[1]), numbers.of_queued(&packets[0])), (None, Some(0)));
        assert_eq!((numbers.send(&packets[2]), numbers.of_sent(&packets[2])), (Some(2), Some(2)));
        assert_eq!(numbers.send(&packets[0]), Some(0));
    }

    #[test]
    fn equal_packets_leave_in_the_order_of_their_numbers() {
        let mut numbers = PacketNumbers::default();
        let [one, other] = [packet(1, 7); 2];
        assert_eq!((numbers.arrive(&one), numbers.arrive(&other)), (0, 1));
        assert_eq!((numbers.send(&other), numbers.drop(&one)), (Some(0), Some(1)));
    }

    #[test]
    fn a_packet_that_arrived_before_the_numbering_has_no_number() {
        let mut numbers = PacketNumbers::default();
        assert_eq!((numbers.send(&packet(1, 7)), numbers.of_sent(&packet(1, 7))), (None, None));
    }
}
