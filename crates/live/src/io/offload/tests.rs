use super::*;
use etherparse::{IpNumber, Ipv4Header, Ipv6Header, Ipv6RawExtHeader, PacketBuilder, TcpHeader, UdpHeader};
use proptest::prelude::*;

/// A packet of any length, from which super-packets and their segments are made.
#[derive(Clone, Debug)]
struct Model {
    v6: bool,
    tcp: bool,
    tags: usize,
    /// Bytes of an IPv6 destination options header, 0 without one.
    extension: usize,
    identification: u16,
    sequence: u32,
    flags: [bool; 5],
    options: usize,
    /// Whether UDP over IPv4 has a checksum.
    summed: bool,
    data: Vec<u8>,
    segment_bytes: usize,
    padding: usize,
}

fn models() -> impl Strategy<Value = Model> {
    let header = (any::<[bool; 3]>(), 0..3_usize, 0..3_usize, any::<u16>(), any::<u32>());
    let flags = prop_oneof![Just([true; 5]), any::<[bool; 5]>()];
    let data = (prop_oneof![0..200_usize, 0..9000_usize, 60_000..65_300_usize], any::<u8>());
    let cut = prop_oneof![1..40_usize, 500..1500_usize, Just(1448), 1..70_000_usize];
    (header, flags, 0..11_usize, data, cut, 0..7_usize).prop_map(
        |(
            ([v6, tcp, summed], tags, extension, identification, sequence),
            flags,
            words,
            (bytes, first),
            cut,
            padding,
        )| {
            let data: Vec<u8> = (0..bytes).map(|n| (n as u8).wrapping_mul(31).wrapping_add(first)).collect();
            Model {
                v6,
                tcp,
                tags,
                extension: if v6 { 8 * extension } else { 0 },
                identification,
                sequence,
                flags,
                options: 4 * words,
                summed: summed || v6 || tcp,
                // A segment of a few bytes of a large super-packet only takes long.
                segment_bytes: cut.max(data.len() / 400).clamp(1, 65_535),
                data,
                padding,
            }
        },
    )
}

impl Model {
    const ENDS_V4: [[u8; 4]; 2] = [[10, 0, 0, 1], [192, 0, 2, 200]];
    const ENDS_V6: [[u8; 16]; 2] = [[0xfd; 16], [0x20; 16]];

    /// Ethernet header and tags, then the IP header of a packet with `transport` bytes behind its extension.
    fn headers(&self, transport: usize, identification: u16) -> Vec<u8> {
        let kind: u16 = if self.v6 { 0x86dd } else { 0x0800 };
        let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        for tag in 0..self.tags {
            bytes.extend(if tag == 0 && self.tags == 2 { [0x88, 0xa8, 0, 9] } else { [0x81, 0, 0x20, 7] });
        }
        bytes.extend(kind.to_be_bytes());
        let protocol = if self.tcp { IpNumber::TCP } else { IpNumber::UDP };
        let payload = (self.extension + transport) as u16;
        if self.v6 {
            let next = if self.extension > 0 { IpNumber::IPV6_DESTINATION_OPTIONS } else { protocol };
            let [source, destination] = Self::ENDS_V6;
            let header = Ipv6Header {
                payload_length: payload,
                next_header: next,
                source,
                destination,
                hop_limit: 9,
                ..Ipv6Header::default()
            };
            bytes.extend(header.to_bytes());
            if self.extension > 0 {
                bytes.extend(Ipv6RawExtHeader::new_raw(protocol, &vec![0; self.extension - 2]).unwrap().to_bytes());
            }
        } else {
            let [source, destination] = Self::ENDS_V4;
            let mut header = Ipv4Header::new(payload, 64, protocol, source, destination).unwrap();
            header.identification = identification;
            header.header_checksum = header.calc_header_checksum();
            bytes.extend(header.to_bytes());
        }
        bytes
    }

    /// The packet with `data`, which begins `before` bytes behind the start, as a sender without offloads builds it.
    fn packet(&self, number: usize, before: usize, data: &[u8], first: bool, last: bool) -> Vec<u8> {
        let transport = if self.tcp { self.tcp(before, data, first, last) } else { self.udp(data) };
        let mut bytes = self.headers(transport.len() + data.len(), self.identification.wrapping_add(number as u16));
        bytes.extend(transport);
        bytes.extend(data);
        bytes
    }

    fn tcp(&self, before: usize, data: &[u8], first: bool, last: bool) -> Vec<u8> {
        let [fin, psh, cwr, ece, ack] = self.flags;
        let mut header = TcpHeader::new(80, 5000, self.sequence.wrapping_add(before as u32), 512);
        (header.fin, header.psh, header.cwr) = (fin && last, psh && last, cwr && first);
        (header.ece, header.ack, header.acknowledgment_number) = (ece, ack, 77);
        header.set_options_raw(&vec![1; self.options]).unwrap();
        let sum = match self.v6 {
            true => header.calc_checksum_ipv6_raw(Self::ENDS_V6[0], Self::ENDS_V6[1], data),
            false => header.calc_checksum_ipv4_raw(Self::ENDS_V4[0], Self::ENDS_V4[1], data),
        };
        header.checksum = sum.unwrap();
        header.to_bytes().to_vec()
    }

