//! Captures read back by independent parsers: `pcap-parser` reads the blocks, `etherparse` the headers.

use aqm::{Ecn, FlowId, Packet, Time, Why};
use etherparse::{NetHeaders, PacketHeaders, TcpOptionElement, TransportHeader};
use headgate_scenario::{Changes, Scenario};
use pcap_parser::pcapng::{Block as Parsed, parse_block_le};

use super::*;
use crate::segment::Segment;
use crate::tcp::Ace;

const GROUPS: &str = "[[tcp]]\nname = 'web'\nflows = 2\necn = true\ndscp = 'AF21'\n\
                      [[tcp]]\nname = 'six'\nsource = '2001:db8::/64'\npacket = '1280B'\nheader = '72B'\nack = '72B'\n\
                      [[tcp]]\nname = 'old'\nprofile = 'ns2'\n\
                      [[tcp]]\nname = 'prague'\ncc = 'prague'\n\
                      [[udp]]\nname = 'cbr'\nrate = '1Mbit/s'\nsource = '10.9.0.1'\n";

fn scenario() -> Scenario {
    let link = "link = { rate = '10Mbit/s', delay = '10ms', limit = '9p' }";
    let text = format!(
        "name = 'c'\nduration = '1s'\nqdiscs = ['droptail']\n{link}\nrecord.capture = ['bottleneck']\n{GROUPS}"
    );
    Scenario::read(&text, "c.toml", &Changes::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn packet(flow: u64, bytes: u32, ecn: Ecn, segment: Segment) -> SimPacket {
    SimPacket { ecn, ..Packet::new(FlowId(flow), bytes, segment) }
}

/// A packet block, read back.
struct CapturedPacket {
    interface: u32,
    nanos: u64,
    length: u32,
    bytes: Vec<u8>,
    comment: String,
}

/// Interface names, and packets.
fn read(mut bytes: &[u8]) -> (Vec<String>, Vec<CapturedPacket>) {
    let (mut names, mut packets) = (Vec::new(), Vec::new());
    while !bytes.is_empty() {
        let (rest, block) = parse_block_le(bytes).expect("a whole block");
        bytes = rest;
        match block {
            Parsed::SectionHeader(head) => assert_eq!((head.big_endian(), head.major_version), (false, 1)),
            Parsed::InterfaceDescription(interface) => {
                assert_eq!((interface.linktype.0, interface.if_tsresol), (101, 9));
                names.push(interface.if_name().unwrap().unwrap().to_string());
            }
            Parsed::EnhancedPacket(packet) => packets.push(CapturedPacket {
                interface: packet.if_id,
                nanos: u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low),
                length: packet.origlen,
                bytes: packet.data[..packet.caplen as usize].to_vec(),
                comment: packet
                    .options
                    .iter()
                    .find(|option| option.code.0 == 1)
                    .map_or(String::new(), |option| option.as_str().unwrap().to_string()),
            }),
            other => panic!("unexpected block: {other:?}"),
        }
    }
    (names, packets)
}

/// The interfaces and packets of a capture that `record` writes.
fn captured(record: impl FnOnce(&mut Captures, &mut AckOptionSlab)) -> (Vec<String>, Vec<CapturedPacket>) {
    let mut captures = Captures::new(&scenario()).expect("the scenario requests a capture");
    record(&mut captures, &mut AckOptionSlab::default());
    let mut bytes = Vec::new();
    captures.take(|link, new| {
        assert_eq!(link, 0);
        bytes.extend_from_slice(new);
    });
    read(&bytes)
}

/// The headers of a packet with a payload of zeros. Checks every checksum.
fn headers(read: &CapturedPacket) -> (NetHeaders, TransportHeader) {
    let mut whole = read.bytes.clone();
    whole.resize(read.length as usize, 0);
    let PacketHeaders { net, transport, .. } = PacketHeaders::from_ip_slice(&whole).expect("a valid packet");
    let (net, transport) = (net.unwrap(), transport.unwrap());
    let payload = vec![0; whole.len() - net.header_len() - transport.header_len()];
    let checksum = match (&net, &transport) {
        (NetHeaders::Ipv4(ip, _), TransportHeader::Tcp(tcp)) => tcp.calc_checksum_ipv4(ip, &payload),
        (NetHeaders::Ipv6(ip, _), TransportHeader::Tcp(tcp)) => tcp.calc_checksum_ipv6(ip, &payload),
        (NetHeaders::Ipv4(ip, _), TransportHeader::Udp(udp)) => udp.calc_checksum_ipv4(ip, &payload),
        (NetHeaders::Ipv6(ip, _), TransportHeader::Udp(udp)) => udp.calc_checksum_ipv6(ip, &payload),
        other => panic!("neither TCP nor UDP: {other:?}"),
    };
    let written = match &transport {
        TransportHeader::Tcp(tcp) => tcp.checksum,
        TransportHeader::Udp(udp) => udp.checksum,
        other => panic!("neither TCP nor UDP: {other:?}"),
    };
    assert_eq!(Ok(written), checksum);
    if let NetHeaders::Ipv4(ip, _) = &net {
        assert_eq!(ip.header_checksum, ip.calc_header_checksum());
    }
    (net, transport)
}

fn tcp(read: &CapturedPacket) -> etherparse::TcpHeader {
    headers(read).1.tcp().expect("TCP")
}

#[test]
fn a_link_has_an_interface_for_the_sent_and_the_dropped_packets_of_each_direction() {
    let (names, packets) = captured(|_, _| {});
    assert_eq!(
        names,
        ["bottleneck forward", "bottleneck reverse", "bottleneck forward drops", "bottleneck reverse drops"]
    );
    assert!(packets.is_empty());
}

#[test]
fn a_captured_connection_begins_with_a_synthetic_handshake() {
    let now = Time::from_nanos(5_000_000_007);
    let (_, packets) = captured(|captures, ack_options| {
        for seq in 0..2 {
            let data = packet(1, 1500, Ecn::Ect0, Segment::data(seq, false));
            captures.sent(0, &data, now, ack_options);
        }
    });
    let seen: Vec<_> = packets.iter().map(|p| (p.interface, p.nanos, p.length, p.comment.as_str())).collect();
    let not = "not simulated: connections are established when they start";
    let at = now.as_nanos();
    // 20 bytes of IP and 20 of TCP; the SYNs offer a segment size, window scaling and SACK in 12 more.
    assert_eq!(seen, [(0, at, 52, not), (1, at, 52, not), (0, at, 40, not), (0, at, 1500, ""), (0, at, 1500, "")]);
    let flags = |p| {
        let tcp = tcp(p);
        (tcp.syn, tcp.ack, tcp.ece, tcp.cwr, tcp.sequence_number, tcp.acknowledgment_number)
    };
    assert_eq!(flags(&packets[0]), (true, false, true, true, 0, 0));
    assert_eq!(flags(&packets[1]), (true, true, true, false, 0, 1));
    assert_eq!(flags(&packets[2]), (false, true, false, false, 1, 1));
    assert_eq!([flags(&packets[3]).4, flags(&packets[4]).4], [1, 1461]);
    // A window of 10000 segments of 1460 bytes is 14.6 MB: at least 57032 units of 2^8 bytes.
    let scales: Vec<_> = tcp(&packets[1]).options_iterator().flatten().collect();
    assert!(scales.contains(&TcpOptionElement::WindowScale(8)), "{scales:?}");
    assert_eq!(tcp(&packets[3]).window_size, 57_032);
}

#[test]
fn headers_have_the_scenarios_addresses_ports_and_codepoints() {
    let (_, packets) = captured(|captures, ack_options| {
        let data = packet(0, 1500, Ecn::Ce, Segment::data(3, true));
        captures.sent(0, &data, Time::ZERO, ack_options);
        let datagram = packet(5, 1000, Ecn::NotEct, Segment::datagram(0));
        captures.sent(0, &datagram, Time::ZERO, ack_options);
    });
    let (NetHeaders::Ipv4(ip, _), TransportHeader::Tcp(tcp)) = headers(&packets[3]) else { panic!("IPv4 and TCP") };
    assert_eq!((ip.source, ip.destination), ([10, 0, 0, 1], [172, 16, 0, 1]));
    assert_eq!((ip.dscp.value(), ip.ecn.value(), ip.total_len), (18, 3, 1500)); // AF21, CE
    assert_eq!((tcp.source_port, tcp.destination_port, tcp.cwr), (49_152, 5001, true));
    assert_eq!(packets[3].bytes.len(), 40, "headers only");
    let (NetHeaders::Ipv4(ip, _), TransportHeader::Udp(udp)) = headers(&packets[4]) else { panic!("IPv4 and UDP") };
    assert_eq!((ip.source, ip.ecn.value(), packets[4].length, udp.length), ([10, 9, 0, 1], 0, 1000, 980));
}

#[test]
fn an_acknowledgement_is_captured_in_reverse_with_its_blocks_in_bytes() {
    let (_, packets) = captured(|captures, ack_options| {
        let sack = ack_options.insert([(9, 11), (5, 6), (0, 0)].into());
        let ack = packet(0, 40, Ecn::NotEct, Segment::ack(4, true, Ace::default(), sack));
        captures.sent(1, &ack, Time::ZERO, ack_options);
    });
    assert_eq!(packets.iter().map(|p| p.interface).collect::<Vec<_>>(), [0, 1, 0, 1]);
    let (NetHeaders::Ipv4(ip, _), TransportHeader::Tcp(ack)) = headers(&packets[3]) else { panic!("IPv4 and TCP") };
    assert_eq!((ip.source, ip.destination), ([172, 16, 0, 1], [10, 0, 0, 1]));
    assert_eq!((ack.source_port, ack.destination_port), (5001, 49_152));
    let byte = |segment: u32| segment * 1460 + 1;
    assert_eq!((ack.sequence_number, ack.acknowledgment_number, ack.ece), (1, byte(4), true));
    let block = TcpOptionElement::SelectiveAcknowledgement((byte(9), byte(11)), [Some((byte(5), byte(6))), None, None]);
    assert!(ack.options_iterator().flatten().any(|option| option == block));
    // The option adds two NOPs, two bytes and eight for each of two blocks to the scenario's 40 bytes.
    assert_eq!(packets[3].length, 40 + 20);
}

#[test]
fn large_headers_are_padded_and_missing_headers_take_bytes_of_the_packet() {
    let (_, packets) = captured(|captures, ack_options| {
        let sack = ack_options.insert([(2, 3), (0, 0), (0, 0)].into());
        for (flow, bytes, segment) in
            [(2, 1280, Segment::data(1, false)), (2, 72, Segment::ack(1, false, Ace::default(), sack))]
        {
            captures.sent(0, &packet(flow, bytes, Ecn::NotEct, segment), Time::ZERO, ack_options);
        }
        let old = packet(3, 1000, Ecn::NotEct, Segment::data(1, false));
        captures.sent(0, &old, Time::ZERO, ack_options);
    });
    // IPv6: 72 bytes of headers are 40 of IP and 32 of TCP, and leave 1208 of 1280.
    let (NetHeaders::Ipv6(ip, _), TransportHeader::Tcp(data)) = headers(&packets[3]) else { panic!("IPv6 and TCP") };
    assert_eq!((ip.payload_length, data.header_len(), data.sequence_number), (1240, 32, 1209));
    let ack = tcp(&packets[4]);
    assert_eq!((packets[4].length, ack.header_len()), (72, 32), "one block fits into the padding");
    // ns-2's packets of 1000 bytes have no header in the scenario. In the capture, 40 of these bytes are headers.
    assert_eq!((packets[8].length, tcp(&packets[8]).sequence_number), (1000, 961));
}

#[test]
fn captured_drops_have_their_reason() {
    let (_, packets) = captured(|captures, ack_options| {
        let datagram = packet(5, 1000, Ecn::NotEct, Segment::datagram(0));
        captures.dropped(0, &datagram, Why::Early, Time::ZERO, ack_options);
        captures.dropped(1, &datagram, Why::FlowLimit, Time::ZERO, ack_options);
    });
    let seen: Vec<_> = packets.iter().map(|p| (p.interface, p.comment.as_str())).collect();
    assert_eq!(seen, [(2, "dropped: early"), (3, "dropped: flow_limit")]);
}

#[test]
fn sequence_numbers_wrap_after_four_gigabytes() {
    let (_, packets) = captured(|captures, ack_options| {
        // 2941758 segments of 1460 bytes are 2^32 - 616 bytes.
        let data = packet(0, 1500, Ecn::NotEct, Segment::data(2_941_759, false));
        captures.sent(0, &data, Time::ZERO, ack_options);
    });
    assert_eq!(tcp(&packets[3]).sequence_number, 1460 - 616 + 1);
}

#[test]
fn a_connection_with_accurate_feedback_requests_it_and_counts_from_5() {
    let (_, packets) = captured(|captures, ack_options| {
        captures.sent(0, &packet(4, 1500, Ecn::Ect1, Segment::data(0, false)), Time::ZERO, ack_options);
        captures.sent(
            1,
            &packet(4, 40, Ecn::NotEct, Segment::ack(1, false, Ace::from_bits(6), None)),
            Time::ZERO,
            ack_options,
        );
    });
    let flags = |p| {
        let tcp = tcp(p);
        [tcp.ns, tcp.cwr, tcp.ece].map(u8::from)
    };
    // RFC 9768, tables 2 and 3: a SYN requests feedback with 111. 010 answers a SYN or a SYN-ACK that was not ECT.
    // Counters begin at 5 (section 3.2.1).
    let expected = [[1, 1, 1], [0, 1, 0], [0, 1, 0], [1, 0, 1], [1, 1, 0]];
    assert_eq!(packets.iter().map(flags).collect::<Vec<_>>(), expected);
}
