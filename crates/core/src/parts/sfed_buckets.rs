//! SFED's token buckets: one of equal height per flow. A new bucket trims all others, and departures fill them in turn.
//!
//! No step visits all buckets. Two facts make that possible:
//!
//! - A bucket that was trimmed holds exactly the height of that time, until it pays or gets tokens. Such *level* buckets
//!   are only counted, per height ([`LevelBuckets`]). A lower height absorbs all counts above it, so the counts are a
//!   stack with the greatest height on top.
//! - Of any other bucket, the tokens have a bound, which it shares with 15 neighbors in the table. Sixteen bounds have a
//!   bound again, up to one for all. A payment leaves the bounds as they are. A trim visits what is below bounds above
//!   the new height, and finds either a bucket to trim or a bound to lower.
//!
//! Only a gift or a first payment raises bounds, by which it pays for one later visit of each bound. A packet therefore
//! costs O(log N) on average for N buckets. A round of gifts to all buckets changes one number, which all levels are
//! relative to.

use alloc::vec::Vec;

use super::flow_table::FlowTable;
use super::token_fifo::{BucketLevel, Refund, Tokens};
use crate::packet::FlowId;

/// Number of buckets compared for an eviction.
const CANDIDATES: usize = 4;

/// Buckets of equal height that share a fixed number of tokens: buckets + spare + carried = total.
#[derive(Clone, Debug)]
pub struct SfedBuckets {
    table: FlowTable<SfedBucket>,
    /// Position of the bucket that gets the next tokens.
    turn: usize,
    spare: Tokens,
    total: Tokens,
    /// A bucket's capacity: total / buckets.
    height: Tokens,
    /// Tokens given to every bucket in whole rounds. Levels, bounds and the heights of `level` are stored less this.
    base: Tokens,
    /// Trims so far.
    trims: Tokens,
    /// Counts of level buckets, in order of trims and of heights.
    level: Vec<LevelBuckets>,
    /// Bounds of all other buckets: first of every [`FAN`] buckets, then of every [`FAN`] bounds, last of all.
    bounds: Vec<Vec<Tokens>>,
}

/// Buckets, or bounds, that share a bound.
const FAN: usize = 16;
/// The bound of no bucket.
const LEAST: Tokens = Tokens::MIN;

#[derive(Clone, Copy, Debug)]
struct SfedBucket {
    /// Whether it holds the height of a trim.
    is_level: bool,
    /// Its tokens; of a level bucket the number of the trim that made it level.
    tokens: Tokens,
}

#[derive(Clone, Copy, Debug)]
struct LevelBuckets {
    /// The last trim to this height. Every bucket that became level by an earlier trim, and after that of the entry
    /// below, has this height.
    trim: Tokens,
    height: Tokens,
    /// Never 0 in the last entry.
    count: Tokens,
}

impl SfedBuckets {
    /// No buckets, and `total` spare tokens, for at most `capacity` flows, hashed under `key`.
    pub fn new(total: Tokens, capacity: u32, key: u64) -> SfedBuckets {
        SfedBuckets {
            table: FlowTable::new(capacity, key),
            turn: 0,
            spare: total,
            total,
            height: total,
            base: 0,
            trims: 0,
            level: Vec::new(),
            bounds: alloc::vec![Vec::new()],
        }
    }

    /// The number of buckets.
    pub fn flows(&self) -> usize {
        self.table.len()
    }

    /// Tokens neither in a bucket nor carried; negative while a deficit is settled.
    pub fn spare(&self) -> Tokens {
        self.spare
    }

    /// A bucket's capacity.
    pub fn height(&self) -> Tokens {
        self.height
    }

    /// The tokens in `flow`'s bucket, if it has one.
    pub fn peek(&self, flow: FlowId) -> Option<Tokens> {
        self.table.peek(flow).map(|bucket| self.tokens(*bucket))
    }

    /// The tokens of every bucket, in the order of turns from position 0.
    pub fn levels(&self) -> impl Iterator<Item = Tokens> {
        self.table.iter().map(|(_, bucket)| self.tokens(*bucket))
    }

    /// Finds or creates `flow`'s bucket. A new one is full, and the others are trimmed (section 4.1, step 4).
    #[inline(always)]
    pub fn find_or_create(&mut self, flow: FlowId) -> (usize, BucketLevel) {
        let (position, tokens) = match self.table.position(flow) {
            Some(position) => (position, self.tokens_at(position)),
            None => (self.create(flow), self.height),
        };
        (position, BucketLevel { tokens, height: self.height })
    }

