//! From a frame's bytes to what a discipline and the marks need to know of it.
//!
//! Nothing in a frame is believed before it was checked. The link is a bridge to what it cannot read and a router to
//! IP: it drops what RFC 1812, section 5.2.2, has a router discard (and the like for IPv6), since neither a length nor a
//! checksum that is wrong could be marked and kept true; it does not look further into a packet than its ports. The
//! table of what becomes of which frame is in decision 0005.

use std::net::IpAddr;

use etherparse::{
    EtherType, Ethernet2HeaderSlice, IpAuthHeaderSlice, IpNumber, Ipv4HeaderSlice, Ipv6FragmentHeaderSlice,
    Ipv6HeaderSlice, Ipv6RawExtHeaderSlice, SingleVlanSlice, checksum::Sum16BitWords, err,
};
use headgate_core::parts::keyed;
use headgate_core::{ClassId, Ecn, FlowId};
use headgate_scenario::{Classifier, FlowKey, Header};

use crate::io::oddities::{Oddities, Oddity};
use crate::io::recent::{self, Recent};

/// What the first bytes of a frame are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// An Ethernet header.
    Ethernet,
    /// An IP header, as TUN gives it.
    Ip,
}

/// Where a frame has its IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpAt {
    /// Bytes before it.
    pub offset: u16,
    /// It is one of IPv6.
    pub v6: bool,
}

/// What a frame says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parsed {
    /// Its flow. Fragments of a packet have the flow of their addresses and protocol, the first one too, so that they
    /// stay together; what is no IP that of its MAC addresses and type.
    pub flow: FlowId,
    /// Its class; 0 for what is no IP.
    pub class: ClassId,
    /// Its ECN field; not ECN-capable if it is no IP.
    pub ecn: Ecn,
    /// Where its IP header is, if it has one.
    pub ip: Option<IpAt>,
    /// What its IP header says, if it has one. Ports are 0 where it shows none.
    pub header: Option<Header<'static>>,
}

/// VLAN tags that are looked behind: 802.1ad has two, and some stack a third on top.
const MOST_TAGS: usize = 4;
/// IPv6 extension headers that are looked behind. RFC 8200, section 4.1, recommends an order of at most seven.
const MOST_EXTENSIONS: usize = 8;

/// Reads frames, and counts what is odd about them.
#[derive(Clone, Debug)]
pub struct Parser {
    layer: Layer,
    classifier: Classifier,
    recent_v4: Recent<2>,
    recent_v6: Recent<5>,
    key: u64,
    /// What was odd so far.
    pub oddities: Oddities,
}

impl Parser {
    /// One that takes packets with the same addresses, ports and protocol for one flow, all in class 0. `key` is a
    /// secret of the run: without it nobody can choose packets whose flows collide.
    pub fn new(layer: Layer, key: u64) -> Parser {
        Parser::with_classifier(layer, Classifier::new(&[], FlowKey::FiveTuple, key), key)
    }

    /// One whose flows and classes are those of `classifier`.
    pub fn with_classifier(layer: Layer, classifier: Classifier, key: u64) -> Parser {
        // Another key than the classifier's, so that flows of frames without IP are none of its flows.
        let key = key.rotate_left(17) ^ 0x6c69_6e6b;
        let (recent_v4, recent_v6) = (Recent::new(), Recent::new());
        Parser { layer, classifier, recent_v4, recent_v6, key, oddities: Oddities::default() }
    }

    /// What `frame` says.
    ///
    /// # Errors
    /// Why it is to be dropped, if it is; it is counted.
    // What is found is written once, field by field, where the caller looks at it: a copy of so many small fields would wait for
    // all of them.
    #[inline(never)]
    pub fn parse(&mut self, frame: &[u8]) -> Result<Parsed, Oddity> {
        let parsed = match self.layer {
            _ if frame.is_empty() => Err(Oddity::Empty),
            Layer::Ethernet => self.ethernet(frame),
            Layer::Ip if frame[0] >> 4 == 6 => self.v6(frame, 0),
            Layer::Ip => self.v4(frame, 0),
        };
        if let Err(oddity) = &parsed {
            self.oddities.count(*oddity);
        }
        parsed
    }

