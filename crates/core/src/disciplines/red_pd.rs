//! RED-PD: RED with preferential dropping. Flows that appear often in RED's drop history are dropped first.
//!
//! RED drops every flow with the same probability, so a flow's drops are a sample of its arrivals. Flows that keep
//! appearing in the drop history therefore send faster than others. RED-PD monitors these flows and drops them before
//! the queue, until they send no more than a TCP flow with round-trip time `target_rtt` would.
//!
//! RED-PD cuts time into lists and records the drops of each flow per list
//! ([`DropHistory`](crate::parts::DropHistory)). A flow in `min_lists` of the last `lists` lists is identified. Each
//! monitored flow has a drop probability ([`MonitoredFlow`](crate::parts::MonitoredFlow)).
//!
//! On arrival, a monitored flow's packet is first dropped with that probability (the pre-filter). All other packets
//! pass to RED, and RED's drops and marks enter the current list. Departures are RED's.
//!
//! At the end of a list, the probability of an identified flow with new drops increases. The probability of a monitored
//! flow that appears in no list decreases, and the flow is finally released. A flow that does not reduce its rate as
//! its drop rate grows is treated as unresponsive, with larger increases ([`Identification`]).
//!
//! Source: R. Mahajan, S. Floyd, D. Wetherall, "Controlling high-bandwidth flows at the congested router", ICNP 2001.
//! Where the paper leaves a choice open, the authors' ns-2 2.35 decides: `queue/red-pd.cc` for the pre-filter,
//! `tcl/ex/red-pd/monitoring.tcl` for the identification, `topology.tcl` for the thresholds. Deviations are listed in
//! docs/disciplines/red_pd.md.
//!
//! | paper | here |
//! | --- | --- |
//! | R, f(R, p), CELength(R, p) | [`Identification::target_rtt`], [`tcp_rate`](crate::parts::tcp_rate), [`congestion_epoch`](crate::parts::congestion_epoch) |
//! | p, the ambient drop rate | [`Identification::drop_rate`] |
//! | M, K | `lists`, `min_lists` |
//! | dropping probability of a monitored flow | [`MonitoredFlow::probability`](crate::parts::MonitoredFlow::probability) |
//! | figures 7 and 8 | [`MonitoredFlow::decrease`](crate::parts::MonitoredFlow::decrease), [`MonitoredFlow::increase`](crate::parts::MonitoredFlow::increase) |

mod identify;
mod settings;

use alloc::format;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{FlowId, Packet};
use crate::params::BuildError;
use crate::parts::RedQueue;
use crate::reason::Why;

pub use identify::Identification;
pub use settings::{DynamicR, RedPdConfig};

/// RED behind a filter for monitored flows.
pub struct RedPd<T> {
    config: RedPdConfig,
    queue: RedQueue<T>,
    mean_packet: f64,
    identification: Identification,
}

impl<T> RedPd<T> {
    /// An empty queue without monitored flows.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if minth is not below maxth, maxth is above the limit, `min_lists` above `lists`, `min_list`
    /// above `max_list`, or `min_rtt` above `max_rtt`.
    pub fn new(config: RedPdConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        if config.min_lists > config.lists {
            let why = format!("min_lists ({}) lies above lists ({})", config.min_lists, config.lists);
            return Err(BuildError::Conflict(why));
        }
        if config.min_list > config.max_list {
            let why = format!("min_list ({}) lies above max_list ({})", config.min_list, config.max_list);
            return Err(BuildError::Conflict(why));
        }
        if config.min_rtt > config.max_rtt {
            let why = format!("min_rtt ({}) lies above max_rtt ({})", config.min_rtt, config.max_rtt);
            return Err(BuildError::Conflict(why));
        }
        let mean_packet = f64::from(config.red.mean_packet(link));
        let queue = RedQueue::new(config.red.clone(), link)?;
        let identification = Identification::new(config.clone(), link.key, link.tables)?;
        Ok(RedPd { config, queue, mean_packet, identification })
    }

