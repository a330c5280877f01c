//! The wire format of simulated segments: byte sequence numbers, flags, options.
//!
//! Both ends start at sequence number 0, so the first byte of data is number 1 (RFC 9293, section 3.1).

use etherparse::{TcpHeader, TcpOptions};

use super::frame::ip_length;
use crate::segment::SackBlock;
use crate::tcp::Ace;
use headgate_scenario::{Header, Scenario, TcpGroup};

/// The packet format of a group.
#[derive(Clone, Copy, Debug)]
pub enum GroupFormat {
    Tcp(TcpFormat),
    Udp,
}

/// The segment format of a TCP group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpFormat {
    /// Bytes of data in a full segment.
    pub payload: u32,
    /// TCP header bytes of data, and of an acknowledgement without blocks: the minimum, padded if the scenario's
    /// headers are larger.
    data_header: u32,
    ack_header: u32,
    /// The receive window and its shift (RFC 7323, section 2).
    window: u16,
    scale: u8,
    sack: bool,
    ecn: bool,
    /// Accurate ECN feedback (RFC 9768).
    accurate: bool,
}

/// A TCP header has 20 to 60 bytes, a multiple of 4 (RFC 9293, section 3.1).
const MIN_HEADER: u32 = TcpHeader::MIN_LEN as u32;
const MAX_HEADER: u32 = TcpHeader::MAX_LEN as u32;
/// The largest shift of the window (RFC 7323, section 2.3).
const LARGEST_SCALE: u8 = 14;

/// Header padding: the end of the options, then zeros (RFC 9293, section 3.1).
const PADDING: [u8; (MAX_HEADER - MIN_HEADER) as usize] = [0; (MAX_HEADER - MIN_HEADER) as usize];
const NOP: u8 = 1;
const MAXIMUM_SEGMENT_SIZE: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;

// The ECN flags as one number. RFC 3168, section 6.1.1: ECE and CWR request ECN, ECE alone accepts. RFC 9768, section
// 3.1: all three request accurate feedback; the reply reports the codepoint of the previous segment, always Not-ECT.
const AE: u8 = 4;
const CWR: u8 = 2;
const ECE: u8 = 1;
const SYN_WAS_NOT_ECT: u8 = CWR;

/// The three segments that open a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeStep {
    Syn,
    SynAck,
    Ack,
}

/// The formats of all groups of `scenario`, TCP before UDP; `headers` are those of its flows.
pub fn group_formats(scenario: &Scenario, mut headers: impl Iterator<Item = Header<'static>>) -> Vec<GroupFormat> {
    let format = |(index, flows): (usize, u32)| {
        let first = headers.nth(flows as usize - 1);
        let ip = first.map_or(MIN_HEADER, |header| ip_length(header.source));
        scenario.tcp.get(index).map_or(GroupFormat::Udp, |group| GroupFormat::Tcp(TcpFormat::new(group, ip)))
    };
    scenario.groups().map(|group| (group.index, group.flows)).map(format).collect()
}

impl TcpFormat {
    /// The segment format of `group` behind IP headers of `ip` bytes.
    fn new(group: &TcpGroup, ip: u32) -> TcpFormat {
        let data_header = valid_header_length(group.header.saturating_sub(ip));
        let payload = group.packet.saturating_sub(ip + data_header).max(1);
        let bytes = u64::from(group.window) * u64::from(payload);
        let scale = (0..LARGEST_SCALE).find(|scale| bytes >> scale < 1 << 16).unwrap_or(LARGEST_SCALE);
        TcpFormat {
            payload,
            data_header,
            ack_header: valid_header_length(group.ack.saturating_sub(ip)),
            window: u16::try_from(bytes.div_ceil(1 << scale)).unwrap_or(u16::MAX),
            scale,
            sack: group.recovery.is_selective(),
            ecn: group.ecn,
            accurate: group.ecn && group.accecn,
        }
    }

    /// The TCP header of data segment `seq`.
    pub fn data(&self, seq: u32, cwr: bool) -> TcpHeader {
        let tcp = self.established(self.byte(seq), 1, self.data_header);
        // With accurate feedback, the flags of data count the marks on acknowledgements. These are never marked.
        if self.accurate { with_ecn_flags(tcp, Ace::INITIAL.bits()) } else { TcpHeader { cwr, ..tcp } }
    }

