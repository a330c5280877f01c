//! Flow RED (FRED): RED with per-flow queue limits and a strike count for flows that exceed them.
//!
//! RED drops all flows with the same probability, whether they have many packets in the queue or none. FRED counts the
//! queued packets of each flow (qlen), and judges a flow by its own queue. Flows without queued packets have no state.
//!
//! On arrival, a flow that already queues `maxq` packets (two at or above maxth) gets a strike, and the packet is
//! dropped. From two strikes on, a flow may queue no more than avgcq, the average queue length per active flow. A
//! packet beyond that is dropped too, and is another strike. Other packets meet RED, with two exceptions. Between the
//! thresholds, flows with fewer than max(minq, avgcq) packets are spared. At or above maxth, each flow may still queue
//! two packets (`many_flows`).
//!
//! On departure, the flow's qlen decreases and RED's average is updated. A flow that has no packets left is forgotten,
//! with its strikes.
//!
//! Source: D. Lin, R. Morris, "Dynamics of random early detection", ACM SIGCOMM 1997. Defaults are those of the
//! comparison paper (RED, FRED, BLUE, SFB and CHOKe in ns-2), sections 2.2 and 3.3.1. Deviations are listed in
//! docs/disciplines/fred.md.
//!
//! | paper | here |
//! | --- | --- |
//! | qlen_i, strike_i | [`FredFlow::queued`], [`FredFlow::strikes`] |
//! | avg, count, minth, maxth, maxp | [`RedDetector`] |
//! | avgcq, Nactive | `fair_queue`, flows with queued packets |
//! | minq, maxq | `minq`, `maxq` |

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{FlowId, Packet};
use crate::params::BuildError;
use crate::parts::{Fifo, FlowSlab, RedDetector, RedSettings, Zone};
use crate::reason::Why;
use crate::units::{Level, Limit};

crate::params! {
    /// Settings of [`Fred`].
    pub struct FredConfig with red: RedSettings {
        red {
            /// Buffer size. An arriving packet that does not fit is dropped. FRED counts packets: thresholds in
            /// bytes are refused, and shares of a limit in bytes are converted with the mean packet size.
            limit,
            /// Average queue length below which no packet is dropped at random. `auto`: a quarter of the limit.
            minth = None,
            /// Average queue length from which a flow may queue at most two packets. `auto`: twice `minth`.
            maxth = None,
            maxp, wq
        }
        /// Packets that a flow may queue before it is dropped at random. The authors use 4 for large buffers.
        minq: u32 = 2;
        /// Maximum packets that a flow may queue below `maxth`, at least 1. `auto`: `minth`.
        maxq: Option<Level> = None;
        /// At or above `maxth`, lets each flow queue two packets instead of dropping all arrivals. For more flows than
        /// the buffer holds packets.
        many_flows: bool = true;
        red {
            /// Marks ECN-capable packets instead of dropping them at random. Packets that exceed their flow's limits
            /// are always dropped.
            ecn
        }
    }
    presets {
        "paper" "Lin and Morris 1997 with the comparison paper's wq, maxp and minq (the defaults)" {}
    }
    reasons { Overflow, Early, Forced, FlowLimit, Unresponsive }
    gauges {
        Gauge::new("average", "packets", "Average queue length, as of the last arrival or departure.");
        Gauge::PROBABILITY;
        Gauge::new("flows", "flows", "Nactive: flows with queued packets.");
        Gauge::new("avgcq", "packets", "Average queue length per active flow, at least 1.");
        Gauge::QUEUED;
        Gauge::of_flow("strikes", "strikes", "Times the flow tried to exceed its limits.");
    }
}

/// State of a flow that has packets queued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FredFlow {
    /// Its queued packets, the paper's qlen.
    pub queued: u32,
    /// Attempts to exceed its limits since it last had no packet queued.
    pub strikes: u32,
}

/// RED with limits on each flow's queue.
pub struct Fred<T> {
    config: FredConfig,
    /// Each queued packet with its flow's slot in `flows`.
    fifo: Fifo<T, u32>,
    flows: FlowSlab<FredFlow>,
    /// Maximum number of flows.
    max_flows: usize,
    detector: RedDetector,
    maxq: f64,
}

/// Packets that a flow may queue at or above maxth.
const CONGESTED_LIMIT: f64 = 2.0;

