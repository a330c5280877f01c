//! A stock of tokens shared out among buckets, one a flow: what FABA stands on.
//!
//! A packet takes tokens from its flow's bucket when it is queued, carries them through the queue and gives them back
//! to the pool's `spare` when it leaves; the pool shares `spare` out again. Nothing makes or destroys a token:
//! buckets + spare + carried = total, exactly, because tokens are counted in whole units (see [`Tokens`]).

use super::flow_table::FlowTable;
use super::token_fifo::{Fill, Refund, Tokens};
use crate::packet::FlowId;
use crate::rng::Rng;

/// Buckets looked at in one departure, at most; see [`draws`].
const MOST_DRAWS: u64 = 4;
/// Buckets compared when one must be evicted.
const CANDIDATES: usize = 4;

/// Buckets of equal height that share a fixed number of tokens. Every operation is O(1).
#[derive(Clone, Debug)]
pub struct TokenPool {
    buckets: FlowTable<Tokens>,
    /// Tokens in no bucket and carried by no packet; negative while buckets hold more than their share.
    spare: Tokens,
    total: Tokens,
    /// What a bucket may hold: total / buckets.
    height: Tokens,
}

impl TokenPool {
    /// A pool of `total` tokens, all spare, for at most `capacity` flows, hashed under `key`.
    pub fn new(total: Tokens, capacity: u32, key: u64) -> TokenPool {
        TokenPool { buckets: FlowTable::new(capacity, key), spare: total, total, height: total }
    }

    /// How many flows have a bucket.
    pub fn flows(&self) -> usize {
        self.buckets.len()
    }

    /// The stock: buckets + spare + what packets carry.
    pub fn total(&self) -> Tokens {
        self.total
    }

    /// Tokens in no bucket and carried by no packet.
    pub fn spare(&self) -> Tokens {
        self.spare
    }

    /// What a bucket may hold.
    #[inline]
    pub fn height(&self) -> Tokens {
        self.height
    }

    /// Has the buckets share `total` from now on: where the pool is a part of something that grows and shrinks. No token
    /// moves by this.
    pub fn set_total(&mut self, total: Tokens) {
        if total != self.total {
            self.total = total;
            self.set_height();
        }
    }

    /// What `flow`'s bucket holds, if it has one.
    pub fn peek(&self, flow: FlowId) -> Option<Tokens> {
        self.buckets.peek(flow).copied()
    }

    /// Finds `flow`'s bucket, or makes one that is full, and says where it stands and how full it is. What an existing
    /// bucket holds above its height is skimmed off only now, when it is looked at.
    ///
    /// When the table is full, a bucket must go: of four drawn by chance, the fullest, for its flow was active least.
    #[inline]
    pub fn open(&mut self, flow: FlowId, rng: &mut Rng) -> (usize, Fill) {
        let (position, holds) = match self.buckets.position(flow) {
            Some(position) => (position, self.skim(position)),
            None => self.create(flow, rng),
        };
        (position, Fill { holds, height: self.height })
    }

    /// Takes `tokens` out of the bucket at `position`, for a packet to carry. A bucket may go below zero by this.
    #[inline]
    pub fn take(&mut self, position: usize, tokens: Tokens) {
        *self.buckets.at(position).1 -= tokens;
    }

    /// Lets a packet carry `tokens` that are spare, or become owed, instead of its flow's.
    #[inline]
    pub fn lend(&mut self, tokens: Tokens) {
        self.spare -= tokens;
    }

    /// Takes back what a departing packet carried and settles the spare tokens with buckets drawn by chance, as many
    /// as `draws` says and a grain each at most: gives while there are some, grabs while there is a deficit (from a
    /// bucket no more than it holds). A drawn bucket above its height is deleted. Returns how many buckets were drawn.
    #[inline]
    pub fn give_back(&mut self, refund: Refund, rng: &mut Rng) -> u32 {
        self.spare += refund.carried;
        let (draws, mut drawn) = (draws(self.spare, refund), 0);
        while drawn < draws && self.spare != 0 && !self.buckets.is_empty() {
            self.settle(rng.below(self.buckets.len() as u32) as usize, refund.grain);
            drawn += 1;
        }
        drawn
    }

    fn settle(&mut self, position: usize, grain: Tokens) {
        let holds = self.buckets.at(position).1;
        let moved = due(self.spare, grain).max(-(*holds).max(0));
        *holds += moved;
        let full = *holds > self.height;
        self.spare -= moved;
        if full {
            self.delete(position);
        }
    }

