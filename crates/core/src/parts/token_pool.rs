//! FABA's token pool: a fixed number of tokens shared by per-flow buckets.
//!
//! An arriving packet takes tokens from its flow's bucket, carries them through the queue, and returns them to `spare`
//! on departure. The pool then moves spare tokens to a few random buckets. A bucket that overflows is deleted, so only
//! active flows have a bucket.
//!
//! Tokens are conserved exactly, because they are integers (see [`Tokens`]). The sum of buckets, spare and carried
//! tokens is constant.

use super::flow_table::FlowTable;
use super::token_fifo::{BucketLevel, Refund, Tokens};
use crate::packet::FlowId;
use crate::rng::Rng;

/// Maximum buckets visited per departure; see [`draw_count`].
const MAX_DRAWS: u64 = 4;
/// Buckets compared for an eviction.
const CANDIDATES: usize = 4;

/// The spare tokens distributed at a departure, or at several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenDistribution {
    /// Buckets drawn; in a `TokenTree` also classes.
    pub drawn: u32,
    /// Tokens moved to drawn buckets, less the tokens taken from drawn buckets.
    pub tokens: Tokens,
}

/// Buckets of equal height sharing a fixed number of tokens. Every operation takes O(1) time.
#[derive(Clone, Debug)]
pub struct TokenPool {
    buckets: FlowTable<Tokens>,
    /// Tokens neither in a bucket nor carried; negative while buckets exceed their share.
    spare: Tokens,
    total: Tokens,
    /// A bucket's capacity: total / buckets.
    height: Tokens,
}

impl TokenPool {
    /// A pool of `total` spare tokens for at most `capacity` flows, hashed under `key`.
    pub fn new(total: Tokens, capacity: u32, key: u64) -> TokenPool {
        TokenPool { buckets: FlowTable::new(capacity, key), spare: total, total, height: total }
    }

    /// The number of flows with a bucket.
    pub fn flows(&self) -> usize {
        self.buckets.len()
    }

    /// All tokens: in buckets, spare, or carried.
    pub fn total(&self) -> Tokens {
        self.total
    }

    /// Tokens neither in a bucket nor carried.
    pub fn spare(&self) -> Tokens {
        self.spare
    }

    /// A bucket's capacity.
    #[inline]
    pub fn height(&self) -> Tokens {
        self.height
    }

    /// Sets the total that bucket heights derive from, for a pool that is one level of a `TokenTree`. No token moves.
    pub fn set_total(&mut self, total: Tokens) {
        if total != self.total {
            self.total = total;
            self.set_height();
        }
    }

    /// The tokens in `flow`'s bucket, if it has one.
    pub fn peek(&self, flow: FlowId) -> Option<Tokens> {
        self.buckets.peek(flow).copied()
    }

    /// Finds or creates `flow`'s bucket. Returns its position, tokens and height. A new bucket is full. When the height
    /// falls, an existing bucket keeps its tokens above the height until this call.
    ///
    /// If the table is full, the fullest of four random buckets is evicted: its flow was least active.
    #[inline(always)]
    pub fn find_or_create(&mut self, flow: FlowId, rng: &mut Rng) -> (usize, BucketLevel) {
        let (position, holds) = match self.buckets.position(flow) {
            Some(position) => (position, self.remove_excess(position)),
            None => self.create(flow, rng),
        };
        (position, BucketLevel { tokens: holds, height: self.height })
    }

    /// Moves `tokens` from the bucket at `position` to a packet. The bucket may go into debt.
    #[inline]
    pub fn take(&mut self, position: usize, tokens: Tokens) {
        *self.buckets.at(position).1 -= tokens;
    }

    /// Gives spare `tokens` to a packet. The number of spare tokens may become negative.
    #[inline]
    pub fn take_spare(&mut self, tokens: Tokens) {
        self.spare -= tokens;
    }

    /// Takes back a departing packet's tokens, then moves spare tokens to random buckets, at most a grain to each. If
    /// `spare` is negative, it takes tokens from the buckets instead, at most until they are empty. A drawn bucket
    /// above its height is deleted. Draws at most four buckets (see `draw_count`).
    #[inline(always)]
    pub fn give_back(&mut self, refund: Refund, rng: &mut Rng) -> TokenDistribution {
        self.spare += refund.carried;
        let (draws, mut done) = (draw_count(self.spare, refund), TokenDistribution::default());
        while done.drawn < draws && self.spare != 0 && !self.buckets.is_empty() {
            done.tokens += self.settle(rng.below(self.buckets.len() as u32) as usize, refund.grain);
            done.drawn += 1;
        }
        done
    }

