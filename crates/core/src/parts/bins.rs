//! SFB's accounting bins. Bins under keyed hashes replace per-flow state.
//!
//! There are two sets of bins: one in use, one for the next hash functions. The next set can be trained in advance.

use alloc::vec::Vec;

use super::hash::keyed;
use crate::packet::FlowId;
use crate::params::BuildError;
use crate::tables::Tables;
use crate::time::{Span, Time};

/// Maximum number of levels.
pub const MAX_LEVELS: usize = 8;

/// The numbers of a flow's bins, one per level. The numbers of both sets differ. A packet therefore leaves the bins
/// that it entered even after the hash functions have changed.
pub type BinNumbers = [u16; MAX_LEVELS];

/// Calls `each` with every level below `levels`, which is at most [`MAX_LEVELS`].
// Two levels are usual. The compiler knows their number and makes no loop of them.
#[inline(always)]
pub fn for_each_level(levels: usize, each: impl FnMut(usize)) {
    if levels == 2 { (0..2).for_each(each) } else { (0..levels.min(MAX_LEVELS)).for_each(each) }
}

/// Steps of a bin's probability.
#[derive(Clone, Copy, Debug)]
pub struct ProbabilitySteps {
    /// Increase when the bin is too full.
    pub up: f64,
    /// Decrease when it is empty.
    pub down: f64,
    /// Minimum time between two changes.
    pub freeze: Span,
}

/// An accounting bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// Queued packets hashed to this bin.
    pub packets: u32,
    /// Its marking probability.
    pub probability: f64,
    /// Time until which its probability stays fixed.
    pub frozen_until: Time,
}

impl Bin {
    #[inline]
    fn step(&mut self, by: f64, freeze: Span, now: Time) {
        if now >= self.frozen_until {
            self.probability = (self.probability + by).clamp(0.0, 1.0);
            self.frozen_until = now + freeze;
        }
    }
}

crate::choice! {
    /// The bins of a flow that must be overfull for its packets to be dropped.
    pub enum Overfull {
        /// One of them: the fullest decides (BLUE paper, figure 14).
        Any = "any",
        /// All of them: the emptiest decides (BLUE paper, figure 15; Linux).
        All = "all",
    }
}

impl Overfull {
    /// The length to compare, of a flow's `fullest` and `emptiest` bins.
    #[inline]
    pub fn length(self, fullest: u32, emptiest: u32) -> u32 {
        if self == Overfull::Any { fullest } else { emptiest }
    }
}

/// The bins of one flow, summarized.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BinSummary {
    /// Packets in the fullest bin.
    pub fullest: u32,
    /// Packets in the emptiest bin.
    pub emptiest: u32,
    /// The lowest probability.
    pub probability: f64,
}

/// Hashes each flow to one bin per level.
#[derive(Clone, Debug)]
pub struct LevelHash {
    keys: [u64; MAX_LEVELS],
    levels: usize,
    width: usize,
    /// The number of the first bin.
    base: usize,
}

impl LevelHash {
    /// `levels` (1 to [`MAX_LEVELS`]) of `width` (1 to 4096) bins, numbered level by level from 0; keys from number
    /// `first` are derived from `secret`.
    pub fn new(levels: usize, width: usize, secret: u64, first: u64) -> LevelHash {
        assert!((1..=MAX_LEVELS).contains(&levels) && (1..=4096).contains(&width), "{levels} levels of {width} bins");
        LevelHash { keys: core::array::from_fn(|i| keyed(secret, FlowId(first + i as u64))), levels, width, base: 0 }
    }

    /// Numbers the bins from `base`.
    pub fn numbered_from(self, base: usize) -> LevelHash {
        LevelHash { base, ..self }
    }

    /// The bins of `flow`.
    #[inline]
    pub fn bin_numbers(&self, flow: FlowId) -> BinNumbers {
        let (mut numbers, mut first) = ([0; MAX_LEVELS], self.base);
        for_each_level(self.levels, |level| {
            // Scaling the upper half of the hash avoids a division. 2 x 8 x 4096 bins fit 16 bits.
            let bin = ((keyed(self.keys[level], flow) >> 32) * self.width as u64) >> 32;
            numbers[level] = (first + bin as usize) as u16;
            first += self.width;
        });
        numbers
    }
}

/// Two sets of `levels` x `width` bins: one in use, one for the next hash functions.
#[derive(Clone, Debug)]
pub struct Bins {
    /// By set, then by level.
    bins: Vec<Bin>,
    /// Of the set in use, and of the next set.
    hashes: [LevelHash; 2],
    levels: usize,
    width: usize,
    in_use: usize,
    steps: ProbabilitySteps,
    secret: u64,
    /// Sets of keys derived so far.
    drawn: u64,
}