    fn udp(&self, data: &[u8]) -> Vec<u8> {
        let mut header =
            UdpHeader { source_port: 53, destination_port: 9, length: (8 + data.len()) as u16, checksum: 0 };
        if self.summed {
            let sum = match self.v6 {
                true => header.calc_checksum_ipv6_raw(Self::ENDS_V6[0], Self::ENDS_V6[1], data),
                false => header.calc_checksum_ipv4_raw(Self::ENDS_V4[0], Self::ENDS_V4[1], data),
            };
            header.checksum = sum.unwrap();
        }
        header.to_bytes().to_vec()
    }

    /// The segments, each built on its own.
    fn segments(&self) -> Vec<Vec<u8>> {
        let pieces: Vec<&[u8]> = match self.data.len() {
            0 => vec![&[]],
            _ => self.data.chunks(self.segment_bytes).collect(),
        };
        let last = pieces.len() - 1;
        let build = |(n, data): (usize, &&[u8])| self.packet(n, n * self.segment_bytes, data, n == 0, n == last);
        pieces.iter().enumerate().map(build).collect()
    }

    fn transport_at(&self) -> usize {
        14 + 4 * self.tags + if self.v6 { 40 + self.extension } else { 20 }
    }

    /// The super-packet, with the sum of its pseudo-header in place of the checksum, and its offloads.
    fn super_packet(&self) -> (Vec<u8>, Offload) {
        let mut bytes = self.packet(0, 0, &self.data, true, true);
        let (start, protocol) = (self.transport_at(), if self.tcp { 6 } else { 17 });
        let offset = if self.tcp { 16 } else { 6 };
        if self.summed {
            let addresses = if self.v6 { Self::ENDS_V6.concat() } else { Self::ENDS_V4.concat() };
            let words = addresses.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
            let mut sum = words.sum::<u32>() + (bytes.len() - start) as u32 + protocol;
            while sum > 0xffff {
                sum = (sum & 0xffff) + (sum >> 16);
            }
            bytes[start + offset..start + offset + 2].copy_from_slice(&(sum as u16).to_be_bytes());
        }
        bytes.resize(bytes.len() + self.padding, 0xee);
        let kind = if self.tcp { SegmentedProtocol::Tcp } else { SegmentedProtocol::Udp };
        let partial = self.summed.then_some(PartialChecksum { start, offset });
        (bytes, Offload { partial, segments: Some((kind, self.segment_bytes)) })
    }

    /// Whether an IP header can state the super-packet's length.
    fn fits(&self) -> bool {
        self.data.len() + self.extension + 60 + 20 <= 65_535
    }
}

/// Both zeros of ones' complement are the same checksum; UDP must use 0xffff (RFC 768).
fn with_one_zero(model: &Model, mut segments: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    if model.tcp {
        let at = model.transport_at() + 16;
        for segment in segments.iter_mut().filter(|segment| segment[at..at + 2] == [0, 0]) {
            segment[at..at + 2].fill(0xff);
        }
    }
    segments
}

proptest! {
    #[test]
    fn segments_are_the_packets_of_a_sender_without_offloads(model in models()) {
        prop_assume!(model.fits());
        let (frame, offload) = model.super_packet();
        let found = Segmentation::find(&frame, offload).unwrap();
        let mut room = vec![0x55; found.longest()];
        let written: Vec<Vec<u8>> = (0..found.count())
            .map(|number| {
                let length = found.write(&frame, number, &mut room);
                room[..length].to_vec()
            })
            .collect();
        prop_assert_eq!(written.iter().map(Vec::len).max(), Some(found.longest()));
        prop_assert_eq!(written, with_one_zero(&model, model.segments()));
    }

    #[test]
    fn damaged_super_packets_are_refused_or_segmented_without_a_panic(
        model in models(), cut in 0..70_000_usize, flips in prop::collection::vec((0..120_usize, 1..=255_u8), 0..6),
        start in 0..100_usize,
    ) {
        prop_assume!(model.fits());
        let (mut frame, mut offload) = model.super_packet();
        for (at, with) in flips {
            if let Some(byte) = frame.get_mut(at) {
                *byte ^= with;
            }
        }
        frame.truncate(cut);
        if start < 50 {
            offload.partial = Some(PartialChecksum { start, offset: start / 2 });
        }
        if let Some(found) = Segmentation::find(&frame, offload) {
            let mut room = vec![0; found.longest()];
            let data: usize = (0..found.count())
                .map(|number| found.write(&frame, number, &mut room) - found.data)
                .sum();
            prop_assert_eq!(data, found.end - found.data);
            prop_assert!(found.end <= frame.len());
        }
    }

    #[test]
    fn any_header_of_the_kernel_can_be_read(header: [u8; OFFLOAD_HEADER]) {
        let offload = Offload::read(header);
        prop_assert_eq!(offload.partial.is_some(), header[0] & 1 == 1);
        prop_assert!(offload.segments.is_none_or(|(_, bytes)| bytes > 0));
    }
}

