//! RED with a penalty box: flows that fail tests of congestion control are rate-limited.
//!
//! RED's drops are a random sample of the arrivals, so the flow with the most drops is probably the fastest. RED with a
//! penalty box tests that flow. If the flow shows no congestion control, it is put into the box, and all flows in the
//! box share a rate limit.
//!
//! On arrival, a packet of a boxed flow is dropped unless the box's token bucket has tokens for it. RED decides on
//! every packet that remains. If it drops or marks a packet of a flow outside the box, that flow is logged
//! ([`FlowLog`]). RED handles departures.
//!
//! Every `interval`, the flow with the most entries in the log is examined ([`FlowTests`]). Is it TCP-friendly, does
//! its rate fall as the drop rate grows, and is its share of the traffic proportionate? A flow that fails one test
//! enters the box. A boxed flow leaves once it is TCP-friendly and passes the test that it failed. The box's rate limit
//! follows from the number of boxed flows and the drop rate.
//!
//! Source: S. Floyd, K. Fall, "Promoting the use of end-to-end congestion control in the Internet", IEEE/ACM ToN 7(4),
//! 1999. Numbers, and the rules of entering and leaving, are those of the authors' ns-2 scripts (rtm.tcl,
//! rtm_tests.tcl), which the paper's simulations used. Deviations are listed in docs/disciplines/red_penalty.md.
//!
//! | paper, scripts | here |
//! | --- | --- |
//! | history of packet drops | [`FlowLog`] |
//! | T = 1.22 B/(R sqrt p), B, R, p | [`FlowTests::friendly_rate`], `mtu`, `rtt`, drop rate |
//! | good box, bad box | flows outside and in [`RedPenalty::penalty`] |

use alloc::collections::VecDeque;

use crate::cx::Cx;
use crate::discipline::{Discipline, LinkInfo};
use crate::packet::{FlowId, Packet};
use crate::params::{BuildError, Bytes};
use crate::parts::{
    FailedTest, FlowLog, FlowSample, FlowTable, FlowTests, PolledTimer, RedDetector, RedQueue, RedSettings, TokenBucket,
};
use crate::reason::Why;
use crate::time::{Span, Time};
use crate::units::Rate;

crate::params! {
    /// Settings of [`RedPenalty`].
    pub struct RedPenaltyConfig with red: RedSettings {
        red { limit, minth, maxth, maxp, wq }
        /// Time between examinations. Each tests the flow with the most drops, and the flows in the box for release.
        interval: Span = Span::from_secs(5), in Span::from_millis(1).., also "Detect_interval_" "Reward_interval_";
        /// Drops and marks remembered per interval, the latest.
        log: u32 = 1000, in 1..=1_000_000;
        /// Maximum number of flows in the box. While it is full, no further flow is penalized.
        max_penalized: u32 = 100, in 1..=1_000_000, renamed_from "places";
        /// Minimum round-trip time of the flows, the paper's R. The TCP-friendly rate is 1.22 mtu/(rtt sqrt p).
        rtt: Span = Span::from_millis(60), in Span::from_micros(1).., also "Rtt_";
        /// Maximum packet size of the flows, the paper's B.
        mtu: Bytes = Bytes(1500), in Bytes(1)..=Bytes(65_535), also "Mtu_";
        /// A flow is not TCP-friendly above this many times the TCP-friendly rate.
        safety: f64 = 1.2, in 1.0.., also "Safety_factor_";
        /// A flow is unresponsive if the drop rate grew by more than this factor, but the flow's rate did not fall below
        /// `flow_rate_factor` times its earlier rate.
        drop_rate_factor: f64 = 2.0, in 1.0.., also "Unresp_droprate_factor_", renamed_from "drops_grew";
        /// Share of its earlier rate that an unresponsive flow still exceeds.
        flow_rate_factor: f64 = 0.8, in 0.0..=1.0, also "Unresp_flowbw_factor_", renamed_from "rate_kept";
        /// Minimum of rate x sqrt p, in bytes/s, for a disproportionate flow. It must also send more than ln(3n)/n of
        /// the traffic of n flows.
        disproportionate: f64 = 12_000.0, in 0.0.., also "High_const_";
        /// Rate limit of all flows in the box together. `auto`: half a TCP-friendly rate per flow, at most a quarter of
        /// the link.
        penalty_rate: Option<Rate> = None, in Rate::from_bits(1)..;
        red {
            /// Marks ECN-capable packets instead of dropping them at random. Packets that exceed the box's rate limit
            /// are always dropped.
            ecn,
            mean_packet
        }
    }
    presets {
        "paper" "Floyd, Fall 1999, with the numbers of its ns-2 scripts; RED's values as in `red` (the defaults)" {}
        "ns2" "the scripts' own RED: 100 packets, thresholds of 5 and 15, as in the ns-2 of the time" {
            "limit" = "100p", "minth" = "5p", "maxth" = "15p", "maxp" = "0.1", "ecn" = "off", "mean_packet" = "1000B"
        }
    }
    reasons { Overflow, Early, Forced, Unresponsive }
    gauges {
        Gauge::AVERAGE;
        Gauge::PROBABILITY;
        Gauge::new("penalized", "flows", "Flows in the box.");
        Gauge::new("penalty_rate_bps", "bit/s", "Rate limit of all flows in the box together; 0 before the first one.");
        Gauge::new("logged", "signals", "Drops and marks in the log.");
    }
}

