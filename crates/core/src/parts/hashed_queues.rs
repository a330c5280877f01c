//! Stochastic fairness queueing: flows hashed to queues (buckets) that are served in turn.
//!
//! Flows in the same bucket share its turn. The hash function changes periodically (the paper's perturbation), so that
//! no two flows share a bucket for long. As in Linux's sch_sfq, queued packets then move to their flow's new bucket,
//! which avoids reordering. [`HashedQueues::moves`] can leave them where they are.
//!
//! Source: P. McKenney, "Stochastic fairness queueing", IEEE INFOCOM 1990.

use super::deficit_ring::DeficitRing;
use super::hash::{FlowHash, bucket, ns2_bucket};
use super::polled_timer::PolledTimer;
use super::sub_queues::{End, SubQueues};
use crate::cx::Cx;
use crate::packet::{Backlog, FlowId, Packet};
use crate::params::BuildError;
use crate::tables::Tables;
use crate::time::{Span, Time};
use crate::units::Limit;

/// A set of buckets and their schedule. It has no limit: the caller drops excess packets.
#[derive(Clone, Debug)]
pub struct HashedQueues<T> {
    queues: SubQueues<T>,
    ring: DeficitRing,
    /// Bytes per turn; `None`: one packet.
    quantum: Option<u32>,
    hash: FlowHash,
    key: u64,
    perturb: PolledTimer,
    /// Whether a bucket's turn ends with its last packet, not with the next departure.
    ends_turns: bool,
    /// Whether queued packets move when the hash function changes.
    moves: bool,
}

impl<T> HashedQueues<T> {
    /// `buckets` empty queues (at least one), whose lengths are compared in the unit of `limit`. The hash function
    /// changes every `perturb`, or never if zero. A bucket sends `quantum` bytes a turn, or one packet.
    ///
    /// # Errors
    /// [`BuildError::Memory`].
    pub fn new(
        buckets: u32,
        limit: Limit,
        quantum: Option<u32>,
        perturb: Span,
        key: u64,
        tables: Tables<'_>,
    ) -> Result<HashedQueues<T>, BuildError> {
        let queues = SubQueues::with_queues(buckets.max(1) as usize, limit, tables)?;
        let (ring, perturb) = (DeficitRing::new(), PolledTimer::new(perturb, Time::ZERO));
        Ok(HashedQueues { queues, ring, quantum, hash: FlowHash::Keyed, key, perturb, ends_turns: false, moves: true })
    }

    /// Hashes flows by `hash`. Without a key the hash function never changes.
    pub fn hashed(self, hash: FlowHash) -> HashedQueues<T> {
        HashedQueues { hash, ..self }
    }

    /// With `ends_turns`, a bucket without a quantum joins the round's end as soon as it has sent its packet, as in
    /// ns-2. Without it, buckets that come into use before the next departure precede it, as in Linux.
    pub fn ends_turns(self, ends_turns: bool) -> HashedQueues<T> {
        HashedQueues { ends_turns: ends_turns && self.quantum.is_none(), ..self }
    }

    /// Whether queued packets move to their flow's new bucket when the hash function changes. If they stay, later
    /// packets of the flow may overtake them.
    pub fn moves(self, moves: bool) -> HashedQueues<T> {
        HashedQueues { moves, ..self }
    }

    /// The packets by bucket.
    #[inline]
    pub fn queues(&self) -> &SubQueues<T> {
        &self.queues
    }

    /// The longest bucket; see [`SubQueues::longest`].
    pub fn longest(&mut self) -> Option<usize> {
        self.queues.longest()
    }

    /// The backlog of a bucket.
    #[inline]
    pub fn backlog_of(&self, bucket: usize) -> Backlog {
        self.queues.backlog_of(bucket)
    }

    /// The number of buckets in use.
    #[inline]
    pub fn in_use(&self) -> u32 {
        self.ring.len()
    }

    /// The bytes that `bucket` may still send in its turn, negative if it owes them; `None` if it is empty. Counts
    /// packets if there is no quantum.
    pub fn credit(&self, bucket: usize) -> Option<i64> {
        self.ring.credit(bucket)
    }

    /// The bucket of `flow`.
    #[inline]
    pub fn bucket(&self, flow: FlowId) -> usize {
        match self.hash {
            FlowHash::Keyed => bucket(self.key, flow, self.queues.queues()),
            FlowHash::Ns2 => ns2_bucket(flow, self.queues.queues()),
        }
    }

    /// Changes the hash function if a period has ended since the last call, and moves queued packets to their new
    /// buckets unless they stay (see [`moves`](Self::moves)). Returns whether the function changed. Call it first at
    /// every arrival and departure.
    ///
    /// Packets move bucket by bucket, oldest first. Afterwards, buckets take turns in the order in which they received
    /// a packet.
    #[inline]
    pub fn perturb(&mut self, cx: &mut Cx<'_, T>) -> bool {
        let due = self.hash == FlowHash::Keyed && self.perturb.advance(cx.now) > 0;
        if due {
            self.key = cx.rng.bits();
            if self.moves {
                self.rehash();
            }
        }
        due
    }

    #[cold]
    fn rehash(&mut self) {
        let (ring, key, buckets, quantum) = (&mut self.ring, self.key, self.queues.queues(), self.quantum.unwrap_or(1));
        ring.clear();
        self.queues.rearrange(|packet| {
            let bucket = bucket(key, packet.flow, buckets);
            if ring.credit(bucket).is_none() {
                ring.join(bucket, quantum);
            }
            bucket
        });
    }

