//! The only source of randomness: our own generator, so that no dependency can change a result.
//!
//! xoshiro256++ (Blackman, Vigna: Scrambled linear pseudorandom number generators, ACM TOMS 2021), seeded through
//! SplitMix64. Each component draws from its own stream, keyed by the run's seed and the component's name. Adding a
//! flow therefore leaves the other streams unchanged.

use crate::time::Span;

/// A stream of random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Rng {
        let mut mix = seed;
        Rng { state: core::array::from_fn(|_| splitmix(&mut mix)) }
    }

    /// The stream of `name` in the run of `seed`.
    pub fn named(seed: u64, name: &str) -> Rng {
        // FNV-1a hashes the name, and SplitMix64 spreads it; the seed is mixed separately.
        let hash =
            name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        let mut mix = seed;
        Rng::new(splitmix(&mut mix) ^ hash)
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// Uniform in [0, 1), in steps of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// True with `probability`: never at 0 or less, always at 1 or more. Draws only if the outcome is open.
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        if probability <= 0.0 {
            return false;
        }
        probability >= 1.0 || self.unit() < probability
    }

    /// Uniform in 0..n without bias (Lemire: Fast random integer generation in an interval, 2019); 0 if n is 0.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        if n == 0 {
            return 0;
        }
        let mut wide = (self.bits() >> 32) * u64::from(n);
        if (wide as u32) < n {
            let threshold = n.wrapping_neg() % n;
            while (wide as u32) < threshold {
                wide = (self.bits() >> 32) * u64::from(n);
            }
        }
        (wide >> 32) as u32
    }

    /// Uniform in [0, `span`); zero without a draw if `span` is zero.
    #[inline]
    pub fn span_below(&mut self, span: Span) -> Span {
        if span == Span::ZERO {
            return Span::ZERO;
        }
        // Without rejection, the bias of multiplying is below span / 2^64.
        let product = u128::from(self.bits()) * u128::from(span.as_nanos());
        Span::from_nanos((product >> 64) as u64)
    }

    /// Uniform in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
}

/// One step of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_xoshiro256_plus_plus() {
        // First outputs of the authors' reference code for the state 1, 2, 3, 4.
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let first: [u64; 4] = core::array::from_fn(|_| rng.bits());
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn seeding_is_splitmix64() {
        // First output of the reference code for the seed 0.
        assert_eq!(splitmix(&mut 0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn streams_of_other_names_and_seeds_differ() {
        let first = |seed, name| Rng::named(seed, name).bits();
        assert_eq!(first(1, "flow 3"), first(1, "flow 3"));
        assert_ne!(first(1, "flow 3"), first(1, "flow 4"));
        assert_ne!(first(1, "flow 3"), first(2, "flow 3"));
    }

    #[test]
    fn draws_are_uniform_and_in_range() {
        let mut rng = Rng::new(5);
        let mut seen = [0u32; 7];
        for _ in 0..70_000 {
            seen[rng.below(7) as usize] += 1;
            assert!((0.0..1.0).contains(&rng.unit()));
        }
        // 10 000 expected each, standard deviation 93; the tolerance is five of them.
        assert!(seen.iter().all(|n| n.abs_diff(10_000) < 465), "{seen:?}");
        assert_eq!(rng.below(0), 0);
        assert!(rng.chance(1.0) && !rng.chance(0.0) && !rng.chance(f64::NAN));
    }
}
