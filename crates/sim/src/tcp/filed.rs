//! The last SACK blocks seen. Each acknowledgement repeats earlier blocks: in a window of thousands of segments a
//! block is thousands long and only one of its segments is new.

use crate::segment::Block;

/// Recent SACK blocks, whose segments are skipped.
#[derive(Clone, Debug, Default)]
pub struct Filed([Block; 3]);

impl Filed {
    /// The first segment of `block` outside the remembered blocks.
    #[inline]
    pub fn first_new(&self, (mut seq, end): Block) -> Option<u32> {
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
    pub fn keep(&mut self, block: Block) {
        let held = self.0.iter().position(|known| block.0 <= known.0 && known.1 <= block.1);
        let mut next = block;
        self.0[..=held.unwrap_or(2)].iter_mut().for_each(|known| std::mem::swap(known, &mut next));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(filed: &mut Filed, block: Block) -> Vec<u32> {
        let mut news = Vec::new();
        let (mut next, end) = block;
        while let Some(seq) = filed.first_new((next, end)) {
            news.push(seq);
            next = seq + 1;
        }
        filed.keep(block);
        news
    }

    #[test]
    fn what_a_block_repeats_is_passed_over() {
        let mut filed = Filed::default();
        assert_eq!(news(&mut filed, (3, 6)), [3, 4, 5]);
        assert_eq!(news(&mut filed, (3, 7)), [6]);
        assert_eq!(news(&mut filed, (8, 10)), [8, 9]);
        assert_eq!(news(&mut filed, (1, 12)), [1, 2, 7, 10, 11], "both, and the gaps between them");
        assert_eq!(news(&mut filed, (0, 0)), [0; 0]);
    }

    #[test]
    fn three_blocks_that_come_in_turn_are_all_remembered() {
        let mut filed = Filed::default();
        let blocks = [(3, 6), (10, 12), (20, 21)];
        blocks.iter().for_each(|block| drop(news(&mut filed, *block)));
        for block in blocks {
            assert_eq!(news(&mut filed, block), [0; 0]);
        }
        assert_eq!(news(&mut filed, (30, 31)), [30]);
        assert_eq!(news(&mut filed, (3, 6)), [3, 4, 5], "kept longest");
    }
}
