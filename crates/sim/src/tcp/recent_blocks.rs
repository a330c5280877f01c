//! The SACK blocks seen last. Each acknowledgement repeats earlier blocks, and a block may be thousands of segments
//! long. Skipping known blocks leaves only the segments that are new.

use crate::segment::SackBlock;

/// The three most recent SACK blocks; a larger block replaces one inside it.
#[derive(Clone, Debug, Default)]
pub struct RecentBlocks([SackBlock; 3]);

impl RecentBlocks {
    /// Whether `block` lies inside a remembered one: it has nothing new.
    #[inline]
    pub fn contain(&self, block: SackBlock) -> bool {
        self.0.iter().any(|known| known.0 <= block.0 && block.1 <= known.1)
    }

    /// The first segment of `block` outside the remembered blocks.
    #[inline]
    pub fn first_new(&self, (mut seq, end): SackBlock) -> Option<u32> {
        while seq < end {
            match self.0.iter().find(|known| known.0 <= seq && seq < known.1) {
                Some(known) => seq = known.1,
                None => return Some(seq),
            }
        }
        None
    }

    /// Remembers `block`. Replaces a block inside it, or else the oldest one.
    #[inline]
    pub fn remember(&mut self, block: SackBlock) {
        let held = self.0.iter().position(|known| block.0 <= known.0 && known.1 <= block.1);
        let mut next = block;
        self.0[..=held.unwrap_or(2)].iter_mut().for_each(|known| std::mem::swap(known, &mut next));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_segments(recent: &mut RecentBlocks, block: SackBlock) -> Vec<u32> {
        let mut new_segments = Vec::new();
        let (mut next, end) = block;
        while let Some(seq) = recent.first_new((next, end)) {
            new_segments.push(seq);
            next = seq + 1;
        }
        recent.remember(block);
        new_segments
    }

    #[test]
    fn segments_that_a_block_repeats_are_skipped() {
        let mut recent = RecentBlocks::default();
        assert_eq!(new_segments(&mut recent, (3, 6)), [3, 4, 5]);
        assert_eq!(new_segments(&mut recent, (3, 7)), [6]);
        assert_eq!(new_segments(&mut recent, (8, 10)), [8, 9]);
        assert_eq!(new_segments(&mut recent, (1, 12)), [1, 2, 7, 10, 11], "both, and the gaps between them");
        assert_eq!(new_segments(&mut recent, (0, 0)), [0; 0]);
    }

    #[test]
    fn three_blocks_that_come_in_turn_are_all_remembered() {
        let mut recent = RecentBlocks::default();
        let blocks = [(3, 6), (10, 12), (20, 21)];
        blocks.iter().for_each(|block| drop(new_segments(&mut recent, *block)));
        for block in blocks {
            assert_eq!(new_segments(&mut recent, block), [0; 0]);
        }
        assert_eq!(new_segments(&mut recent, (30, 31)), [30]);
        assert_eq!(new_segments(&mut recent, (3, 6)), [3, 4, 5], "the oldest block was replaced");
    }
}
