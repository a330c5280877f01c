//! Fair Adaptive Bandwidth Allocation (FABA): SFED in constant time. Departing packets return tokens to random buckets.
//!
//! A fixed number T of tokens is shared by one bucket per active flow, each of height T/N for N flows. A queued packet
//! holds tokens of its flow's bucket. A flow that queues faster than its bucket is refilled therefore empties it.
//!
//! On arrival, the flow's bucket is found, or created full. If other packets are queued, the packet is dropped or
//! marked with probability f_p, which grows from 0 to 1 as the bucket empties. An admitted packet takes its tokens from
//! the bucket. At an empty queue, no packet is dropped for its bucket. If the bucket is empty, the packet takes spare
//! tokens.
//!
//! On departure, the packet's tokens become spare (sigma). FABA draws a few buckets at random and adds spare tokens to
//! each. If sigma is negative, it takes tokens from them instead. A drawn bucket above its height is deleted: its flow
//! queues less than its share. Every step takes constant time, unlike SFED, which trims all buckets for a new flow.
//!
//! With classes, tokens are shared by weight in a tree ([`TokenTree`]).
//!
//! Source: A. Kamra, H. Saran, S. Sen, R. Shorey, "Fair adaptive bandwidth allocation: a rate control based active
//! queue management discipline", Computer Networks 44(2), 2004, sections 3, 4 and 6. Deviations are listed in
//! docs/disciplines/faba.md.
//!
//! | paper | here |
//! | --- | --- |
//! | T = alpha B | [`TokenFifo::total_tokens`], [`TokenPool::total`] |
//! | N, L_N | [`TokenPool::flows`], [`TokenPool::height`] |
//! | x_j, sigma | [`TokenPool::find_or_create`], [`TokenPool::spare`] |
//! | Q, b | [`Refund::queue`](crate::parts::Refund::queue), [`TokenDistribution::drawn`](crate::parts::TokenDistribution::drawn) |
//! | f_p | [`TokenFifo::drop_probability`] |
//! | c_i, w_i | [`Class::weight`](crate::Class::weight), its share in [`TokenTree`] |
//!
//! Random draws, in order:
//! - four buckets, for a new flow in a full table;
//! - one number, for an arrival at a nonempty queue;
//! - the buckets of a departure, from the root down if there are classes.

use alloc::boxed::Box;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{ClassId, FlowId, Packet};
use crate::params::BuildError;
use crate::parts::{Payment, TokenFifo, TokenPool, TokenSettings, TokenTree};

crate::choice! {
    /// The owner of a bucket.
    pub enum BucketOwner {
        /// A flow; all flows are alike (sections 3 and 4).
        Flow = "flow",
        /// A class, by weight and parent: the aggregates of sections 6.1 to 6.3.
        Class = "class",
        /// A flow, which shares its class's tokens equally with the class's other flows: the two levels of section 6.3.
        FlowInClass = "flow_in_class",
    }
}

crate::params! {
    /// Settings of [`Faba`].
    pub struct FabaConfig with terms: TokenSettings {
        terms {}
        /// Owner of a bucket. `flow`: each flow, all alike. `class`: each class, by weight among its siblings.
        /// `flow_in_class`: each flow; classes share by weight, and the flows of a class share equally.
        per: BucketOwner = BucketOwner::Flow;
        /// Maximum number of buckets; with `flow_in_class`, per class. In a full table a new flow draws four buckets at
        /// random and deletes the fullest.
        max_flows: u32 = 65_536, in 1..=1_048_576;
    }
    presets {
        "paper" "section 5: alpha 1, lambda1 1/2, lambda2 1/4, maxp 0.02 (the defaults)" {}
    }
    reasons { Overflow, Bucket }
    gauges {
        Gauge::new("flows", "buckets", "Buckets.");
        Gauge::new("sigma", "tokens", "Spare tokens; negative while buckets hold more than their share.");
        Gauge::new("bucket_height", "tokens", "L_N: capacity of a bucket; with classes, the mean.");
        Gauge::new("draws_per_departure", "buckets", "Mean number of buckets drawn per departure since the start.");
        Gauge::new("tokens_per_departure", "tokens", "Mean number of tokens that drawn buckets received per departure since the start; tokens taken from them count as negative.");
        Gauge::of_flow("tokens", "tokens", "Tokens in the flow's bucket; null without a bucket, and with classes.");
    }
}