    /// Moves tokens between `spare` and a drawn bucket. Returns the tokens moved to the bucket.
    fn settle(&mut self, position: usize, grain: Tokens) -> Tokens {
        let holds = self.buckets.at(position).1;
        let moved = clamp_to_grain(self.spare, grain).max(-(*holds).max(0));
        *holds += moved;
        let full = *holds > self.height;
        self.spare -= moved;
        if full {
            self.delete(position);
        }
        moved
    }

    fn remove_excess(&mut self, position: usize) -> Tokens {
        let holds = self.buckets.at(position).1;
        let excess = (*holds - self.height).max(0);
        *holds -= excess;
        self.spare += excess;
        *holds
    }

    fn create(&mut self, flow: FlowId, rng: &mut Rng) -> (usize, Tokens) {
        if self.buckets.is_full() {
            self.evict(rng);
        }
        let position = self.buckets.insert(flow, 0).expect("a bucket was evicted if the table was full");
        self.set_height();
        self.spare -= self.height;
        *self.buckets.at(position).1 = self.height;
        (position, self.height)
    }

    fn evict(&mut self, rng: &mut Rng) {
        let flows = self.buckets.len() as u32;
        let drawn: [usize; CANDIDATES] = core::array::from_fn(|_| rng.below(flows) as usize);
        let fullest = drawn.into_iter().max_by_key(|position| *self.buckets.at(*position).1);
        self.delete(fullest.unwrap_or(0));
    }

    fn delete(&mut self, position: usize) {
        let (_, holds) = self.buckets.remove_at(position);
        self.spare += holds;
        self.set_height();
    }

    fn set_height(&mut self) {
        self.height = self.total / self.buckets.len().max(1) as Tokens;
    }

    /// The tokens in each bucket.
    pub fn levels(&self) -> impl Iterator<Item = Tokens> {
        self.buckets.iter().map(|(_, holds)| *holds)
    }
}

/// Number of buckets drawn at a departure, to give them spare tokens or take back a deficit: the paper's b =
/// floor(|spare| / queue) + 1, at most four.
///
/// A departing packet changes `spare` by as many tokens as one draw moves. One draw per packet therefore keeps up with
/// traffic (FABA paper, section 4.2). A created or deleted bucket changes it by a whole height. With a short queue, one
/// departure could then need thousands of draws. The limit leaves them to later departures. The paper sees at most two
/// draws (section 5.2). Under intermittent load, a limit of two wastes 1 % of the link, and a limit of four does as
/// well as one of sixteen.
#[inline]
pub(super) fn draw_count(spare: Tokens, refund: Refund) -> u32 {
    let (owed, queue) = (spare.unsigned_abs(), refund.queue.max(refund.grain).unsigned_abs());
    if owed < queue { 1 } else { (owed / queue + 1).min(MAX_DRAWS) as u32 }
}

