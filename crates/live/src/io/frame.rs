//! Parses a frame: flow, class, ECN field and position of the IP header.
//!
//! Every field is checked before use. The link acts as a bridge for frames other than IP and as a router for IP. It
//! drops the IPv4 packets that a router must discard by RFC 1812, section 5.2.2, and their IPv6 equivalents. In a
//! packet with a wrong length or checksum, a mark could not leave a valid checksum. Nothing beyond the ports is parsed.
//! Decision 0005 lists the treatment of every kind of frame.

use std::net::IpAddr;

use aqm::parts::keyed;
use aqm::{ClassId, Ecn, FlowId};
use etherparse::{
    EtherType, Ethernet2HeaderSlice, IpAuthHeaderSlice, IpNumber, Ipv4HeaderSlice, Ipv6FragmentHeaderSlice,
    Ipv6HeaderSlice, Ipv6RawExtHeaderSlice, SingleVlanSlice, checksum::Sum16BitWords, err,
};
use headgate_scenario::{Classifier, FlowKey, Header};

use crate::io::anomalies::{AnomalyCounts, FrameAnomaly};
use crate::io::header_cache::{self, HeaderCache};

/// The first header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// An Ethernet header.
    Ethernet,
    /// An IP header, as on TUN devices.
    Ip,
}

impl Layer {
    /// Bytes of the header in front of the IP packet, without VLAN tags.
    pub(crate) fn header_bytes(self) -> u32 {
        match self {
            Layer::Ethernet => 14,
            Layer::Ip => 0,
        }
    }
}

/// Position of a frame's IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpPosition {
    /// Bytes before the header.
    pub offset: u16,
    /// Whether the version is 6.
    pub v6: bool,
}

/// Parsed properties of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParsedFrame {
    /// The flow. All fragments of a packet share the flow of their addresses and protocol. A frame that is not IP
    /// belongs to the flow of its MAC addresses and type.
    pub flow: FlowId,
    /// The class; 0 if it is not IP.
    pub class: ClassId,
    /// The ECN field; not-ECT if it is not IP.
    pub ecn: Ecn,
    /// Position of the IP header, if any.
    pub ip: Option<IpPosition>,
    /// Fields of the IP header, if any. Ports are 0 if they cannot be read.
    pub header: Option<Header<'static>>,
}

/// Most VLAN tags skipped: 802.1ad has two, and some networks stack a third.
const MOST_TAGS: usize = 4;
/// Most IPv6 extension headers skipped. RFC 8200, section 4.1, recommends an order of at most seven.
const MOST_EXTENSIONS: usize = 8;

/// Parses frames and counts their anomalies.
#[derive(Clone, Debug)]
pub struct Parser {
    layer: Layer,
    classifier: Classifier,
    recent_v4: HeaderCache<2>,
    recent_v6: HeaderCache<5>,
    key: u64,
    /// Counts so far.
    pub anomalies: AnomalyCounts,
}

impl Parser {
    /// A parser with five-tuple flows, all in class 0. A secret `key` prevents constructed collisions of flows.
    pub fn new(layer: Layer, key: u64) -> Parser {
        Parser::with_classifier(layer, Classifier::new(&[], FlowKey::FiveTuple, key), key)
    }

    /// A parser with the flows and classes of `classifier`.
    pub fn with_classifier(layer: Layer, classifier: Classifier, key: u64) -> Parser {
        // Derive another key, so that flows of frames without IP differ from the classifier's.
        let key = key.rotate_left(17) ^ 0x6c69_6e6b;
        let (recent_v4, recent_v6) = (HeaderCache::new(), HeaderCache::new());
        Parser { layer, classifier, recent_v4, recent_v6, key, anomalies: AnomalyCounts::default() }
    }

    /// Parses `frame`.
    ///
    /// # Errors
    /// The reason to drop the frame, already counted.
    // Not inlined, so that the result is written in its final place: a copy of many small fields would stall.
    #[inline(never)]
    pub fn parse(&mut self, frame: &[u8]) -> Result<ParsedFrame, FrameAnomaly> {
        let parsed = match self.layer {
            _ if frame.is_empty() => Err(FrameAnomaly::Empty),
            Layer::Ethernet => self.ethernet(frame),
            Layer::Ip if frame[0] >> 4 == 6 => self.v6(frame, 0),
            Layer::Ip => self.v4(frame, 0),
        };
        if let Err(anomaly) = &parsed {
            self.anomalies.count(*anomaly);
        }
        parsed
    }

