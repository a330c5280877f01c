//! A packet's headers as bytes: IPv4 or IPv6, then TCP or UDP, with valid checksums.
//!
//! Payloads are zeros and are not written: zeros do not change a checksum.

use std::net::IpAddr;

use aqm::Ecn;
use etherparse::checksum::Sum16BitWords;
use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, Ipv6Header, TcpHeader, UdpHeader};
use headgate_scenario::Header;

/// The longest headers: IPv6, and TCP with all its options.
pub const MAX_HEADERS: usize = Ipv6Header::LEN + TcpHeader::MAX_LEN;

/// The initial TTL of hosts (RFC 1700). Simulated routers do not lower it.
const INITIAL_TTL: u8 = 64;

/// One packet's headers, and its length on the wire.
pub struct Frame {
    bytes: [u8; MAX_HEADERS],
    used: usize,
    /// The IP packet's length in bytes, payload included.
    pub length: u32,
}

/// The length of an IP header of this address's version, in bytes.
pub fn ip_length(address: IpAddr) -> u32 {
    if address.is_ipv4() { Ipv4Header::MIN_LEN as u32 } else { Ipv6Header::LEN as u32 }
}

impl Frame {
    /// A TCP segment with `payload` bytes.
    pub fn tcp(header: &Header<'_>, ecn: Ecn, mut tcp: TcpHeader, payload: u32) -> Frame {
        (tcp.source_port, tcp.destination_port) = (header.source_port, header.destination_port);
        let length = tcp.header_len() as u32 + payload;
        let mut frame = Frame::ip(header, ecn, length);
        tcp.checksum = pseudo_header(header, length).add_slice(&tcp.to_bytes()).ones_complement().to_be();
        frame.append(&tcp.to_bytes());
        frame
    }

    /// A UDP datagram in an IP packet of `bytes`, but no shorter than its headers.
    pub fn udp(header: &Header<'_>, ecn: Ecn, bytes: u32) -> Frame {
        let length = bytes.saturating_sub(ip_length(header.source)).max(UdpHeader::LEN as u32);
        let mut udp = UdpHeader {
            source_port: header.source_port,
            destination_port: header.destination_port,
            length: length as u16,
            checksum: 0,
        };
        let sum = pseudo_header(header, length).add_slice(&udp.to_bytes());
        udp.checksum = sum.to_ones_complement_with_no_zero().to_be(); // RFC 768: 0 would mean no checksum
        let mut frame = Frame::ip(header, ecn, length);
        frame.append(&udp.to_bytes());
        frame
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    /// An IP header over `payload` bytes.
    fn ip(header: &Header<'_>, ecn: Ecn, payload: u32) -> Frame {
        let mut frame = Frame { bytes: [0; MAX_HEADERS], used: 0, length: ip_length(header.source) + payload };
        match (header.source, header.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                let mut ip = Ipv4Header {
                    dscp: IpDscp::try_new(header.dscp).unwrap_or_default(),
                    ecn: IpEcn::try_new(ecn.bits()).unwrap_or_default(),
                    total_len: frame.length as u16,
                    dont_fragment: true, // lets the identification be 0 (RFC 6864, section 4.1)
                    time_to_live: INITIAL_TTL,
                    protocol: IpNumber(header.protocol),
                    source: source.octets(),
                    destination: destination.octets(),
                    ..Ipv4Header::default()
                };
                ip.header_checksum = ip.calc_header_checksum();
                frame.append(&ip.to_bytes());
            }
            (source, destination) => {
                let ip = Ipv6Header {
                    traffic_class: header.dscp << 2 | ecn.bits(),
                    payload_length: payload as u16,
                    next_header: IpNumber(header.protocol),
                    hop_limit: INITIAL_TTL,
                    source: octets(source),
                    destination: octets(destination),
                    ..Ipv6Header::default()
                };
                frame.append(&ip.to_bytes());
            }
        }
        frame
    }

    fn append(&mut self, bytes: &[u8]) {
        self.bytes[self.used..self.used + bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
    }
}

/// Checksum input of TCP and UDP besides the segment (RFC 9293, section 3.1; RFC 8200, section 8.1).
fn pseudo_header(header: &Header<'_>, length: u32) -> Sum16BitWords {
    let mut sum = Sum16BitWords::new().add_4bytes(length.to_be_bytes()).add_2bytes([0, header.protocol]);
    match (header.source, header.destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            sum.add_slice(&source.octets()).add_slice(&destination.octets())
        }
        (source, destination) => sum.add_16bytes(octets(source)).add_16bytes(octets(destination)),
    }
}

fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}