    /// Moves `tokens` from the bucket at `position` to a packet. The bucket may go into debt.
    #[inline]
    pub fn take(&mut self, position: usize, tokens: Tokens) {
        let left = self.tokens_at(position) - tokens;
        self.set(position, left);
    }

    /// Gives spare `tokens` to a packet.
    #[inline]
    pub fn take_spare(&mut self, tokens: Tokens) {
        self.spare -= tokens;
    }

    /// Takes back a departing packet's tokens and deals out the spare ones in turn (step 3). Full buckets are deleted.
    #[inline]
    pub fn give_back(&mut self, refund: Refund) {
        self.spare += refund.carried;
        while self.spare >= refund.grain && !self.table.is_empty() {
            self.deal_whole_rounds(refund.grain);
            // Ends when tokens run out or one of these grains fills its bucket.
            for _ in 0..self.table.len() {
                if self.spare < refund.grain || self.fill_next(refund.grain) {
                    break;
                }
            }
        }
    }

    /// Gives the next bucket a grain and returns whether that filled it.
    fn fill_next(&mut self, grain: Tokens) -> bool {
        let filled = self.tokens_at(self.turn) + grain;
        self.spare -= grain;
        if filled >= self.height {
            self.spare += filled;
            self.delete(self.turn);
            return true;
        }
        self.set(self.turn, filled);
        self.turn += 1;
        self.wrap_turn();
        false
    }

    /// Deals at once all rounds that fill no bucket. A deleted bucket can free tokens for thousands of rounds.
    #[inline]
    fn deal_whole_rounds(&mut self, grain: Tokens) {
        let round = grain.saturating_mul(self.table.len() as Tokens);
        if self.spare < round {
            return;
        }
        let before_full = ((self.height - self.fullest()).max(0) + grain - 1) / grain - 1;
        let rounds = before_full.min(self.spare / round).max(0);
        self.base += rounds * grain;
        self.spare -= rounds * round;
    }

    #[cold]
    fn create(&mut self, flow: FlowId) -> usize {
        if self.table.is_full() {
            self.evict();
        }
        let position = self.table.insert(flow, SfedBucket { is_level: true, tokens: self.trims + 1 });
        self.extend_bounds();
        self.set_height();
        self.spare -= self.height;
        self.trim();
        position.expect("a bucket was evicted if the table was full")
    }

    /// Trims all buckets to the height. The new bucket is counted as one of the level buckets.
    fn trim(&mut self) {
        let (height, mut count) = (self.height - self.base, 1);
        while let Some(above) = self.level.pop_if(|entry| entry.height >= height) {
            self.spare += above.count * (above.height - height);
            count += above.count;
        }
        self.trims += 1;
        let top = self.bounds.len() - 1;
        if self.bounds[top][0] > height {
            (self.bounds[top][0], count) = self.trim_below(top, 0, height, count);
        }
        self.level.push(LevelBuckets { trim: self.trims, height, count });
    }

    /// Trims the buckets below a bound, and below bounds above `height` only. Returns the new bound, and `count` with
    /// the trimmed buckets.
    fn trim_below(&mut self, row: usize, node: usize, height: Tokens, mut count: Tokens) -> (Tokens, Tokens) {
        let (mut bound, below) = (LEAST, FAN * node..FAN * (node + 1));
        if row == 0 {
            for position in below.start..below.end.min(self.table.len()) {
                let (_, bucket) = self.table.at(position);
                if !bucket.is_level && bucket.tokens > height {
                    self.spare += bucket.tokens - height;
                    *bucket = SfedBucket { is_level: true, tokens: self.trims };
                    count += 1;
                } else if !bucket.is_level {
                    bound = bound.max(bucket.tokens);
                }
            }
            return (bound, count);
        }
        for child in below.start..below.end.min(self.bounds[row - 1].len()) {
            if self.bounds[row - 1][child] > height {
                (self.bounds[row - 1][child], count) = self.trim_below(row - 1, child, height, count);
            }
            bound = bound.max(self.bounds[row - 1][child]);
        }
        (bound, count)
    }

    /// Deletes the fullest of the next buckets in turn: its flow was least active.
    fn evict(&mut self) {
        let flows = self.table.len();
        let next: [usize; CANDIDATES] = core::array::from_fn(|ahead| (self.turn + ahead) % flows);
        let fullest = next.into_iter().max_by_key(|position| self.tokens_at(*position)).unwrap_or(0);
        self.spare += self.tokens_at(fullest);
        self.delete(fullest);
    }

