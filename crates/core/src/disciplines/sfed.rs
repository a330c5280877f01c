//! Selective Fair Early Detection (SFED): each flow has a token bucket, refilled in turn. A flow's packets are dropped
//! when its bucket runs low.
//!
//! A fixed number T of tokens is shared by one bucket per active flow (or class), each of height T/N for N flows. A
//! queued packet holds tokens of its flow's bucket, and returns them on departure. A flow that queues more than its share
//! empties its bucket.
//!
//! On arrival, the flow's bucket is found. A new flow gets a full bucket, and all other buckets are trimmed to the new
//! height. If other packets are queued, the packet is dropped or marked with probability f_p, which grows from 0 to 1
//! as the bucket empties.
//!
//! On departure, the packet's tokens become spare (sigma) and are dealt to the buckets in turn, one packet's worth
//! each. A bucket that becomes full is deleted: its flow queues less than its share.
//!
//! Source: A. Kamra, H. Saran, S. Sen, R. Shorey, Computer Networks 44(2), 2004 (the paper of `faba`), sections 3 and
//! 4.1. Deviations are listed in docs/disciplines/sfed.md.
//!
//! | paper | here |
//! | --- | --- |
//! | T = alpha B | [`TokenFifo::total_tokens`] |
//! | N, L_N | [`SfedBuckets::flows`], [`Sfed::bucket_height`] |
//! | x_j, sigma | [`Sfed::bucket`], [`Sfed::sigma`] |
//! | f_p | [`TokenFifo::drop_probability`] |
//!
//! Random draws: one for each arrival at a nonempty queue.

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{ClassId, FlowId, Packet};
use crate::params::BuildError;
use crate::parts::{Payment, SfedBuckets, TokenFifo, TokenSettings};

crate::choice! {
    /// The owner of a bucket: section 3 gives one to each flow "or aggregate of flows".
    pub enum SfedOwner {
        /// A flow.
        Flow = "flow",
        /// A class; all classes are alike.
        Class = "class",
    }
}

crate::params! {
    /// Settings of [`Sfed`].
    pub struct SfedConfig with terms: TokenSettings {
        terms {}
        /// Owner of a bucket, and of an equal share. `flow`: each flow. `class`: each class of the scenario, whose flows
        /// share its bucket.
        per: SfedOwner = SfedOwner::Flow;
        /// Maximum number of buckets. In a full table a new flow deletes the fullest of the next four in turn.
        max_flows: u32 = 1024, in 1..=65_536;
    }
    presets {
        "paper" "section 5: alpha 1, lambda1 1/2, lambda2 1/4, maxp 0.02 (the defaults)" {}
    }
    reasons { Overflow, Bucket }
    gauges {
        Gauge::new("flows", "buckets", "Buckets.");
        Gauge::new("sigma", "tokens", "Spare tokens; negative while a deficit is settled.");
        Gauge::new("bucket_height", "tokens", "L_N: capacity of a bucket.");
        Gauge::of_flow("tokens", "tokens", "Tokens in the flow's bucket; null without a bucket, and with classes.");
    }
}

/// A FIFO whose arrivals pay with their flow's tokens. Departures return tokens to the flows in turn.
pub struct Sfed<T> {
    fifo: TokenFifo<T>,
    buckets: SfedBuckets,
    per: SfedOwner,
}

impl<T> Sfed<T> {
    /// An empty queue; every token is spare.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if `lambda2` is not below `lambda1`.
    pub fn new(config: SfedConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let fifo = TokenFifo::new(config.terms, link.mean_packet)?;
        let buckets = SfedBuckets::new(fifo.total_tokens(), config.max_flows, link.key);
        Ok(Sfed { fifo, buckets, per: config.per })
    }

    /// The tokens in the bucket of `flow` or `class`, if it has one: packets, or bytes in byte mode.
    pub fn bucket(&self, flow: FlowId, class: ClassId) -> Option<f64> {
        self.buckets.peek(self.owner(flow, class)).map(|holds| self.fifo.whole_tokens(holds))
    }

