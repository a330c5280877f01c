//! The settings of RED-PD.

use core::ops::Bound;

use crate::parts::RedSettings;
use crate::time::Span;
use crate::units::Level;

crate::choice! {
    /// What the target round-trip time follows; the paper leaves it to future work (section 5.4).
    pub enum DynamicR {
        /// It stays.
        Off = "off",
        /// The ambient drop rate: longer, so that more flows are held back, while the rate is above its target.
        DropRate = "drop_rate",
        /// The number of monitored flows: as long, and sharing as fair, as their bound allows.
        MonitoredFlow = "monitored",
    }
}

crate::reasons! {
    /// Before the queue, because the flow is monitored.
    Prefilter = "prefilter", "its flow was monitored, and chance chose it before the queue", singles out;
}

crate::params! {
    /// Settings of [`RedPd`](super::RedPd).
    pub struct RedPdConfig with red: RedSettings {
        red {
            limit,
            /// The average queue below which RED signals nothing, and responsive monitored flows are spared. `auto`: what
            /// queues up in 2.5 ms, at least 5 packets and at most a sixth of the limit.
            minth = Some(Level::Share(0.2)),
            maxth = Some(Level::Share(0.66)), maxp = 0.1, wq, spacing, spare_first, spare_below, gentle = true,
            /// RED measures the queue in bytes, and arrivals, drops and drop rates count bytes.
            byte_mode,
            /// RED marks ECN-capable packets instead of dropping them, and marks enter the history as drops do. Before
            /// the queue packets are always dropped.
            ecn,
            mean_packet
        }
        /// The target round-trip time: flows that send more than a TCP of this round-trip time would are held back.
        target_rtt: Span = Span::from_millis(40), in Span::from_millis(1).., also "R" "target_rtt_" "TargetRTT_";
        /// Lists of drops that are kept.
        lists: u32 = 5, in 1..=64, also "M" "MaxHighDRFlowHist_";
        /// A flow in this many of the lists is identified.
        min_lists: u32 = 3, in 1..=64, also "K" "XinRegular_";
        /// Flows a list keeps, those with the most drops.
        list_flows: u32 = 50, in 1..=4096, also "MaxDropList_";
        /// Flows whose drops are counted while a list fills.
        counted_flows: u32 = 1024, in 1..=65536;
        /// Flows that can be monitored at a time. With more, the one of least probability makes room.
        max_monitored: u32 = 1024, in 1..=1_000_000;
        /// The most that is taken at a time off the probability of a monitored flow that stands in no list. The paper
        /// names it without a value; this is the scripts'.
        max_decrease: f64 = 0.05, in (Bound::Excluded(0.0), Bound::Included(1.0)), also "maxdecrease";
        /// Looks for flows that do not send less when more of their packets are dropped, and holds them tighter.
        unresponsive_test: bool = true, also "unresponsive_test_";
        /// The drop probability of an unresponsive flow is multiplied by this.
        unresponsive_penalty: f64 = 1.0, in 0.0.., also "unresponsive_penalty_";
        /// Spares an unresponsive flow, too, while no more than one packet waits.
        noidle: bool = true, also "noidle_";
        /// Drops this share of what reaches the queue, besides RED, and computes lists for it; monitored flows are then
        /// dropped whether the link is in demand or not. For experiments on identification. `auto`: off.
        fixed_drop_rate: Option<f64> = None, in (Bound::Excluded(0.0), Bound::Included(1.0)), also "P_testFRp_";
        /// What the target round-trip time follows, starting from `target_rtt`.
        dynamic_r: DynamicR = DynamicR::Off;
        /// The ambient drop rate aimed at with `dynamic_r=drop_rate`.
        drop_rate_target: f64 = 0.02, in (Bound::Excluded(0.0), Bound::Included(1.0));
        /// The number of monitored flows aimed at with `dynamic_r=monitored`.
        monitored_target: u32 = 32;
        /// The shortest target round-trip time `dynamic_r` may take.
        min_rtt: Span = Span::from_millis(10), in Span::from_millis(1)..;
        /// The longest target round-trip time `dynamic_r` may take.
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
        Gauge::new("drop_rate", "share", "The ambient drop rate, averaged over lists.");
        Gauge::new("target_rtt_ms", "ms", "The round-trip time that flows are held to.");
        Gauge::new("list_length_ms", "ms", "What a list of the drop history covers.");
        Gauge::new("monitored", "flows", "Monitored flows.");
        Gauge::new("unresponsive", "flows", "Those among them that do not respond.");
        Gauge::of_flow("monitored", "0 or 1", "Whether the flow is monitored.");
        Gauge::of_flow("prefilter_probability", "probability", "With which the filter drops its packets.");
    }
}
