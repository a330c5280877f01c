//! SFB's settings and presets.

use core::ops::Bound;

use crate::parts::Overfull;
use crate::time::Span;
use crate::units::{Level, Limit, Rate};

crate::choice! {
    /// How unresponsive flows are limited.
    pub enum Penalty {
        /// All of them together, by a token bucket of `penalty_rate` and `penalty_burst`.
        Rate = "rate",
        /// All of them together, to one packet per `boxtime`.
        Boxtime = "boxtime",
        /// Each of them, to the link's rate over the estimated number of flows.
        FairShare = "fair_share",
        /// All of them together, by a bucket of whole packets that is filled as in Linux.
        Linux = "linux",
    }
}

crate::choice! {
    /// Rules that no paper gives.
    pub enum Rules {
        /// The simplest reading of the papers.
        Papers = "papers",
        /// Those of Linux's sch_sfb.
        Linux = "linux",
    }
}

crate::params! {
    /// Settings of [`Sfb`](super::Sfb).
    pub struct SfbConfig {
        /// Buffer size. An arriving packet that does not fit is dropped.
        limit: Limit = Limit::Packets(1000);
        /// Levels of bins, each with its own hash function.
        levels: u32 = 2, in 1..=8, also "L";
        /// Number of bins per level.
        bins: u32 = 23, in 1..=4096, also "N";
        /// Packets in a bin above which its probability rises; bytes are refused. `auto`: 1.5/bins of the limit.
        bin_size: Option<Level> = None, also "Bin_Size" "target";
        /// Packets in a bin above which it is overfull (see `overfull`). `auto`: `bin_size`, as in the papers.
        bin_max: Option<Level> = None, also "max";
        /// Bins that must be overfull for an arriving packet to be dropped: `any` or `all` of its flow's.
        overfull: Overfull = Overfull::All;
        /// Increase of the probability of an overfull bin.
        d1: f64 = 0.005, in 0.0..=1.0, also "delta1" "increment";
        /// Decrease of the probability of an empty bin.
        d2: f64 = 0.001, in 0.0..=1.0, also "delta2" "decrement";
        /// Lowers the probability of a bin not only when an arrival finds it empty, but also when a departure empties it.
        lower_at_departure: bool = true;
        /// Minimum time between two changes of one bin's probability. 0: it may change with every packet.
        freeze_time: Span = Span::from_millis(1);
        /// Exempts unresponsive flows from drops for overfull bins: only the penalty applies to them. Off: overfull
        /// bins can drop their packets first.
        penalty_alone: bool = true;
        /// How unresponsive flows are limited: `rate`, `boxtime`, `fair_share` or `linux`.
        penalty: Penalty = Penalty::Boxtime;
        /// Time between two packets of unresponsive flows, for `penalty=boxtime`.
        boxtime: Span = Span::from_millis(50), also "Boxtime";
        /// Draws each box time uniformly from 0 to twice `boxtime`, so that no flow synchronizes with it.
        randomize_boxtime: bool = false;
        /// Rate limit of all unresponsive flows together, for `penalty=rate`.
        penalty_rate: Rate = Rate::from_bits(160_000), in Rate::from_bits(1)..;
        /// Packets of unresponsive flows per second, for `penalty=linux`. 0: none.
        penalty_packets: u32 = 10;
        /// Burst of all unresponsive flows together, for `penalty=rate` and `linux`; of each of them, for `fair_share`.
        penalty_burst: Limit = Limit::Packets(2);
        /// Time within which a flow must send to be counted, for `penalty=fair_share`.
        flow_window: Span = Span::from_secs(1), in (Bound::Excluded(Span::ZERO), Bound::Unbounded);
        /// Time between changes of the hash functions. 0: they never change.
        rehash: Span = Span::from_secs(5), also "Hinterval";
        /// Trains the next set of bins in advance: packets of unresponsive flows raise probabilities there too. The
        /// flows then stay limited after a change of the hash functions.
        double_buffer: bool = true;
        /// Time before each change of the hash functions in which the next set is trained. `auto`: always.
        warmup: Option<Span> = None, also "db";
        /// Rules that no paper gives. `linux`: a full buffer drops before any bin changes. Above a probability of 1/2, a
        /// growing part of the marks are drops. The next set follows the rule of the set in use, and keeps its
        /// probabilities.
        rules: Rules = Rules::Papers;
        /// Marks ECN-capable packets instead of dropping them at random. Packets of unresponsive flows and packets for
        /// overfull bins are always dropped.
        ecn: bool = true;
    }
    presets {
        "paper" "the comparison paper, section 3.3.3 (the defaults)" {}
        "blue" "the BLUE paper, section IV-B and IV-D: 200 KB, bins of 13, 0.16 Mbit/s, hash functions change each 2 s" {
            "limit" = "200KB", "bin_size" = "13", "penalty" = "rate", "penalty_rate" = "160kbit/s", "rehash" = "2s",
            "lower_at_departure" = "off",
        }
        "linux" "Linux 6.1, sch_sfb, with the defaults of tc (iproute2 6.1)" {
            "limit" = "1000p", "levels" = "8", "bins" = "16", "bin_size" = "19", "bin_max" = "24", "overfull" = "all",
            "d1" = "0.00050354772259", "d2" = "0.00004577706569", "lower_at_departure" = "off", "freeze_time" = "0s",
            "penalty_alone" = "off", "penalty" = "linux", "penalty_burst" = "20p", "rehash" = "600s", "warmup" = "60s",
            "rules" = "linux",
        }
    }
    reasons { Overflow, Early, FlowLimit, Unresponsive }
    gauges {
        Gauge::new("probability_max", "probability", "Largest probability of the bins in use.");
        Gauge::new("probability_mean", "probability", "Mean probability of the bins in use.");
        Gauge::new("polluted_bins", "bins", "Bins with a probability of 1.");
        Gauge::new("unresponsive_flows", "flows", "Number of unresponsive flows, estimated from the polluted bins.");
        Gauge::new("bin_packets_max", "packets", "Packets in the fullest bin.");
        Gauge::new("flows", "flows", "Estimated number of flows; with `penalty=fair_share`.");
        Gauge::of_flow("probability", "probability", "pmin: smallest probability of the flow's bins.");
        Gauge::of_flow("bin_packets", "packets", "Packets in the fullest of the flow's bins.");
    }
}
