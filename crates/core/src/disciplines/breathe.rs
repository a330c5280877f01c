//! BREATHe: RED that refuses packets of heavy hitters, found with a small set of counters.
//!
//! The heavy-hitter set (HHS) counts the admitted packets of the most active flows. It has C / r_limit counters, where
//! C is the link's rate. A packet of a flow without a counter takes a free one. If none is free, all counters decrease
//! ([`HeavyHitters`]). A flow that is served faster than r_limit therefore keeps a counter above 0.
//!
//! On arrival, RED updates its average queue. Between the thresholds, packets of a flow in the set are dropped until
//! other flows have lowered its counter to 0. All other packets pass through RED, and the set counts those that RED
//! admits. A departure changes only RED's average.
//!
//! Source: C.-W. Chang, B. Lin, "A simple mechanism for throttling high-bandwidth flows", Research Letters in
//! Communications, 2008, article 704878 (algorithm 1: its HTML edition). The set: R. Karp, S. Shenker, C. Papadimitriou, ACM TODS 28(1), 2003.
//! Deviations are listed in docs/disciplines/breathe.md.
//!
//! Random draws: one for a packet between the thresholds whose flow is not in the set.

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{FlowId, Packet};
use crate::params::BuildError;
use crate::parts::{HeavyHitters, RedDetector, RedQueue, RedSettings, Zone};
use crate::reason::Why;
use crate::units::Rate;

crate::reasons! {
    /// Its flow is in the heavy-hitter set.
    HeavyHitter = "heavy_hitter", "its flow is a heavy hitter", targets identified;
}

crate::params! {
    /// Settings of [`Breathe`].
    pub struct BreatheConfig with red: RedSettings {
        red { limit }
        /// Rate above which a flow is throttled. The heavy-hitter set has as many counters as this rate fits into the
        /// link's rate, at most 65536. `auto`: a fifth of the link's rate. With fewer flows than counters, every flow
        /// stays in the set.
        r_limit: Option<Rate> = None, in Rate::from_bits(1)..;
        red {
            minth, maxth,
            /// Drop or mark probability just below `maxth`, before spacing, for flows not in the set.
            maxp = 0.1,
            wq,
            /// Counts bytes of each flow instead of packets and measures the queue in bytes. The random drop
            /// probability is scaled by the packet's size over the mean size.
            byte_mode,
            /// Marks ECN-capable packets instead of dropping them at random. Packets of flows in the set are dropped: a
            /// mark would admit them.
            ecn
        }
    }
    presets {
        "paper" "Chang and Lin 2008; it gives no thresholds, maxp or wq: those are ours (the defaults)" {}
    }
    reasons { Overflow, Early, Forced, HeavyHitter }
    gauges {
        Gauge::AVERAGE;
        Gauge::PROBABILITY;
        Gauge::new("heavy_hitters", "flows", "Flows in the heavy-hitter set.");
        Gauge::new("counters", "counters", "Counters of the heavy-hitter set.");
        Gauge::of_flow("counter_value", "bytes", "Value of the flow's counter: packets, or bytes in byte mode; 0 if the flow is not in the set.");
    }
}

const MAX_COUNTERS: u64 = 65_536;

/// RED that drops heavy hitters between its thresholds.
pub struct Breathe<T> {
    red: RedQueue<T>,
    served: HeavyHitters,
    byte_mode: bool,
}

impl<T> Breathe<T> {
    /// An empty queue and an empty set.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if minth is not below maxth, or maxth is above the limit.
    pub fn new(config: BreatheConfig, link: &LinkInfo<'_>) -> Result<Self, BuildError> {
        let served = HeavyHitters::new(config.counters(link.rate), link.key, link.tables)?;
        let byte_mode = config.red.byte_mode;
        Ok(Breathe { red: RedQueue::new(config.red, link)?, served, byte_mode })
    }

    /// The flows of the heavy-hitter set and their counters, in packets or bytes (`byte_mode`), in no particular order.
    pub fn heavy_hitters(&self) -> impl Iterator<Item = (FlowId, u64)> {
        self.served.iter()
    }

    /// Capacity of the set in flows: C / r_limit.
    pub fn counters(&self) -> usize {
        self.served.capacity()
    }

    /// RED's state: average, probability and the spacing of drops and marks.
    pub fn detector(&self) -> &RedDetector {
        self.red.detector()
    }
}

impl BreatheConfig {
    fn counters(&self, link: Rate) -> u32 {
        let wanted = self.r_limit.map_or(5, |limit| link.as_bits().div_ceil(limit.as_bits()));
        wanted.clamp(1, MAX_COUNTERS) as u32
    }
}

