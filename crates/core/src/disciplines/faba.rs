//! FABA: a fixed stock of tokens, one bucket a flow; a flow that queues packets faster than it is given tokens drains
//! its bucket and is dropped.
//!
//! A. Kamra, H. Saran, S. Sen, R. Shorey, "Fair adaptive bandwidth allocation: a rate control based active queue
//! management discipline", Computer Networks 44(2), 2004, sections 3 and 4.
//!
//! | paper | here |
//! | --- | --- |
//! | B | `limit` |
//! | T = alpha B | [`TokenFifo::stock`], the stock of [`TokenPool`] |
//! | N, L_N | [`TokenPool::flows`], [`TokenPool::height`] |
//! | x_j | what [`TokenPool::open`] gives |
//! | sigma | [`TokenPool::spare`] |
//! | Q, b | [`Refund::queue`](crate::parts::Refund::queue), the draws that [`TokenPool::give_back`] returns |
//! | f_p | [`TokenFifo::drop_probability`] |
//!
//! Random draws, in order: an arrival whose flow has no bucket while the table is full draws four buckets; one that
//! finds packets waiting draws its fate; a departure draws its buckets.

use crate::cx::Cx;
use crate::discipline::{Backlog, Discipline, Place};
use crate::packet::{FlowId, Packet};
use crate::params::BuildError;
use crate::parts::{Payment, Terms, TokenFifo, TokenPool};
use crate::units::Limit;

crate::params! {
    /// Settings of [`Faba`].
    pub struct FabaConfig {
        /// Room for waiting packets (B); an arriving packet that does not fit is dropped.
        limit: Limit = Limit::Packets(1000);
        /// Tokens in the system as a multiple of the limit. Above 1 the buffer can overflow while buckets still hold
        /// tokens, which hurts the flows that keep to their share.
        alpha: f64 = 1.0, in 0.001..=1000.0;
        /// Share of its height above which a bucket costs its flow no drops.
        lambda1: f64 = 0.5, in 0.0..=1.0, also "k1";
        /// Share of its height below which the drop probability climbs from `maxp` to 1 (empty bucket).
        lambda2: f64 = 0.25, in 0.0..=1.0, also "k2";
        /// Drop probability at `lambda2`.
        maxp: f64 = 0.02, in 0.0..=1.0;
        /// Mark ECN-capable packets instead of dropping them, as long as the flow's bucket can pay for the packet.
        ecn: bool = true;
        /// A token stands for a byte, not a packet. `auto`: when `limit` is in bytes.
        byte_mode: Option<bool> = None, also "bytemode";
        /// Buckets there can be. When a further flow comes, four are drawn by chance and the fullest of them is
        /// deleted.
        max_flows: u32 = 65_536, in 1..=1_048_576;
    }
    presets {
        "paper" "section 5: alpha 1, lambda1 1/2, lambda2 1/4, maxp 0.02 (the defaults)" {}
    }
}

/// A FIFO whose arrivals pay with their flow's tokens.
pub struct Faba<T> {
    fifo: TokenFifo<T>,
    pool: TokenPool,
    departures: u64,
    draws: u64,
}

impl<T> Faba<T> {
    /// An empty queue; every token is spare.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if `lambda2` is not below `lambda1`.
    pub fn new(config: FabaConfig, place: &Place) -> Result<Self, BuildError> {
        let FabaConfig { limit, alpha, lambda1, lambda2, maxp, ecn, byte_mode, max_flows } = config;
        let fifo = TokenFifo::new(Terms { limit, lambda1, lambda2, maxp, ecn, byte_mode }, place.mean_packet)?;
        let pool = TokenPool::new(fifo.stock(alpha), max_flows, place.key);
        Ok(Faba { fifo, pool, departures: 0, draws: 0 })
    }

    /// The tokens in `flow`'s bucket, if it has one: packets, or bytes in byte mode. What lies above the bucket's
    /// height is skimmed off when the flow's next packet arrives.
    pub fn bucket(&self, flow: FlowId) -> Option<f64> {
        self.pool.peek(flow).map(|holds| self.fifo.whole(holds))
    }

    /// Tokens in no bucket and carried by no packet, the paper's sigma; negative while buckets hold more than their
    /// share.
    pub fn sigma(&self) -> f64 {
        self.fifo.whole(self.pool.spare())
    }

    /// What a bucket may hold, the paper's L_N.
    pub fn bucket_height(&self) -> f64 {
        self.fifo.whole(self.pool.height())
    }
}