    /// The TCP header of an acknowledgement of all segments before `ack` and of `blocks`; its ECN flags are `flags`.
    pub fn ack(&self, ack: u32, flags: u8, blocks: &[SackBlock]) -> TcpHeader {
        let mut tcp = with_ecn_flags(self.established(1, self.byte(ack), self.ack_header), flags);
        let blocks_used = || blocks.iter().filter(|(start, end)| start < end);
        let length = 2 + 8 * blocks_used().count();
        if length > 2 {
            let used = (self.ack_header - MIN_HEADER).max(2 + length as u32) as usize;
            let mut bytes = PADDING;
            bytes[..4].copy_from_slice(&[NOP, NOP, SACK, length as u8]);
            let edges =
                blocks_used().flat_map(|&(start, end)| [start, end]).flat_map(|edge| self.byte(edge).to_be_bytes());
            bytes[4..].iter_mut().zip(edges).for_each(|(byte, edge)| *byte = edge);
            tcp.options = options(&bytes[..used]);
        }
        tcp
    }

    /// A segment of the synthetic handshake: it offers the options that the connection uses.
    pub fn handshake(&self, step: HandshakeStep) -> TcpHeader {
        if step == HandshakeStep::Ack {
            let third = self.established(1, 1, MIN_HEADER);
            return if self.accurate { with_ecn_flags(third, SYN_WAS_NOT_ECT) } else { third };
        }
        let answers = step == HandshakeStep::SynAck;
        let mut offer = vec![MAXIMUM_SEGMENT_SIZE, 4];
        offer.extend(u16::try_from(self.payload).unwrap_or(u16::MAX).to_be_bytes());
        offer.extend([NOP, WINDOW_SCALE, 3, self.scale]);
        if self.sack {
            offer.extend([NOP, NOP, SACK_PERMITTED, 2]);
        }
        // The window of a SYN is never shifted (RFC 7323, section 2.2).
        let window = u16::try_from(u32::from(self.window) << self.scale).unwrap_or(u16::MAX);
        let syn = TcpHeader { syn: true, ack: answers, acknowledgment_number: answers.into(), ..header(0, window) };
        let flags = match (self.ecn, self.accurate, answers) {
            (false, ..) => 0,
            (true, false, false) => ECE | CWR,
            (true, false, true) => ECE,
            (true, true, false) => AE | CWR | ECE,
            (true, true, true) => SYN_WAS_NOT_ECT,
        };
        with_ecn_flags(TcpHeader { options: options(&offer), ..syn }, flags)
    }

    /// The sequence number of a segment's first byte, modulo 2^32.
    fn byte(&self, segment: u32) -> u32 {
        segment.wrapping_mul(self.payload).wrapping_add(1)
    }

    fn established(&self, seq: u32, ack: u32, length: u32) -> TcpHeader {
        let options = options(&PADDING[..(length - MIN_HEADER) as usize]);
        TcpHeader { ack: true, acknowledgment_number: ack, options, ..header(seq, self.window) }
    }
}

/// The longest valid TCP header within `bytes`, or else the shortest.
fn valid_header_length(bytes: u32) -> u32 {
    if (MIN_HEADER..=MAX_HEADER).contains(&bytes) { bytes / 4 * 4 } else { MIN_HEADER }
}

/// Sets the three ECN flags: the ACE field of accurate feedback, or else ECE and CWR. AE was formerly NS.
fn with_ecn_flags(tcp: TcpHeader, flags: u8) -> TcpHeader {
    TcpHeader { ns: flags & AE != 0, cwr: flags & CWR != 0, ece: flags & ECE != 0, ..tcp }
}

fn header(seq: u32, window: u16) -> TcpHeader {
    TcpHeader { sequence_number: seq, window_size: window, ..TcpHeader::default() }
}

/// Options of at most 40 bytes, a multiple of 4.
fn options(bytes: &[u8]) -> TcpOptions {
    TcpOptions::try_from_slice(bytes).unwrap_or_default()
}
