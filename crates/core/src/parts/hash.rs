use crate::packet::FlowId;

/// Hashes a flow identifier under `key`. Without the key, an attacker cannot choose colliding flows.
///
/// Two rounds of a folded 64 x 64 -> 128 bit product, each xored with key material, as in the wyhash family. Every bit
/// of flow and key affects every bit of the result.
#[inline]
pub fn keyed(key: u64, flow: FlowId) -> u64 {
    let first = fold(flow.0 ^ key, key.rotate_left(32) ^ 0xa076_1d64_78bd_642f);
    fold(first ^ flow.0.rotate_left(29), key ^ 0xe703_7ed1_a0b4_28db)
}

/// Hashes `flow` under `key` into 0..`buckets`. Takes the high half of hash times buckets (Lemire), which is as even as
/// a remainder but needs no division.
#[inline]
pub fn bucket(key: u64, flow: FlowId, buckets: usize) -> usize {
    ((u128::from(keyed(key, flow)) * buckets as u128) >> 64) as usize
}

crate::choice! {
    /// How flows are hashed to buckets.
    pub enum FlowHash {
        /// By a secret key.
        Keyed = "keyed",
        /// By ns-2's formula ([`ns2_bucket`]).
        Ns2 = "ns2",
    }
}

/// Hashes `flow` into 0..`buckets` as ns-2.35 hashes k, the sum of source and destination (`queue/sfq.cc`, `hash` and
/// `enque`), in integers of 32 bits. A negative remainder, with which ns-2 would leave its table, counts from the end.
#[inline]
pub fn ns2_bucket(flow: FlowId, buckets: usize) -> usize {
    const PRIME: i32 = (2 << 19) - 1;
    let k = flow.0 as i32;
    let hash = k.wrapping_add(k >> 8).wrapping_add(!(k >> 4)) % PRIME;
    hash.rem_euclid(buckets as i32) as usize
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chi-square of `n` balls in 64 boxes has mean 63 and standard deviation 11; the tolerance is six of them.
    fn spread(hashes: impl Iterator<Item = u64>) -> f64 {
        let mut boxes = [0u32; 64];
        let mut n = 0.0;
        for hash in hashes {
            boxes[(hash % 64) as usize] += 1;
            n += 1.0;
        }
        boxes.iter().map(|&c| (f64::from(c) - n / 64.0) * (f64::from(c) - n / 64.0) / (n / 64.0)).sum()
    }

    #[test]
    fn consecutive_flows_and_consecutive_keys_spread_evenly() {
        for shift in [0, 8, 24, 40] {
            assert!(spread((0..64_000).map(|flow| keyed(99, FlowId(flow << shift)))) < 130.0);
        }
        assert!(spread((0..64_000).map(|key| keyed(key, FlowId(1)))) < 130.0);
    }

    #[test]
    fn the_hash_of_ns2_is_computed_as_in_its_source() {
        // By hand: 5 + 0 - 1 = 4; 100 + 0 - 7 = 93; 300 + 1 - 19 = 282; 2^20 + 4096 - 65537 = 987135.
        for (k, hash) in [(5, 4), (100, 93), (300, 282), (1 << 20, 987_135)] {
            assert_eq!([16, 1 << 20].map(|buckets| ns2_bucket(FlowId(k), buckets)), [hash % 16, hash], "{k}");
        }
        // 0 + 0 - 1 is negative. 2^31 - 1 + 2^23 - 1 - 2^27 is 2021654526, and 2^32 + 5 is 5 in 32 bits.
        assert_eq!(
            [0, (1 << 31) - 1, (1 << 32) + 5].map(|k| ns2_bucket(FlowId(k), 1000)),
            [999, 2_021_654_526 % 1_048_575 % 1000, 4]
        );
    }

    #[test]
    fn two_keys_agree_on_pairs_no_more_than_chance() {
        let together =
            |key: u64| (0..4096u64).map(move |f| keyed(key, FlowId(f)) % 64 == keyed(key, FlowId(f + 7)) % 64);
        let both = together(1).zip(together(2)).filter(|(a, b)| *a && *b).count();
        assert!(both < 10, "{both} of 4096 pairs collide under both keys; chance is 1");
    }
}
