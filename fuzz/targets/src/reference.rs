//! What the segments of a super-packet must be, checked in the slowest and plainest way.
//!
//! The headers are found anew in each segment, by walking their length fields. All checksums are summed in full.

const TCP: u8 = 6;
const FIN_AND_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

/// A packet's headers, found in a frame.
struct Headers {
    v6: bool,
    /// Offsets of IP header, transport header and data, and the end of the data.
    ip: usize,
    transport: usize,
    data: usize,
    end: usize,
    protocol: u8,
}

/// Asserts that `segments` carry the data of `frame` in order, each as a valid packet.
pub(crate) fn check(frame: &[u8], segments: &[Vec<u8>]) {
    let whole = headers(frame);
    let header_was_valid = whole.v6 || sum(&frame[whole.ip..ipv4_end(frame, whole.ip)]) == 0xffff;
    let mut joined = Vec::new();
    for (number, segment) in segments.iter().enumerate() {
        let parts = headers(segment);
        assert_eq!((parts.ip, parts.transport, parts.data), (whole.ip, whole.transport, whole.data));
        assert_eq!(parts.end, segment.len(), "a segment has no padding");
        assert_eq!(fixed(segment, &whole), fixed(frame, &whole), "header fields that are no length, number or sum");
        if !parts.v6 {
            let identification = |bytes: &[u8]| word(bytes, whole.ip + 4);
            assert_eq!(identification(segment), identification(frame).wrapping_add(number as u16));
            let is_valid = sum(&segment[parts.ip..ipv4_end(segment, parts.ip)]) == 0xffff;
            assert_eq!(is_valid, header_was_valid, "a damaged header stays damaged, and no other is");
        }
        if parts.protocol == TCP {
            let sequence = |bytes: &[u8]| long(bytes, whole.transport + 4);
            assert_eq!(sequence(segment), sequence(frame).wrapping_add(joined.len() as u32));
            check_flags(frame, segment, &whole, number == 0, number + 1 == segments.len());
        }
        joined.extend_from_slice(&segment[parts.data..]);
    }
    assert_eq!(joined, frame[whole.data..whole.end], "the data, in order");
    let sizes: Vec<usize> = segments.iter().map(|segment| segment.len() - whole.data).collect();
    assert!(sizes.windows(2).rev().skip(1).all(|pair| pair[0] == pair[1]), "only the last is shorter");
    check_sums(frame, segments, &whole);
}

/// The headers of `frame`, without the fields that differ between segments.
fn fixed(frame: &[u8], whole: &Headers) -> Vec<u8> {
    let mut headers = frame[..whole.data].to_vec();
    let (ip, transport) = (whole.ip, whole.transport);
    // First byte and the byte after the last.
    let of_ip: &[(usize, usize)] = if whole.v6 { &[(4, 6)] } else { &[(2, 6), (10, 12)] };
    let of_transport: &[(usize, usize)] = if whole.protocol == TCP { &[(4, 8), (13, 14), (16, 18)] } else { &[(4, 8)] };
    for (start, fields) in [(ip, of_ip), (transport, of_transport)] {
        for (first, end) in fields {
            headers[start + first..start + end].fill(0);
        }
    }
    headers
}

fn check_flags(frame: &[u8], segment: &[u8], whole: &Headers, first: bool, last: bool) {
    let at = whole.transport + 13;
    let kept = if first { CWR } else { 0 } | if last { FIN_AND_PSH } else { 0 } | !(CWR | FIN_AND_PSH);
    assert_eq!(segment[at], frame[at] & kept);
}

/// Asserts that a segment's transport sum differs from the super-packet's by nothing but the length. The sum of its pseudo-header is
/// in the super-packet's checksum field.
fn check_sums(frame: &[u8], segments: &[Vec<u8>], whole: &Headers) {
    let at = whole.transport + if whole.protocol == TCP { 16 } else { 6 };
    let pseudo = word(frame, at);
    let length = (whole.end - whole.transport) as u16;
    for segment in segments {
        if whole.protocol != TCP && word(segment, at) == 0 {
            assert_eq!(pseudo, 0, "UDP without a checksum");
            continue;
        }
        let transport = &segment[whole.transport..];
        let with_pseudo = [pseudo, !length, transport.len() as u16].into_iter().fold(sum(transport), add);
        assert_eq!(with_pseudo, 0xffff, "the sum over pseudo-header, header and data");
    }
}

fn headers(frame: &[u8]) -> Headers {
    let mut ip = 14;
    while [0x8100, 0x88a8, 0x9100].contains(&word(frame, ip - 2)) {
        ip += 4;
    }
    let v6 = frame[ip] >> 4 == 6;
    let (mut transport, mut protocol, end) = if v6 {
        (ip + 40, frame[ip + 6], ip + 40 + usize::from(word(frame, ip + 4)))
    } else {
        (ipv4_end(frame, ip), frame[ip + 9], ip + usize::from(word(frame, ip + 2)))
    };
    // Extension headers: hop-by-hop, routing and destination options, authentication, and a fragment that is whole.
    while let 0 | 43 | 44 | 51 | 60 | 135 | 139 | 140 = protocol {
        let units = usize::from(frame[transport + 1]);
        let length = match protocol {
            44 => 8,
            51 => 4 * (units + 2),
            _ => 8 * (units + 1),
        };
        (protocol, transport) = (frame[transport], transport + length);
    }
    let header = if protocol == TCP { 4 * usize::from(frame[transport + 12] >> 4) } else { 8 };
    Headers { v6, ip, transport, data: transport + header, end, protocol }
}

fn ipv4_end(frame: &[u8], ip: usize) -> usize {
    ip + 4 * usize::from(frame[ip] & 0x0f)
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from(word(bytes, at)) << 16 | u32::from(word(bytes, at + 2))
}

/// The ones' complement sum of all 16-bit words (RFC 1071).
fn sum(bytes: &[u8]) -> u16 {
    bytes.chunks(2).map(|pair| u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)])).fold(0, add)
}

fn add(a: u16, b: u16) -> u16 {
    let (sum, carried) = a.overflowing_add(b);
    sum + u16::from(carried)
}