    /// Deletes the bucket; the youngest takes its position. The paper gives back L_N, our callers give back the tokens
    /// held: a full bucket can exceed L_N by part of a token.
    fn delete(&mut self, position: usize) {
        let (_, bucket) = self.table.remove_at(position);
        if bucket.is_level {
            self.uncount(bucket.tokens);
        }
        if position < self.table.len() {
            let SfedBucket { is_level, tokens } = *self.table.at(position).1;
            if !is_level {
                self.raise_bounds(position, tokens);
            }
        }
        self.set_height();
        self.wrap_turn();
    }

    #[inline]
    fn wrap_turn(&mut self) {
        if self.turn >= self.table.len() {
            self.turn = 0;
        }
    }

    fn set_height(&mut self) {
        self.height = self.total / self.table.len().max(1) as Tokens;
    }

    #[inline]
    fn tokens_at(&mut self, position: usize) -> Tokens {
        let bucket = *self.table.at(position).1;
        self.tokens(bucket)
    }

    #[inline]
    fn tokens(&self, bucket: SfedBucket) -> Tokens {
        let entry = || self.level[self.entry_of(bucket.tokens)];
        self.base + if bucket.is_level { entry().height } else { bucket.tokens }
    }

    /// The entry that counts the buckets made level by `trim`: the first whose last trim is not earlier. The latest
    /// trims are asked for most.
    #[inline]
    fn entry_of(&self, trim: Tokens) -> usize {
        match self.level.len() {
            last @ 2.. if self.level[last - 2].trim >= trim => self.level.partition_point(|entry| entry.trim < trim),
            len => len - 1,
        }
    }

    /// Sets the tokens of the bucket at `position`, which is no longer level.
    #[inline]
    fn set(&mut self, position: usize, tokens: Tokens) {
        let tokens = tokens - self.base;
        let before = core::mem::replace(self.table.at(position).1, SfedBucket { is_level: false, tokens });
        if before.is_level {
            self.uncount(before.tokens);
        }
        self.raise_bounds(position, tokens);
    }

    /// Raises the bounds above the bucket at `position` to its tokens.
    #[inline]
    fn raise_bounds(&mut self, position: usize, tokens: Tokens) {
        let mut node = position / FAN;
        for row in &mut self.bounds {
            if row[node] >= tokens {
                break;
            }
            row[node] = tokens;
            node /= FAN;
        }
    }

    /// Adds bounds for the last bucket. A row with more than one bound has another row above it.
    fn extend_bounds(&mut self) {
        let (mut row, mut node) = (0, (self.table.len() - 1) / FAN);
        loop {
            if self.bounds[row].len() <= node {
                self.bounds[row].push(LEAST);
            }
            if self.bounds[row].len() == 1 {
                break;
            }
            if self.bounds.len() == row + 1 {
                // The first of the two bounds.
                let first = self.bounds[row][0];
                self.bounds.push(alloc::vec![first]);
            }
            (row, node) = (row + 1, node / FAN);
        }
    }

    /// Counts one level bucket less.
    #[inline]
    fn uncount(&mut self, trim: Tokens) {
        let entry = self.entry_of(trim);
        self.level[entry].count -= 1;
        // Entries without buckets are removed when they are on top.
        while self.level.pop_if(|entry| entry.count == 0).is_some() {}
    }

    /// The most tokens in a bucket. Lowers bounds until the highest is exact.
    fn fullest(&mut self) -> Tokens {
        let level = self.level.last().map_or(LEAST, |entry| entry.height);
        let top = self.bounds.len() - 1;
        while self.bounds[top][0] > level {
            let bound = self.bounds[top][0];
            let exact = self.tighten(top, 0);
            if exact == bound {
                break;
            }
        }
        self.base + level.max(self.bounds[top][0])
    }