    fn skim(&mut self, position: usize) -> Tokens {
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

    /// Every bucket's tokens.
    pub fn levels(&self) -> impl Iterator<Item = Tokens> {
        self.buckets.iter().map(|(_, holds)| *holds)
    }
}

/// How many buckets to settle `spare` tokens with at a departure: floor(|spare| / queue) + 1, the paper's b.
///
/// A departing packet moves `spare` by what one draw settles, so one draw a packet keeps up with traffic (FABA paper,
/// section 4.2). A bucket made or deleted moves it by a whole height, which that argument leaves out: with a short queue
/// one departure could owe thousands of draws. It makes four at most and leaves the rest to the next: the paper sees no
/// more than two (section 5.2), but under load that comes and goes two lose a hundredth of the link for want of tokens,
/// and four as little as sixteen.
#[inline]
pub(super) fn draws(spare: Tokens, refund: Refund) -> u32 {
    let (owed, queue) = (spare.unsigned_abs(), refund.queue.max(refund.grain).unsigned_abs());
    if owed < queue { 1 } else { (owed / queue + 1).min(MOST_DRAWS) as u32 }
}

/// What is to be moved of `spare` at once.
#[inline]
pub(super) fn due(spare: Tokens, grain: Tokens) -> Tokens {
    spare.clamp(-grain, grain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const FLOW: [FlowId; 4] = [FlowId(1), FlowId(2), FlowId(3), FlowId(4)];

    fn open(pool: &mut TokenPool, flow: FlowId, rng: &mut Rng) -> (usize, Tokens) {
        let (position, fill) = pool.open(flow, rng);
        assert_eq!(fill.height, pool.height());
        (position, fill.holds)
    }

    fn give_back(pool: &mut TokenPool, [carried, grain, queue]: [Tokens; 3], rng: &mut Rng) -> u32 {
        pool.give_back(Refund { carried, grain, queue }, rng)
    }

    fn sum(pool: &TokenPool) -> Tokens {
        pool.levels().sum::<Tokens>() + pool.spare()
    }

    #[test]
    fn a_new_flow_gets_a_full_bucket_and_shortens_the_others_only_when_they_are_looked_at() {
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
        pool.open(FLOW[0], &mut rng);
        pool.open(FLOW[1], &mut rng);
        pool.open(FLOW[0], &mut rng);
        pool.take(0, 5);
        // Heights 6, levels 1 and 6, one token back: the second bucket overflows and goes, or the first takes it.
        while pool.flows() == 2 {
            let carried = 12 - sum(&pool);
            give_back(&mut pool, [carried.min(1), 1, 4], &mut rng);
            assert!(pool.levels().all(|holds| holds <= 6));
        }
        assert_eq!(pool.height(), 12);
        assert!(pool.spare() >= 7, "the deleted bucket's seven tokens are spare again: {}", pool.spare());
    }

    #[test]
    fn a_deficit_is_grabbed_but_never_from_an_empty_bucket() {
        let (mut pool, mut rng) = (TokenPool::new(12, 8, 1), Rng::new(1));
        for flow in FLOW {
            let (position, holds) = open(&mut pool, flow, &mut rng);
            pool.take(position, holds);
        }
        // 12 + 6 + 4 + 3 tokens were handed out of 12.
        assert_eq!((pool.spare(), sum(&pool)), (-13, -13));
        give_back(&mut pool, [1, 1, 1], &mut rng);
        assert_eq!((pool.spare(), pool.levels().collect::<Vec<_>>()), (-12, [0; 4].into()));
        pool.take(2, -3);
        for _ in 0..40 {
            give_back(&mut pool, [0, 1, 12], &mut rng);
        }
        assert_eq!((pool.spare(), pool.levels().collect::<Vec<_>>()), (-9, [0; 4].into()));
    }

    #[test]
    fn a_departure_draws_as_many_buckets_as_the_spare_tokens_exceed_the_queue_and_never_more_than_four() {
        let (mut pool, mut rng) = (TokenPool::new(1_000_000, 8, 1), Rng::new(1));
        pool.open(FLOW[0], &mut rng);
        pool.take(0, 900_000);
        assert_eq!(give_back(&mut pool, [1, 1, 10], &mut rng), 1);
        assert_eq!(give_back(&mut pool, [25, 1, 10], &mut rng), 3);
        assert_eq!(pool.spare(), 22);
        assert_eq!(give_back(&mut pool, [500_000, 1, 0], &mut rng), 4);
    }

    #[test]
    fn when_the_table_is_full_the_fullest_of_four_drawn_buckets_is_evicted() {
        let (mut pool, mut rng) = (TokenPool::new(4096, 2, 1), Rng::new(1));
        let mut kept = 0;
        for trial in 0..200 {
            let (position, holds) = open(&mut pool, FlowId(0), &mut rng);
            pool.take(position, holds);
            for newcomer in 0..2 {
                pool.open(FlowId(1000 + 2 * trial + newcomer), &mut rng);
            }
            assert_eq!((pool.flows(), pool.height()), (2, 2048));
            kept += u32::from(pool.levels().any(|holds| holds <= 0));
            let missing = 4096 - sum(&pool);
            give_back(&mut pool, [missing, 1, missing], &mut rng);
        }
        // The emptied bucket goes only if all four draws hit it: 1 in 16 at each newcomer that finds the table full.
        assert!(kept > 150, "the emptied bucket survived {kept} of 200 times");
    }
}
