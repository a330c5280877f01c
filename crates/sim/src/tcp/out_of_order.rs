//! The blocks of segments that a receiver has got beyond a gap.

use crate::segment::{SackBlock, SackBlocks};

/// Segments received beyond the next one expected.
#[derive(Clone, Debug, Default)]
pub struct OutOfOrderBlocks {
    /// Ascending, each with the number of its last change.
    blocks: Vec<(SackBlock, u32)>,
    changes: u32,
}

impl OutOfOrderBlocks {
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The three blocks that grew last, newest first (RFC 2018, section 4).
    pub fn newest(&self) -> SackBlocks {
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
                (*start, *change) = ((*start).min(seq), self.changes);
                *end = (*end).max(seq + 1);
                self.merge_with_next(at);
            }
            _ => self.blocks.insert(at, ((seq, seq + 1), self.changes)),
        }
    }

    /// Joins the block at `at` with the next one if they touch.
    fn merge_with_next(&mut self, at: usize) {
        if let Some(&((start, end), _)) = self.blocks.get(at + 1)
            && self.blocks[at].0.1 == start
        {
            self.blocks[at].0.1 = end;
            self.blocks.remove(at + 1);
        }
    }

    /// Removes the block that begins at `expected`, if any, and returns its end.
    pub fn take_block_at(&mut self, expected: u32) -> Option<u32> {
        let begins = self.blocks.first().is_some_and(|((start, _), _)| *start == expected);
        begins.then(|| self.blocks.remove(0).0.1)
    }
}