#[test]
fn the_kernels_description_of_offloads_is_read() {
    let header = |flags: u8, kind: u8, size: u16| {
        let mut header = [0; OFFLOAD_HEADER];
        (header[0], header[1]) = (flags, kind);
        for (at, value) in [(4, size), (6, 34), (8, 16)] {
            header[at..at + 2].copy_from_slice(&value.to_ne_bytes());
        }
        Offload::read(header)
    };
    let partial = Some(PartialChecksum { start: 34, offset: 16 });
    assert_eq!(header(0, 0, 0), Offload::default());
    assert_eq!(header(1, 0, 0), Offload { partial, segments: None });
    // Data whose checksum the kernel has verified needs nothing.
    assert_eq!(header(2, 0, 0), Offload::default());
    let tcp = Offload { partial, segments: Some((SegmentedProtocol::Tcp, 1448)) };
    assert_eq!((header(1, 1, 1448), header(1, 0x81, 1448), header(1, 4, 1448)), (tcp, tcp, tcp));
    assert_eq!(header(1, 5, 900), Offload { partial, segments: Some((SegmentedProtocol::Udp, 900)) });
    assert_eq!(header(1, 1, 0), Offload { partial, segments: None });
}

#[test]
fn tunnels_and_contradictions_are_not_segmented() {
    let mut inner = Vec::new();
    PacketBuilder::ipv4([10, 0, 0, 3], [10, 0, 0, 4], 64).tcp(1, 2, 3, 4).write(&mut inner, &[7; 4000]).unwrap();
    let mut tunnel = Vec::new();
    PacketBuilder::ethernet2([2; 6], [4; 6])
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .udp(4789, 4789)
        .write(&mut tunnel, &inner)
        .unwrap();
    let offload = |protocol, start, offset| Offload {
        partial: Some(PartialChecksum { start, offset }),
        segments: Some((protocol, 1000)),
    };
    // The checksum of the inner TCP header.
    assert_eq!(Segmentation::find(&tunnel, offload(SegmentedProtocol::Tcp, 62, 16)), None);
    assert_eq!(Segmentation::find(&tunnel, offload(SegmentedProtocol::Udp, 62, 6)), None);
    assert!(Segmentation::find(&tunnel, offload(SegmentedProtocol::Udp, 34, 6)).is_some());
    assert_eq!(Segmentation::find(&tunnel, Offload::default()), None);
    // A checksum that is complete was not left to a card.
    let complete = Offload { partial: None, ..offload(SegmentedProtocol::Udp, 34, 6) };
    assert_eq!(Segmentation::find(&tunnel, complete), None);
}

/// A frame with its checksum, the same frame with only the sum of the pseudo-header, and the checksum's position
/// (RFC 9293, section 3.1; RFC 8200, section 8.1).
fn both(v6: bool, tcp: bool, payload: &[u8]) -> (Vec<u8>, Vec<u8>, PartialChecksum) {
    let mac = PacketBuilder::ethernet2([2; 6], [4; 6]);
    let ip = match v6 {
        true => mac.ipv6([3; 16], [9; 16], 64),
        false => mac.ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64),
    };
    let mut whole = Vec::new();
    match tcp {
        true => ip.tcp(80, 8080, 7, 100).write(&mut whole, payload).unwrap(),
        false => ip.udp(80, 8080).write(&mut whole, payload).unwrap(),
    }
    let start = 14 + if v6 { Ipv6Header::LEN } else { Ipv4Header::MIN_LEN };
    let (offset, length, protocol) =
        if tcp { (16, TcpHeader::MIN_LEN + payload.len(), 6) } else { (6, UdpHeader::LEN + payload.len(), 17) };
    let addresses = if v6 { &whole[22..54] } else { &whole[26..34] };
    let words = addresses.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum = words.sum::<u32>() + length as u32 + protocol;
    let sum = (sum & 0xffff) + (sum >> 16);
    let mut left = whole.clone();
    left[start + offset..start + offset + 2].copy_from_slice(&(sum as u16).to_be_bytes());
    (whole, left, PartialChecksum { start, offset })
}

#[test]
fn a_filled_in_checksum_covers_the_whole_segment() {
    for payload in [&b""[..], b"x", b"some bytes of no even number, 37 here"] {
        for (v6, tcp) in [(false, false), (false, true), (true, false), (true, true)] {
            let (whole, mut left, partial) = both(v6, tcp, payload);
            assert_ne!(left, whole);
            partial.fill_in(&mut left);
            assert_eq!(left, whole, "IPv6: {v6}, TCP: {tcp}, {} bytes", payload.len());
        }
    }
}

#[test]
fn a_checksum_beyond_the_frame_is_not_filled_in() {
    for partial in [
        PartialChecksum { start: 40, offset: 0 },
        PartialChecksum { start: 8, offset: 31 },
        PartialChecksum { start: 65_535, offset: 9 },
    ] {
        let mut frame = [7; 40];
        partial.fill_in(&mut frame);
        assert_eq!(frame, [7; 40]);
    }
}
