//! The settings of RED-PD.

use core::ops::Bound;

use crate::parts::{ChangeRules, MonitorRules, RedSettings};
use crate::time::Span;
use crate::units::Level;

const MORE_THAN_ONE: (Bound<f64>, Bound<f64>) = (Bound::Excluded(1.0), Bound::Unbounded);

crate::choice! {
    /// What adapts the target round-trip time. The paper leaves this to future work (section 5.4).
    pub enum DynamicR {
        /// Nothing: it is constant.
        Off = "off",
        /// The ambient drop rate. R grows while the rate is above its target, so that more flows are monitored.
        DropRate = "drop_rate",
        /// The number of monitored flows. R grows while the number is below its target.
        Monitored = "monitored",
    }
}

crate::reasons! {
    /// The flow is monitored, and the pre-filter selected the packet.
    Prefilter = "prefilter", "its flow is monitored, and the pre-filter selected it", targets identified;
}

crate::params! {
    /// Settings of [`RedPd`](super::RedPd).
    pub struct RedPdConfig with red: RedSettings {
        red {
            limit,
            /// Average queue length below which RED neither drops nor marks, and responsive monitored flows are spared.
            /// `auto`: the queue of 2.5 ms, at least 5 packets and at most a sixth of the limit.
            minth = Some(Level::Share(0.2)),
            maxth = Some(Level::Share(0.66)), maxp = 0.1, wq, spacing, spare_first, spare_below, gentle = true,
            /// Measures the queue, arrivals, drops and drop rates in bytes.
            byte_mode,
            /// Lets RED mark ECN-capable packets instead of dropping them. The pre-filter always drops.
            ecn,
            mean_packet
        }
        /// Target round-trip time R. Flows that send more than a TCP flow with this round-trip time are monitored.
        target_rtt: Span = Span::from_millis(40), in Span::from_millis(1).., also "R" "target_rtt_" "TargetRTT_";
        /// Drop lists kept (M).
        lists: u32 = 5, in 1..=64, also "M" "MaxHighDRFlowHist_";
        /// Number of lists in which a flow must appear to be identified (K).
        min_lists: u32 = 3, in 1..=64, also "K" "XinRegular_";
        /// Flows kept per list: those with the most drops.
        list_flows: u32 = 50, in 1..=4096, also "MaxDropList_";
        /// Flows whose drops are counted while a list is filled.
        counted_flows: u32 = 1024, in 1..=65536;
        /// Maximum number of monitored flows. A new flow replaces the one with the smallest probability.
        max_monitored: u32 = 1024, in 1..=1_000_000;
        /// Time at which the first list ends. No flow is identified earlier. `auto`: after `max_list` times R, as long as a
        /// list without drops. ns-2's scripts have 10.1 s.
        start: Option<Span> = None, in Span::from_millis(1)..;
        /// Minimum duration of a list, in multiples of R.
        min_list: u32 = 2, in 1..=1000;
        /// Maximum duration of a list, in multiples of R.
        max_list: u32 = 10, in 1..=1000;
        /// Weight of the last list in the average drop rate.
        rate_weight: f64 = 0.5, in (Bound::Excluded(0.0), Bound::Included(1.0));
        /// No probability increases after a list with this drop rate or less.
        min_drop_rate: f64 = 0.001, in 0.0..=1.0;
        /// Minimum time between two changes of a flow's probability, so that the flow can react.
        min_hold: Span = Span::from_millis(400), also "minTimetoConsider_";
        /// A probability that is to increase stays constant for so many lists, besides `min_hold`.
        increase_hold: u32 = 4, in 1..=64;
        /// A responsive flow's probability that is to decrease stays constant for so many lists, besides `min_hold`.
        decrease_hold: u32 = 3, in 1..=64;
        /// An unresponsive flow's probability that is to decrease stays constant for so many lists, besides `min_hold`.
        unresponsive_hold: u32 = 5, in 1..=64;
        /// Upper bound of a flow's first probability.
        first_max: f64 = 0.5, in 0.0..=1.0;
        /// Upper bound of a flow's first probability, in multiples of the drop rate.
        first_rates: f64 = 2.0, in 0.0..;
        /// A responsive flow's probability is multiplied by this while it is below its quantum.
        growth: f64 = 2.0, in 1.0..;
        /// An unresponsive flow's probability is multiplied by this while it is below its quantum.
        unresponsive_growth: f64 = 3.0, in 1.0..;
        /// A responsive flow's small probability is divided by this.
        easing: f64 = 2.0, in MORE_THAN_ONE;
        /// An unresponsive flow's small probability is divided by this.
        unresponsive_easing: f64 = 1.5, in MORE_THAN_ONE;
        /// A responsive flow is released at this probability or less.
        release: f64 = 0.005, in 0.0..=1.0;
        /// An unresponsive flow is released at this probability or less.
        unresponsive_release: f64 = 0.0025, in 0.0..=1.0;
        /// Maximum decrease of a probability at a time. The paper gives no value; this is the scripts'.
        max_decrease: f64 = 0.05, in (Bound::Excluded(0.0), Bound::Included(1.0)), also "maxdecrease";
        /// Tests whether monitored flows reduce their rate as their drop rate grows. Unresponsive flows get larger
        /// increases and smaller decreases.
        unresponsive_test: bool = true, also "unresponsive_test_";
        /// Two drop rates of a flow are compared only if the smaller is more than this share of the larger.
        comparable: f64 = 0.1, in 0.0..=1.0;
        /// Factor of an unresponsive flow's drop probability.
        unresponsive_penalty: f64 = 1.0, in 0.0.., also "unresponsive_penalty_";
        /// Also spares unresponsive flows while RED's average lies below `minth`. Section 4.2 makes no exception for
        /// them. The authors' engine drops their packets in any case.
        spare_unresponsive: bool = true;
        /// Also spares unresponsive flows while at most one packet is queued (with `byte_mode`: none), so that the link
        /// does not go idle.
        noidle: bool = true, also "noidle_";
        /// Drops this share of the packets that reach the queue, besides RED, and derives the list length from it.
        /// Monitored flows are then dropped regardless of the link's load. For experiments on identification. `auto`:
        /// off.
        fixed_drop_rate: Option<f64> = None, in (Bound::Excluded(0.0), Bound::Included(1.0)), also "P_testFRp_";
        /// What adapts the target round-trip time, starting from `target_rtt`: `off`, `drop_rate` or `monitored`.
        dynamic_r: DynamicR = DynamicR::Off;
        /// Target ambient drop rate for `dynamic_r=drop_rate`.
        drop_rate_target: f64 = 0.02, in (Bound::Excluded(0.0), Bound::Included(1.0));
        /// Target number of monitored flows for `dynamic_r=monitored`.
        monitored_target: u32 = 32;
        /// Lower bound of the target round-trip time with `dynamic_r`.
        min_rtt: Span = Span::from_millis(10), in Span::from_millis(1)..;
        /// Upper bound of the target round-trip time with `dynamic_r`.
        max_rtt: Span = Span::from_millis(170), in Span::from_millis(1)..;
        /// Share by which `dynamic_r` changes R with each list.
        rtt_step: f64 = 0.05, in (Bound::Excluded(0.0), Bound::Included(1.0));
    }
    presets {
        "paper" "Mahajan, Floyd and Wetherall 2001 (the defaults); thresholds of their scripts, 10 and 33 of 50 packets" {}
        "ns2" "ns-2 2.35: Queue/RED/PD in ns-default.tcl with helper.tcl and monitoring.tcl of tcl/ex/red-pd" {
            "minth" = "auto", "maxth" = "auto", "wq" = "auto", "spacing" = "wait", "spare_first" = "on",
            "spare_below" = "1", "byte_mode" = "on", "ecn" = "off", "mean_packet" = "500B", "noidle" = "off",
            "spare_unresponsive" = "off", "start" = "10.1s",
        }
    }
    reasons { Overflow, Early, Forced, Unresponsive, Prefilter }
    gauges {
        Gauge::AVERAGE;
        Gauge::PROBABILITY;
        Gauge::MAXP;
        Gauge::new("drop_rate", "share", "Ambient drop rate, averaged over lists.");
        Gauge::new("target_rtt_ms", "ms", "Target round-trip time R.");
        Gauge::new("list_length_ms", "ms", "Duration of a drop list.");
        Gauge::new("identified", "flows", "Flows identified by the last list: in `min_lists` of the last `lists` lists.");
        Gauge::new("monitored", "flows", "Monitored flows.");
        Gauge::new("unresponsive", "flows", "Monitored flows found unresponsive.");
        Gauge::new("history_flows", "flows", "Flows in the drop history: in any of its `lists` lists.");
        Gauge::new("history_drops", "packets", "Drops and marks in the drop history; in bytes with `byte_mode`.");
        Gauge::of_flow("identified", "0 or 1", "1 if the last list identified the flow.");
        Gauge::of_flow("monitored", "0 or 1", "1 if the flow is monitored.");
        Gauge::of_flow("prefilter_probability", "probability", "Probability that the pre-filter drops a packet of the flow.");
    }
}

impl RedPdConfig {
    /// The rules of the probabilities.
    pub(super) fn monitor_rules(&self) -> MonitorRules {
        let RedPdConfig { growth, release, easing, max_decrease, comparable, unresponsive_test, .. } = *self;
        let unresponsive = ChangeRules {
            growth: self.unresponsive_growth,
            release: self.unresponsive_release,
            easing: self.unresponsive_easing,
        };
        let responsive = ChangeRules { growth, release, easing };
        MonitorRules { responsive, unresponsive, max_decrease, comparable, test: unresponsive_test }
    }
}
