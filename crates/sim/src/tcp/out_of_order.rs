//! The blocks of segments that a receiver has got beyond a gap.

use crate::segment::{SackBlock, SackBlocks};

/// Segments received beyond the next one expected.
#[derive(Clone, Debug, Default)]
pub struct OutOfOrderBlocks {
    /// Ascending, each with the number of its last change.
    blocks: Vec<(SackBlock, u32)>,
    changes: u32,
    /// Segments in all blocks.
    segments: u32,
    /// Kept once they were asked for, until two blocks join or one is taken.
    newest: Option<SackBlocks>,
}

impl OutOfOrderBlocks {
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The number of segments.
    pub fn len(&self) -> u32 {
        self.segments
    }

    /// The three blocks that grew last, newest first (RFC 2018, section 4); empty ones are `(0, 0)`.
    #[inline]
    pub fn newest(&mut self) -> SackBlocks {
        match self.newest {
            Some(newest) => newest,
            None => *self.newest.insert(self.find_newest()),
        }
    }

    /// Finds the newest blocks among all.
    fn find_newest(&self) -> SackBlocks {
        let mut newest = [((0, 0), 0); 3];
        for mut block in self.blocks.iter().rev().copied() {
            for kept in &mut newest {
                if kept.1 < block.1 {
                    std::mem::swap(kept, &mut block);
                }
            }
        }
        newest.map(|(block, _)| block)
    }

    /// Puts the block at `at`, which is new or grew, before the others. It replaces itself as it was, or the oldest.
    fn put_first(&mut self, at: usize) {
        let (mut block, _) = self.blocks[at];
        let (start, end) = block;
        for newest in self.newest.iter_mut().flatten() {
            std::mem::swap(newest, &mut block);
            if start <= block.0 && block.1 <= end {
                return;
            }
        }
    }

    pub fn contains(&self, seq: u32) -> bool {
        self.blocks.iter().any(|((start, end), _)| (*start..*end).contains(&seq))
    }

    pub fn insert(&mut self, seq: u32) {
        self.changes += 1;
        // The first block that ends at or beyond it; usually the segment extends the last block.
        let grows_last = self.blocks.last().is_some_and(|((_, end), _)| *end == seq);
        let at = match grows_last {
            true => self.blocks.len() - 1,
            false => self.blocks.partition_point(|((_, end), _)| *end < seq),
        };
        match self.blocks.get_mut(at) {
            Some(((start, end), change)) if *start <= seq + 1 => {
                self.segments += u32::from(!(*start..*end).contains(&seq));
                (*start, *change) = ((*start).min(seq), self.changes);
                *end = (*end).max(seq + 1);
                if self.merge_with_next(at) {
                    self.newest = None;
                    return;
                }
            }
            _ => {
                // Room for two: by itself a list would begin with four, in each of many thousand receivers.
                if self.blocks.capacity() == 0 {
                    self.blocks.reserve_exact(2);
                }
                self.blocks.insert(at, ((seq, seq + 1), self.changes));
                self.segments += 1;
            }
        }
        self.put_first(at);
    }

    /// Joins the block at `at` with the next one if they touch. Returns whether they did.
    fn merge_with_next(&mut self, at: usize) -> bool {
        let Some(&((start, end), _)) = self.blocks.get(at + 1) else { return false };
        let touches = self.blocks[at].0.1 == start;
        if touches {
            self.blocks[at].0.1 = end;
            self.blocks.remove(at + 1);
        }
        touches
    }

    /// Removes the block that begins at `expected`, if any, and returns its end.
    pub fn take_block_at(&mut self, expected: u32) -> Option<u32> {
        let begins = self.blocks.first().is_some_and(|((start, _), _)| *start == expected);
        begins.then(|| {
            let ((start, end), _) = self.blocks.remove(0);
            self.segments -= end - start;
            self.newest = None;
            end
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares the newest blocks that are kept with those found by a search.
        #[test]
        fn the_newest_blocks_are_those_that_grew_last(steps in prop::collection::vec((0u32..60, 0u8..8), 1..200)) {
            let mut blocks = OutOfOrderBlocks::default();
            for (seq, what) in steps {
                match what {
                    0 => _ = blocks.take_block_at(seq),
                    _ => blocks.insert(seq),
                }
                prop_assert_eq!(blocks.newest(), blocks.find_newest());
            }
        }
    }
}