/// A flow in the box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenalizedFlow {
    /// The test it failed.
    pub failed: FailedTest,
    /// Its rate when it entered the box, in bytes per second.
    pub rate: f64,
    /// Its bytes that arrived since the last examination.
    pub bytes: u64,
}

/// Packets and bytes since the last examination.
#[derive(Clone, Copy, Debug, Default)]
struct TrafficCounts {
    arrived: u64,
    signals: u64,
    bytes: u64,
}

impl TrafficCounts {
    fn drop_rate(&self) -> f64 {
        if self.arrived == 0 { 0.0 } else { self.signals as f64 / self.arrived as f64 }
    }
}

/// Samples kept for the test of responsiveness (Hist_max_).
const HISTORY: usize = 10;

/// RED behind a rate limit for the flows in the box.
pub struct RedPenalty<T> {
    red: RedQueue<T>,
    tests: FlowTests,
    /// The flows of drops and marks since the last examination.
    pub log: FlowLog,
    history: VecDeque<FlowSample>,
    penalized: FlowTable<PenalizedFlow>,
    bucket: TokenBucket,
    /// Rate limit of all boxed flows together; 0 before the first.
    pub penalty_rate: Rate,
    fixed_rate: Option<Rate>,
    most_rate: Rate,
    /// Traffic outside the box, and in it.
    good: TrafficCounts,
    bad: TrafficCounts,
    clock: PolledTimer,
    since: Time,
}

impl<T> RedPenalty<T> {
    /// An empty queue and an empty box.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if minth is not below maxth, or maxth is above the limit.
    pub fn new(config: RedPenaltyConfig, link: &LinkInfo) -> Result<Self, BuildError> {
        let tests = FlowTests {
            rtt: config.rtt.as_secs_f64(),
            mtu: config.mtu.0 as f64,
            safety: config.safety,
            drop_rate_factor: config.drop_rate_factor,
            flow_rate_factor: config.flow_rate_factor,
            disproportionate: config.disproportionate,
        };
        Ok(RedPenalty {
            red: RedQueue::new(config.red, link)?,
            tests,
            log: FlowLog::new(config.log, link.key),
            history: VecDeque::with_capacity(HISTORY),
            penalized: FlowTable::new(config.max_penalized, link.key),
            bucket: TokenBucket::new(Rate::from_bits(1), 0),
            penalty_rate: Rate::from_bits(0),
            fixed_rate: config.penalty_rate,
            most_rate: Rate::from_bits((link.rate.as_bits() / 4).max(1)),
            good: TrafficCounts::default(),
            bad: TrafficCounts::default(),
            clock: PolledTimer::new(config.interval, Time::ZERO),
            since: Time::ZERO,
        })
    }

    /// RED's state: average, probability and the spacing of drops and marks.
    pub fn detector(&self) -> &RedDetector {
        self.red.detector()
    }

    /// `flow`'s record, if it is in the box.
    pub fn penalty(&self, flow: FlowId) -> Option<PenalizedFlow> {
        self.penalized.peek(flow).copied()
    }

    /// Ends an interval: releases compliant flows, tests the flow with the most drops and marks, and resets the counts.
    #[cold]
    fn examine(&mut self, now: Time) {
        let elapsed = (now - self.since).as_secs_f64();
        if elapsed > 0.0 {
            let all = self.good.bytes as f64 / elapsed;
            self.release(elapsed, all);
            self.test_top_flow(all);
            self.set_penalty_rate();
        }
        self.log.clear();
        (self.good, self.bad, self.since) = (TrafficCounts::default(), TrafficCounts::default(), now);
        (0..self.penalized.len()).for_each(|position| self.penalized.at(position).1.bytes = 0);
    }

