//! A cache of recent headers' flows and classes.
//!
//! A flow's identifier takes a chain of multiplications, and finding a class may take many rules. Packets come in
//! trains of few flows (Jain and Routhier, "Packet Trains", IEEE JSAC 4(6), 1986), so a small table answers most of
//! them. A miss costs one lookup and one store. Constructed collisions cost no more, so the hash needs no secret.

use std::net::Ipv6Addr;

use aqm::{ClassId, FlowId};
use etherparse::IpNumber;

/// Rows: 2 KB for IPv4 and 4 KB for IPv6, which fit in a first-level cache.
const ROWS: usize = 64;

/// A header as `N` words, with its flow and class. The last word of a header is never [`UNUSED_WORD`].
#[derive(Clone, Copy, Debug)]
struct CachedHeader<const N: usize> {
    words: [u64; N],
    flow: FlowId,
    class: ClassId,
}

/// Last word of an empty row.
const UNUSED_WORD: u64 = u64::MAX;

/// The cache for headers of `N` words. A header's flow and class must never change.
#[derive(Clone, Debug)]
pub(crate) struct HeaderCache<const N: usize> {
    rows: Box<[CachedHeader<N>; ROWS]>,
}

impl<const N: usize> HeaderCache<N> {
    pub(crate) fn new() -> HeaderCache<N> {
        HeaderCache {
            rows: Box::new([CachedHeader { words: [UNUSED_WORD; N], flow: FlowId(0), class: ClassId(0) }; ROWS]),
        }
    }

    /// Flow and class of a header: from the table, or from `find`.
    #[inline(always)]
    pub(crate) fn get(&mut self, words: [u64; N], find: impl FnOnce() -> (FlowId, ClassId)) -> (FlowId, ClassId) {
        // Multiplicative hashing: the product's high bits depend on all bits (Knuth, TAOCP volume 3, section 6.4).
        let mixed =
            words.iter().fold(0_u64, |sum, word| (sum.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let row = &mut self.rows[(mixed >> (u64::BITS - ROWS.ilog2())) as usize];
        if row.words != words {
            let (flow, class) = find();
            *row = CachedHeader { words, flow, class };
        }
        (row.flow, row.class)
    }
}

/// The fields of an IPv4 header that a classifier uses.
#[inline(always)]
pub(crate) fn v4(from: [u8; 4], to: [u8; 4], protocol: IpNumber, tos: u8, ports: (u16, u16)) -> [u64; 2] {
    let [from, to] = [from, to].map(|address| u64::from(u32::from_be_bytes(address)));
    [from << 32 | to, other_fields(protocol, tos, ports)]
}

/// The fields of an IPv6 header that a classifier uses.
#[inline(always)]
pub(crate) fn v6(from: Ipv6Addr, to: Ipv6Addr, protocol: IpNumber, tos: u8, ports: (u16, u16)) -> [u64; 5] {
    let [from, to] = [from, to].map(Ipv6Addr::to_bits);
    let [a, b, c, d] = [from >> 64, from, to >> 64, to].map(|bits| bits as u64);
    [a, b, c, d, other_fields(protocol, tos, ports)]
}

/// The fields other than addresses, in less than 48 bits; the ECN field is excluded.
#[inline(always)]
fn other_fields(protocol: IpNumber, tos: u8, (from, to): (u16, u16)) -> u64 {
    u64::from(protocol.0) << 40 | u64::from(tos >> 2) << 32 | u64::from(from) << 16 | u64::from(to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::Rng;

    #[test]
    fn every_header_has_the_flow_and_class_found_for_it() {
        let mut recent = HeaderCache::<2>::new();
        let mut rng = Rng::named(1, "headers");
        let found = |words: [u64; 2]| (FlowId(words[0] ^ words[1].rotate_left(7)), ClassId((words[0] & 3) as u16));
        let mut times = 0;
        // Five headers per row, so that they displace each other.
        for _ in 0..20_000 {
            let words = [rng.bits() % 20, rng.bits() % 16];
            let answer = recent.get(words, || {
                times += 1;
                found(words)
            });
            assert_eq!(answer, found(words));
        }
        assert!((320..20_000).contains(&times), "{times}: some headers are cached, and not all fit");
    }

    #[test]
    fn a_train_of_packets_is_looked_up_once() {
        let mut recent = HeaderCache::<5>::new();
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
