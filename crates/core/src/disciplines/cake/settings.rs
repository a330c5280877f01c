//! The settings of CAKE.

use core::ops::Bound;

use super::diffserv::Diffserv;
use crate::framing::{CellFraming, Framing};
use crate::params::Bytes;
use crate::parts::CobaltSettings;
use crate::time::Span;
use crate::units::{Limit, Rate};

crate::choice! {
    /// Which have equal turns.
    pub enum Isolation {
        /// Nothing: one queue per tin.
        Flowblind = "flowblind",
        /// Sources.
        Srchost = "srchost",
        /// Destinations.
        Dsthost = "dsthost",
        /// Pairs of source and destination.
        Hosts = "hosts",
        /// Flows.
        Flows = "flows",
        /// Sources, and flows within each.
        DualSrchost = "dual-srchost",
        /// Destinations, and flows within each.
        DualDsthost = "dual-dsthost",
        /// Sources, destinations, and flows within each. A flow counts with the busier of its two hosts.
        TripleIsolate = "triple-isolate",
    }
}

impl Isolation {
    /// Whether all flows of a source together have one share, and all flows of a destination.
    pub(super) fn by_host(self) -> [bool; 2] {
        match self {
            Isolation::TripleIsolate => [true, true],
            Isolation::DualSrchost => [true, false],
            Isolation::DualDsthost => [false, true],
            _ => [false, false],
        }
    }
}

crate::choice! {
    /// Which acknowledgements are dropped because a later one says the same.
    pub enum AckFilter {
        /// None.
        Off = "no-ack-filter",
        /// Those that two later ones make unnecessary.
        On = "ack-filter",
        /// Those that one later one makes unnecessary.
        Aggressive = "ack-filter-aggressive",
    }
}

crate::params! {
    /// Settings of [`Cake`](super::Cake).
    pub struct CakeConfig with cobalt: CobaltSettings {
        /// Buffer size of all queues together. When it is exceeded, the longest queue drops a packet.
        limit: Limit = Limit::Bytes(4 << 20), also "memlimit";
        /// Rate that the shaper keeps. `auto`: it does not shape, and the link's rate is not known to it.
        bandwidth: Option<Rate> = None, in Rate::from_bits(8)..;
        /// Bytes that the link adds to each packet. They may be negative.
        overhead: i32 = 0, in -64..=256;
        /// Bytes that a packet takes at least, overhead included.
        mpu: Bytes = Bytes(0), in Bytes(0)..=Bytes(256);
        /// Cells or frames below the link that make packets longer.
        framing: CellFraming = CellFraming::Noatm;
        /// Round-trip time that COBALT expects: its `interval`.
        rtt: Span = Span::from_millis(100), in (Bound::Excluded(Span::ZERO), Bound::Unbounded), also "interval";
        /// COBALT's target for the queueing delay. `auto`: a twentieth of `rtt`.
        target: Option<Span> = None, in (Bound::Excluded(Span::ZERO), Bound::Unbounded);
        /// Tins, and which codepoints they serve.
        diffserv: Diffserv = Diffserv::Diffserv3;
        /// Which have equal turns: flows, hosts, or hosts and the flows of each.
        isolation: Isolation = Isolation::TripleIsolate;
        /// Which acknowledgements are dropped because a later one says the same.
        ack_filter: AckFilter = AckFilter::Off;
        cobalt {
            /// Size of the largest packet, to which COBALT's times are adapted when CAKE shapes.
            mtu,
            ecn
        }
    }
    presets {
        "linux" "Linux 5.5's sch_cake (the defaults)" {}
    }
    reasons { FlowLimit, Early, Sojourn, Overload, AckFilter }
    gauges {
        Gauge::new("sparse_flows", "queues", "Queues that have sent less than a quantum since they were empty.");
        Gauge::new("bulk_flows", "queues", "Queues that have sent more than a quantum since they were empty.");
        Gauge::new("decaying_flows", "queues", "Empty queues whose COBALT is not yet at rest.");
        Gauge::new("fattest_bytes", "bytes", "Bytes in the longest queue.");
        Gauge::of_flow("queued", "packets", "Packets in the flow's queue.");
        Gauge::of_flow("probability", "probability", "Drop probability of BLUE in the flow's queue.");
    }
}

crate::reasons! {
    /// A later acknowledgement made this one unnecessary.
    AckFilter = "ack_filter", "later acknowledgements say the same";
}

impl CakeConfig {
    /// The framing that the shaper accounts for.
    pub(super) fn framing(&self) -> Framing {
        // Lossless: the range of `mpu` ends at 256.
        Framing { overhead: self.overhead, mpu: self.mpu.0 as u32, cells: self.framing }
    }
}
