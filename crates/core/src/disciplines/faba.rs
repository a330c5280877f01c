//! FABA: a fixed stock of tokens, one bucket a flow; a flow that queues packets faster than it is given tokens drains
//! its bucket and is dropped.
//!
//! A. Kamra, H. Saran, S. Sen, R. Shorey, "Fair adaptive bandwidth allocation: a rate control based active queue
//! management discipline", Computer Networks 44(2), 2004, sections 3 and 4.
//!
//! | paper | here |
//! | --- | --- |
//! | B | `limit` |
//! | T = alpha B | the stock of [`TokenPool`] |
//! | N, L_N | [`TokenPool::flows`], [`TokenPool::height`] |
//! | x_j | what [`TokenPool::open`] gives |
//! | sigma | [`TokenPool::spare`] |
//! | Q, b | the `queue` given to [`TokenPool::give_back`], the draws it returns |
//! | f_p | [`Faba::drop_probability`] |

use crate::cx::{Cx, Why};
use crate::discipline::{Backlog, Discipline, Place};
use crate::packet::Packet;
use crate::params::BuildError;
use crate::parts::{Fifo, TokenPool, Tokens};
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
    config: FabaConfig,
    fifo: Fifo<T>,
    pool: TokenPool,
    unit: Unit,
    /// Most tokens moved to or from a bucket in one draw: those of a mean packet.
    grain: Tokens,
    /// What the drop probability gains as a bucket empties from lambda1 to lambda2, and from there on, for each unit
    /// of its height.
    gentle_slope: f64,
    steep_slope: f64,
    departures: u64,
    draws: u64,
}

/// What a token stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Packet,
    Byte,
}

impl Unit {
    /// The tokens of `backlog`, in fractions fine enough to share few tokens among many flows and coarse enough that a
    /// million buckets paying for the largest packets cannot overflow.
    #[inline]
    fn tokens(self, backlog: Backlog) -> Tokens {
        match self {
            Unit::Packet => Tokens::from(backlog.packets) * Self::Packet.fraction(),
            Unit::Byte => (backlog.bytes as Tokens).saturating_mul(Self::Byte.fraction()),
        }
    }

    const fn fraction(self) -> Tokens {
        match self {
            Unit::Packet => 1 << 20,
            Unit::Byte => 1 << 8,
        }
    }
}

impl<T> Faba<T> {
    /// An empty queue; every token is spare.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if `lambda2` is not below `lambda1`.
    pub fn new(config: FabaConfig, place: &Place) -> Result<Self, BuildError> {
        if config.lambda2 >= config.lambda1 {
            return Err(BuildError::Conflict("`lambda2` must be below `lambda1`".into()));
        }
        let in_bytes = config.byte_mode.unwrap_or(matches!(config.limit, Limit::Bytes(_)));
        let (unit, room) = match in_bytes {
            true => (Unit::Byte, config.limit.bytes(place.mean_packet)),
            false => (Unit::Packet, config.limit.packets(place.mean_packet)),
        };
        let pool = TokenPool::new(config.alpha * room * unit.fraction() as f64, config.max_flows, place.key);
        let grain = unit.tokens(one(place.mean_packet));
        let gentle_slope = config.maxp / (config.lambda1 - config.lambda2);
        let steep_slope = (1.0 - config.maxp) / config.lambda2;
        let fifo = Fifo::new(config.limit);
        Ok(Faba { config, fifo, pool, unit, grain, gentle_slope, steep_slope, departures: 0, draws: 0 })
    }

    /// f_p, shaped like gentle RED (figure 3): 0 for a bucket that `holds` more than `lambda1` of its height, `maxp`
    /// at `lambda2`, 1 when it is empty.
    #[inline]
    fn drop_probability(&self, holds: Tokens) -> f64 {
        let FabaConfig { lambda1, lambda2, maxp, .. } = self.config;
        let filled = holds as f64 / self.pool.height() as f64;
        // Both lines, then a choice: the level of a flow at its share wanders across lambda1, and a processor that
        // guesses on which side it is would be wrong half of the time.
        let gentle = (self.gentle_slope * (lambda1 - filled)).max(0.0);
        let steep = maxp + self.steep_slope * (lambda2 - filled);
        let some = if filled < lambda2 { steep } else { gentle };
        if holds <= 0 { 1.0 } else { some }
    }
}

/// One packet of `bytes`.
fn one(bytes: u32) -> Backlog {
    Backlog { packets: 1, bytes: u64::from(bytes) }
}

