//! What simulated segments look like on the wire: bytes in place of segments, flags, options.
//!
//! Both ends begin at sequence number 0, so that the first byte of data is number 1 (RFC 9293, section 3.1).

use etherparse::{TcpHeader, TcpOptions};

use super::frame::ip_length;
use crate::segment::Block;
use crate::tcp::accecn;
use headgate_scenario::{Header, Scenario, TcpGroup};

/// How the packets of one group look.
#[derive(Clone, Copy, Debug)]
pub enum Format {
    /// Those of a TCP group.
    Tcp(TcpFormat),
    /// Datagrams.
    Udp,
}

/// How the segments of a TCP group look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpFormat {
    /// Bytes of data in a full segment.
    pub payload: u32,
    /// Bytes of TCP header before them, and on an acknowledgement without blocks: the smallest and padding, where
    /// the scenario has it larger.
    data_header: u32,
    ack_header: u32,
    /// The receiver's window, and by how much it is shifted (RFC 7323, section 2).
    window: u16,
    scale: u8,
    sack: bool,
    ecn: bool,
    /// Feedback of marks is accurate (RFC 9768).
    accurate: bool,
}

/// A TCP header has 20 to 60 bytes, in fours (RFC 9293, section 3.1).
const LEAST: u32 = TcpHeader::MIN_LEN as u32;
const MOST: u32 = TcpHeader::MAX_LEN as u32;
/// RFC 7323, section 2.3.
const LARGEST_SCALE: u8 = 14;

/// What fills a header: the end of the options, and zeros after it (RFC 9293, section 3.1).
const PADDING: [u8; (MOST - LEAST) as usize] = [0; (MOST - LEAST) as usize];
const NOP: u8 = 1;
const MAXIMUM_SEGMENT_SIZE: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;

// The three flags of ECN, as one number. RFC 3168, section 6.1.1: ECE and CWR ask for ECN, ECE alone agrees. RFC 9768,
// section 3.1: all three ask for accurate feedback, and the answers say how the segment before was marked: not at all.
const AE: u8 = 4;
const CWR: u8 = 2;
const ECE: u8 = 1;
const SYN_WAS_NOT_ECT: u8 = CWR;

/// The three segments that open a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// The first, from the sender of data.
    Syn,
    /// Its answer.
    SynAck,
    /// The third.
    Ack,
}

/// The formats of all groups of `scenario`, TCP before UDP; `headers` are those of its flows.
pub fn formats(scenario: &Scenario, mut headers: impl Iterator<Item = Header<'static>>) -> Vec<Format> {
    let format = |(index, flows): (usize, u32)| {
        let first = headers.nth(flows as usize - 1);
        let ip = first.map_or(LEAST, |header| ip_length(header.source));
        scenario.tcp.get(index).map_or(Format::Udp, |group| Format::Tcp(TcpFormat::new(group, ip)))
    };
    scenario.groups().map(|group| (group.index, group.flows)).map(format).collect()
}

impl TcpFormat {
    /// The segments of `group` behind IP headers of `ip` bytes.
    fn new(group: &TcpGroup, ip: u32) -> TcpFormat {
        let data_header = within_a_header(group.header.saturating_sub(ip));
        let payload = group.packet.saturating_sub(ip + data_header).max(1);
        let bytes = u64::from(group.window) * u64::from(payload);
        let scale = (0..LARGEST_SCALE).find(|scale| bytes >> scale < 1 << 16).unwrap_or(LARGEST_SCALE);
        TcpFormat {
            payload,
            data_header,
            ack_header: within_a_header(group.ack.saturating_sub(ip)),
            window: u16::try_from(bytes.div_ceil(1 << scale)).unwrap_or(u16::MAX),
            scale,
            sack: group.recovery.is_selective(),
            ecn: group.ecn,
            accurate: group.ecn && group.accecn,
        }
    }

    /// Segment number `seq` of the sender's data.
    pub fn data(&self, seq: u32, cwr: bool) -> TcpHeader {
        let tcp = self.established(self.byte(seq), 1, self.data_header);
        // With accurate feedback it counts the marks on what comes back, of which there are none: ACKs carry no ECT.
        if self.accurate { flagged(tcp, accecn::FIRST) } else { TcpHeader { cwr, ..tcp } }
    }

    /// An acknowledgement of all segments before `ack`, and of those in `blocks`; its three ECN flags are `ace`.
    pub fn ack(&self, ack: u32, ace: u8, blocks: &[Block]) -> TcpHeader {
        let mut tcp = flagged(self.established(1, self.byte(ack), self.ack_header), ace);
        let told = || blocks.iter().filter(|(start, end)| start < end);
        let length = 2 + 8 * told().count();
        if length > 2 {
            let used = (self.ack_header - LEAST).max(2 + length as u32) as usize;
            let mut bytes = PADDING;
            bytes[..4].copy_from_slice(&[NOP, NOP, SACK, length as u8]);
            let edges = told().flat_map(|&(start, end)| [start, end]).flat_map(|edge| self.byte(edge).to_be_bytes());
            bytes[4..].iter_mut().zip(edges).for_each(|(byte, edge)| *byte = edge);
            tcp.options = options(&bytes[..used]);
        }
        tcp
    }

    /// A segment of the handshake that the simulator leaves out: it offers what the connection then uses.
    pub fn handshake(&self, which: Handshake) -> TcpHeader {
        if which == Handshake::Ack {
            let third = self.established(1, 1, LEAST);
            return if self.accurate { flagged(third, SYN_WAS_NOT_ECT) } else { third };
        }
        let answers = which == Handshake::SynAck;
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
        flagged(TcpHeader { options: options(&offer), ..syn }, flags)
    }

    /// The number of a segment's first byte. Numbers begin anew after 2^32.
    fn byte(&self, segment: u32) -> u32 {
        segment.wrapping_mul(self.payload).wrapping_add(1)
    }

    fn established(&self, seq: u32, ack: u32, length: u32) -> TcpHeader {
        let options = options(&PADDING[..(length - LEAST) as usize]);
        TcpHeader { ack: true, acknowledgment_number: ack, options, ..header(seq, self.window) }
    }
}

/// The TCP header of at most `bytes`, if there can be one, else the smallest.
fn within_a_header(bytes: u32) -> u32 {
    if (LEAST..=MOST).contains(&bytes) { bytes / 4 * 4 } else { LEAST }
}

/// The header with these three flags of ECN: of accurate feedback the ACE field, of any other the echo alone (ECE) or
/// what else is said. AE was once NS.
fn flagged(tcp: TcpHeader, flags: u8) -> TcpHeader {
    TcpHeader { ns: flags & AE != 0, cwr: flags & CWR != 0, ece: flags & ECE != 0, ..tcp }
}

fn header(seq: u32, window: u16) -> TcpHeader {
    TcpHeader { sequence_number: seq, window_size: window, ..TcpHeader::default() }
}

/// Options of at most 40 bytes, in fours.
fn options(bytes: &[u8]) -> TcpOptions {
    TcpOptions::try_from_slice(bytes).unwrap_or_default()
}