impl<T> Discipline<T> for Breathe<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let zone = self.red.update(cx);
        let known = self.served.counter(packet.flow);
        if zone == Zone::Between && known.is_some_and(|counter| self.served.counter_value(counter) > 0) {
            // RED's spacing counts neither the packet nor its drop.
            return cx.drop(packet, Why::HeavyHitter);
        }
        let (flow, before) = (packet.flow, self.red.backlog().packets);
        let weight = if self.byte_mode { packet.bytes } else { 1 };
        self.red.offer(zone, packet, cx);
        // Count below minth too: the set measures the service of each flow.
        if self.red.backlog().packets > before {
            self.served.count_known(flow, known, weight);
        }
    }

    crate::discipline::dequeue_from!(red);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("average", self.detector().average());
        gauge("probability", self.detector().probability());
        gauge("heavy_hitters", self.heavy_hitters().count() as f64);
        gauge("counters", self.counters() as f64);
    }
    fn observe_flow(&self, flow: FlowId, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("counter_value", self.served.value(flow) as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Ecn, Port, Rng, Time};
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;

    const LINK: LinkInfo<'static> = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
    /// Two counters, no averaging and no random drops: every step can be worked by hand.
    const BY_HAND: &[(&str, &str)] =
        &[("limit", "40p"), ("r_limit", "4Mbit/s"), ("minth", "10p"), ("maxth", "20p"), ("maxp", "0"), ("wq", "1")];

    type Queue = Port<(), Breathe<()>>;

    fn breathe(settings: &[(&str, &str)]) -> Queue {
        Port::new(Breathe::new(BreatheConfig::from_settings(settings).unwrap(), &LINK).unwrap(), Rng::new(1))
    }

    fn arrive(port: &mut Queue, flow: u64, times: u32, bytes: u32, ecn: Ecn) {
        (0..times)
            .for_each(|_| port.enqueue(Packet { ecn, ..Packet::new(FlowId(flow), bytes, ()) }, Time::ZERO, &mut ()));
    }

    fn set(port: &Queue) -> Vec<(u64, u64)> {
        let set: BTreeMap<FlowId, u64> = port.discipline().heavy_hitters().collect();
        set.into_iter().map(|(flow, count)| (flow.0, count)).collect()
    }

    fn drops(port: &Queue, why: Why) -> u64 {
        port.totals().counts().drops(why)
    }

    #[test]
    fn between_the_thresholds_packets_of_flows_in_the_set_are_dropped() {
        let mut port = breathe(BY_HAND);
        arrive(&mut port, 1, 9, 1000, Ecn::NotEct);
        arrive(&mut port, 2, 1, 1000, Ecn::NotEct);
        assert_eq!((set(&port), port.backlog().packets), (alloc::vec![(1, 9), (2, 1)], 10));
        arrive(&mut port, 1, 1, 1000, Ecn::NotEct);
        assert_eq!((drops(&port, Why::HeavyHitter), port.backlog().packets), (1, 10));
        // Flow 3 finds no free counter, so all are lowered. Flow 2's counter falls to 0: it leaves the set and is
        // admitted again.
        arrive(&mut port, 3, 1, 1000, Ecn::NotEct);
        assert_eq!(set(&port), [(1, 8)]);
        arrive(&mut port, 2, 1, 1000, Ecn::NotEct);
        assert_eq!((set(&port), port.backlog().packets), (alloc::vec![(1, 8), (2, 1)], 12));
    }

    #[test]
    fn below_minth_every_packet_is_admitted_and_from_maxth_on_none() {
        let mut port = breathe(BY_HAND);
        arrive(&mut port, 1, 10, 1000, Ecn::NotEct);
        assert_eq!(port.backlog().packets, 10);
        (0..10).for_each(|flow| arrive(&mut port, 10 + flow, 1, 1000, Ecn::NotEct));
        let before = (port.backlog().packets, set(&port));
        arrive(&mut port, 99, 3, 1000, Ecn::Ect0);
        assert_eq!(((port.backlog().packets, set(&port)), drops(&port, Why::Forced)), (before, 3));
    }

    #[test]
    fn a_mark_replaces_only_random_drops() {
        let mut port = breathe(&[BY_HAND, &[("maxp", "1"), ("maxth", "10.001p")]].concat());
        arrive(&mut port, 1, 10, 1000, Ecn::Ect0);
        arrive(&mut port, 1, 3, 1000, Ecn::Ect0);
        assert_eq!((drops(&port, Why::HeavyHitter), port.totals().counts().marked()), (3, 0));
        // Each flow sends one packet, and RED marks some at random.
        let mut chance = breathe(&[BY_HAND, &[("maxp", "1"), ("r_limit", "8Mbit/s")]].concat());
        (0..19).for_each(|flow| arrive(&mut chance, flow % 19, 1, 1000, Ecn::Ect1));
        let counts = chance.totals().counts();
        assert!(counts.marks(Why::Early) > 0 && counts.drops(Why::Early) == 0, "{counts:?}");
    }

    #[test]
    fn in_byte_mode_bytes_are_counted_and_compared() {
        let mut port = breathe(&[BY_HAND, &[("byte_mode", "on"), ("limit", "40KB")]].concat());
        arrive(&mut port, 1, 1, 9000, Ecn::NotEct);
        arrive(&mut port, 2, 10, 100, Ecn::NotEct);
        assert_eq!(set(&port), [(1, 9000), (2, 1000)]);
        // 10 KB are queued. Flow 3's 1500 bytes lower both counters by the smaller one; 500 bytes remain for flow 3.
        arrive(&mut port, 2, 1, 100, Ecn::NotEct);
        arrive(&mut port, 3, 1, 1500, Ecn::NotEct);
        assert_eq!((set(&port), drops(&port, Why::HeavyHitter)), (alloc::vec![(1, 8000), (3, 500)], 1));
        assert_eq!(port.backlog().bytes, 11_500);
    }

    #[test]
    fn the_number_of_counters_is_the_links_rate_over_r_limit() {
        let counters = |limit| {
            let config = BreatheConfig::from_settings(&[("r_limit", limit)]).unwrap();
            Breathe::<()>::new(config, &LINK).unwrap().counters()
        };
        let limits = ["auto", "800kbit/s", "3Mbit/s", "8Mbit/s", "1Gbit/s", "1bit/s"];
        assert_eq!(limits.map(counters), [5, 10, 3, 1, 1, 65_536]);
    }

    #[test]
    fn thresholds_the_wrong_way_round_are_refused_in_either_unit() {
        for bytes in ["off", "on"] {
            let bad = [("minth", "50%"), ("maxth", "25%"), ("byte_mode", bytes)];
            let config = BreatheConfig::from_settings(&bad).unwrap();
            assert!(matches!(Breathe::<()>::new(config, &LINK), Err(BuildError::Conflict(_))));
        }
    }
}