    /// The drop history, the monitored flows and the drop rate.
    pub fn identification(&self) -> &Identification {
        &self.identification
    }

    #[inline]
    fn units(&self, bytes: u32) -> u32 {
        if self.config.red.byte_mode { bytes } else { 1 }
    }

    /// Reason to drop a monitored flow's packet before the queue, if any. At most one draw.
    #[inline]
    fn filter(&mut self, packet: &Packet<T>, cx: &mut Cx<'_, T>) -> Option<Why> {
        let (units, held) = (self.units(packet.bytes), self.queue.backlog());
        // ns-2 compares the queue's length in its unit with 1.
        let waiting = if self.config.red.byte_mode { held.bytes > 1 } else { held.packets > 1 };
        let detector = self.queue.detector();
        let congested = detector.average() >= detector.thresholds().min;
        let flow = self.identification.monitored_flow(packet.flow)?;
        flow.arrived(units, packet.bytes);
        let RedPdConfig { unresponsive_penalty, spare_unresponsive, noidle, .. } = self.config;
        let (why, penalty, demand) = if flow.unresponsive {
            let demand = (congested || !spare_unresponsive) && (waiting || !noidle);
            (Why::Unresponsive, unresponsive_penalty, demand)
        } else {
            (Why::Prefilter, 1.0, congested && waiting)
        };
        let hit = flow.filter(penalty, demand || self.config.fixed_drop_rate.is_some(), cx.rng);
        hit.then(|| {
            flow.dropped(units);
            why
        })
    }

    /// Offers the packet to RED and returns whether it was dropped or marked. Draws for the fixed drop rate, then for
    /// RED.
    #[inline]
    fn offer(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) -> bool {
        if let Some(rate) = self.config.fixed_drop_rate {
            let scale = if self.config.red.byte_mode { f64::from(packet.bytes) / self.mean_packet } else { 1.0 };
            if cx.rng.chance(rate * scale) {
                cx.drop(packet, Why::Early);
                return true;
            }
        }
        let zone = self.queue.update(cx);
        self.queue.offer(zone, packet, cx).is_some()
    }
}