impl Bins {
    /// `levels` (1 to [`MAX_LEVELS`]) of `width` (1 to 4096) bins per set; hash keys are derived from `secret`.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(
        levels: usize,
        width: usize,
        steps: ProbabilitySteps,
        secret: u64,
        tables: Tables<'_>,
    ) -> Result<Bins, BuildError> {
        let hashes = [0, 1].map(|set| Bins::hash(levels, width, secret, set, set as u64));
        let bins = tables.filled(2 * levels * width, Bin::default())?;
        Ok(Bins { bins, hashes, levels, width, in_use: 0, steps, secret, drawn: 2 })
    }

    /// The bins of `flow` in the set in use.
    #[inline]
    pub fn bins_of(&self, flow: FlowId) -> BinNumbers {
        self.hashes[0].bin_numbers(flow)
    }

    /// Updates a flow's bins for an arrival: p rises in bins with more than `full` packets and falls in empty ones.
    /// Returns their summary after the update.
    #[inline]
    pub fn arrive(&mut self, numbers: &BinNumbers, full: u32, now: Time) -> BinSummary {
        let mut found = BinSummary { fullest: 0, emptiest: u32::MAX, probability: 1.0 };
        let (bins, steps) = (self.bins.as_mut_slice(), &self.steps);
        for_each_level(self.levels, |level| {
            let bin = &mut bins[usize::from(numbers[level])];
            if bin.packets > full {
                bin.step(steps.up, steps.freeze, now);
            } else if bin.packets == 0 {
                bin.step(-steps.down, steps.freeze, now);
            }
            found.fullest = found.fullest.max(bin.packets);
            found.emptiest = found.emptiest.min(bin.packets);
            // `f64::min` would also check for NaN.
            if bin.probability < found.probability {
                found.probability = bin.probability;
            }
        });
        found
    }

    /// The summary of a flow's bins, without an update.
    pub fn summary(&self, numbers: &BinNumbers) -> BinSummary {
        let bins = || numbers[..self.levels].iter().map(|number| &self.bins[usize::from(*number)]);
        let packets = || bins().map(|bin| bin.packets);
        let (fullest, emptiest) = (packets().max().unwrap_or(0), packets().min().unwrap_or(0));
        BinSummary { fullest, emptiest, probability: bins().map(|bin| bin.probability).fold(1.0, f64::min) }
    }

    /// Counts a packet that joins these bins.
    #[inline]
    pub fn enter(&mut self, numbers: &BinNumbers) {
        let bins = self.bins.as_mut_slice();
        for_each_level(self.levels, |level| bins[usize::from(numbers[level])].packets += 1);
    }

    /// Counts a packet that leaves these bins. With `lower`, a bin in use that becomes empty lowers its probability.
    #[inline]
    pub fn leave(&mut self, numbers: &BinNumbers, lower: bool, now: Time) {
        let (bins, steps) = (self.bins.as_mut_slice(), &self.steps);
        let is_in_use = || usize::from(usize::from(numbers[0]) >= self.levels * self.width) == self.in_use;
        for_each_level(self.levels, |level| {
            let bin = &mut bins[usize::from(numbers[level])];
            bin.packets -= 1;
            if bin.packets == 0 && lower && is_in_use() {
                bin.step(-steps.down, steps.freeze, now);
            }
        });
    }

    /// The bins of `flow` in the next set.
    pub fn next_bins_of(&self, flow: FlowId) -> BinNumbers {
        self.hashes[1].bin_numbers(flow)
    }

    /// Raises the probabilities of `flow`'s bins in the next set.
    pub fn train(&mut self, flow: FlowId, now: Time) {
        let numbers = self.next_bins_of(flow);
        let ProbabilitySteps { up, freeze, .. } = self.steps;
        numbers[..self.levels].iter().for_each(|number| self.bins[usize::from(*number)].step(up, freeze, now));
    }

    /// Switches to the next set. The old set gets new keys and, without `keep`, probabilities of 0. It still counts its
    /// packets.
    pub fn switch(&mut self, keep: bool) {
        let left = self.in_use;
        self.in_use = 1 - left;
        self.hashes.swap(0, 1);
        self.reset_set(left, keep);
    }

    /// Packets in the fullest bin in use.
    pub fn max_packets(&self) -> u32 {
        self.used().iter().map(|bin| bin.packets).max().unwrap_or(0)
    }

    /// Probabilities of the bins in use.
    pub fn probabilities(&self) -> impl Iterator<Item = f64> {
        self.used().iter().map(|bin| bin.probability)
    }

    /// The bins in use, each with its level and its number in the level.
    pub fn in_use(&self) -> impl Iterator<Item = (usize, usize, &Bin)> {
        self.used().iter().enumerate().map(|(place, bin)| (place / self.width, place % self.width, bin))
    }

    /// Every bin: the set in use by level, then the next set.
    pub fn all_bins(&self) -> impl Iterator<Item = &Bin> {
        let size = self.levels * self.width;
        let sets = [self.in_use, 1 - self.in_use].map(|set| &self.bins[set * size..][..size]);
        sets.into_iter().flatten()
    }

    fn used(&self) -> &[Bin] {
        let size = self.levels * self.width;
        &self.bins[self.in_use * size..][..size]
    }

    /// Gives `set`, the next one, new keys.
    fn reset_set(&mut self, set: usize, keep: bool) {
        let size = self.levels * self.width;
        self.hashes[1] = Bins::hash(self.levels, self.width, self.secret, set, self.drawn);
        self.drawn += 1;
        if keep {
            return;
        }
        for bin in &mut self.bins[set * size..][..size] {
            *bin = Bin { packets: bin.packets, ..Bin::default() };
        }
    }

    /// The hash of `set`, after `before` sets of keys.
    fn hash(levels: usize, width: usize, secret: u64, set: usize, before: u64) -> LevelHash {
        LevelHash::new(levels, width, secret, 1 + before * MAX_LEVELS as u64).numbered_from(set * levels * width)
    }

    /// For each set, the packets counted in each level.
    #[cfg(test)]
    pub fn packets_by_level(&self) -> [Vec<u32>; 2] {
        let size = self.levels * self.width;
        let sum = |level: &[Bin]| level.iter().map(|bin| bin.packets).sum();
        [0, 1].map(|set| self.bins[set * size..][..size].chunks(self.width).map(sum).collect())
    }
}