impl<T> Discipline<T> for Faba<T> {
    #[inline]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let (bucket, fill) = self.pool.open(packet.flow, cx.rng);
        match self.fifo.admit(packet, fill, cx) {
            Payment::Bucket(cost) => self.pool.take(bucket, cost),
            Payment::Lent(cost) => self.pool.lend(cost),
            Payment::Nothing => {}
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let (packet, refund) = self.fifo.pop()?;
        self.draws += u64::from(self.pool.give_back(refund, cx.rng));
        self.departures += 1;
        Some(packet)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("flows", self.pool.flows() as f64);
        gauge("sigma", self.sigma());
        gauge("bucket_height", self.bucket_height());
        gauge("draws_per_departure", self.draws as f64 / self.departures.max(1) as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cx::Why;
    use crate::packet::Ecn;
    use crate::parts::Tokens;
    use crate::port::Port;
    use crate::rng::Rng;
    use crate::time::Time;
    use crate::units::Rate;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const PLACE: Place = Place::new(Rate::from_bits(10_000_000), 1000, 7);

    fn faba(config: FabaConfig) -> Port<(), Faba<()>> {
        Port::new(Faba::new(config, &PLACE).unwrap(), Rng::new(1))
    }

    fn limit(limit: Limit) -> FabaConfig {
        FabaConfig { limit, ..FabaConfig::default() }
    }

    fn arrive(port: &mut Port<(), Faba<()>>, flow: u64, bytes: u32, ecn: Ecn) {
        port.enqueue(Packet { ecn, ..Packet::new(FlowId(flow), bytes, ()) }, Time::ZERO, &mut ());
    }

    /// Buckets + sigma + what waiting packets carry, less the stock: zero when no token was made or lost.
    fn imbalance(port: &Port<(), Faba<()>>, alpha: f64) -> Tokens {
        let Faba { fifo, pool, .. } = port.discipline();
        pool.levels().sum::<Tokens>() + pool.spare() + fifo.carried() - fifo.stock(alpha)
    }

    proptest! {
        #[test]
        fn buckets_and_sigma_and_what_packets_carry_always_add_up_to_t(
            calls in prop::collection::vec((0u64..12, prop::sample::select(&[0u32, 40, 1000, 9000, u32::MAX][..]),
                any::<bool>()), 1..400),
            alpha in 0.1f64..3.0, room in 1u32..60, bytes: bool, byte_mode: Option<bool>, max_flows in 1u32..10,
        ) {
            let limit = if bytes { Limit::Bytes(u64::from(room) * 1000) } else { Limit::Packets(room) };
            let mut port = faba(FabaConfig { limit, alpha, byte_mode, max_flows, ..FabaConfig::default() });
            for (flow, size, departs) in calls {
                if departs {
                    port.dequeue(Time::ZERO, &mut ());
                }
                arrive(&mut port, flow, size, if flow % 2 == 0 { Ecn::Ect0 } else { Ecn::NotEct });
                prop_assert_eq!(imbalance(&port, alpha), 0);
                prop_assert!(port.discipline().pool.flows() <= max_flows as usize);
                // None owes more than the largest packet cost: 2^32 bytes of 2^8 fractions.
                prop_assert!(port.discipline().pool.levels().all(|holds| holds > -(1 << 40)));
            }
        }
    }

    #[test]
    fn a_queued_packet_costs_its_flow_one_token_and_an_overflowing_one_none() {
        let mut port = faba(FabaConfig { alpha: 4.0, ..limit(Limit::Packets(3)) });
        (0..5).for_each(|_| arrive(&mut port, 1, 1000, Ecn::NotEct));
        assert_eq!(port.totals().counts().drops[Why::Overflow as usize], 2);
        let holds: Vec<Tokens> = port.discipline().pool.levels().collect();
        assert_eq!(holds, [9 << 20], "twelve tokens, three queued packets");
    }

    #[test]
    fn a_marked_packet_costs_a_token_and_an_empty_bucket_drops_what_could_be_marked() {
        let marks_all = FabaConfig { lambda1: 1.0, lambda2: 0.99, maxp: 1.0, ..limit(Limit::Packets(8)) };
        let mut port = faba(FabaConfig { alpha: 0.5, ..marks_all });
        (0..8).for_each(|_| arrive(&mut port, 1, 1000, Ecn::Ect0));
        let counts = port.totals().counts();
        // Four tokens: the first packet finds the bucket full, the next three are marked, the others find it empty.
        assert_eq!((counts.marks[Why::Bucket as usize], counts.drops[Why::Bucket as usize]), (3, 4));
    }

    #[test]
    fn a_flow_that_stops_loses_its_bucket_and_the_others_get_its_height() {
        let mut port = faba(limit(Limit::Packets(100)));
        arrive(&mut port, 1, 1000, Ecn::NotEct);
        for _ in 0..1000 {
            // Each of the two asks for all of the link, and so never fills its bucket.
            (2..4).for_each(|flow| arrive(&mut port, flow, 1000, Ecn::NotEct));
            assert!(port.dequeue(Time::ZERO, &mut ()).is_some());
        }
        assert_eq!(port.discipline().pool.flows(), 2);
        assert_eq!(port.discipline().pool.height(), 50 << 20);
    }

    #[test]
    fn when_nothing_is_queued_an_empty_bucket_drops_nothing() {
        let mut port = faba(limit(Limit::Packets(4)));
        for flow in (1..100).chain([7; 100]) {
            arrive(&mut port, flow, 1000, Ecn::NotEct);
            assert!(port.dequeue(Time::ZERO, &mut ()).is_some(), "flow {flow}");
        }
        assert_eq!(imbalance(&port, 1.0), 0);
        assert!(port.discipline().pool.flows() <= 4, "flows that stopped lose their buckets as packets depart");
    }
}
