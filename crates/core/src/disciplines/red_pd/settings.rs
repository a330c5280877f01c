//! The settings of RED-PD.

use core::ops::Bound;

use crate::parts::RedSettings;
use crate::time::Span;
use crate::units::Level;

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
        /// Maximum decrease of a probability at a time. The paper gives no value; this is the scripts'.
        max_decrease: f64 = 0.05, in (Bound::Excluded(0.0), Bound::Included(1.0)), also "maxdecrease";
        /// Tests whether monitored flows reduce their rate as their drop rate grows. Unresponsive flows get larger
        /// increases and smaller decreases.
        unresponsive_test: bool = true, also "unresponsive_test_";
        /// Factor of an unresponsive flow's drop probability.
        unresponsive_penalty: f64 = 1.0, in 0.0.., also "unresponsive_penalty_";
        /// Also spares unresponsive flows while at most one packet is queued, so that the link does not go idle.
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
    }
    presets {
        "paper" "Mahajan, Floyd and Wetherall 2001 (the defaults); thresholds of their scripts, 10 and 33 of 50 packets" {}
        "ns2" "ns-2 2.35: Queue/RED/PD in ns-default.tcl with tcl/ex/red-pd/monitoring.tcl" {
            "minth" = "auto", "maxth" = "auto", "wq" = "auto", "spacing" = "wait", "spare_first" = "on",
            "spare_below" = "1", "byte_mode" = "on", "ecn" = "off", "mean_packet" = "500B", "noidle" = "off"
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
        Gauge::new("monitored", "flows", "Monitored flows.");
        Gauge::new("unresponsive", "flows", "Monitored flows found unresponsive.");
        Gauge::of_flow("monitored", "0 or 1", "1 if the flow is monitored.");
        Gauge::of_flow("prefilter_probability", "probability", "Probability that the pre-filter drops a packet of the flow.");
    }
}