/// Tokens that one draw moves: `spare`, but at most a grain in either direction.
#[inline]
pub(super) fn clamp_to_grain(spare: Tokens, grain: Tokens) -> Tokens {
    spare.clamp(-grain, grain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const FLOW: [FlowId; 4] = [FlowId(1), FlowId(2), FlowId(3), FlowId(4)];

    fn open(pool: &mut TokenPool, flow: FlowId, rng: &mut Rng) -> (usize, Tokens) {
        let (position, level) = pool.find_or_create(flow, rng);
        assert_eq!(level.height, pool.height());
        (position, level.tokens)
    }

    fn give_back(pool: &mut TokenPool, [carried, grain, queue]: [Tokens; 3], rng: &mut Rng) -> TokenDistribution {
        pool.give_back(Refund { carried, grain, queue }, rng)
    }

    fn sum(pool: &TokenPool) -> Tokens {
        pool.levels().sum::<Tokens>() + pool.spare()
    }

    #[test]
    fn a_new_flow_gets_a_full_bucket_and_another_bucket_loses_its_excess_at_its_flows_next_arrival() {
        let (mut pool, mut rng) = (TokenPool::new(12, 8, 1), Rng::new(1));
        assert_eq!(open(&mut pool, FLOW[0], &mut rng), (0, 12));
        assert_eq!(open(&mut pool, FLOW[1], &mut rng), (1, 6));
        assert_eq!((pool.levels().collect::<Vec<_>>(), pool.spare()), ([12, 6].into(), -6));
        assert_eq!(open(&mut pool, FLOW[0], &mut rng), (0, 6));
        assert_eq!((pool.levels().collect::<Vec<_>>(), pool.spare()), ([6, 6].into(), 0));
    }

    #[test]
    fn spare_tokens_fill_buckets_and_a_bucket_above_its_height_is_deleted() {
        let (mut pool, mut rng) = (TokenPool::new(12, 8, 1), Rng::new(1));
        pool.find_or_create(FLOW[0], &mut rng);
        pool.find_or_create(FLOW[1], &mut rng);
        pool.find_or_create(FLOW[0], &mut rng);
        pool.take(0, 5);
        // Two buckets of height 6 hold 1 and 6 tokens, and one token returns. If the first bucket is drawn, it takes
        // the token. If the second is drawn, it overflows and is deleted.
        while pool.flows() == 2 {
            let carried = 12 - sum(&pool);
            give_back(&mut pool, [carried.min(1), 1, 4], &mut rng);
            assert!(pool.levels().all(|holds| holds <= 6));
        }
        assert_eq!(pool.height(), 12);
        assert!(pool.spare() >= 7, "the deleted bucket's seven tokens are spare again: {}", pool.spare());
    }

    #[test]
    fn a_deficit_of_spare_tokens_is_taken_from_drawn_buckets_but_never_from_an_empty_one() {
        let (mut pool, mut rng) = (TokenPool::new(12, 8, 1), Rng::new(1));
        for flow in FLOW {
            let (position, holds) = open(&mut pool, flow, &mut rng);
            pool.take(position, holds);
        }
        // Of 12 tokens, 12 + 6 + 4 + 3 were given to buckets.
        assert_eq!((pool.spare(), sum(&pool)), (-13, -13));
        give_back(&mut pool, [1, 1, 1], &mut rng);
        assert_eq!((pool.spare(), pool.levels().collect::<Vec<_>>()), (-12, [0; 4].into()));
        pool.take(2, -3);
        let taken: Tokens = (0..40).map(|_| give_back(&mut pool, [0, 1, 12], &mut rng).tokens).sum();
        assert_eq!(taken, -3, "a draw that takes a token counts as -1, a draw of an empty bucket as 0");
        assert_eq!((pool.spare(), pool.levels().collect::<Vec<_>>()), (-9, [0; 4].into()));
    }

    #[test]
    fn a_departure_draws_as_many_buckets_as_the_spare_tokens_exceed_the_queue_and_never_more_than_four() {
        let (mut pool, mut rng) = (TokenPool::new(1_000_000, 8, 1), Rng::new(1));
        pool.find_or_create(FLOW[0], &mut rng);
        pool.take(0, 900_000);
        let done = |drawn, tokens| TokenDistribution { drawn, tokens };
        assert_eq!(give_back(&mut pool, [1, 1, 10], &mut rng), done(1, 1));
        assert_eq!(give_back(&mut pool, [25, 1, 10], &mut rng), done(3, 3));
        assert_eq!(pool.spare(), 22);
        assert_eq!(give_back(&mut pool, [500_000, 1, 0], &mut rng), done(4, 4));
    }

    #[test]
    fn when_the_table_is_full_the_fullest_of_four_drawn_buckets_is_evicted() {
        let (mut pool, mut rng) = (TokenPool::new(4096, 2, 1), Rng::new(1));
        let mut kept = 0;
        for trial in 0..200 {
            let (position, holds) = open(&mut pool, FlowId(0), &mut rng);
            pool.take(position, holds);
            for newcomer in 0..2 {
                pool.find_or_create(FlowId(1000 + 2 * trial + newcomer), &mut rng);
            }
            assert_eq!((pool.flows(), pool.height()), (2, 2048));
            kept += u32::from(pool.levels().any(|holds| holds <= 0));
            let missing = 4096 - sum(&pool);
            give_back(&mut pool, [missing, 1, missing], &mut rng);
        }
        // The emptied bucket is evicted only if all four draws hit it: 1 in 16 per newcomer at a full table.
        assert!(kept > 150, "the emptied bucket survived {kept} of 200 times");
    }
}
