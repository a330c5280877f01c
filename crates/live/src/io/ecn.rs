//! The ECN field and the DSCP of IP headers (RFC 3168, section 5; RFC 2474, section 3): congestion marks, and what links write.

use crate::io::frame::IpPosition;

/// Sets the ECN field of the IP header at `at` to CE.
#[inline]
pub fn mark(frame: &mut [u8], at: IpPosition) {
    change_tos(frame, at, |tos| tos | 0b11);
}

/// DSCP and ECN field of the IP header at `at`: TOS or traffic class; 0 of a header that is too short.
pub fn tos(frame: &[u8], at: IpPosition) -> u8 {
    match (at.v6, frame.get(usize::from(at.offset)..)) {
        (true, Some([first, second, ..])) => first << 4 | second >> 4,
        (false, Some([_, tos, ..])) => *tos,
        _ => 0,
    }
}

/// Sets DSCP and ECN field of the IP header at `at`.
pub fn set_tos(frame: &mut [u8], at: IpPosition, tos: u8) {
    change_tos(frame, at, |_| tos);
}

/// Changes TOS or traffic class. Updates the checksum incrementally (RFC 1624, equation 3).
#[inline(always)]
fn change_tos(frame: &mut [u8], at: IpPosition, change: impl FnOnce(u8) -> u8) {
    let Some(header) = frame.get_mut(usize::from(at.offset)..) else { return };
    match (at.v6, header) {
        // Byte 0: version, high half of the traffic class. Byte 1: its low half, which ends with ECN.
        (true, [first, second, ..]) => {
            let class = change(*first << 4 | *second >> 4);
            *first = *first & 0xf0 | class >> 4;
            *second = *second & 0x0f | class << 4;
        }
        (false, [first, tos, rest @ ..]) if rest.len() >= 10 => {
            let old = u16::from_be_bytes([*first, *tos]);
            *tos = change(*tos);
            let new = u16::from_be_bytes([*first, *tos]);
            // The checksum is at bytes 10 and 11 of the header.
            let sum = updated_checksum(u16::from_be_bytes([rest[8], rest[9]]), old, new);
            [rest[8], rest[9]] = sum.to_be_bytes();
        }
        _ => {}
    }
}

/// Incremental update `HC' = ~(~HC + ~m + m')` in ones' complement.
#[inline]
pub(super) fn updated_checksum(checksum: u16, old: u16, new: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!old) + u32::from(new);
    let folded = (sum & 0xffff) + (sum >> 16);
    // The sum of three 16-bit words carries at most 2; folding carries at most 1 more.
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{IpFragOffset, Ipv4Header, Ipv4Options, Ipv6Header};
    use proptest::prelude::*;

    fn v4(tos: u8, length: u16, id: u16, ttl: u8, ends: [[u8; 4]; 2], options: &[u8; 8]) -> Ipv4Header {
        let mut header = Ipv4Header {
            dscp: (tos >> 2).try_into().unwrap(),
            ecn: (tos & 3).try_into().unwrap(),
            total_len: length,
            identification: id,
            time_to_live: ttl,
            source: ends[0],
            destination: ends[1],
            fragment_offset: IpFragOffset::ZERO,
            options: Ipv4Options::from(*options),
            ..Ipv4Header::default()
        };
        header.header_checksum = header.calc_header_checksum();
        header
    }

    proptest! {
        #[test]
        fn a_marked_ipv4_header_has_the_recomputed_checksum(
            tos: u8, length: u16, id: u16, ttl: u8, ends: [[u8; 4]; 2], options: [u8; 8], before in 0..30_usize,
        ) {
            let header = v4(tos, length, id, ttl, ends, &options);
            let mut frame = vec![0x5a; before];
            frame.extend_from_slice(&header.to_bytes());
            mark(&mut frame, IpPosition { offset: before as u16, v6: false });
            let expected = v4(tos | 3, length, id, ttl, ends, &options);
            prop_assert_eq!(&frame[before..], &expected.to_bytes()[..]);
            prop_assert!(frame[..before].iter().all(|byte| *byte == 0x5a));
        }

        #[test]
        fn a_marked_ipv6_header_differs_in_ecn_alone(class: u8, label in 0_u32..1 << 20, length: u16, ends: [[u8; 16]; 2]) {
            let header = |class: u8| Ipv6Header {
                traffic_class: class,
                flow_label: label.try_into().unwrap(),
                payload_length: length,
                source: ends[0],
                destination: ends[1],
                ..Ipv6Header::default()
            }.to_bytes();
            let mut frame = header(class);
            mark(&mut frame, IpPosition { offset: 0, v6: true });
            prop_assert_eq!(frame, header(class | 3));
        }

        #[test]
        fn a_written_tos_is_read_back_and_changes_nothing_else(
            tos: u8, to: u8, length: u16, id: u16, ends: [[u8; 4]; 2], options: [u8; 8],
        ) {
            let at = IpPosition { offset: 0, v6: false };
            let mut frame = v4(tos, length, id, 64, ends, &options).to_bytes().to_vec();
            prop_assert_eq!(super::tos(&frame, at), tos);
            set_tos(&mut frame, at, to);
            prop_assert_eq!(&frame[..], &v4(to, length, id, 64, ends, &options).to_bytes()[..]);
            let header = |class: u8| Ipv6Header { traffic_class: class, payload_length: length, ..Ipv6Header::default() };
            let at = IpPosition { offset: 0, v6: true };
            let mut frame = header(tos).to_bytes();
            prop_assert_eq!(super::tos(&frame, at), tos);
            set_tos(&mut frame, at, to);
            prop_assert_eq!(frame, header(to).to_bytes());
        }

        #[test]
        fn what_is_too_short_stays_as_it_is(bytes in prop::collection::vec(any::<u8>(), 0..12), offset in 0..20_u16) {
            let mut frame = bytes.clone();
            mark(&mut frame, IpPosition { offset, v6: false });
            prop_assert_eq!(frame, bytes);
        }
    }

    #[test]
    fn the_example_of_rfc_1624_holds() {
        // Section 4: HC = 0xDD2F, m = 0x5555, m' = 0x3285; equation 3 gives 0x0000 where that of RFC 1141 gives 0xFFFF.
        assert_eq!(updated_checksum(0xdd2f, 0x5555, 0x3285), 0x0000);
    }
}