/// A FIFO whose arrivals pay with the tokens of their flow or class.
pub struct Faba<T> {
    fifo: TokenFifo<T>,
    buckets: FabaBuckets,
    departures: u64,
    draws: u64,
    /// Tokens that drawn buckets received, less the tokens taken from them. Packets of 4 GB would overflow 64 bits.
    distributed: i128,
}

enum FabaBuckets {
    ByFlow(TokenPool),
    ByClass(Box<TokenTree>),
}

impl<T> Faba<T> {
    /// An empty queue; every token is spare.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if `lambda2` is not below `lambda1`, or a class has no weight above zero or a parent
    /// that does not come before it.
    pub fn new(config: FabaConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let FabaConfig { terms, per, max_flows } = config;
        let fifo = TokenFifo::new(terms, link.mean_packet)?;
        let tree = |flows| {
            let tree = Box::new(TokenTree::new(link.classes, fifo.total_tokens(), flows, link.key)?);
            // Counted when it is there: its host has the classes, which bound it.
            link.tables.count(tree.bytes());
            Ok::<_, BuildError>(tree)
        };
        let buckets = match per {
            BucketOwner::Flow => FabaBuckets::ByFlow(TokenPool::new(fifo.total_tokens(), max_flows, link.key)),
            BucketOwner::Class => FabaBuckets::ByClass(tree(None)?),
            BucketOwner::FlowInClass => FabaBuckets::ByClass(tree(Some(max_flows))?),
        };
        Ok(Faba { fifo, buckets, departures: 0, draws: 0, distributed: 0 })
    }

    /// Tokens in the bucket of `flow` or `class`, in packets or (byte mode) bytes; `None` without a bucket. Tokens
    /// above the bucket's height are removed at the next arrival of its flow or class.
    pub fn bucket(&self, flow: FlowId, class: ClassId) -> Option<f64> {
        let holds = match &self.buckets {
            FabaBuckets::ByFlow(pool) => pool.peek(flow),
            FabaBuckets::ByClass(tree) => tree.peek(flow, class),
        };
        holds.map(|holds| self.fifo.whole_tokens(holds))
    }

    /// The paper's sigma: spare tokens of all levels; negative while buckets hold more than their share.
    pub fn sigma(&self) -> f64 {
        self.fifo.whole_tokens(match &self.buckets {
            FabaBuckets::ByFlow(pool) => pool.spare(),
            FabaBuckets::ByClass(tree) => tree.spare(),
        })
    }

    /// The paper's L, the height of a bucket of `class`; `None` if the class has no bucket.
    pub fn bucket_height(&self, class: ClassId) -> Option<f64> {
        let height = match &self.buckets {
            FabaBuckets::ByFlow(pool) => Some(pool.height()),
            FabaBuckets::ByClass(tree) => tree.bucket_height(class),
        };
        height.map(|height| self.fifo.whole_tokens(height))
    }
}