    /// Lowers a bound to the greatest below it, after the greatest below it was lowered, and returns it.
    fn tighten(&mut self, row: usize, node: usize) -> Tokens {
        let below = FAN * node..FAN * (node + 1);
        let bound = if row == 0 {
            let buckets = below.start..below.end.min(self.table.len());
            buckets
                .map(|position| *self.table.at(position).1)
                .filter(|bucket| !bucket.is_level)
                .map(|bucket| bucket.tokens)
                .max()
        } else {
            let children = below.start..below.end.min(self.bounds[row - 1].len());
            let highest = children.clone().max_by_key(|child| self.bounds[row - 1][*child]).unwrap_or(children.start);
            self.tighten(row - 1, highest);
            children.map(|child| self.bounds[row - 1][child]).max()
        };
        self.bounds[row][node] = bound.unwrap_or(LEAST);
        self.bounds[row][node]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same buckets, each visited by every trim and every round.
    struct PlainBuckets {
        table: FlowTable<Tokens>,
        turn: usize,
        spare: Tokens,
        total: Tokens,
    }

    impl PlainBuckets {
        fn height(&self) -> Tokens {
            self.total / self.table.len().max(1) as Tokens
        }

        fn delete(&mut self, position: usize) {
            self.spare += self.table.remove_at(position).1;
            if self.turn >= self.table.len() {
                self.turn = 0;
            }
        }

        fn find_or_create(&mut self, flow: FlowId) -> usize {
            if let Some(position) = self.table.position(flow) {
                return position;
            }
            if self.table.is_full() {
                let next: [usize; 4] = core::array::from_fn(|ahead| (self.turn + ahead) % self.table.len());
                let fullest = next.into_iter().max_by_key(|position| *self.table.at(*position).1);
                self.delete(fullest.unwrap());
            }
            let position = self.table.insert(flow, 0).unwrap();
            let height = self.height();
            *self.table.at(position).1 = height;
            self.spare -= height;
            for tokens in self.table.values_mut() {
                self.spare += (*tokens - height).max(0);
                *tokens = height.min(*tokens);
            }
            position
        }

        fn give_back(&mut self, refund: Refund) {
            self.spare += refund.carried;
            while self.spare >= refund.grain && !self.table.is_empty() {
                let (height, tokens) = (self.height(), self.table.at(self.turn).1);
                *tokens += refund.grain;
                self.spare -= refund.grain;
                if *tokens >= height {
                    self.delete(self.turn);
                } else {
                    self.turn = (self.turn + 1) % self.table.len();
                }
            }
        }
    }

    proptest! {
        #[test]
        fn buckets_hold_what_they_would_if_each_were_visited(
            calls in prop::collection::vec((0u64..40, 0i64..50, any::<bool>(), 1i64..12), 1..600),
            total in 20i64..3000, capacity in 1u32..40,
        ) {
            let mut buckets = SfedBuckets::new(total, capacity, 7);
            let mut plain = PlainBuckets { table: FlowTable::new(capacity, 7), turn: 0, spare: total, total };
            let mut carried = 0;
            for (flow, cost, departs, grain) in calls {
                if departs {
                    // Part of what packets carry, in one of the sizes that occur.
                    let refund = Refund { carried: carried.min(5 * cost), grain, queue: 0 };
                    carried -= refund.carried;
                    buckets.give_back(refund);
                    plain.give_back(refund);
                } else {
                    let (position, level) = buckets.find_or_create(FlowId(flow));
                    prop_assert_eq!(position, plain.find_or_create(FlowId(flow)));
                    let tokens = *plain.table.at(position).1;
                    prop_assert_eq!(level, BucketLevel { tokens, height: plain.height() });
                    buckets.take(position, cost);
                    *plain.table.at(position).1 -= cost;
                    carried += cost;
                }
                prop_assert!(buckets.levels().eq(plain.table.iter().map(|(_, tokens)| *tokens)));
                prop_assert_eq!((buckets.spare, buckets.turn), (plain.spare, plain.turn));
                prop_assert_eq!(buckets.levels().sum::<Tokens>() + buckets.spare + carried, total);
            }
        }
    }

    #[test]
    fn a_trim_visits_no_bucket_that_did_nothing_since_the_last_one() {
        let mut buckets = SfedBuckets::new(1 << 40, 1000, 7);
        for flow in 0..1000 {
            let (position, _) = buckets.find_or_create(FlowId(flow));
            if flow == 500 {
                buckets.take(position, 1 << 35);
            }
            // All other buckets are level: the trim changed one count.
            let level: Vec<Tokens> = buckets.level.iter().map(|entry| entry.count).collect();
            assert_eq!(level, [flow as Tokens + i64::from(flow < 500)]);
            assert!(buckets.bounds.iter().flatten().all(|bound| *bound < buckets.height));
        }
        assert_eq!(buckets.bounds.iter().map(Vec::len).collect::<Vec<_>>(), [63, 4, 1]);
    }
}