impl<T> Discipline<T> for RedPd<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        self.identification.advance(cx.now);
        if let Some(why) = self.filter(&packet, cx) {
            return cx.drop(packet, why);
        }
        let (flow, units) = (packet.flow, self.units(packet.bytes));
        let signaled = self.offer(packet, cx);
        self.identification.record_arrival(flow, units, signaled);
    }

    crate::discipline::dequeue_from!(queue);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        self.queue.observe(gauge);
        gauge("drop_rate", self.identification.drop_rate());
        gauge("target_rtt_ms", 1000.0 * self.identification.target_rtt().as_secs_f64());
        gauge("list_length_ms", 1000.0 * self.identification.list_length().as_secs_f64());
        let monitored = self.identification.monitored();
        gauge("identified", f64::from(self.identification.identified()));
        gauge("monitored", monitored.len() as f64);
        gauge("unresponsive", monitored.iter().filter(|(_, flow)| flow.unresponsive).count() as f64);
        let history = self.identification.history().records();
        gauge("history_flows", history.len() as f64);
        gauge("history_drops", history.iter().map(|record| record.drops as f64).sum());
    }
    fn observe_flow(&self, flow: FlowId, gauge: &mut dyn FnMut(&'static str, f64)) {
        let monitored = self.identification.monitored().peek(flow);
        gauge("identified", f64::from(u8::from(self.identification.is_identified(flow))));
        gauge("monitored", f64::from(u8::from(monitored.is_some())));
        gauge("prefilter_probability", monitored.map_or(0.0, |flow| flow.probability));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Ecn, Port, Rate, Rng, Span, Time};
    use alloc::string::{String, ToString};

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);

    fn red_pd(settings: &[(&str, &str)]) -> Result<RedPd<()>, BuildError> {
        RedPd::new(RedPdConfig::from_settings(settings).unwrap(), &LINK)
    }

    /// For `ms`, flow 1 sends a packet each millisecond to an idle link and loses every tenth.
    fn fed(settings: &[(&str, &str)], ecn: Ecn, ms: u64) -> Port<(), RedPd<()>> {
        let settings = [&[("limit", "50p"), ("P_testFRp_", "0.1")], settings].concat();
        let mut port = Port::new(red_pd(&settings).unwrap(), Rng::new(1));
        for ms in 0..ms {
            let now = Time::ZERO + Span::from_millis(ms);
            port.enqueue(Packet { ecn, ..Packet::new(FlowId(1), 1000, ()) }, now, &mut ());
            port.dequeue(now, &mut ());
        }
        port
    }

    #[test]
    fn contradictory_settings_are_refused_with_a_reason() {
        let why = |settings: &[(&str, &str)]| red_pd(settings).err().map_or(String::new(), |error| error.to_string());
        assert!(why(&[("K", "6")]).contains("min_lists (6) lies above lists (5)"));
        assert!(why(&[("min_list", "11")]).contains("min_list (11) lies above max_list (10)"));
        assert!(why(&[("min_rtt", "200ms")]).contains("min_rtt (200ms) lies above max_rtt (170ms)"));
        assert!(why(&[("minth", "70%")]).contains("must be below maxth"));
        assert_eq!(why(&[("K", "5")]), "");
    }

    #[test]
    fn lists_last_as_equation_3_says_between_two_and_ten_round_trips() {
        let length = |settings: &[(&str, &str)]| red_pd(settings).unwrap().identification().list_length().as_secs_f64();
        assert_eq!(length(&[]), 0.4, "no drops yet: 10 R");
        // By hand: 3/5 x 0.04 / sqrt(1.5 x 0.01) and, for 20 %, 0.044, which is less than 2 R.
        assert!((length(&[("P_testFRp_", "0.01")]) - 0.195_959).abs() < 1e-6);
        assert_eq!(length(&[("P_testFRp_", "0.2")]), 0.08);
        assert_eq!(length(&[("R", "100ms")]), 1.0);
    }

    #[test]
    fn a_flow_in_three_of_five_lists_is_monitored_and_dropped_before_the_queue() {
        // Lists of 80 ms, each with 8 drops on average: after three of them it is monitored, with P = min(p, 2p).
        let early = fed(&[], Ecn::NotEct, 240);
        assert_eq!(early.discipline().identification().monitored().len(), 0);
        let port = fed(&[], Ecn::NotEct, 300);
        let (flow, state) = port.discipline().identification().monitored().iter().next().unwrap();
        assert_eq!((flow, state.changed), (FlowId(1), Time::ZERO + Span::from_millis(240)));
        let counts = port.totals().counts();
        assert!(counts.drops(Why::Prefilter) > 0 && counts.drops(Why::Early) > 0, "{counts:?}");
    }

    #[test]
    fn the_filter_drops_ecn_capable_packets_instead_of_marking_them() {
        let port = fed(&[], Ecn::Ect0, 300);
        assert!(port.totals().counts().drops(Why::Prefilter) > 0);
    }

    #[test]
    fn a_monitored_flow_is_not_dropped_while_the_queue_is_empty() {
        // The flow is monitored as above. Then the fixed drop rate is off, and each arrival finds an empty queue.
        let (mut queue, mut rng) = (red_pd(&[("limit", "50p"), ("P_testFRp_", "0.1")]).unwrap(), Rng::new(1));
        let mut stored = |queue: &mut RedPd<()>, times: core::ops::Range<u64>| {
            let arrive = |ms: &u64| {
                let (mut sink, now) = ((), Time::ZERO + Span::from_millis(*ms));
                let mut cx = Cx::new(now, &mut rng, &mut sink);
                queue.enqueue(Packet::new(FlowId(1), 1000, ()), &mut cx);
                queue.dequeue(&mut cx).is_some()
            };
            times.filter(arrive).count()
        };
        assert!(stored(&mut queue, 0..300) < 290);
        queue.config.fixed_drop_rate = None;
        assert_eq!((stored(&mut queue, 300..320), queue.identification().monitored().len()), (20, 1));
    }

    /// An unresponsive flow that is dropped with certainty, and whose packets find a queue of `held` below minth.
    fn spared(settings: &[(&str, &str)], held: u64) -> bool {
        let mut queue = red_pd(&[&[("limit", "50p")], settings].concat()).unwrap();
        let (mut rng, mut sink) = (Rng::new(1), ());
        let mut cx = Cx::new(Time::ZERO, &mut rng, &mut sink);
        (0..held).for_each(|_| queue.enqueue(Packet::new(FlowId(2), 1000, ()), &mut cx));
        queue.identification.monitor_for_test(FlowId(1));
        queue.enqueue(Packet::new(FlowId(1), 1000, ()), &mut cx);
        u64::from(queue.backlog().packets) > held
    }

    #[test]
    fn unresponsive_flows_are_spared_below_minth_as_the_text_says_or_dropped_as_the_engine_does() {
        let engine = [("spare_unresponsive", "off")];
        assert_eq!([0, 1, 2, 5].map(|held| spared(&[], held)), [true; 4]);
        assert_eq!([0, 1, 2, 5].map(|held| spared(&engine, held)), [true, true, false, false]);
        let idle = [engine[0], ("noidle", "off")];
        assert_eq!([0, 1, 2, 5].map(|held| spared(&idle, held)), [false; 4]);
        // In byte mode ns-2 compares bytes with 1.
        let bytes = [engine[0], ("byte_mode", "on"), ("limit", "50KB")];
        assert_eq!([0, 1, 2, 5].map(|held| spared(&bytes, held)), [true, false, false, false]);
    }

    #[test]
    fn identification_begins_when_the_first_list_ends() {
        let monitored = |start, ms| {
            let port = fed(&[("start", start)], Ecn::NotEct, ms);
            port.discipline().identification().monitored().len()
        };
        // The first list ends at the start, the next two last 80 ms each: monitored after three.
        assert_eq!([1160, 1161].map(|ms| monitored("1s", ms)), [0, 1]);
    }

    #[test]
    fn the_gauges_of_the_drop_history_count_the_flows_and_drops_of_its_lists() {
        let port = fed(&[], Ecn::NotEct, 1000);
        let lists = port.discipline().identification().history().lists();
        let drops: u64 = lists.flatten().map(|(_, drops)| drops).sum();
        let gauge = |wanted: &str| port.gauges().into_iter().find(|(name, _)| *name == wanted).unwrap().1;
        assert!(drops > 0);
        assert_eq!((gauge("history_flows"), gauge("history_drops")), (1.0, drops as f64));
    }

    #[test]
    fn flows_in_enough_lists_count_as_identified_whether_or_not_they_are_monitored() {
        let gauges = |settings: &[(&str, &str)]| {
            let port = fed(settings, Ecn::NotEct, 1000);
            let (mut counts, mut of_flow) = ([0.0; 2], [0.0; 2]);
            let index = |name: &str| ["identified", "monitored"].iter().position(|each| *each == name);
            port.discipline().observe(&mut |name, value| index(name).into_iter().for_each(|i| counts[i] = value));
            port.discipline()
                .observe_flow(FlowId(1), &mut |name, value| index(name).into_iter().for_each(|i| of_flow[i] = value));
            (counts, of_flow)
        };
        assert_eq!(gauges(&[]), ([1.0, 1.0], [1.0, 1.0]));
        // A flow would be monitored only above this drop rate.
        assert_eq!(gauges(&[("min_drop_rate", "0.9")]), ([1.0, 0.0], [1.0, 0.0]));
    }
}