    /// The header of `frame`, if any; anomalies are not counted.
    pub(crate) fn header(&mut self, frame: &[u8]) -> Option<Header<'static>> {
        let before = self.anomalies;
        let parsed = self.parse(frame);
        self.anomalies = before;
        parsed.ok()?.header
    }

    #[inline(always)]
    fn ethernet(&mut self, frame: &[u8]) -> Result<ParsedFrame, FrameAnomaly> {
        let header = Ethernet2HeaderSlice::from_slice(frame).map_err(|_| FrameAnomaly::ShortLink)?;
        let (mut kind, mut at) = (header.ether_type(), header.slice().len());
        for _ in 0..MOST_TAGS {
            if !is_tag(kind) {
                break;
            }
            kind = SingleVlanSlice::from_slice(&frame[at..]).map_err(|_| FrameAnomaly::ShortTag)?.ether_type();
            at += 4;
        }
        let anomaly = match kind {
            EtherType::IPV4 => return self.v4(frame, at),
            EtherType::IPV6 => return self.v6(frame, at),
            _ if is_tag(kind) => FrameAnomaly::DeepTags,
            // Below 0x600 the field is a length (IEEE 802.3, clause 3.2.6).
            EtherType(length) if length < 0x600 => FrameAnomaly::Llc,
            _ => FrameAnomaly::NonIp,
        };
        self.anomalies.count(anomaly);
        let word = |mac: [u8; 6], low: u16| {
            let [a, b, c, d, e, f] = mac;
            u64::from_be_bytes([0, 0, a, b, c, d, e, f]) << 16 | u64::from(low)
        };
        let flow = keyed(self.key, FlowId(word(header.destination(), kind.0)));
        let flow = FlowId(keyed(flow, FlowId(word(header.source(), 0))));
        Ok(ParsedFrame { flow, class: ClassId(0), ecn: Ecn::NotEct, ip: None, header: None })
    }

    #[inline(always)]
    fn v4(&mut self, frame: &[u8], at: usize) -> Result<ParsedFrame, FrameAnomaly> {
        let packet = &frame[at..];
        let ip = Ipv4HeaderSlice::from_slice(packet).map_err(|error| v4_anomaly(&error))?;
        let (bytes, total) = (ip.slice(), usize::from(ip.total_len()));
        // Bytes after the packet are Ethernet padding.
        if total < bytes.len() || total > packet.len() {
            return Err(FrameAnomaly::BadLength);
        }
        if checksum(bytes) != 0 {
            return Err(FrameAnomaly::BadChecksum);
        }
        if bytes.len() > 20 {
            self.anomalies.count(FrameAnomaly::Options);
        }
        let ports = if ip.is_fragmenting_payload() {
            self.anomalies.count(FrameAnomaly::Fragment);
            (0, 0)
        } else {
            self.ports(ip.protocol(), &packet[bytes.len()..total])
        };
        let tos = bytes[1];
        let words = header_cache::v4(ip.source(), ip.destination(), ip.protocol(), tos, ports);
        let build_header =
            || header([ip.source_addr().into(), ip.destination_addr().into()], ip.protocol(), tos, ports);
        let classified = self.recent_v4.get(words, || classify(&self.classifier, &build_header()));
        Ok(ip_frame(IpPosition { offset: at as u16, v6: false }, tos, classified, build_header))
    }

    fn v6(&mut self, frame: &[u8], at: usize) -> Result<ParsedFrame, FrameAnomaly> {
        let packet = &frame[at..];
        let ip = Ipv6HeaderSlice::from_slice(packet).map_err(|error| match error {
            err::ipv6::HeaderSliceError::Len(_) => FrameAnomaly::ShortHeader,
            err::ipv6::HeaderSliceError::Content(_) => FrameAnomaly::BadVersion,
        })?;
        let payload =
            packet[ip.slice().len()..].get(..usize::from(ip.payload_length())).ok_or(FrameAnomaly::BadLength)?;
        let (protocol, ports) = self.skip_extensions(ip.next_header(), payload);
        let tos = ip.traffic_class();
        let build_header = || header([ip.source_addr().into(), ip.destination_addr().into()], protocol, tos, ports);
        let words = header_cache::v6(ip.source_addr(), ip.destination_addr(), protocol, tos, ports);
        let classified = self.recent_v6.get(words, || classify(&self.classifier, &build_header()));
        Ok(ip_frame(IpPosition { offset: at as u16, v6: true }, tos, classified, build_header))
    }

    /// Protocol and ports of an IPv6 packet, behind its extension headers.
    fn skip_extensions(&mut self, first: IpNumber, payload: &[u8]) -> (IpNumber, (u16, u16)) {
        let (mut next, mut rest) = (first, payload);
        for passed in 0..=MOST_EXTENSIONS {
            if !is_extension(next) {
                return (next, self.ports(next, rest));
            }
            if passed == 0 {
                self.anomalies.count(FrameAnomaly::Extensions);
            }
            if passed == MOST_EXTENSIONS {
                break;
            }
            let header = match next {
                IpNumber::IPV6_FRAGMENTATION_HEADER => match Ipv6FragmentHeaderSlice::from_slice(rest) {
                    // A fragment's payload may start anywhere. An atomic fragment is complete (RFC 6946).
                    Ok(fragment) if fragment.is_fragmenting_payload() => {
                        self.anomalies.count(FrameAnomaly::Fragment);
                        return (fragment.next_header(), (0, 0));
                    }
                    fragment => fragment.ok().map(|fragment| (fragment.next_header(), fragment.slice().len())),
                },
                IpNumber::AUTHENTICATION_HEADER => {
                    IpAuthHeaderSlice::from_slice(rest).ok().map(|auth| (auth.next_header(), auth.slice().len()))
                }
                _ => {
                    let header = Ipv6RawExtHeaderSlice::from_slice(rest).ok();
                    header.map(|header| (header.next_header(), header.slice().len()))
                }
            };
            let Some((after, length)) = header else { break };
            (next, rest) = (after, &rest[length..]);
        }
        // Routers need not read further (RFC 8200, section 4).
        self.anomalies.count(FrameAnomaly::OpaqueChain);
        (next, (0, 0))
    }

    /// Source and destination port, at the start of these protocols' headers.
    #[inline]
    fn ports(&mut self, protocol: IpNumber, payload: &[u8]) -> (u16, u16) {
        if ![IpNumber::TCP, IpNumber::UDP, IpNumber::DCCP, IpNumber::SCTP, IpNumber::UDP_LITE].contains(&protocol) {
            return (0, 0);
        }
        let Some(&[a, b, c, d]) = payload.first_chunk() else {
            self.anomalies.count(FrameAnomaly::NoPorts);
            return (0, 0);
        };
        (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))
    }
}