impl<T> Fred<T> {
    /// An empty queue.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if a threshold is in bytes: FRED counts packets; if minth is not
    /// below maxth, or maxth is above the limit.
    pub fn new(config: FredConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let limit = config.red.limit;
        let packets = |name, level: Level| level.counted_in_packets(name, limit, link.mean_packet);
        let minth = packets("minth", config.red.minth.unwrap_or(Level::Share(0.25)))?;
        let maxth = config.red.maxth.map_or(Ok(2.0 * minth), |level| packets("maxth", level))?;
        let (min, max) = (Some(Level::Packets(minth)), Some(Level::Packets(maxth)));
        let red = RedSettings { minth: min, maxth: max, ..config.red.clone() };
        // With a maxq below 1 (buffer of three packets, or minth of 0) no flow could queue a packet.
        let maxq = config.maxq.map_or(Ok(minth), |level| packets("maxq", level))?.max(1.0);
        // A flow with queued packets takes room for a packet or a byte, so the limit bounds the flows too.
        let max_flows = match limit {
            Limit::Packets(n) => n,
            Limit::Bytes(n) => u32::try_from(n).unwrap_or(u32::MAX),
        };
        Ok(Fred {
            fifo: Fifo::new(limit),
            flows: FlowSlab::new(link.key),
            max_flows: max_flows.min(u32::MAX - 1) as usize,
            detector: red.detector(link)?,
            config,
            maxq,
        })
    }

    /// RED's state: average, probability and the spacing of drops and marks.
    pub fn detector(&self) -> &RedDetector {
        &self.detector
    }

    /// State of `flow`, if it has packets queued.
    pub fn flow(&self, flow: FlowId) -> Option<FredFlow> {
        self.flows.peek(flow).copied()
    }

    #[inline]
    fn queue(&self) -> f64 {
        f64::from(self.fifo.backlog().packets)
    }

    /// avgcq: the average queue per active flow, at least one packet.
    #[inline]
    fn fair_queue(&self) -> f64 {
        (self.detector.average() / self.flows.len().max(1) as f64).max(1.0)
    }

    /// Reason to refuse the flow another packet, if any.
    #[inline]
    fn exceeded_limit(&self, flow: FredFlow, zone: Zone) -> Option<Why> {
        let (queued, congested) = (f64::from(flow.queued), zone == Zone::Above);
        let most = if congested { CONGESTED_LIMIT } else { self.maxq };
        if queued >= most || (congested && queued > 2.0 * self.fair_queue()) {
            Some(Why::FlowLimit)
        } else if flow.strikes > 1 && queued >= self.fair_queue() {
            Some(Why::Unresponsive)
        } else {
            None
        }
    }

    #[inline]
    fn red_decision(&mut self, flow: FredFlow, zone: Zone, cx: &mut Cx<'_, T>) -> Option<Why> {
        match zone {
            Zone::Below => self.detector.reset_spacing(),
            // The fair queue is computed for the few flows that reach `minq`: it takes a division.
            Zone::Between if flow.queued >= self.config.minq && f64::from(flow.queued) >= self.fair_queue() => {
                return self.detector.early(1.0, cx.rng).then_some(Why::Early);
            }
            Zone::Between => self.detector.count_packet(),
            Zone::Above if self.config.many_flows && f64::from(flow.queued) < CONGESTED_LIMIT => {}
            Zone::Above => {
                self.detector.restart_spacing();
                return Some(Why::Forced);
            }
        }
        None
    }

    #[inline]
    fn store(&mut self, packet: Packet<T>, slot: Option<u32>) {
        let slot = match slot {
            Some(slot) => {
                self.flows.at(slot).queued += 1;
                slot
            }
            None => self.flows.insert(packet.flow, FredFlow { queued: 1, strikes: 0 }),
        };
        self.fifo.put_tagged(packet, slot);
    }
}

