//! Work that a sender left to its card: checksums, and the segmentation of super-packets.
//!
//! A sender with segmentation offload (TSO, GSO or USO) sends a *super-packet*: one set of headers, data for many
//! packets, and the size of a segment. Its card cuts it. A receiver with GRO merges packets to the same form. Between
//! virtual interfaces nobody cuts, so a super-packet of 64 KB arrives here. A link carries packets: this module writes
//! each segment as it would cross a wire, before any queue sees it.
//!
//! Every segment repeats the headers, except for these fields:
//!
//! | field | value in segment `n`, from 0 |
//! | --- | --- |
//! | length of IPv4, IPv6 and UDP | its own |
//! | IPv4 identification | the super-packet's, plus `n` |
//! | TCP sequence number | the super-packet's, plus the data before the segment |
//! | TCP CWR | set only in the first: it answers an echo once (RFC 3168, section 6.1.2) |
//! | TCP FIN and PSH | set only in the last |
//! | checksum of TCP and UDP | its own |
//! | checksum of IPv4 | updated (RFC 1624), so a header that was damaged stays so |

use etherparse::checksum::Sum16BitWords;
use etherparse::{Ethernet2Header, LinkExtSlice, NetSlice, SlicedPacket, TransportSlice};

use crate::io::ecn::updated_checksum;

/// Bytes of `struct virtio_net_hdr` (linux/virtio_net.h), which describes a frame's offloads: flags, kind of
/// segmentation, length of the headers, segment size, start of the summed bytes, offset of the checksum from there.
pub const OFFLOAD_HEADER: usize = 10;
const NEEDS_CHECKSUM: u8 = 1;
/// Kinds of segmentation. The kernel merges or cuts UDP as [`UDP`]; UDP by IP fragments (3) is not made any more.
const TCP4: u8 = 1;
const TCP6: u8 = 4;
const UDP: u8 = 5;
/// Flag of the kind: the super-packet has CWR set.
const WITH_CWR: u8 = 0x80;

const VLAN_TAG: usize = 4;
const IPV6_HEADER: usize = 40;
const UDP_HEADER: usize = 8;

/// Offsets in headers.
const V4_LENGTH: usize = 2;
const V4_IDENTIFICATION: usize = 4;
const V4_CHECKSUM: usize = 10;
const V6_LENGTH: usize = 4;
const TCP_SEQUENCE: usize = 4;
const TCP_FLAGS: usize = 13;
const UDP_LENGTH: usize = 4;

const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

/// A transport protocol that can be segmented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentedProtocol {
    /// TCP, over either version of IP.
    Tcp,
    /// UDP, over either version of IP.
    Udp,
}

impl SegmentedProtocol {
    /// Offset of the checksum in its header.
    fn checksum_offset(self) -> usize {
        match self {
            SegmentedProtocol::Tcp => 16,
            SegmentedProtocol::Udp => 6,
        }
    }
}

/// A checksum left to a card: the Internet checksum (RFC 1071) of the bytes from `start`. It is stored `offset` bytes
/// after `start`, in place of the pseudo-header's sum. Positions exclude a VLAN tag that the kernel removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialChecksum {
    /// First summed byte of the frame.
    pub start: usize,
    /// Offset of the checksum from there.
    pub offset: usize,
}

impl PartialChecksum {
    /// Fills in the checksum of `frame`. A sum of 0 becomes 0xffff, equal in ones' complement: for UDP, 0 means no
    /// checksum (RFC 768). Does nothing if the position lies beyond the frame.
    #[cold]
    pub(super) fn fill_in(self, frame: &mut [u8]) {
        let Some(summed) = frame.get_mut(self.start..) else { return };
        let sum = Sum16BitWords::new().add_slice(summed).to_ones_complement_with_no_zero();
        // etherparse sums words in native byte order.
        if let Some(checksum) = summed.get_mut(self.offset..self.offset + 2) {
            checksum.copy_from_slice(&sum.to_ne_bytes());
        }
    }
}

/// Offloads of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// A transport checksum that is not filled in.
    pub partial: Option<PartialChecksum>,
    /// Protocol and bytes of data per segment, if the frame is a super-packet.
    pub segments: Option<(SegmentedProtocol, usize)>,
}

impl Offload {
    /// Reads a `struct virtio_net_hdr` in native byte order. A kind of segmentation that is unknown here is ignored.
    #[inline]
    pub fn read(header: [u8; OFFLOAD_HEADER]) -> Offload {
        let short = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
        let protocol = match header[1] & !WITH_CWR {
            TCP4 | TCP6 => Some(SegmentedProtocol::Tcp),
            UDP => Some(SegmentedProtocol::Udp),
            _ => None,
        };
        let partial = PartialChecksum { start: short(6), offset: short(8) };
        Offload {
            partial: (header[0] & NEEDS_CHECKSUM != 0).then_some(partial),
            segments: protocol.map(|protocol| (protocol, short(4))).filter(|(_, bytes)| *bytes > 0),
        }
    }
}

/// Positions in a super-packet from which its segments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segmentation {
    protocol: SegmentedProtocol,
    /// Offset of the IP header.
    ip: usize,
    v6: bool,
    /// Offset of the transport header.
    transport: usize,
    /// Offset of the data.
    data: usize,
    /// End of the data; padding follows.
    end: usize,
    segment_bytes: usize,
    /// Whether segments have a transport checksum. UDP over IPv4 may have none.
    checksum: bool,
}

