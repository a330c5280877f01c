use alloc::vec::Vec;

/// A histogram of integers such as delays. Below 128 each value has its own bin. From there on, each power of two has
/// 64 bins of equal width. A bin is at most 1/64 of its value wide, so its middle is off by at most 0.8 %.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    bins: Vec<u64>,
    count: u64,
    sum: u128,
}

const BITS: u32 = 6;

impl Histogram {
    /// Adds one value.
    #[inline(always)]
    pub fn record(&mut self, value: u64) {
        let bin_index = bin_index(value);
        match self.bins.get_mut(bin_index) {
            Some(bin) => *bin += 1,
            None => self.add_bin(bin_index),
        }
        self.count += 1;
        self.sum += u128::from(value);
    }

    /// Counts the first value of a bin beyond the present ones.
    #[cold]
    #[inline(never)]
    fn add_bin(&mut self, bin_index: usize) {
        self.bins.resize(bin_index + 1, 0);
        self.bins[bin_index] = 1;
    }

    /// Adds the values of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        if other.bins.len() > self.bins.len() {
            self.bins.resize(other.bins.len(), 0);
        }
        self.bins.iter_mut().zip(&other.bins).for_each(|(mine, theirs)| *mine += theirs);
        self.count += other.count;
        self.sum += other.sum;
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The `share` quantile (0.99 for p99): the least value that more than this share of the values do not exceed, and
    /// the greatest for 1. `None` without values.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let rank = ((share * self.count as f64) as u64).min(self.count.checked_sub(1)?);
        let mut below = 0;
        self.iter()
            .find(|(_, count)| {
                below += count;
                below > rank
            })
            .map(|(value, _)| value)
    }

    /// Every bin with values: its middle and count, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (f64, u64)> {
        self.bins
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(bin_index, count)| (middle(bin_index), *count))
    }
}

#[inline]
fn bin_index(value: u64) -> usize {
    // Values below 64 have the shift 0, as 64 has.
    let shift = (63 - BITS) - (value | 1 << BITS).leading_zeros();
    // The first two blocks are exact; each further block of 64 bins covers one power of two.
    ((shift as usize) << BITS) + (value >> shift) as usize
}

fn middle(bin_index: usize) -> f64 {
    if bin_index < 2 << BITS {
        return bin_index as f64;
    }
    let shift = (bin_index >> BITS) - 1;
    let first = ((bin_index - (shift << BITS)) as u128) << shift;
    first as f64 + ((1u128 << shift) - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_value_lies_within_one_percent_of_its_bin(value: u64) {
            let middle = middle(bin_index(value));
            prop_assert!((middle - value as f64).abs() <= value as f64 * 0.008);
        }

        #[test]
        fn quantiles_follow_the_sorted_list(mut values in prop::collection::vec(0u64..1 << 40, 1..200), share in 0.0..1.0) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|v| histogram.record(*v));
            values.sort_unstable();
            let exact = values[(share * values.len() as f64) as usize] as f64;
            let got = histogram.quantile(share).unwrap();
            prop_assert!((got - exact).abs() <= exact * 0.008, "{} for {}", got, exact);
        }
    }

    #[test]
    fn bins_follow_each_other_without_gap_or_overlap() {
        for value in 1..1 << 16 {
            assert!(bin_index(value) - bin_index(value - 1) <= 1);
        }
    }

    #[test]
    fn an_empty_histogram_has_no_mean_and_no_quantile() {
        let empty = Histogram::default();
        assert_eq!((empty.mean(), empty.quantile(0.5), empty.count()), (None, None, 0));
    }
}