/// The properties of an IP packet. `header` builds the header at its final place, which avoids a copy.
#[inline(always)]
fn ip_frame(
    ip: IpPosition,
    tos: u8,
    (flow, class): (FlowId, ClassId),
    header: impl FnOnce() -> Header<'static>,
) -> ParsedFrame {
    ParsedFrame { flow, class, ecn: Ecn::from_bits(tos), ip: Some(ip), header: Some(header()) }
}

/// Uses only the header fields in the words that [`HeaderCache`] compares.
#[inline(never)]
fn classify(classifier: &Classifier, header: &Header<'_>) -> (FlowId, ClassId) {
    let class = classifier.class(header);
    (classifier.flow(header, class), class)
}

#[inline(always)]
fn header(ends: [IpAddr; 2], protocol: IpNumber, tos: u8, ports: (u16, u16)) -> Header<'static> {
    let ([source, destination], (source_port, destination_port)) = (ends, ports);
    Header { protocol: protocol.0, source, destination, source_port, destination_port, dscp: tos >> 2, label: "" }
}

/// Internet checksum (RFC 1071) of an IPv4 header, 0 if its checksum field is correct. The common case has no options.
#[inline(always)]
fn checksum(header: &[u8]) -> u16 {
    let mut sum = Sum16BitWords::new();
    let plain = header.split_first_chunk().and_then(|(most, rest)| Some((*most, rest.try_into().ok()?)));
    let sum = match plain {
        Some((most, rest)) => sum.add_16bytes(most).add_4bytes(rest),
        None => sum.add_slice(header),
    };
    sum.ones_complement()
}

fn is_tag(kind: EtherType) -> bool {
    let tags = [EtherType::VLAN_TAGGED_FRAME, EtherType::PROVIDER_BRIDGING, EtherType::VLAN_DOUBLE_TAGGED_FRAME];
    tags.contains(&kind)
}

fn is_extension(next: IpNumber) -> bool {
    // ESP is encrypted, and experimental headers have no known format.
    use etherparse::ip_number::{ENCAP_SEC, EXP0, EXP1};
    next.is_ipv6_ext_header_value() && ![ENCAP_SEC, EXP0, EXP1].contains(&next)
}

fn v4_anomaly(error: &err::ipv4::HeaderSliceError) -> FrameAnomaly {
    use err::ipv4::{HeaderError, HeaderSliceError};
    match error {
        HeaderSliceError::Len(_) => FrameAnomaly::ShortHeader,
        HeaderSliceError::Content(HeaderError::UnexpectedVersion { .. }) => FrameAnomaly::BadVersion,
        HeaderSliceError::Content(HeaderError::HeaderLengthSmallerThanHeader { .. }) => FrameAnomaly::BadHeaderLength,
    }
}
