//! Writes a scenario as a file.

use std::fmt::Write;

use aqm::{ClassId, Qdisc, Rate, Span};
use toml::Spanned;

use crate::classify::TrafficClass;
use crate::fields::{AnyOf, Dscp, IpProtocol, PrefixOrOwn};
use crate::inputs::INPUTS;
use crate::medium::{Impairments, RateVariation};
use crate::model::{FlowGroup, Record, Scenario};
use crate::network::{COMPARED, DirectionSettings, Link};
use crate::schema::{
    Entries, Located, RawClass, RawClassify, RawDirection, RawEndpoints, RawGroup, RawHeaders, RawLink, RawMedium,
    RawRecord, RawRun, RawStep, RawTcp, RawUdp, given,
};
use crate::values::Seeds;

impl Scenario {
    /// The scenario as TOML in canonical form: every key, defaults included, in a fixed order. Reading it gives an
    /// equal scenario, and equal scenarios give the same bytes.
    pub fn to_toml(&self) -> String {
        self.head_to_toml() + &self.sections_to_toml()
    }

    /// The first part of the canonical form: the keys before the first section, among them the seeds.
    pub fn head_to_toml(&self) -> String {
        let mut page = TomlPage(String::new());
        page.table(&RawRun {
            name: given(self.name.clone()),
            about: given(self.about.clone()),
            duration: given(self.duration),
            warmup: given(self.warmup),
            seeds: given(Seeds(self.seeds.clone())),
            qdiscs: list(self.qdiscs.iter().cloned()),
            fair: self.fair.and_then(given),
        });
        page.0
    }

    /// The rest of the canonical form, which scenarios that differ only in their seeds share.
    pub fn sections_to_toml(&self) -> String {
        let mut page = TomlPage(String::new());
        let heading = if self.links.len() == 1 { "[link]" } else { "[[link]]" };
        for link in &self.links {
            page.section(heading, &self::link(link));
            page.section("[link.reverse]", &direction(&link.reverse));
        }
        for tcp in &self.tcp {
            let (group, ends, headers) = self.group(tcp);
            page.section("[[tcp]]", &RawTcp { group, ends, headers, ..tcp.settings.raw() });
        }
        for udp in &self.udp {
            let (group, ends, headers) = self.group(udp);
            page.section("[[udp]]", &RawUdp { group, ends, headers, ..udp.settings.raw() });
        }
        page.section("[classify]", &RawClassify { flow: given(self.flow_key) });
        self.classes.iter().for_each(|rule| page.section("[[class]]", &class(rule, &self.classes)));
        page.section("[record]", &self.raw_record());
        page.0
    }

    fn raw_record(&self) -> RawRecord {
        let Record { interval, events, flows, flow_interval, capture } = &self.record;
        RawRecord {
            interval: given(*interval),
            events: given(*events),
            flows: list(flows.iter().cloned()),
            flow_interval: given(*flow_interval),
            capture: list(capture.iter().map(|link| self.links[usize::from(*link)].name.clone())),
        }
    }

    /// The keys that TCP and UDP groups share.
    fn group<S>(&self, group: &FlowGroup<S>) -> (RawGroup, RawEndpoints, RawHeaders) {
        let headers = &group.headers;
        (
            RawGroup {
                name: given(group.name.clone()),
                profile: None,
                flows: given(group.flows),
                from: None,
                to: None,
                route: list(self.nodes(&group.route).into_iter().map(String::from)),
                traffic: given(group.traffic.clone()),
            },
            RawEndpoints {
                access: None,
                sender: given(group.sender.raw()),
                receiver: given(group.receiver.raw()),
                rtt: None,
                start: given(group.start.into()),
                stop: given(group.stop),
            },
            RawHeaders {
                source: given(PrefixOrOwn(headers.source)),
                destination: given(PrefixOrOwn(headers.destination)),
                source_port: given(headers.source_port),
                destination_port: given(headers.destination_port),
                dscp: given(Dscp(headers.dscp)),
                label: given(headers.label.clone()),
            },
        )
    }
}

