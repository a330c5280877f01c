//! The keys at the top of a file, and the sections that are not links or flows.

use headgate_core::{Qdisc, Span};
use ipnet::IpNet;
use toml::Spanned;

use super::declare::keys;
use super::{RawLinks, RawTcp, RawUdp};
use crate::classify::FlowKey;
use crate::fields::{AnyOf, Dscp, Ports, Protocol};
use crate::model::Events;
use crate::record::Traced;
use crate::values::{AnyTable, Seeds};

keys! {
    /// A scenario file.
    pub(crate) struct RawScenario {
        ..run: RawRun;
        /// the disciplines to compare, all different
        qdiscs: Vec<Spanned<Qdisc>>, "required";
        /// the bottleneck, a section headed `[link]`; or the links of a network, headed `[[link]]`; 1000 at most
        link: RawLinks, "required";
        /// groups of TCP flows, headed `[[tcp]]`; of TCP and UDP one at least, 1000000 flows and 1000 groups of each kind at most,
        /// 4294967295 packets a flow
        tcp: Vec<Spanned<RawTcp>>, "none";
        /// groups of UDP flows, headed `[[udp]]`
        udp: Vec<Spanned<RawUdp>>, "none";
        /// what a discipline takes for one flow, a section
        classify: RawClassify, "its defaults";
        /// aggregates of flows, headed `[[class]]`; 1000 at most
        class: Vec<Spanned<RawClass>>, "none";
        /// what to write down, a section
        record: RawRecord, "its defaults";
        /// values of keys, for [`headgate sweep`](sweeps.md); no other command reads it
        sweep: AnyTable, "nothing";
        /// what results must keep, for [`headgate check`](check.md); no other command reads it
        expect: Vec<Spanned<String>>, "nothing";
    }
}

keys! {
    /// What a run is.
    pub(crate) struct RawRun {
        /// name of the scenario, and of the folder results go to
        name: String, "required";
        /// one or two sentences for the report
        about: String, "empty";
        /// simulated time of one run, at most 24 h
        duration: Span, "required";
        /// time at the beginning that no figure counts, less than `duration`
        warmup: Span, "`\"0s\"`";
        /// a count (10 is 1, 2, ... 10; at most 10000), or a list of different whole numbers
        seeds: Seeds, "`1`";
    }
}

keys! {
    /// What a discipline takes for one flow.
    pub(crate) struct RawClassify {
        /// which packets are one flow: those alike in the `"5-tuple"` (addresses, ports, protocol), in `"source"`,
        /// `"destination"` or `"pair"` (both addresses), in the first bits of one (`"source/24"`, `"destination/48"`), or in
        /// `"protocol"`, `"dscp"`, `"class"` or `"label"`
        flow: FlowKey, "`\"5-tuple\"`";
    }
}

keys! {
    /// An aggregate of flows.
    pub(crate) struct RawClass several "classes headed [[class]], in double brackets" {
        /// the class's name
        name: String, "required";
        /// the name of a class before it, of whose share it has a part
        parent: String, "none";
        /// its share beside those of its siblings, above 0, at most 1000000
        weight: f64, "`1`";
        /// condition: `"tcp"`, `"udp"`, `"icmp"`, `"icmpv6"`, `"sctp"` or a number
        protocol: AnyOf<Protocol>, "any";
        /// condition: an address or a prefix of senders
        source: AnyOf<IpNet>, "any";
        /// condition: an address or a prefix of receivers
        destination: AnyOf<IpNet>, "any";
        /// condition: a port or a range of senders
        source_port: AnyOf<Ports>, "any";
        /// condition: a port or a range of receivers
        destination_port: AnyOf<Ports>, "any";
        /// condition: a name or a number
        dscp: AnyOf<Dscp>, "any";
        /// condition: the `label` of a group
        label: AnyOf<String>, "any";
    }
}

keys! {
    /// What to write down besides the totals.
    pub(crate) struct RawRecord {
        /// length of a row in the tables over time; at most `duration`, at most 1000000 rows
        interval: Span, "`\"100ms\"`";
        /// rows for single packets at the bottleneck: `"off"`, `"drops"` (and marks, and losses on the way), `"decisions"` (the
        /// same with the discipline's gauges at that moment), `"all"` (arrivals and departures too, without gauges)
        events: Events, "`\"off\"`";
        /// the TCP and TFRC flows whose senders are traced: groups (`"web"`) or single flows counted from 0 (`"web/3"`)
        flows: Vec<Spanned<Traced>>, "`[]`";
        /// the least time between two rows of a traced flow; `"0s"` for a row at every change
        flow_interval: Span, "`\"0s\"`";
        /// the links whose packets are written as [pcapng files](explain.md#captures), by name
        capture: Vec<Spanned<String>>, "`[]`";
    }
}