    /// The bucket's name in the table.
    #[inline]
    fn owner(&self, flow: FlowId, class: ClassId) -> FlowId {
        match self.per {
            SfedOwner::Flow => flow,
            SfedOwner::Class => FlowId(class.0.into()),
        }
    }

    /// The paper's sigma: tokens in no bucket and held by no packet.
    pub fn sigma(&self) -> f64 {
        self.fifo.whole_tokens(self.buckets.spare())
    }

    /// The paper's L_N, the height of a bucket.
    pub fn bucket_height(&self) -> f64 {
        self.fifo.whole_tokens(self.buckets.height())
    }
}

impl<T> Discipline<T> for Sfed<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let (bucket, level) = self.buckets.find_or_create(self.owner(packet.flow, packet.class));
        match self.fifo.admit(packet, level, cx) {
            Payment::Bucket(cost) => self.buckets.take(bucket, cost),
            Payment::Spare(cost) => self.buckets.take_spare(cost),
            Payment::Dropped => {}
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, _: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let (packet, refund) = self.fifo.pop()?;
        self.buckets.give_back(refund);
        Some(packet)
    }

    crate::discipline::backlog_of!(fifo);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("flows", self.buckets.flows() as f64);
        gauge("sigma", self.sigma());
        gauge("bucket_height", self.bucket_height());
    }
    fn observe_flow(&self, flow: FlowId, gauge: &mut dyn FnMut(&'static str, f64)) {
        let holds = if self.per == SfedOwner::Flow { self.bucket(flow, ClassId(0)) } else { None };
        gauge("tokens", holds.unwrap_or(f64::NAN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::parts::{TokenSettings, Tokens};
    use crate::port::Port;
    use crate::rng::Rng;
    use crate::time::Time;
    use crate::units::Limit;
    use crate::units::Rate;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(10_000_000), 1000, 7);
    const TOKEN: Tokens = 1 << 20;

    fn twelve() -> TokenSettings {
        TokenSettings { limit: Limit::Packets(12), ..TokenSettings::default() }
    }

    fn sfed(config: SfedConfig) -> Port<(), Sfed<()>> {
        Port::new(Sfed::new(config, &LINK).unwrap(), Rng::new(1))
    }

    fn arrive(port: &mut Port<(), Sfed<()>>, flow: u64, bytes: u32, ecn: Ecn) {
        port.enqueue(Packet { ecn, ..Packet::new(FlowId(flow), bytes, ()) }, Time::ZERO, &mut ());
    }

    fn levels(port: &Port<(), Sfed<()>>) -> Vec<Tokens> {
        port.discipline().buckets.levels().collect()
    }

    proptest! {
        #[test]
        fn buckets_and_sigma_and_what_packets_carry_always_add_up_to_t(
            calls in prop::collection::vec((0u64..12, prop::sample::select(&[0u32, 40, 1000, 9000, u32::MAX][..]),
                any::<bool>()), 1..400),
            alpha in 0.1f64..3.0, room in 1u32..60, bytes: bool, byte_mode: Option<bool>, max_flows in 1u32..10,
        ) {
            let limit = if bytes { Limit::Bytes(u64::from(room) * 1000) } else { Limit::Packets(room) };
            let terms = TokenSettings { limit, alpha, byte_mode, ..TokenSettings::default() };
            let mut port = sfed(SfedConfig { terms, max_flows, ..SfedConfig::default() });
            for (flow, size, departs) in calls {
                if departs {
                    port.dequeue(Time::ZERO, &mut ());
                }
                arrive(&mut port, flow, size, if flow % 2 == 0 { Ecn::Ect0 } else { Ecn::NotEct });
                let Sfed { fifo, buckets, .. } = port.discipline();
                let held: Tokens = levels(&port).iter().sum();
                prop_assert_eq!(held + buckets.spare() + fifo.carried(), fifo.total_tokens());
                prop_assert!(buckets.flows() <= max_flows as usize);
                prop_assert!(levels(&port).iter().all(|holds| *holds <= buckets.height()), "all are trimmed");
            }
        }
    }

    #[test]
    fn a_new_flow_lowers_the_height_of_all_buckets_at_once() {
        let mut port = sfed(SfedConfig { terms: twelve(), ..SfedConfig::default() });
        arrive(&mut port, 1, 1000, Ecn::NotEct);
        arrive(&mut port, 2, 1000, Ecn::NotEct);
        // Twelve tokens: 12 - 1, trimmed to 6; 6 - 1. The trimmed five and the new bucket's six leave a deficit of one.
        assert_eq!((levels(&port), port.discipline().buckets.spare()), ([6 * TOKEN, 5 * TOKEN].into(), -TOKEN));
    }

    #[test]
    fn flows_of_a_class_share_a_bucket_where_buckets_are_per_class() {
        let mut port = sfed(SfedConfig { terms: twelve(), per: SfedOwner::Class, ..SfedConfig::default() });
        for (flow, class) in [(1, 1), (2, 1), (3, 1), (4, 2)] {
            let packet = Packet { class: ClassId(class), ..Packet::new(FlowId(flow), 1000, ()) };
            port.enqueue(packet, Time::ZERO, &mut ());
        }
        // By hand: class 1 had 12 - 3 = 9 tokens, cut to 6 by class 2, which has 6 - 1.
        assert_eq!(levels(&port), [6 * TOKEN, 5 * TOKEN]);
        assert_eq!(port.discipline().bucket(FlowId(3), ClassId(2)), Some(5.0));
    }

    #[test]
    fn departures_fill_the_buckets_in_turn_once_the_deficit_is_paid() {
        let mut port = sfed(SfedConfig { terms: twelve(), ..SfedConfig::default() });
        (1..4).for_each(|flow| (0..3).for_each(|_| arrive(&mut port, flow, 1000, Ecn::NotEct)));
        // Heights 12, 6, 4. Flow 1: 12 - 3 = 9, cut to 6, cut to 4; flow 2: 6 - 3 = 3; flow 3: 4 - 3 = 1.
        // Nine tokens are carried: sigma = 12 - 9 - 8 = -5.
        assert_eq!((levels(&port), port.discipline().sigma()), ([4, 3, 1].map(|n| n * TOKEN).into(), -5.0));
        (0..5).for_each(|_| assert!(port.dequeue(Time::ZERO, &mut ()).is_some()));
        assert_eq!((levels(&port), port.discipline().sigma()), ([4, 3, 1].map(|n| n * TOKEN).into(), 0.0));
        // The sixth token fills flow 1's bucket, which is deleted. Five tokens remain for two buckets of height six.
        // They are dealt in turn, beginning with flow 3's bucket, which took the deleted bucket's position.
        assert!(port.dequeue(Time::ZERO, &mut ()).is_some());
        assert_eq!((levels(&port), port.discipline().sigma()), ([4, 5].map(|n| n * TOKEN).into(), 0.0));
    }

    #[test]
    fn when_the_table_is_full_the_fullest_of_the_next_in_turn_is_evicted() {
        let mut port = sfed(SfedConfig { terms: twelve(), max_flows: 2, ..SfedConfig::default() });
        (0..5).for_each(|_| arrive(&mut port, 1, 1000, Ecn::NotEct));
        arrive(&mut port, 2, 1000, Ecn::NotEct);
        assert_eq!(levels(&port), [6 * TOKEN, 5 * TOKEN]);
        arrive(&mut port, 3, 1000, Ecn::NotEct);
        assert_eq!((port.discipline().bucket(FlowId(1), ClassId(0)), levels(&port).len()), (None, 2));
    }
}