    /// Appends the packet to `bucket`, which joins the round if it was empty.
    #[inline(always)]
    pub fn push(&mut self, bucket: usize, packet: Packet<T>) {
        if self.queues.backlog_of(bucket).packets == 0 {
            self.ring.join(bucket, self.quantum.unwrap_or(1));
        }
        self.queues.push(bucket, packet);
    }

    /// Dequeues the next packet. Returns its bucket and the packet.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<(usize, Packet<T>)> {
        let bucket = self.ring.next(|_| 1)?;
        let packet = self.queues.pop(bucket)?;
        self.ring.charge(bucket, if self.quantum.is_some() { packet.bytes } else { 1 });
        if self.ends_turns {
            self.ring.end_turn();
        }
        self.forget(bucket);
        Some((bucket, packet))
    }

    /// Removes a packet out of turn, to be dropped.
    #[inline]
    pub fn take(&mut self, bucket: usize, end: End) -> Option<Packet<T>> {
        let packet = self.queues.take(bucket, end)?;
        self.forget(bucket);
        Some(packet)
    }

    /// Removes an empty bucket from the round, with its credit.
    #[inline]
    fn forget(&mut self, bucket: usize) {
        if self.queues.backlog_of(bucket).packets == 0 {
            self.ring.leave(bucket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn queues(buckets: u32, quantum: Option<u32>, perturb: Span) -> HashedQueues<usize> {
        HashedQueues::new(buckets, Limit::Packets(1), quantum, perturb, 7, Tables::ALLOCATE).unwrap()
    }

    fn order(queues: &mut HashedQueues<usize>) -> Vec<usize> {
        core::iter::from_fn(|| queues.pop().map(|(_, packet)| packet.handle)).collect()
    }

    #[test]
    fn buckets_send_a_packet_each_in_turn_or_bytes_by_quantum() {
        let fill = |quantum| {
            let mut queues = queues(3, quantum, Span::ZERO);
            // (bucket, bytes), numbered.
            let packets = [(0, 1500), (0, 1500), (1, 500), (1, 500), (1, 500), (1, 500), (2, 100)];
            for (number, (bucket, bytes)) in packets.into_iter().enumerate() {
                queues.push(bucket, Packet::new(FlowId(0), bytes, number));
            }
            order(&mut queues)
        };
        assert_eq!(fill(None), [0, 2, 6, 1, 3, 4, 5]);
        // By hand, 1000 B a turn: bucket 0 sends 1500 B and owes 500 B, bucket 1 sends two packets of 500 B, bucket 2
        // its only packet. Bucket 0 has 500 B again and sends 1500 B. Then the others follow.
        assert_eq!(fill(Some(1000)), [0, 2, 3, 6, 1, 4, 5]);
    }

    #[test]
    fn the_hash_function_changes_once_a_period_and_never_without_a_period() {
        let draws = |perturb| {
            let (mut queues, mut rng) = (queues(64, None, perturb), Rng::new(1));
            [0, 9, 10, 11, 55, 59, 60].map(|ms| queues.perturb(&mut Cx::new(at(ms), &mut rng, &mut ())))
        };
        assert_eq!(draws(Span::from_millis(10)), [false, false, true, false, true, false, true]);
        assert_eq!(draws(Span::ZERO), [false; 7]);
    }

    #[test]
    fn packets_that_stay_in_their_bucket_are_overtaken_after_a_new_hash_function() {
        let order = |moves| {
            let (mut queues, mut rng) = (queues(64, None, Span::from_millis(10)).moves(moves), Rng::new(1));
            for number in 0..6 {
                let changed = queues.perturb(&mut Cx::new(at(if number < 4 { 0 } else { 10 }), &mut rng, &mut ()));
                assert_eq!(changed, number == 4);
                let bucket = queues.bucket(FlowId(5));
                queues.push(bucket, Packet::new(FlowId(5), 100, number));
            }
            order(&mut queues)
        };
        assert_eq!(order(true), [0, 1, 2, 3, 4, 5]);
        // The old bucket and the new one take turns.
        assert_eq!(order(false), [0, 4, 1, 5, 2, 3]);
    }

    proptest! {
        #[test]
        fn a_new_hash_function_reorders_no_flow_and_loses_nothing(
            flows in prop::collection::vec(0u64..8, 1..80),
            takes in prop::collection::vec(0usize..80, 0..10),
        ) {
            let (mut queues, mut rng) = (queues(5, None, Span::from_millis(1)), Rng::new(3));
            let (mut sent, mut last) = (0, [None; 8]);
            for (number, flow) in flows.iter().enumerate() {
                let moved = queues.perturb(&mut Cx::new(at(number as u64), &mut rng, &mut ()));
                prop_assert_eq!(moved, number > 0);
                let bucket = queues.bucket(FlowId(*flow));
                queues.push(bucket, Packet::new(FlowId(*flow), 100, number));
                let leaving = if takes.contains(&number) { queues.pop() } else { None };
                if let Some((_, packet)) = leaving {
                    prop_assert!(last[packet.flow.0 as usize].replace(packet.handle) < Some(packet.handle));
                    sent += 1;
                }
                for bucket in 0..5 {
                    let mut here = queues.queues().packets(bucket);
                    prop_assert!(here.all(|packet| queues.bucket(packet.flow) == bucket));
                }
            }
            while let Some((_, packet)) = queues.pop() {
                prop_assert!(last[packet.flow.0 as usize].replace(packet.handle) < Some(packet.handle));
                sent += 1;
            }
            prop_assert_eq!((sent, queues.in_use()), (flows.len(), 0));
        }
    }
}