    /// A flow leaves the box when it is TCP-friendly at the box's own drop rate and no longer fails the test that
    /// brought it there.
    fn release(&mut self, elapsed: f64, all: f64) {
        let drops = self.bad.drop_rate();
        // Backwards: a removal moves the last entry, which has been examined.
        for position in (0..self.penalized.len()).rev() {
            let PenalizedFlow { failed, rate: before, bytes } = *self.penalized.at(position).1;
            let rate = bytes as f64 / elapsed;
            let again = match failed {
                FailedTest::Unfriendly => false,
                FailedTest::Unresponsive => rate > self.tests.flow_rate_factor * before,
                FailedTest::Disproportionate => {
                    self.tests.is_disproportionate(rate, drops, all + rate, self.log.flows() + 1)
                }
            };
            if !again && !self.tests.is_unfriendly(rate, drops) {
                self.penalized.remove_at(position);
            }
        }
    }

    /// Tests the flow with the most drops and marks. RED drops each flow's packets in proportion to its arrivals (the
    /// paper's argument). The flow's rate is therefore its share of the log times all arrivals.
    fn test_top_flow(&mut self, all: f64) {
        let Some((flow, count)) = self.log.top_flow() else { return };
        let (drops, rate) = (self.good.drop_rate(), f64::from(count) / self.log.len() as f64 * all);
        let sample = FlowSample { flow, drop_rate: drops, rate };
        let earlier = self.history.iter().filter(|sample| sample.flow == flow);
        let calmest = earlier.min_by(|a, b| a.drop_rate.total_cmp(&b.drop_rate)).copied();
        let failed = if self.tests.is_unfriendly(rate, drops) {
            FailedTest::Unfriendly
        } else if calmest.is_some_and(|then| self.tests.is_unresponsive(sample, then)) {
            FailedTest::Unresponsive
        } else if self.tests.is_disproportionate(rate, drops, all, self.log.flows()) {
            FailedTest::Disproportionate
        } else {
            if self.history.len() == HISTORY {
                self.history.pop_front();
            }
            self.history.push_back(sample);
            return;
        };
        self.penalized.insert(flow, PenalizedFlow { failed, rate, bytes: 0 });
    }

    /// Adapts the rate limit to the number of boxed flows and the drop rate of all other flows.
    fn set_penalty_rate(&mut self) {
        let friendly = self.tests.friendly_rate(self.good.drop_rate());
        let rate = match (self.fixed_rate, friendly) {
            (Some(rate), _) => rate,
            // Bytes a second to bits, halved.
            (None, Some(friendly)) => Rate::from_bits((4.0 * friendly * self.penalized.len() as f64) as u64)
                .clamp(Rate::from_bits(1), self.most_rate),
            // Without drops there is no friendly rate: keep the limit.
            (None, None) => return,
        };
        if rate != self.penalty_rate && !self.penalized.is_empty() {
            self.penalty_rate = rate;
            self.bucket = TokenBucket::new(rate, 2 * self.tests.mtu as u32);
        }
    }

    /// Rate-limits a boxed flow's packet. Admitted packets go to RED like any other but are counted apart.
    fn limit_boxed(&mut self, position: usize, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        self.penalized.at(position).1.bytes += u64::from(packet.bytes);
        self.bad.arrived += 1;
        let signals = if self.bucket.admits(packet.bytes, cx.now) {
            self.bucket.take(packet.bytes, cx.now);
            let zone = self.red.update(cx);
            self.red.offer(zone, packet, cx).is_some()
        } else {
            cx.drop(packet, Why::Unresponsive);
            true
        };
        self.bad.signals += u64::from(signals);
    }
}

impl<T> Discipline<T> for RedPenalty<T> {
    #[inline(always)]
    fn enqueue(&mut self, packet: Packet<T>, cx: &mut Cx<'_, T>) {
        if self.clock.advance(cx.now) > 0 {
            self.examine(cx.now);
        }
        if !self.penalized.is_empty()
            && let Some(position) = self.penalized.position(packet.flow)
        {
            return self.limit_boxed(position, packet, cx);
        }
        let flow = packet.flow;
        self.good.arrived += 1;
        self.good.bytes += u64::from(packet.bytes);
        let zone = self.red.update(cx);
        if self.red.offer(zone, packet, cx).is_some() {
            self.good.signals += 1;
            self.log.record(flow);
        }
    }

    crate::discipline::dequeue_from!(red);