/// Probability that a responsive flow shares a bin with an unresponsive flow at every level (BLUE paper, equation 1).
/// It is (1 - (1 - 1/N)^M)^L for M unresponsive flows and L levels of N bins.
pub fn misclassification(width: u32, levels: u32, unresponsive: u32) -> f64 {
    let spared = libm::pow(1.0 - 1.0 / f64::from(width.max(1)), f64::from(unresponsive));
    libm::pow(1.0 - spared, f64::from(levels))
}

/// Estimates the number of unresponsive flows from the `polluted` bins among `levels` x `width`, by linear counting
/// (see [`FlowCount`](super::FlowCount)). M flows leave a bin clean with probability (1 - 1/N)^M, so M = ln V / ln(1 -
/// 1/N) for a share V of clean bins. If every bin is polluted, half a bin is taken as clean.
///
/// With t = M/N, one level's standard deviation is at most sqrt(N (e^t - t - 1)); L levels divide it by sqrt(L).
pub fn estimate_unresponsive_flows(width: u32, levels: u32, polluted: u32) -> f64 {
    let (bins, polluted) = (f64::from(width * levels), f64::from(polluted));
    if width == 1 {
        // A single bin shows only whether there are unresponsive flows.
        return f64::from(u8::from(polluted > 0.0));
    }
    let spared = (bins - polluted).max(0.5) / bins;
    // Adding 0 turns a result of -0 into 0.
    libm::log(spared) / libm::log(1.0 - 1.0 / f64::from(width)) + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: ProbabilitySteps = ProbabilitySteps { up: 0.25, down: 0.125, freeze: Span::from_millis(1) };

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn equation_1_gives_the_papers_figures() {
        // BLUE paper, section IV-C: 8.96 % with 2 x 23 bins, 16.12 % with 1 x 46, 8 unresponsive flows each.
        assert!((misclassification(23, 2, 8) - 0.0896).abs() < 0.0001);
        assert!((misclassification(46, 1, 8) - 0.1612).abs() < 0.0001);
        assert_eq!((misclassification(1, 3, 1), misclassification(23, 2, 0)), (1.0, 0.0));
    }

    /// The share of 50 responsive flows whose bins are polluted at every level by `bad` unresponsive flows.
    fn share_misclassified(levels: usize, width: usize, bad: u64, secret: u64) -> f64 {
        let bins = Bins::new(levels, width, STEPS, secret, Tables::ALLOCATE).unwrap();
        let polluted: Vec<BinNumbers> = (0..bad).map(|flow| bins.bins_of(FlowId(flow))).collect();
        let hit = |numbers: BinNumbers| (0..levels).all(|level| polluted.iter().any(|p| p[level] == numbers[level]));
        (1000..1050).filter(|flow| hit(bins.bins_of(FlowId(*flow)))).count() as f64 / 50.0
    }

    #[test]
    fn the_hash_misclassifies_as_often_as_equation_1_says() {
        for (levels, width, bad) in [(2, 23, 8), (1, 46, 8), (8, 16, 30), (3, 10, 5)] {
            let shares: Vec<f64> = (0..400).map(|secret| share_misclassified(levels, width, bad, secret)).collect();
            let mean = shares.iter().sum::<f64>() / 400.0;
            let variance = shares.iter().map(|share| (share - mean) * (share - mean)).sum::<f64>() / 399.0;
            let expected = misclassification(width as u32, levels as u32, bad as u32);
            let error = libm::sqrt(variance / 400.0);
            assert!((mean - expected).abs() < 4.0 * error, "{levels} x {width}, {bad}: {mean} not {expected}");
        }
    }

    #[test]
    fn the_estimate_of_unresponsive_flows_has_the_error_of_linear_counting() {
        for (levels, width, bad) in [(2usize, 23usize, 1u64), (2, 23, 8), (2, 23, 23), (8, 16, 16), (3, 100, 150)] {
            let estimate = |secret| {
                let bins = Bins::new(levels, width, STEPS, secret, Tables::ALLOCATE).unwrap();
                let mut polluted: Vec<u16> =
                    (0..bad).flat_map(|flow| bins.bins_of(FlowId(flow)).into_iter().take(levels)).collect();
                polluted.sort_unstable();
                polluted.dedup();
                estimate_unresponsive_flows(width as u32, levels as u32, polluted.len() as u32)
            };
            let errors: Vec<f64> = (0..400).map(|secret| estimate(secret) - bad as f64).collect();
            let mean = errors.iter().sum::<f64>() / 400.0;
            let spread = libm::sqrt(errors.iter().map(|error| error * error).sum::<f64>() / 400.0);
            let t = bad as f64 / width as f64;
            let deviation = libm::sqrt(width as f64 * (libm::exp(t) - t - 1.0) / levels as f64);
            // The bias is (e^t - t - 1)/2 for one level (Whang et al. 1990), less for more. The closed form assumes
            // many bins: with 23 it is off by a quarter.
            let bias = (libm::exp(t) - t - 1.0) / 2.0;
            assert!(mean.abs() < bias + 0.2 * deviation, "{levels} x {width}, {bad}: mean error {mean}");
            assert!(spread < 1.25 * deviation, "{levels} x {width}, {bad}: {spread} not {deviation}");
        }
        assert_eq!(
            (
                estimate_unresponsive_flows(23, 2, 0),
                estimate_unresponsive_flows(1, 3, 0),
                estimate_unresponsive_flows(1, 3, 3)
            ),
            (0.0, 0.0, 1.0)
        );
        assert!(
            estimate_unresponsive_flows(23, 2, 46) > estimate_unresponsive_flows(23, 2, 45)
                && estimate_unresponsive_flows(2, 1, 2).is_finite()
        );
    }

    #[test]
    fn a_bins_probability_rises_when_overfull_falls_when_empty_and_rests_for_the_freeze_time() {
        let mut bins = Bins::new(1, 1, STEPS, 1, Tables::ALLOCATE).unwrap();
        let number = bins.bins_of(FlowId(1));
        (0..3).for_each(|_| bins.enter(&number));
        assert_eq!(bins.arrive(&number, 2, at(0)), BinSummary { fullest: 3, emptiest: 3, probability: 0.25 });
        assert_eq!(bins.arrive(&number, 2, at(0)).probability, 0.25, "frozen");
        assert_eq!(bins.arrive(&number, 2, at(1)).probability, 0.5);
        assert_eq!(bins.arrive(&number, 3, at(2)).probability, 0.5, "neither overfull nor empty");
        (0..3).for_each(|_| bins.leave(&number, true, at(9)));
        assert_eq!(bins.arrive(&number, 2, at(9)), BinSummary { fullest: 0, emptiest: 0, probability: 0.375 });
        assert_eq!(bins.arrive(&number, 2, at(10)).probability, 0.25);
    }

    #[test]
    fn a_trained_flow_is_limited_at_once_after_the_switch() {
        let mut bins = Bins::new(2, 23, STEPS, 1, Tables::ALLOCATE).unwrap();
        (0..4).for_each(|ms| bins.train(FlowId(1), at(ms)));
        assert_eq!(bins.arrive(&bins.bins_of(FlowId(1)), 13, at(5)).probability, 0.0);
        bins.switch(false);
        let found = bins.arrive(&bins.bins_of(FlowId(1)), 13, at(5));
        assert_eq!(found.probability, 0.875, "1 after four steps, less one for its empty bins");
        assert_eq!(bins.arrive(&bins.bins_of(FlowId(2)), 13, at(5)).probability, 0.0);
        bins.switch(false);
        bins.switch(false);
        assert_eq!(bins.arrive(&bins.bins_of(FlowId(1)), 13, at(9)).probability, 0.0, "forgotten after two switches");
    }
}