impl Segmentation {
    /// Finds the headers of the super-packet `frame`, an Ethernet frame with its VLAN tags, and its `offload`.
    ///
    /// `None` if `frame` is no super-packet, or cannot be segmented: its lengths contradict each other, its checksum lies
    /// elsewhere than the protocol's (a tunnel), or the packet exceeds the 64 KB that an IP header can state.
    pub fn find(frame: &[u8], offload: Offload) -> Option<Segmentation> {
        let (protocol, segment_bytes) = offload.segments?;
        let packet = SlicedPacket::from_ethernet(frame).ok()?;
        let tags = packet.link_exts.iter().map(|tag| match tag {
            LinkExtSlice::Vlan(_) => Some(VLAN_TAG),
            LinkExtSlice::Macsec(_) => None,
        });
        let ip = Ethernet2Header::LEN + tags.sum::<Option<usize>>()?;
        let (v6, end) = match &packet.net {
            Some(NetSlice::Ipv4(v4)) => (false, ip + usize::from(v4.header().total_len())),
            Some(NetSlice::Ipv6(v6)) => (true, ip + IPV6_HEADER + usize::from(v6.header().payload_length())),
            _ => return None,
        };
        let transport = end.checked_sub(packet.ip_payload()?.payload.len())?;
        let header = match (&packet.transport, protocol) {
            (Some(TransportSlice::Tcp(tcp)), SegmentedProtocol::Tcp) => tcp.header_slice().len(),
            (Some(TransportSlice::Udp(_)), SegmentedProtocol::Udp) => UDP_HEADER,
            _ => return None,
        };
        let checksum = match offload.partial {
            Some(partial) if partial.offset != protocol.checksum_offset() || partial.start != transport => return None,
            Some(_) => true,
            // The kernel leaves every other checksum of a super-packet to the card.
            None if protocol == SegmentedProtocol::Udp && frame[transport + 6..transport + 8] == [0, 0] => false,
            None => return None,
        };
        Some(Segmentation { protocol, ip, v6, transport, data: transport + header, end, segment_bytes, checksum })
    }

    /// Number of segments, at least 1.
    pub fn count(&self) -> usize {
        (self.end - self.data).div_ceil(self.segment_bytes).max(1)
    }

    /// Bytes of the longest segment, as a frame.
    pub fn longest(&self) -> usize {
        self.end.min(self.data + self.segment_bytes)
    }

    /// Writes segment `number` of the super-packet `frame` to the start of `room`, and returns its length. Panics if
    /// `room` is shorter than [`longest`](Segmentation::longest), or if `frame` is another one.
    pub fn write(&self, frame: &[u8], number: usize, room: &mut [u8]) -> usize {
        let before = number * self.segment_bytes;
        let data = &frame[(self.data + before).min(self.end)..(self.data + before + self.segment_bytes).min(self.end)];
        let segment = &mut room[..self.data + data.len()];
        segment[..self.data].copy_from_slice(&frame[..self.data]);
        segment[self.data..].copy_from_slice(data);
        self.set_lengths(&mut segment[self.ip..], number);
        let last = self.data + before + data.len() == self.end;
        let transport = &mut segment[self.transport..];
        match self.protocol {
            SegmentedProtocol::Tcp => set_tcp_fields(transport, before as u32, number == 0, last),
            SegmentedProtocol::Udp => put(transport, UDP_LENGTH, transport.len() as u16),
        }
        if self.checksum {
            self.set_checksum(transport);
        }
        segment.len()
    }

    /// Sets the fields of the IP header at the start of `packet`.
    fn set_lengths(&self, packet: &mut [u8], number: usize) {
        if self.v6 {
            return put(packet, V6_LENGTH, (packet.len() - IPV6_HEADER) as u16);
        }
        let before = [V4_LENGTH, V4_IDENTIFICATION].map(|at| get(packet, at));
        let after = [packet.len() as u16, before[1].wrapping_add(number as u16)];
        let sum = updated_checksum(get(packet, V4_CHECKSUM), before[0], after[0]);
        put(packet, V4_LENGTH, after[0]);
        put(packet, V4_IDENTIFICATION, after[1]);
        put(packet, V4_CHECKSUM, updated_checksum(sum, before[1], after[1]));
    }

    /// Sets the checksum of `transport`, header and data. Its field holds the sum of the super-packet's pseudo-header,
    /// in which only the length changes. So the sum is right behind an IPv6 routing header too.
    fn set_checksum(&self, transport: &mut [u8]) {
        let offset = self.protocol.checksum_offset();
        // Subtraction is the addition of the complement.
        let lengths = [!((self.end - self.transport) as u16), transport.len() as u16];
        let sum = lengths.into_iter().fold(Sum16BitWords::new(), |sum, word| sum.add_2bytes(word.to_be_bytes()));
        let sum = sum.add_slice(transport).to_ones_complement_with_no_zero();
        transport[offset..offset + 2].copy_from_slice(&sum.to_ne_bytes());
    }
}

/// Sets the fields of a segment's TCP header; `before` is the data before it.
fn set_tcp_fields(header: &mut [u8], before: u32, first: bool, last: bool) {
    let at = TCP_SEQUENCE;
    let sequence = u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    header[at..at + 4].copy_from_slice(&sequence.wrapping_add(before).to_be_bytes());
    let cleared = if first { 0 } else { CWR } | if last { 0 } else { FIN | PSH };
    header[TCP_FLAGS] &= !cleared;
}

fn get(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests;
