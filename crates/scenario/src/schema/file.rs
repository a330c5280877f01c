//! The keys at the top of a file, and the sections that are not links or flows.

use headgate_core::{Qdisc, Span};
use ipnet::IpNet;
use toml::Spanned;

use super::declare::keys;
use super::{RawLinks, RawTcp, RawUdp};
use crate::check::{POSITIVE_TIME, above};
use crate::classify::FlowKey;
use crate::fields::{AnyOf, Dscp, IpProtocol, Ports};
use crate::model::Events;
use crate::record::Traced;
use crate::values::{AnyTable, Seeds};

keys! {
    /// A scenario file.
    pub(crate) struct RawScenario of sections {
        ..run: RawRun;
        /// the bottleneck, a section headed `[link]`; or the links of a network, headed `[[link]]`; 1000 at most
        link: RawLinks;
        /// groups of TCP flows, headed `[[tcp]]`; of TCP and UDP one at least, 1000000 flows and 1000 groups of each kind at most,
        /// 4294967295 packets a flow
        tcp: Vec<Spanned<RawTcp>> = Vec::new(), "none";
        /// groups of UDP flows, headed `[[udp]]`
        udp: Vec<Spanned<RawUdp>> = Vec::new(), "none";
        /// which packets disciplines take for one flow, a section
        classify: RawClassify, "its defaults";
        /// aggregates of flows, headed `[[class]]`; 1000 at most
        class: Vec<Spanned<RawClass>> = Vec::new(), "none";
        /// what to write down, a section
        record: RawRecord, "its defaults";
        /// values of keys, for [`headgate sweep`](sweeps.md); no other command reads it
        sweep: AnyTable, "nothing";
        /// what results must keep, for [`headgate check`](check.md); no other command reads it
        expect: Vec<Spanned<String>>, "nothing";
    }
}

keys! {
    /// A run.
    pub(crate) struct RawRun {
        /// name of the scenario and of its result folder
        name: String;
        /// one or two sentences for the report
        about: String = String::new();
        /// simulated time of one run
        duration: Span, in POSITIVE_TIME;
        /// time at the start of a run that figures leave out; less than `duration`
        warmup: Span = Span::ZERO;
        /// a count (10 means seeds 1 to 10), or a list of different whole numbers; at most 10000 seeds
        seeds: Seeds = Seeds(vec![1]);
        /// the disciplines to compare, all different
        qdiscs: Vec<Spanned<Qdisc>>;
    }
}

keys! {
    /// What a discipline takes for one flow.
    pub(crate) struct RawClassify {
        /// which packets are one flow: those alike in the `"5-tuple"` (addresses, ports, protocol), in `"source"`,
        /// `"destination"` or `"pair"` (both addresses), in the first bits of one (`"source/24"`, `"destination/48"`), or in
        /// `"protocol"`, `"dscp"`, `"class"` or `"label"`
        flow: FlowKey = FlowKey::FiveTuple;
    }
}

keys! {
    /// An aggregate of flows.
    pub(crate) struct RawClass several "classes headed [[class]], in double brackets" {
        /// name of the class
        name: String;
        /// name of an earlier class, whose share this class divides with its siblings
        parent: String, "none";
        /// share relative to the siblings
        // The bound is beyond any useful ratio of shares.
        weight: f64 = 1.0, in above(0.0, 1e6);
        /// condition: `"tcp"`, `"udp"`, `"icmp"`, `"icmpv6"`, `"sctp"` or a number
        protocol: AnyOf<IpProtocol> = AnyOf(Vec::new()), "any";
        /// condition: an address or a prefix of senders
        source: AnyOf<IpNet> = AnyOf(Vec::new()), "any";
        /// condition: an address or a prefix of receivers
        destination: AnyOf<IpNet> = AnyOf(Vec::new()), "any";
        /// condition: a port or a range of senders
        source_port: AnyOf<Ports> = AnyOf(Vec::new()), "any";
        /// condition: a port or a range of receivers
        destination_port: AnyOf<Ports> = AnyOf(Vec::new()), "any";
        /// condition: a name or a number
        dscp: AnyOf<Dscp> = AnyOf(Vec::new()), "any";
        /// condition: the `label` of a group
        label: AnyOf<String> = AnyOf(Vec::new()), "any";
    }
}

keys! {
    /// What to write down besides the totals.
    pub(crate) struct RawRecord {
        /// time between two rows of the tables over time: at most `duration`, and at most 1000000 rows a run
        interval: Span = Span::from_millis(100);
        /// rows for single packets at the bottleneck: `"off"`, `"drops"` (and marks, and link losses), `"decisions"` (the same
        /// with the discipline's gauges at that moment), `"all"` (arrivals and departures too, without gauges)
        events: Events = Events::Off;
        /// the TCP and TFRC flows whose senders are traced: groups (`"web"`) or single flows counted from 0 (`"web/3"`)
        flows: Vec<Spanned<Traced>> = Vec::new();
        /// least time between two rows of a traced flow, at most `duration`; `"0s"` for a row at every change
        flow_interval: Span = Span::ZERO;
        /// the links whose packets are written as [pcapng files](explain.md#captures), by name
        capture: Vec<Spanned<String>> = Vec::new();
    }
}
