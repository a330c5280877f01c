//! Reads packet captures: pcap and pcapng, in either byte order.

use std::net::IpAddr;

use aqm::Span;
use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use pcap_parser::nom::Err as Nom;
use pcap_parser::{
    Block, Linktype, PcapBlockOwned, PcapHeader, PcapNGSlice, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_header,
};

use crate::trace::{TraceBuilder, TraceError, TrafficTrace};

/// The first bytes of pcapng, and of pcap in either byte order with times in us or ns.
const MAGICS: [[u8; 4]; 5] = [
    [0x0a, 0x0d, 0x0d, 0x0a],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
];

/// Whether a file begins like a capture.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    MAGICS.iter().any(|magic| bytes.starts_with(magic))
}

/// Reads TCP and UDP packets with data as writes. A flow is one direction of a 5-tuple. Other packets (ARP, ICMP, later
/// fragments, pure ACKs) are skipped.
pub(crate) fn read(bytes: &[u8]) -> Result<TrafficTrace, TraceError> {
    let mut packets = CaptureReader { collected: TraceBuilder::new(), count: 0, first: None, latest: Span::ZERO };
    if bytes.starts_with(&MAGICS[0]) {
        pcapng(bytes, &mut packets)?
    } else {
        pcap(bytes, &mut packets)?
    }
    packets.collected.trace(packets.first.unwrap_or(Span::ZERO))
}

/// A flow: addresses, ports, protocol.
type FiveTuple = (IpAddr, IpAddr, u16, u16, u8);

struct CaptureReader {
    collected: TraceBuilder<FiveTuple>,
    count: u64,
    first: Option<Span>,
    latest: Span,
}

impl CaptureReader {
    fn add(&mut self, link: Linktype, at: Span, frame: &[u8]) -> Result<(), TraceError> {
        self.count += 1;
        if at < self.latest {
            return Err(TraceError::TimeGoesBack { packet: self.count });
        }
        self.latest = at;
        self.first.get_or_insert(at);
        let Some((tuple, bytes)) = sliced(link, frame)?.and_then(|packet| written(&packet)) else { return Ok(()) };
        if bytes == 0 { Ok(()) } else { self.collected.add(tuple, at, bytes) }
    }

    /// The trace error for a parser's `error`, with the number of packets read so far.
    fn fault<E>(&self, error: &Nom<E>) -> TraceError {
        match error {
            Nom::Incomplete(_) => TraceError::CutOff { packets: self.count },
            Nom::Error(_) | Nom::Failure(_) => TraceError::Damaged { packets: self.count },
        }
    }
}

fn pcap(bytes: &[u8], packets: &mut CaptureReader) -> Result<(), TraceError> {
    let (mut rest, header): (_, PcapHeader) = parse_pcap_header(bytes).map_err(|error| packets.fault(&error))?;
    let parse = if header.is_bigendian() { parse_pcap_frame_be } else { parse_pcap_frame };
    let unit = if header.is_nanosecond_precision() { 1 } else { 1000 };
    while !rest.is_empty() {
        let (after, frame) = parse(rest).map_err(|error| packets.fault(&error))?;
        let at = Span::from_secs(frame.ts_sec.into()) + Span::from_nanos(u64::from(frame.ts_usec) * unit);
        packets.add(header.network, at, frame.data)?;
        rest = after;
    }
    Ok(())
}

fn pcapng(bytes: &[u8], packets: &mut CaptureReader) -> Result<(), TraceError> {
    // The section's interfaces: link type, and time units per second.
    let mut interfaces: Vec<(Linktype, u64)> = Vec::new();
    for block in PcapNGSlice::from_slice(bytes).map_err(|error| packets.fault(&error))? {
        let PcapBlockOwned::NG(block) = block.map_err(|error| packets.fault(&error))? else { continue };
        match block {
            Block::SectionHeader(_) => interfaces.clear(),
            Block::InterfaceDescription(about) => {
                let units = units(about.if_tsresol).ok_or(TraceError::Damaged { packets: packets.count })?;
                interfaces.push((about.linktype, units));
            }
            Block::EnhancedPacket(packet) => {
                let interface = interfaces.get(packet.if_id as usize);
                let (link, units) = *interface.ok_or(TraceError::Damaged { packets: packets.count })?;
                let ticks = (u128::from(packet.ts_high) << 32) | u128::from(packet.ts_low);
                let nanos = ticks * 1_000_000_000 / u128::from(units);
                let captured = packet.data.get(..packet.caplen as usize).unwrap_or(packet.data);
                packets.add(link, Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)), captured)?;
            }
            // Simple packets have no time; other blocks are not packets.
            _ => {}
        }
    }
    Ok(())
}

/// Time units per second for `if_tsresol`: a power of 2 if the highest bit is set, else of 10.
fn units(resolution: u8) -> Option<u64> {
    let power = u32::from(resolution & 0x7f);
    if resolution & 0x80 == 0 { 10_u64.checked_pow(power) } else { 1_u64.checked_shl(power) }
}

/// The headers of a frame; `None` if it is not IP.
fn sliced(link: Linktype, frame: &[u8]) -> Result<Option<LaxSlicedPacket<'_>>, TraceError> {
    match link {
        Linktype::ETHERNET => Ok(LaxSlicedPacket::from_ethernet(frame).ok()),
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 => Ok(LaxSlicedPacket::from_ip(frame).ok()),
        // A protocol family of four bytes precedes the packet.
        Linktype::NULL => Ok(frame.get(4..).and_then(|packet| LaxSlicedPacket::from_ip(packet).ok())),
        Linktype(number) => Err(TraceError::Link { number }),
    }
}

/// The flow and the length of the data. The length is taken from the headers, because a capture may hold only the first
/// bytes of a packet.
fn written(packet: &LaxSlicedPacket<'_>) -> Option<(FiveTuple, u32)> {
    let (source, destination, full): (IpAddr, IpAddr, usize) = match packet.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let before = header.slice().len() + ip.extensions().auth.map_or(0, |auth| auth.slice().len());
            let full = usize::from(header.total_len()).saturating_sub(before);
            (header.source_addr().into(), header.destination_addr().into(), full)
        }
        LaxNetSlice::Ipv6(ip) => {
            let (header, before) = (ip.header(), ip.extensions().slice().len());
            let full = usize::from(header.payload_length()).saturating_sub(before);
            (header.source_addr().into(), header.destination_addr().into(), full)
        }
        LaxNetSlice::Arp(_) => return None,
    };
    let payload = packet.ip_payload()?;
    // An IP length of 0 is a segment captured before the network card split it.
    let full = if payload.incomplete { full } else { payload.payload.len() };
    let (ports, header) = match packet.transport.as_ref()? {
        TransportSlice::Tcp(tcp) => ((tcp.source_port(), tcp.destination_port()), tcp.header_slice().len()),
        TransportSlice::Udp(udp) => ((udp.source_port(), udp.destination_port()), udp.header_slice().len()),
        _ => return None,
    };
    let tuple = (source, destination, ports.0, ports.1, payload.ip_number.0);
    Some((tuple, u32::try_from(full.saturating_sub(header)).ok()?))
}
