use alloc::vec::Vec;

use crate::rng::Rng;

/// Weighted random selection among items. Changing a weight or drawing an item takes logarithmic time (Fenwick, "A new
/// data structure for cumulative frequency tables", 1994).
#[derive(Clone, Debug)]
pub struct Weights {
    of: Vec<u64>,
    /// `sums[i]` is the sum of the weights of items i - 2^k to i - 1, where 2^k is the largest power of two that
    /// divides i.
    sums: Vec<u64>,
    total: u64,
}

impl Weights {
    /// `items` weights, all zero.
    pub fn new(items: usize) -> Weights {
        Weights { of: alloc::vec![0; items], sums: alloc::vec![0; items + 1], total: 0 }
    }

    /// The sum of all weights.
    #[inline]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The weight of `item`.
    #[inline]
    pub fn weight(&self, item: usize) -> u64 {
        self.of[item]
    }

    /// Sets the weight of `item`. All weights must sum to less than 2^63.
    pub fn set(&mut self, item: usize, weight: u64) {
        // Wrapping is safe: sums change by differences.
        let by = weight.wrapping_sub(self.of[item]);
        self.of[item] = weight;
        self.total = self.total.wrapping_add(by);
        let mut at = item + 1;
        while at < self.sums.len() {
            self.sums[at] = self.sums[at].wrapping_add(by);
            at += at & at.wrapping_neg();
        }
    }

    /// Draws an item by weight; the total must not be zero.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> usize {
        // Without rejection, the bias of multiplying is below total / 2^64.
        let mut rest = ((u128::from(rng.bits()) * u128::from(self.total)) >> 64) as u64;
        let (mut item, mut step) = (0, self.of.len().next_power_of_two());
        while step > 0 {
            let next = item + step;
            if next < self.sums.len() && self.sums[next] <= rest {
                rest -= self.sums[next];
                item = next;
            }
            step /= 2;
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop, prop_assert_eq, proptest};

    proptest! {
        #[test]
        fn a_draw_selects_the_item_at_which_the_running_sum_of_weights_passes_it(
            sets in prop::collection::vec((0usize..37, prop::sample::select(&[0u64, 1, 5, 1 << 32][..])), 1..200),
            items in 37usize..70, seed: u64,
        ) {
            let (mut weights, mut plain) = (Weights::new(items), [0u64; 70]);
            for (item, weight) in sets {
                weights.set(item, weight);
                plain[item] = weight;
                prop_assert_eq!((weights.total(), weights.weight(item)), (plain.iter().sum(), weight));
                if weights.total() > 0 {
                    let (mut rng, mut same) = (Rng::new(seed), Rng::new(seed));
                    let mut rest = ((u128::from(same.bits()) * u128::from(weights.total())) >> 64) as u64;
                    let passed = plain.iter().take_while(|weight| {
                        let passes = **weight <= rest;
                        rest -= if passes { **weight } else { 0 };
                        passes
                    });
                    prop_assert_eq!(weights.draw(&mut rng), passed.count());
                }
            }
        }
    }

    #[test]
    fn items_are_drawn_in_proportion_to_their_weights() {
        let (mut weights, mut rng, mut drawn) = (Weights::new(5), Rng::new(3), [0u32; 5]);
        [1, 0, 2, 3, 4].into_iter().enumerate().for_each(|(item, weight)| weights.set(item, weight));
        (0..100_000).for_each(|_| drawn[weights.draw(&mut rng)] += 1);
        // The standard deviation is at most 155; the tolerance is five of them.
        for (found, wanted) in drawn.into_iter().zip([10_000, 0, 20_000, 30_000, 40_000]) {
            assert!(found.abs_diff(wanted) < 775, "{drawn:?}");
        }
    }
}