    fn observe(&self, gauge: &mut dyn FnMut(&'static str, f64)) {
        gauge("average", self.red.detector().average());
        gauge("probability", self.red.detector().probability());
        gauge("penalized", self.penalized.len() as f64);
        gauge("penalty_rate_bps", self.penalty_rate.as_bits() as f64);
        gauge("logged", self.log.len() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::{Port, Rng};

    const LINK: LinkInfo = LinkInfo::new(Rate::from_bits(8_000_000), 1000, 7);
    fn port(settings: &[(&str, &str)]) -> Port<(), RedPenalty<()>> {
        let config = RedPenaltyConfig::from_settings(settings).unwrap();
        Port::new(RedPenalty::new(config, &LINK).unwrap(), Rng::new(3))
    }

    /// For `seconds`, flow 0 sends `flood` packets a second and ten other flows send 50 each. The link sends 1000.
    fn drive(port: &mut Port<(), RedPenalty<()>>, start: u64, seconds: u64, flood: u64) {
        for ms in start * 1000..(start + seconds) * 1000 {
            let now = Time::ZERO + Span::from_millis(ms);
            let ours = (ms * flood / 1000..(ms + 1) * flood / 1000).map(|_| 0);
            let others = (ms % 2 == 0).then_some(1 + ms / 2 % 10);
            ours.chain(others).for_each(|flow| port.enqueue(Packet::new(FlowId(flow), 1000, ()), now, &mut ()));
            port.dequeue(now, &mut ());
        }
    }

    #[test]
    fn a_flood_is_penalized_after_an_interval_and_released_once_it_is_silent() {
        let mut port = port(&[("limit", "100p"), ("wq", "0.02")]);
        drive(&mut port, 0, 5, 1500);
        assert_eq!(port.discipline().penalty(FlowId(0)), None, "not before it is examined");
        drive(&mut port, 5, 1, 1500);
        let penalty = port.discipline().penalty(FlowId(0)).unwrap();
        // Half of 2000 packets a second are dropped, three quarters of them of flow 0. It sends about 1.5 MB/s, and a
        // flow is unfriendly above 1.2 x 1.22 x 1500/(0.06 sqrt 0.5) = 52 kB/s.
        assert_eq!(penalty.failed, FailedTest::Unfriendly);
        assert!((penalty.rate / 1.5e6 - 1.0).abs() < 0.1, "{penalty:?}");
        let refused = |port: &Port<(), RedPenalty<()>>| port.totals().counts().drops(Why::Unresponsive);
        drive(&mut port, 6, 24, 1500);
        // At most a quarter of the link: at least 1250 of 1500 packets a second.
        assert!(refused(&port) > 24 * 1240, "{}", refused(&port));
        assert!(port.discipline().penalty(FlowId(0)).is_some());
        // Ten packets a second, all of which the box admits, are friendly.
        drive(&mut port, 30, 11, 10);
        assert_eq!(port.discipline().penalty(FlowId(0)), None);
    }

    #[test]
    fn a_fixed_penalty_rate_is_kept() {
        let mut port = port(&[("limit", "100p"), ("wq", "0.02"), ("penalty_rate", "160kbit/s")]);
        drive(&mut port, 0, 6, 1500);
        let sent = |port: &Port<(), RedPenalty<()>>| {
            port.totals().counts().arrived - port.totals().counts().drops(Why::Unresponsive)
        };
        let before = sent(&port);
        drive(&mut port, 6, 10, 1500);
        // 500 packets a second of the other flows, and 20 of the box. Its bucket starts full with 3000 bytes.
        let passed = sent(&port) - before;
        assert!(passed.abs_diff(10 * 520) <= 3, "{passed}");
    }

    #[test]
    fn a_full_box_takes_no_further_flow_and_a_full_log_does_not_grow() {
        let mut port = port(&[("limit", "100p"), ("wq", "0.02"), ("max_penalized", "1"), ("log", "50")]);
        for second in 0..30 {
            drive(&mut port, second, 1, 700);
            let at = Time::ZERO + Span::from_secs(second + 1);
            (0..700).for_each(|_| port.enqueue(Packet::new(FlowId(77), 1000, ()), at, &mut ()));
        }
        let discipline = port.discipline();
        assert_eq!((discipline.penalized.len(), discipline.log.len()), (1, 50));
    }

    #[test]
    fn every_preset_builds_and_the_end_of_time_causes_no_panic() {
        for preset in RedPenaltyConfig::presets() {
            let mut port = port(&[("preset", preset.name)]);
            for _ in 0..300 {
                port.enqueue(Packet::new(FlowId(1), 1000, ()), Time::NEVER, &mut ());
            }
        }
    }
}