impl<T> Discipline<T> for Faba<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        match &mut self.buckets {
            FabaBuckets::ByFlow(pool) => {
                let (bucket, level) = pool.find_or_create(packet.flow, cx.rng);
                match self.fifo.admit(packet, level, cx) {
                    Payment::Bucket(cost) => pool.take(bucket, cost),
                    Payment::Spare(cost) => pool.take_spare(cost),
                    Payment::Dropped => {}
                }
            }
            FabaBuckets::ByClass(tree) => {
                let (bucket, level) = tree.find_or_create(packet.flow, packet.class, cx.rng);
                match self.fifo.admit(packet, level, cx) {
                    Payment::Bucket(cost) => tree.take(bucket, cost),
                    Payment::Spare(cost) => tree.take_spare(cost),
                    Payment::Dropped => {}
                }
            }
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let (packet, refund) = self.fifo.pop()?;
        let done = match &mut self.buckets {
            FabaBuckets::ByFlow(pool) => pool.give_back(refund, cx.rng),
            FabaBuckets::ByClass(tree) => tree.give_back(refund, cx.rng),
        };
        self.draws += u64::from(done.drawn);
        self.distributed += i128::from(done.tokens);
        self.departures += 1;
        Some(packet)
    }

    crate::discipline::backlog_of!(fifo);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        let (buckets, total) = match &self.buckets {
            FabaBuckets::ByFlow(pool) => (pool.flows(), pool.total()),
            FabaBuckets::ByClass(tree) => (tree.buckets(), tree.total()),
        };
        gauge("flows", buckets as f64);
        gauge("sigma", self.sigma());
        gauge("bucket_height", self.fifo.whole_tokens(total) / buckets.max(1) as f64);
        let departures = self.departures.max(1) as f64;
        gauge("draws_per_departure", self.draws as f64 / departures);
        gauge("tokens_per_departure", self.fifo.whole_tokens(1) * self.distributed as f64 / departures);
    }
    fn observe_flow(&self, flow: FlowId, gauge: &mut dyn FnMut(&'static str, f64)) {
        let holds = if let FabaBuckets::ByFlow(pool) = &self.buckets { pool.peek(flow) } else { None };
        gauge("tokens", holds.map_or(f64::NAN, |holds| self.fifo.whole_tokens(holds)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discipline::Class;
    use crate::packet::Ecn;
    use crate::parts::TokenSettings;
    use crate::parts::Tokens;
    use crate::port::Port;
    use crate::reason::Why;
    use crate::rng::Rng;
    use crate::time::Time;
    use crate::units::Limit;
    use crate::units::Rate;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// Flow f is of class f % 4. Two classes are siblings, and one of them has two children.
    const CLASSES: [Class; 4] = [
        Class { parent: None, weight: 1.0 },
        Class { parent: None, weight: 2.5 },
        Class { parent: Some(ClassId(1)), weight: 1.0 },
        Class { parent: Some(ClassId(1)), weight: 2.0 },
    ];
    const LINK: LinkInfo = LinkInfo { classes: &CLASSES, ..LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7) };

    fn faba(config: FabaConfig) -> Port<(), Faba<()>> {
        Port::new(Faba::new(config, &LINK).unwrap(), Rng::new(1))
    }

    fn of(terms: TokenSettings) -> Port<(), Faba<()>> {
        faba(FabaConfig { terms, ..FabaConfig::default() })
    }

    fn limit(limit: Limit) -> TokenSettings {
        TokenSettings { limit, ..TokenSettings::default() }
    }

    fn arrive(port: &mut Port<(), Faba<()>>, flow: u64, bytes: u32, ecn: Ecn) {
        let class = ClassId((flow % 4) as u16);
        port.enqueue(Packet { ecn, class, ..Packet::new(FlowId(flow), bytes, ()) }, Time::ZERO, &mut ());
    }

    fn levels(port: &Port<(), Faba<()>>) -> Vec<Tokens> {
        match &port.discipline().buckets {
            FabaBuckets::ByFlow(pool) => pool.levels().collect(),
            FabaBuckets::ByClass(tree) => tree.levels().collect(),
        }
    }

    fn gauge(port: &Port<(), Faba<()>>, name: &str) -> f64 {
        port.gauges().into_iter().find(|(gauge, _)| *gauge == name).unwrap().1
    }

    /// Tokens in buckets, spare and carried by queued packets, less the total: zero if no token was made or lost.
    fn imbalance(port: &Port<(), Faba<()>>) -> Tokens {
        let Faba { fifo, buckets, .. } = port.discipline();
        let spare = match buckets {
            FabaBuckets::ByFlow(pool) => pool.spare(),
            FabaBuckets::ByClass(tree) => tree.spare(),
        };
        levels(port).iter().sum::<Tokens>() + spare + fifo.carried() - fifo.total_tokens()
    }

    proptest! {
        #[test]
        fn buckets_and_sigma_and_what_packets_carry_always_add_up_to_t(
            calls in prop::collection::vec((0u64..12, prop::sample::select(&[0u32, 40, 1000, 9000, u32::MAX][..]),
                any::<bool>()), 1..400),
            alpha in 0.1f64..3.0, room in 1u32..60, bytes: bool, byte_mode: Option<bool>, max_flows in 1u32..10,
            per in prop::sample::select(&[BucketOwner::Flow, BucketOwner::Class, BucketOwner::FlowInClass][..]),
        ) {
            let limit = if bytes { Limit::Bytes(u64::from(room) * 1000) } else { Limit::Packets(room) };
            let terms = TokenSettings { limit, alpha, byte_mode, ..TokenSettings::default() };
            let mut port = faba(FabaConfig { terms, per, max_flows });
            for (flow, size, departs) in calls {
                if departs {
                    port.dequeue(Time::ZERO, &mut ());
                }
                arrive(&mut port, flow, size, if flow % 2 == 0 { Ecn::Ect0 } else { Ecn::NotEct });
                prop_assert_eq!(imbalance(&port), 0);
                let tables = if per == BucketOwner::FlowInClass { CLASSES.len() as u32 } else { 1 };
                prop_assert!(per == BucketOwner::Class || gauge(&port, "flows") <= f64::from(tables * max_flows));
                // No bucket owes more than the cost of the largest packet: 2^32 bytes of 2^8 units.
                prop_assert!(levels(&port).iter().all(|holds| *holds > -(1 << 40)));
            }
        }
    }

    #[test]
    fn a_queued_packet_costs_its_flow_one_token_and_an_overflowing_one_none() {
        let mut port = of(TokenSettings { alpha: 4.0, ..limit(Limit::Packets(3)) });
        (0..5).for_each(|_| arrive(&mut port, 1, 1000, Ecn::NotEct));
        assert_eq!(port.totals().counts().drops(Why::Overflow), 2);
        let holds = levels(&port);
        assert_eq!(holds, [9 << 20], "twelve tokens, three queued packets");
    }

    #[test]
    fn a_marked_packet_costs_a_token_and_an_empty_bucket_drops_what_could_be_marked() {
        let marks_all = TokenSettings { lambda1: 1.0, lambda2: 0.99, maxp: 1.0, ..limit(Limit::Packets(8)) };
        let mut port = of(TokenSettings { alpha: 0.5, ..marks_all });
        (0..8).for_each(|_| arrive(&mut port, 1, 1000, Ecn::Ect0));
        let counts = port.totals().counts();
        // Four tokens: the first packet finds the bucket full, the next three are marked, the others find it empty.
        assert_eq!((counts.marks(Why::Bucket), counts.drops(Why::Bucket)), (3, 4));
    }

    #[test]
    fn a_flow_that_stops_loses_its_bucket_and_the_other_buckets_grow() {
        let mut port = of(limit(Limit::Packets(100)));
        arrive(&mut port, 1, 1000, Ecn::NotEct);
        for _ in 0..1000 {
            (2..4).for_each(|flow| arrive(&mut port, flow, 1000, Ecn::NotEct));
            assert!(port.dequeue(Time::ZERO, &mut ()).is_some());
        }
        assert_eq!(gauge(&port, "flows"), 2.0);
        assert_eq!(port.discipline().bucket_height(ClassId(0)), Some(50.0));
    }

    #[test]
    fn when_nothing_is_queued_an_empty_bucket_drops_nothing() {
        let mut port = of(limit(Limit::Packets(4)));
        for flow in (1..100).chain([7; 100]) {
            arrive(&mut port, flow, 1000, Ecn::NotEct);
            assert!(port.dequeue(Time::ZERO, &mut ()).is_some(), "flow {flow}");
        }
        assert_eq!(imbalance(&port), 0);
        assert!(gauge(&port, "flows") <= 4.0, "flows that stopped lose their buckets as packets depart");
    }

    #[test]
    fn a_class_that_takes_more_than_its_weight_is_dropped_and_its_siblings_are_not() {
        for per in [BucketOwner::Class, BucketOwner::FlowInClass] {
            let mut port = faba(FabaConfig { per, terms: limit(Limit::Packets(200)), ..FabaConfig::default() });
            let mut sent = [0; 4];
            for round in 0..60_000 {
                // Class 0 demands the whole link. Classes 2 and 3 demand their shares: together 2.5 / 3.5 of the link,
                // one third of it for class 2 and two thirds for class 3.
                arrive(&mut port, 0, 1000, Ecn::NotEct);
                if round % 7 < 5 {
                    arrive(&mut port, if round % 3 == 0 { 2 } else { 3 }, 1000, Ecn::NotEct);
                }
                let packet = port.dequeue(Time::ZERO, &mut ()).unwrap();
                sent[usize::from(packet.class.0)] += 1;
            }
            let wanted = [60_000 * 2 / 7, 0, 60_000 * 5 / 21, 60_000 * 10 / 21];
            let near = |(sent, wanted): (&i32, i32)| (sent - wanted).abs() <= wanted / 50;
            assert!(sent.iter().zip(wanted).all(near), "{per:?}: {sent:?} of {wanted:?}");
        }
    }
}