impl<T> Discipline<T> for Faba<T> {
    #[inline]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let cost = self.unit.tokens(one(packet.bytes));
        let (bucket, holds) = self.pool.open(packet.flow, cx.rng);
        // Only departures give tokens back. Where flows outnumber tokens, every bucket can be empty while nothing is
        // queued, and to drop then would be to drop for ever. The paper takes buckets to be full when the queue is
        // empty; we drop nothing then, and what a bucket cannot pay is lent by the pool.
        let waiting = self.fifo.backlog().packets > 0;
        let hit = waiting && cx.rng.unit() < self.drop_probability(holds);
        // A mark lets the packet in, and it must be paid for all the same: a flow that ignores marks would drain its
        // bucket without end if an empty bucket did not drop. The paper does not say.
        let may_mark = hit && self.config.ecn && holds >= cost && self.fifo.admits(packet.bytes);
        let Some(packet) = cx.signal_if(hit, packet, Why::Bucket, may_mark) else { return };
        if self.fifo.push(packet, cx) {
            match holds > 0 {
                true => self.pool.take(bucket, cost),
                false => self.pool.lend(cost),
            }
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let packet = self.fifo.pop()?;
        let carried = self.unit.tokens(one(packet.bytes));
        // At least what the packet carried, or a queue of packets above the mean would fall behind.
        let grain = self.grain.max(carried);
        let queue = self.unit.tokens(self.fifo.backlog());
        self.draws += u64::from(self.pool.give_back(carried, grain, queue, cx.rng));
        self.departures += 1;
        Some(packet)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        let in_tokens = |amount: Tokens| amount as f64 / self.unit.fraction() as f64;
        gauge("flows", self.pool.flows() as f64);
        gauge("sigma", in_tokens(self.pool.spare()));
        gauge("bucket_height", in_tokens(self.pool.height()));
        gauge("draws_per_departure", self.draws as f64 / self.departures.max(1) as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Ecn, FlowId};
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
    fn imbalance(port: &Port<(), Faba<()>>) -> Tokens {
        let faba = port.discipline();
        let stock = TokenPool::new(faba.config.alpha * room(faba) * faba.unit.fraction() as f64, 1, 0).spare();
        faba.pool.levels().sum::<Tokens>() + faba.pool.spare() + faba.unit.tokens(faba.backlog()) - stock
    }

    fn room(faba: &Faba<()>) -> f64 {
        match faba.unit {
            Unit::Byte => faba.config.limit.bytes(PLACE.mean_packet),
            Unit::Packet => faba.config.limit.packets(PLACE.mean_packet),
        }
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
                prop_assert_eq!(imbalance(&port), 0);
                prop_assert!(port.discipline().pool.flows() <= max_flows as usize);
                let largest = port.discipline().unit.tokens(one(u32::MAX));
                prop_assert!(port.discipline().pool.levels().all(|holds| holds > -largest));
            }
        }
    }

    #[test]
    fn the_drop_probability_is_that_of_figure_3() {
        let port = faba(limit(Limit::Packets(100)));
        let at = |share: f64| port.discipline().drop_probability((share * 100.0 * f64::from(1 << 20)) as Tokens);
        for (share, probability) in
            [(1.0, 0.0), (0.5, 0.0), (0.375, 0.01), (0.25, 0.02), (0.125, 0.51), (0.0, 1.0), (-0.1, 1.0)]
        {
            assert!((at(share) - probability).abs() < 1e-9, "{share}: {} not {probability}", at(share));
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
    fn with_a_byte_limit_a_token_is_a_byte() {
        let mut port = faba(limit(Limit::Bytes(10_000)));
        arrive(&mut port, 1, 1500, Ecn::NotEct);
        arrive(&mut port, 1, 0, Ecn::NotEct);
        assert_eq!(port.discipline().pool.levels().collect::<Vec<_>>(), [8500 << 8]);
        let mut port = faba(FabaConfig { byte_mode: Some(true), ..limit(Limit::Packets(10)) });
        arrive(&mut port, 1, 600, Ecn::NotEct);
        assert_eq!(port.discipline().pool.levels().collect::<Vec<_>>(), [9400 << 8]);
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
        assert_eq!(imbalance(&port), 0);
        assert!(port.discipline().pool.flows() <= 4, "flows that stopped lose their buckets as packets depart");
    }

    #[test]
    fn thresholds_the_wrong_way_round_are_refused() {
        let config = FabaConfig { lambda1: 0.25, lambda2: 0.5, ..FabaConfig::default() };
        assert!(matches!(Faba::<()>::new(config, &PLACE), Err(BuildError::Conflict(_))));
    }
}