impl<T> Discipline<T> for Fred<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        let zone = self.detector.update(self.queue(), cx.now);
        let slot = self.flows.slot(packet.flow);
        let flow = slot.map_or(FredFlow::default(), |slot| *self.flows.at(slot));
        if let Some(why) = self.exceeded_limit(flow, zone) {
            if let Some(slot) = slot {
                self.flows.at(slot).strikes = flow.strikes.saturating_add(1);
            }
            return cx.drop(packet, why);
        }
        let red_decision = self.red_decision(flow, zone, cx);
        let fits = self.fifo.admits(packet.bytes) && (slot.is_some() || self.flows.len() < self.max_flows);
        let may_mark = self.config.red.ecn && red_decision == Some(Why::Early) && fits;
        let packet = match red_decision {
            Some(why) => cx.signal(packet, why, may_mark),
            None => Some(packet),
        };
        let Some(packet) = packet else { return };
        if fits {
            self.store(packet, slot);
        } else {
            self.detector.restart_spacing();
            cx.drop(packet, Why::Overflow);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, cx: &mut Cx<'_, T>) -> Option<Packet<T>> {
        let popped = self.fifo.pop_tagged();
        self.detector.record_dequeue(popped.is_some(), cx.now);
        let (packet, slot) = popped?;
        self.detector.update(self.queue(), cx.now);
        let flow = self.flows.at(slot);
        flow.queued -= 1;
        if flow.queued == 0 {
            self.flows.remove(slot);
        }
        Some(packet)
    }

    crate::discipline::backlog_of!(fifo);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("average", self.detector.average());
        gauge("probability", self.detector.probability());
        gauge("flows", self.flows.len() as f64);
        gauge("avgcq", self.fair_queue());
    }
    fn observe_flow(&self, flow: FlowId, gauge: &mut dyn FnMut(&'static str, f64)) {
        let FredFlow { queued, strikes } = self.flow(flow).unwrap_or_default();
        gauge("queued", queued.into());
        gauge("strikes", strikes.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::params::Params;
    use crate::parts::Thresholds;
    use crate::port::Port;
    use crate::rng::Rng;
    use crate::time::{Span, Time};
    use crate::units::Rate;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
    /// The average equals the current queue and no packet is dropped at random, so every step can be computed by hand.
    const EXACT: &[(&str, &str)] = &[("limit", "40p"), ("wq", "1"), ("maxp", "0")];

    fn fred(settings: &[(&str, &str)]) -> Port<(), Fred<()>> {
        Port::new(Fred::new(FredConfig::from_settings(settings).unwrap(), &LINK).unwrap(), Rng::new(1))
    }

    fn arrive(port: &mut Port<(), Fred<()>>, flow: u64, times: u32) {
        (0..times).for_each(|_| port.enqueue(Packet::new(FlowId(flow), 1000, ()), Time::ZERO, &mut ()));
    }

    fn drops(port: &Port<(), Fred<()>>) -> [u64; 4] {
        [Why::FlowLimit, Why::Unresponsive, Why::Early, Why::Forced].map(|why| port.totals().counts().drops(why))
    }

    proptest! {
        #[test]
        fn nactive_is_the_number_of_flows_with_packets_queued(
            calls in prop::collection::vec((0u64..12, 0u64..9, any::<bool>()), 1..400), limit in 1u32..40, wq in 0.01f64..=1.0,
        ) {
            let config = FredConfig { red: RedSettings { limit: Limit::Packets(limit), wq: Some(wq), ..FredConfig::default().red }, ..FredConfig::default() };
            let mut port = Port::new(Fred::new(config, &LINK).unwrap(), Rng::new(2));
            let mut queued: BTreeMap<FlowId, u32> = BTreeMap::new();
            let mut now = Time::ZERO;
            for (flow, wait, departs) in calls {
                now += Span::from_millis(if wait == 8 { 3_600_000 } else { wait / 4 });
                if departs {
                    if let Some(packet) = port.dequeue(now, &mut ()) {
                        *queued.get_mut(&packet.flow).unwrap() -= 1;
                    }
                } else {
                    let before = port.backlog().packets;
                    port.enqueue(Packet { ecn: Ecn::Ect0, ..Packet::new(FlowId(flow), 1000, ()) }, now, &mut ());
                    *queued.entry(FlowId(flow)).or_default() += port.backlog().packets - before;
                }
                queued.retain(|_, n| *n > 0);
                let flows = &port.discipline().flows;
                prop_assert_eq!(flows.len(), queued.len());
                for (flow, n) in &queued {
                    prop_assert_eq!(flows.peek(*flow).map(|state| state.queued), Some(*n));
                }
            }
        }
    }

    #[test]
    fn a_lone_flow_may_queue_minth_packets_and_each_further_one_is_a_strike() {
        let mut port = fred(EXACT);
        // minth = 10. The average at an arrival is the queue before it. With one flow, avgcq is the whole average.
        arrive(&mut port, 1, 13);
        assert_eq!((port.backlog().packets, drops(&port)), (10, [3, 0, 0, 0]));
        // Three strikes, and two packets depart. 8 queued packets are fewer than minth, but no fewer than avgcq.
        (0..2).for_each(|_| assert!(port.dequeue(Time::ZERO, &mut ()).is_some()));
        arrive(&mut port, 1, 1);
        assert_eq!((port.backlog().packets, drops(&port)), (8, [3, 1, 0, 0]));
    }

    #[test]
    fn strikes_are_forgotten_when_the_flows_last_packet_has_left() {
        let mut port = fred(EXACT);
        arrive(&mut port, 1, 13);
        while port.dequeue(Time::ZERO, &mut ()).is_some() {}
        arrive(&mut port, 1, 13);
        assert_eq!((port.backlog().packets, drops(&port)), (10, [6, 0, 0, 0]));
    }

    #[test]
    fn at_maxth_flows_below_two_packets_are_accepted_and_all_others_are_not() {
        let mut port = fred(EXACT);
        // maxth = 20: twenty flows with a packet each bring the average there.
        (0..20).for_each(|flow| arrive(&mut port, flow, 1));
        arrive(&mut port, 0, 2);
        assert_eq!((port.backlog().packets, drops(&port)), (21, [1, 0, 0, 0]));
        arrive(&mut port, 99, 1);
        assert_eq!(port.backlog().packets, 22);

        let mut strict = fred(&[EXACT, &[("many_flows", "off")]].concat());
        (0..20).for_each(|flow| arrive(&mut strict, flow, 1));
        arrive(&mut strict, 99, 3);
        assert_eq!((strict.backlog().packets, drops(&strict)), (20, [0, 0, 0, 3]));
    }

    #[test]
    fn between_the_thresholds_only_flows_with_avgcq_and_minq_packets_are_dropped_at_random() {
        let sure = [("limit", "40p"), ("wq", "1"), ("maxp", "1"), ("minq", "2"), ("maxth", "10.001p")];
        let mut port = fred(&sure);
        // Ten flows, one packet each: the average reaches minth = 10 and drops are almost certain (pb = 1 at 10.001),
        // but every flow queues fewer than minq = 2 packets.
        (0..10).for_each(|flow| arrive(&mut port, flow, 1));
        arrive(&mut port, 50, 1);
        assert_eq!((port.backlog().packets, drops(&port)), (11, [0, 0, 0, 0]));
        let mut held = fred(&[("limit", "40p"), ("wq", "1"), ("maxp", "1"), ("maxth", "40p")]);
        (0..8).for_each(|flow| arrive(&mut held, flow, 2));
        // 16 packets are queued by 8 flows, so avgcq = 2 and each flow queues 2. pb = (16 - 10)/30 = 1/5: gaps of at
        // most 4 after the first.
        arrive(&mut held, 8, 1);
        (0..8).for_each(|flow| arrive(&mut held, flow, 1));
        let [limit, strike, early, forced] = drops(&held);
        assert!((1..=4).contains(&early) && limit + strike + forced == 0, "{:?}", drops(&held));
    }

    #[test]
    fn the_average_is_updated_by_arrivals_and_by_departures() {
        let mut port = fred(&[("limit", "40p"), ("wq", "0.5")]);
        let average = |port: &Port<(), Fred<()>>| port.discipline().detector.average();
        // Arrivals find 0, 1 and 2 packets: averages of 0, 0.5 and 1.25. A departure leaves 2 packets: 1.625. The next
        // leaves one: 1.3125.
        arrive(&mut port, 1, 3);
        assert_eq!(average(&port), 1.25);
        port.dequeue(Time::ZERO, &mut ());
        assert_eq!(average(&port), 1.625);
        port.dequeue(Time::ZERO, &mut ());
        assert_eq!(average(&port), 1.3125);
    }

    #[test]
    fn per_flow_limits_drop_ecn_capable_packets() {
        let mut port = fred(EXACT);
        let packet = || Packet { ecn: Ecn::Ect0, ..Packet::new(FlowId(1), 1000, ()) };
        (0..13).for_each(|_| port.enqueue(packet(), Time::ZERO, &mut ()));
        assert_eq!((port.totals().counts().marked(), drops(&port)), (0, [3, 0, 0, 0]));
    }

    #[test]
    fn with_a_byte_limit_flows_are_as_many_as_bytes_even_if_packets_have_no_length() {
        let mut port = fred(&[("limit", "8B")]);
        (0..12).for_each(|flow| port.enqueue(Packet::new(FlowId(flow), 0, ()), Time::ZERO, &mut ()));
        assert_eq!(port.discipline().flows.len(), 8);
        assert_eq!(port.totals().counts().drops(Why::Overflow), 4);
    }

    #[test]
    fn thresholds_count_packets_and_must_fit_each_other() {
        let fred = |settings| Fred::<()>::new(FredConfig::from_settings(settings).unwrap(), &LINK);
        let mixed = fred(&[("limit", "200KB"), ("minth", "15%"), ("maxth", "60p"), ("maxq", "10%")]).unwrap();
        assert_eq!((mixed.detector.thresholds(), mixed.maxq), (Thresholds { min: 30.0, max: 60.0 }, 20.0));
        assert!(matches!(fred(&[("minth", "60p"), ("maxth", "30p")]), Err(BuildError::Conflict(_))));
    }
}