fn list<T>(values: impl Iterator<Item = T>) -> Located<Vec<Spanned<T>>> {
    given(values.map(|value| Spanned::new(0..0, value)).collect())
}

fn link(link: &Link) -> RawLink {
    let RawDirection { rate, medium, limit, qdisc } = direction(&link.forward);
    RawLink {
        name: given(link.name.clone()),
        from: given(link.from.clone()),
        to: given(link.to.clone()),
        delay: given(link.delay),
        rate,
        medium,
        limit,
        qdisc,
        reverse: None,
    }
}

fn direction(settings: &DirectionSettings) -> RawDirection {
    let medium = medium(settings);
    RawDirection {
        rate: given(settings.rate).filter(|_| medium.trace.is_none()),
        medium,
        limit: given(settings.limit),
        qdisc: given(settings.qdisc.clone().unwrap_or_else(|| Qdisc::named(COMPARED))),
    }
}

fn medium(settings: &DirectionSettings) -> RawMedium {
    let Impairments { loss, burst, burst_max, lost_packets, duplicate, remarks, jitter, reorder, reorder_by } =
        &settings.impairments;
    let medium = RawMedium {
        overhead: given(settings.framing),
        loss: given(*loss),
        loss_burst: burst.and_then(given),
        loss_burst_max: burst_max.and_then(given),
        loss_at: list(lost_packets.iter().copied()).filter(|_| !lost_packets.is_empty()),
        duplicate: given(*duplicate),
        ecn: given(remarks.ecn),
        dscp: remarks.dscp.and_then(|dscp| given(Dscp(dscp))),
        jitter: given(*jitter),
        reorder: given(*reorder),
        reorder_by: given(*reorder_by),
        ..RawMedium::default()
    };
    match &settings.rate_variation {
        RateVariation::Constant => medium,
        RateVariation::Schedule { steps, period } => {
            let step = |(at, rate): &(Span, Rate)| RawStep { at: given(*at), rate: given(*rate) };
            RawMedium { schedule: list(steps.iter().map(step)), schedule_period: period.and_then(given), ..medium }
        }
        RateVariation::Trace { name, .. } => RawMedium { trace: given(format!("{INPUTS}/{name}")), ..medium },
        RateVariation::Slots { length } => RawMedium { slot: given(*length), ..medium },
        RateVariation::Aggregates { most, gap } => {
            RawMedium { aggregate: given(*most), aggregate_gap: given(*gap), ..medium }
        }
    }
}

fn class(class: &TrafficClass, all: &[TrafficClass]) -> RawClass {
    let conditions = &class.conditions;
    RawClass {
        name: given(class.name.clone()),
        parent: class.parent.and_then(|ClassId(number)| given(all[usize::from(number) - 1].name.clone())),
        weight: given(class.weight),
        protocol: any_of(conditions.protocol.iter().copied().map(IpProtocol)),
        source: any_of(conditions.source.iter().copied()),
        destination: any_of(conditions.destination.iter().copied()),
        source_port: any_of(conditions.source_port.iter().copied()),
        destination_port: any_of(conditions.destination_port.iter().copied()),
        dscp: any_of(conditions.dscp.iter().copied().map(Dscp)),
        label: any_of(conditions.label.iter().cloned()),
    }
}

/// The values of a condition. A condition without values gives `None` and is not written.
fn any_of<T>(values: impl Iterator<Item = T>) -> Located<AnyOf<T>> {
    let values: Vec<T> = values.collect();
    if values.is_empty() { None } else { given(AnyOf(values)) }
}

struct TomlPage(String);

impl TomlPage {
    fn section(&mut self, heading: &str, table: &impl Entries) {
        writeln!(self.0, "\n{heading}").expect("a String takes any text");
        self.table(table);
    }

    fn table(&mut self, table: &impl Entries) {
        for (key, value) in table.entries() {
            writeln!(self.0, "{key} = {value}").expect("a String takes any text");
        }
    }
}
