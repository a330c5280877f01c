//! Flows and classes of headers that were seen lately.
//!
//! A flow's name is a chain of products, and a class may be the last of many. Packets come in trains of few flows (Jain and
//! Routhier, "Packet Trains", IEEE JSAC 4(6), 1986), so most of them are answered from a small table. A header that is not
//! there costs a look and a row more; whoever sends headers on purpose that share a row gains no more than that, so the place
//! of a row is no secret.

use std::net::Ipv6Addr;

use etherparse::IpNumber;
use headgate_core::{ClassId, FlowId};

/// Rows: 2 KB for IPv4 and 4 KB for IPv6, which stay in the nearest cache.
const ROWS: usize = 64;

/// A header in `N` words, the last of which is never [`NONE`], and what it was found to be.
#[derive(Clone, Copy, Debug)]
struct Row<const N: usize> {
    words: [u64; N],
    flow: FlowId,
    class: ClassId,
}

/// In the last word of a row that is empty.
const NONE: u64 = u64::MAX;

/// The table, for headers of `N` words. What is asked for must always be answered alike.
#[derive(Clone, Debug)]
pub(crate) struct Recent<const N: usize> {
    rows: Box<[Row<N>; ROWS]>,
}

impl<const N: usize> Recent<N> {
    /// An empty table.
    pub(crate) fn new() -> Recent<N> {
        Recent { rows: Box::new([Row { words: [NONE; N], flow: FlowId(0), class: ClassId(0) }; ROWS]) }
    }

    /// Flow and class of the header of these words: from the table, or else what `find` says.
    #[inline(always)]
    pub(crate) fn get(&mut self, words: [u64; N], find: impl FnOnce() -> (FlowId, ClassId)) -> (FlowId, ClassId) {
        // The high bits of a product by an odd number depend on all of its bits (Knuth, TAOCP volume 3, section 6.4).
        let mixed =
            words.iter().fold(0_u64, |sum, word| (sum.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let row = &mut self.rows[(mixed >> (u64::BITS - ROWS.ilog2())) as usize];
        if row.words != words {
            let (flow, class) = find();
            *row = Row { words, flow, class };
        }
        (row.flow, row.class)
    }
}

/// An IPv4 header, as far as a classifier looks at it.
#[inline(always)]
pub(crate) fn v4(from: [u8; 4], to: [u8; 4], protocol: IpNumber, tos: u8, ports: (u16, u16)) -> [u64; 2] {
    let [from, to] = [from, to].map(|address| u64::from(u32::from_be_bytes(address)));
    [from << 32 | to, rest(protocol, tos, ports)]
}

/// The same of IPv6.
#[inline(always)]
pub(crate) fn v6(from: Ipv6Addr, to: Ipv6Addr, protocol: IpNumber, tos: u8, ports: (u16, u16)) -> [u64; 5] {
    let [from, to] = [from, to].map(Ipv6Addr::to_bits);
    let [a, b, c, d] = [from >> 64, from, to >> 64, to].map(|bits| bits as u64);
    [a, b, c, d, rest(protocol, tos, ports)]
}

/// What it says beside its addresses, in less than 48 bits: its ECN field is no part of that.
#[inline(always)]
fn rest(protocol: IpNumber, tos: u8, (from, to): (u16, u16)) -> u64 {
    u64::from(protocol.0) << 40 | u64::from(tos >> 2) << 32 | u64::from(from) << 16 | u64::from(to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use headgate_core::Rng;

    #[test]
    fn every_header_is_answered_by_what_was_found_for_it() {
        let mut recent = Recent::<2>::new();
        let mut rng = Rng::named(1, "headers");
        let found = |words: [u64; 2]| (FlowId(words[0] ^ words[1].rotate_left(7)), ClassId((words[0] & 3) as u16));
        let mut times = 0;
        // Five headers for each row, so that they push each other out.
        for _ in 0..20_000 {
            let words = [rng.bits() % 20, rng.bits() % 16];
            let answer = recent.get(words, || {
                times += 1;
                found(words)
            });
            assert_eq!(answer, found(words));
        }
        assert!((320..20_000).contains(&times), "{times}: some are remembered, and not all can be");
    }

    #[test]
    fn a_train_of_packets_is_looked_up_once() {
        let mut recent = Recent::<5>::new();
        let mut times = 0;
        for _ in 0..100 {
            let answer = recent.get([0; 5], || {
                times += 1;
                (FlowId(7), ClassId(2))
            });
            assert_eq!(answer, (FlowId(7), ClassId(2)));
        }
        assert_eq!(times, 1);
    }
}