    /// What the header of `frame` says, if it has one. Nothing is counted.
    pub(crate) fn look(&mut self, frame: &[u8]) -> Option<Header<'static>> {
        let before = self.oddities;
        let parsed = self.parse(frame);
        self.oddities = before;
        parsed.ok()?.header
    }

    #[inline(always)]
    fn ethernet(&mut self, frame: &[u8]) -> Result<Parsed, Oddity> {
        let header = Ethernet2HeaderSlice::from_slice(frame).map_err(|_| Oddity::ShortLink)?;
        let (mut kind, mut at) = (header.ether_type(), header.slice().len());
        for _ in 0..MOST_TAGS {
            if !is_tag(kind) {
                break;
            }
            kind = SingleVlanSlice::from_slice(&frame[at..]).map_err(|_| Oddity::ShortTag)?.ether_type();
            at += 4;
        }
        let odd = match kind {
            EtherType::IPV4 => return self.v4(frame, at),
            EtherType::IPV6 => return self.v6(frame, at),
            _ if is_tag(kind) => Oddity::DeepTags,
            // IEEE 802.3, clause 3.2.6: below 0x600 it is a length.
            EtherType(length) if length < 0x600 => Oddity::Llc,
            _ => Oddity::NonIp,
        };
        self.oddities.count(odd);
        let word = |mac: [u8; 6], low: u16| {
            let [a, b, c, d, e, f] = mac;
            u64::from_be_bytes([0, 0, a, b, c, d, e, f]) << 16 | u64::from(low)
        };
        let flow = keyed(self.key, FlowId(word(header.destination(), kind.0)));
        let flow = FlowId(keyed(flow, FlowId(word(header.source(), 0))));
        Ok(Parsed { flow, class: ClassId(0), ecn: Ecn::NotEct, ip: None, header: None })
    }

    #[inline(always)]
    fn v4(&mut self, frame: &[u8], at: usize) -> Result<Parsed, Oddity> {
        let packet = &frame[at..];
        let ip = Ipv4HeaderSlice::from_slice(packet).map_err(|error| v4_oddity(&error))?;
        let (bytes, total) = (ip.slice(), usize::from(ip.total_len()));
        // What follows the packet in the frame is Ethernet's padding.
        if total < bytes.len() || total > packet.len() {
            return Err(Oddity::BadLength);
        }
        if checksum(bytes) != 0 {
            return Err(Oddity::BadChecksum);
        }
        if bytes.len() > 20 {
            self.oddities.count(Oddity::Options);
        }
        let ports = if ip.is_fragmenting_payload() {
            self.oddities.count(Oddity::Fragment);
            (0, 0)
        } else {
            self.ports(ip.protocol(), &packet[bytes.len()..total])
        };
        let tos = bytes[1];
        let words = recent::v4(ip.source(), ip.destination(), ip.protocol(), tos, ports);
        // Made where it is wanted: whoever copies it waits until all of its fields are written.
        let said = || header([ip.source_addr().into(), ip.destination_addr().into()], ip.protocol(), tos, ports);
        let found = self.recent_v4.get(words, || classify(&self.classifier, &said()));
        let ip = Some(IpAt { offset: at as u16, v6: false });
        Ok(Parsed { flow: found.0, class: found.1, ecn: Ecn::from_bits(tos), ip, header: Some(said()) })
    }

    fn v6(&mut self, frame: &[u8], at: usize) -> Result<Parsed, Oddity> {
        let packet = &frame[at..];
        let ip = Ipv6HeaderSlice::from_slice(packet).map_err(|error| match error {
            err::ipv6::HeaderSliceError::Len(_) => Oddity::ShortHeader,
            err::ipv6::HeaderSliceError::Content(_) => Oddity::BadVersion,
        })?;
        let payload = packet[ip.slice().len()..].get(..usize::from(ip.payload_length())).ok_or(Oddity::BadLength)?;
        let (protocol, ports) = self.behind_extensions(ip.next_header(), payload);
        let tos = ip.traffic_class();
        let said = || header([ip.source_addr().into(), ip.destination_addr().into()], protocol, tos, ports);
        let words = recent::v6(ip.source_addr(), ip.destination_addr(), protocol, tos, ports);
        let found = self.recent_v6.get(words, || classify(&self.classifier, &said()));
        let ip = Some(IpAt { offset: at as u16, v6: true });
        Ok(Parsed { flow: found.0, class: found.1, ecn: Ecn::from_bits(tos), ip, header: Some(said()) })
    }

    /// What an IPv6 packet carries and its ports.
    fn behind_extensions(&mut self, first: IpNumber, payload: &[u8]) -> (IpNumber, (u16, u16)) {
        let (mut next, mut rest) = (first, payload);
        for passed in 0..=MOST_EXTENSIONS {
            if !is_extension(next) {
                return (next, self.ports(next, rest));
            }
            if passed == 0 {
                self.oddities.count(Oddity::Extensions);
            }
            if passed == MOST_EXTENSIONS {
                break;
            }
            let header = match next {
                IpNumber::IPV6_FRAGMENTATION_HEADER => match Ipv6FragmentHeaderSlice::from_slice(rest) {
                    // What follows may be the middle of anything. A fragment that is whole goes on (RFC 6946).
                    Ok(fragment) if fragment.is_fragmenting_payload() => {
                        self.oddities.count(Oddity::Fragment);
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
        // Nobody on the way needs to read them (RFC 8200, section 4).
        self.oddities.count(Oddity::OpaqueChain);
        (next, (0, 0))
    }

    /// Source and destination port, which these protocols have at their beginning.
    #[inline]
    fn ports(&mut self, protocol: IpNumber, payload: &[u8]) -> (u16, u16) {
        if ![IpNumber::TCP, IpNumber::UDP, IpNumber::DCCP, IpNumber::SCTP, IpNumber::UDP_LITE].contains(&protocol) {
            return (0, 0);
        }
        let Some(&[a, b, c, d]) = payload.first_chunk() else {
            self.oddities.count(Oddity::NoPorts);
            return (0, 0);
        };
        (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))
    }
}

/// It looks at nothing that is not in the words by which [`Recent`] knows a header.
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

/// The Internet checksum (RFC 1071) of an IPv4 header; 0 if the one in it is right. Most have no options.
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
    // Behind ESP nobody can read, and of an experiment nobody knows the shape.
    use etherparse::ip_number::{ENCAP_SEC, EXP0, EXP1};
    next.is_ipv6_ext_header_value() && ![ENCAP_SEC, EXP0, EXP1].contains(&next)
}

fn v4_oddity(error: &err::ipv4::HeaderSliceError) -> Oddity {
    use err::ipv4::{HeaderError, HeaderSliceError};
    match error {
        HeaderSliceError::Len(_) => Oddity::ShortHeader,
        HeaderSliceError::Content(HeaderError::UnexpectedVersion { .. }) => Oddity::BadVersion,
        HeaderSliceError::Content(HeaderError::HeaderLengthSmallerThanHeader { .. }) => Oddity::BadHeaderLength,
    }
}
