//! The keys at the top of a file, and the sections that are not links or flows.

use aqm::{Qdisc, Span};
use ipnet::IpNet;
use toml::Spanned;

use super::declare::keys;
use super::{RawLinks, RawTcp, RawUdp};
use crate::check::{POSITIVE_TIME, above};
use crate::classify::FlowKey;
use crate::fair::FairUnit;
use crate::fields::{AnyOf, Dscp, IpProtocol, Ports};
use crate::model::Events;
use crate::record::Traced;
use crate::values::{AnyTable, Seeds};

keys! {
    /// A scenario file.
    pub(crate) struct RawScenario of sections {
        ..run: RawRun;
        /// the bottleneck, a section headed `[link]`; or the links of a network, each headed `[[link]]`, at most 1000
        link: RawLinks;
        /// groups of TCP flows, each headed `[[tcp]]`. A scenario has at least one group of TCP or UDP flows, at most
        /// 1000 of each kind, at most 1000000 flows, and at most 4294967295 packets a flow
        tcp: Vec<Spanned<RawTcp>> = Vec::new(), "none";
        /// groups of UDP flows, each headed `[[udp]]`
        udp: Vec<Spanned<RawUdp>> = Vec::new(), "none";
        /// which packets disciplines treat as one flow, a section
        classify: RawClassify, "its defaults";
        /// aggregates of flows, each headed `[[class]]`; at most 1000
        class: Vec<Spanned<RawClass>> = Vec::new(), "none";
        /// what to record besides totals, a section
        record: RawRecord, "its defaults";
        /// values of keys for [`headgate sweep`](sweeps.md); other commands ignore it
        sweep: AnyTable, "nothing";
        /// expectations on the results for [`headgate check`](check.md); other commands ignore it
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
        /// length of one run
        duration: Span, in POSITIVE_TIME;
        /// time at the start of a run that results leave out; less than `duration`
        warmup: Span = Span::ZERO;
        /// one run for each seed: a count (10 means seeds 1 to 10), or a list of different whole numbers; at most 10000
        seeds: Seeds = Seeds(vec![1]);
        /// the disciplines to compare, all different
        qdiscs: Vec<Spanned<Qdisc>>;
        /// the unit that [fair shares](#fair-to-whom) are for: `"flow"`, `"host"`, `"group"` or `"class"`
        fair: FairUnit, "flow; results also show fairness by host if hosts have different numbers of flows", since "0.2";
    }
}

keys! {
    /// The packets that disciplines treat as one flow.
    pub(crate) struct RawClassify {
        /// the header fields that the packets of one flow have in common: `"5-tuple"` (addresses, ports, protocol),
        /// `"source"`, `"destination"`, `"pair"` (both addresses), `"address_sum"` (the sum of both, as in ns-2's SFQ), a
        /// prefix of an address (`"source/24"`, `"destination/48"`), `"protocol"`, `"dscp"`, `"class"` or `"label"`
        flow: FlowKey = FlowKey::FiveTuple;
    }
}

keys! {
    /// An aggregate of flows.
    pub(crate) struct RawClass several "classes headed [[class]], in double brackets" {
        /// name of the class
        name: String;
        /// name of an earlier class; this class and its siblings divide the share of that class
        parent: String, "none";
        /// share relative to the siblings: a class of weight 2 gets twice as much as one of weight 1
        // The bound is beyond any useful ratio of shares.
        weight: f64 = 1.0, in above(0.0, 1e6);
        /// condition on the IP protocol: `"tcp"`, `"udp"`, `"icmp"`, `"icmpv6"`, `"sctp"` or a number
        protocol: AnyOf<IpProtocol> = AnyOf(Vec::new()), "any";
        /// condition on the sender's address: an address or a prefix
        source: AnyOf<IpNet> = AnyOf(Vec::new()), "any";
        /// condition on the receiver's address: an address or a prefix
        destination: AnyOf<IpNet> = AnyOf(Vec::new()), "any";
        /// condition on the sender's port: a port or a range
        source_port: AnyOf<Ports> = AnyOf(Vec::new()), "any";
        /// condition on the receiver's port: a port or a range
        destination_port: AnyOf<Ports> = AnyOf(Vec::new()), "any";
        /// condition on the DSCP: a name or a number
        dscp: AnyOf<Dscp> = AnyOf(Vec::new()), "any";
        /// condition on the `label` of a group
        label: AnyOf<String> = AnyOf(Vec::new()), "any";
    }
}

keys! {
    /// Records besides totals.
    pub(crate) struct RawRecord {
        /// time between two rows of the tables over time: at most `duration`, and so long that a run has at most
        /// 1000000 intervals
        interval: Span = Span::from_millis(100);
        /// events at the bottleneck, a row each: `"off"` (none), `"drops"` (drops, marks and link losses),
        /// `"decisions"` (the same, each with the discipline's gauges at that moment), `"all"` (arrivals and departures
        /// too, without gauges)
        events: Events = Events::Off;
        /// TCP and TFRC flows whose senders are traced: groups (`"web"`) or single flows counted from 0 (`"web/3"`)
        flows: Vec<Spanned<Traced>> = Vec::new();
        /// least time between two rows of a traced flow, at most `duration`; at `"0s"` every change has a row
        flow_interval: Span = Span::ZERO;
        /// names of the links whose packets are written to [pcapng files](explain.md#captures)
        capture: Vec<Spanned<String>> = Vec::new();
    }
}
