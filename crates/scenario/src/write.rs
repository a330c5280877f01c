//! From a scenario to the text of a file that says all of it.

use std::fmt::{Display, Write};

use headgate_core::ClassId;

use crate::classify::{ClassRule, Conditions};
use crate::fields::{Dscp, OrOwn, Protocol};
use crate::inputs::INPUTS;
use crate::medium::{Impairments, Pace};
use crate::model::{Access, FlowGroup, Scenario};
use crate::network::{COMPARED, Link, Simplex};
use crate::schema::{RawTable, RawTcp, RawUdp, Show};

impl Scenario {
    /// The scenario as a TOML file in its canonical form: every key written out, defaults too, in a fixed order.
    /// Reading it gives an equal scenario, and equal scenarios give the same bytes.
    pub fn to_toml(&self) -> String {
        let mut page = Page(String::new());
        page.text("name", &self.name);
        page.text("about", &self.about);
        page.quoted("duration", self.duration);
        page.quoted("warmup", self.warmup);
        page.plain("seeds", self.seeds_as_written());
        let qdiscs: Vec<String> = self.qdiscs.iter().map(|qdisc| qdisc.to_string().show()).collect();
        page.plain("qdiscs", format!("[{}]", qdiscs.join(", ")));
        let heading = if self.links.len() == 1 { "[link]" } else { "[[link]]" };
        self.links.iter().for_each(|link| page.link(heading, link));
        for tcp in &self.tcp {
            page.table::<RawTcp>("[[tcp]]", group(tcp, &self.nodes(&tcp.route), tcp.settings.entries()));
        }
        for udp in &self.udp {
            page.table::<RawUdp>("[[udp]]", group(udp, &self.nodes(&udp.route), udp.settings.entries()));
        }
        page.head("[classify]");
        page.quoted("flow", self.flow_key);
        self.classes.iter().for_each(|class| page.class(class, &self.classes));
        page.head("[record]");
        page.quoted("interval", self.record.interval);
        page.quoted("events", self.record.events);
        let flows: Vec<String> = self.record.flows.iter().map(|flow| format!("\"{flow}\"")).collect();
        page.plain("flows", format_args!("[{}]", flows.join(", ")));
        page.quoted("flow_interval", self.record.flow_interval);
        let capture: Vec<String> =
            self.record.capture.iter().map(|link| format!("\"{}\"", self.links[usize::from(*link)].name)).collect();
        page.plain("capture", format_args!("[{}]", capture.join(", ")));
        page.0
    }

    /// A count where the seeds are 1, 2, ... n, else the list.
    fn seeds_as_written(&self) -> String {
        if self.seeds.iter().copied().eq(1..=self.seeds.len() as u64) {
            return self.seeds.len().to_string();
        }
        format!("{:?}", self.seeds)
    }
}

/// A file as it is written, line by line.
struct Page(String);

impl Page {
    fn head(&mut self, heading: &str) {
        writeln!(self.0, "\n{heading}").expect("a String takes any text");
    }
    fn plain(&mut self, key: &str, value: impl Display) {
        writeln!(self.0, "{key} = {value}").expect("a String takes any text");
    }
    /// A value whose text needs no escapes.
    fn quoted(&mut self, key: &str, value: impl Display) {
        self.plain(key, format_args!("\"{value}\""));
    }
    fn text(&mut self, key: &str, value: &str) {
        self.plain(key, value.to_string().show());
    }

    /// A table of `T`, whose entries come in the order of its keys.
    fn table<T: RawTable>(&mut self, heading: &str, mut entries: Vec<(&'static str, String)>) {
        self.head(heading);
        let names = T::names();
        entries.sort_by_key(|(key, _)| names.iter().position(|name| name == key));
        entries.iter().for_each(|(key, value)| self.plain(key, value));
    }

    fn link(&mut self, heading: &str, link: &Link) {
        self.head(heading);
        self.quoted("name", &link.name);
        self.quoted("from", &link.from);
        self.quoted("to", &link.to);
        self.quoted("delay", link.delay);
        self.simplex(&link.forward);
        self.head("[link.reverse]");
        self.simplex(&link.reverse);
    }

    fn simplex(&mut self, simplex: &Simplex) {
        match &simplex.pace {
            Pace::Trace { name, .. } => self.text("trace", &format!("{INPUTS}/{name}")),
            Pace::Constant => self.quoted("rate", simplex.rate),
            Pace::Schedule { steps, period } => {
                self.quoted("rate", simplex.rate);
                let steps = steps.iter().map(|(at, rate)| format!("{{ at = \"{at}\", rate = \"{rate}\" }}"));
                self.plain("schedule", format_args!("[{}]", steps.collect::<Vec<_>>().join(", ")));
                period.iter().for_each(|period| self.quoted("schedule_period", period));
            }
        }
        let Impairments { loss, burst, jitter, reorder, reorder_by } = simplex.impairments;
        self.plain("loss", format_args!("{loss:?}"));
        burst.iter().for_each(|burst| self.plain("loss_burst", format_args!("{burst:?}")));
        self.quoted("jitter", jitter);
        self.plain("reorder", format_args!("{reorder:?}"));
        self.quoted("reorder_by", reorder_by);
        self.quoted("limit", simplex.limit);
        match &simplex.qdisc {
            Some(qdisc) => self.text("qdisc", &qdisc.to_string()),
            None => self.text("qdisc", COMPARED),
        }
    }

    /// A class among `all`. A condition it does not have has no text.
    fn class(&mut self, class: &ClassRule, all: &[ClassRule]) {
        self.head("[[class]]");
        self.quoted("name", &class.name);
        if let Some(ClassId(number)) = class.parent {
            self.quoted("parent", &all[usize::from(number) - 1].name);
        }
        self.plain("weight", format_args!("{:?}", class.weight));
        let Conditions { protocol, source, destination, source_port, destination_port, dscp, label } =
            &class.conditions;
        self.any_of("protocol", protocol, |value| Protocol(*value).show());
        self.any_of("source", source, Show::show);
        self.any_of("destination", destination, Show::show);
        self.any_of("source_port", source_port, Show::show);
        self.any_of("destination_port", destination_port, Show::show);
        self.any_of("dscp", dscp, |value| Dscp(*value).show());
        self.any_of("label", label, Show::show);
    }

    fn any_of<T>(&mut self, key: &str, values: &[T], text: impl Fn(&T) -> String) {
        match values {
            [] => {}
            [one] => self.plain(key, text(one)),
            more => self.plain(key, format_args!("[{}]", more.iter().map(text).collect::<Vec<_>>().join(", "))),
        }
    }
}

/// What every group of flows says, and the entries of its settings.
fn group<S>(
    group: &FlowGroup<S>,
    nodes: &[&str],
    settings: Vec<(&'static str, String)>,
) -> Vec<(&'static str, String)> {
    let access = |access: &Access| format!("{{ rate = \"{}\", delay = \"{}\" }}", access.rate, access.delay);
    let headers = &group.headers;
    let shared = [
        ("name", group.name.show()),
        ("flows", group.flows.to_string()),
        ("route", format!("{nodes:?}")),
        ("traffic", group.traffic.to_string().show()),
        ("sender", access(&group.sender)),
        ("receiver", access(&group.receiver)),
        ("start", group.start.to_string()),
        ("stop", group.stop.show()),
        ("source", OrOwn(headers.source).show()),
        ("destination", OrOwn(headers.destination).show()),
        ("source_port", headers.source_port.show()),
        ("destination_port", headers.destination_port.show()),
        ("dscp", Dscp(headers.dscp).show()),
        ("label", headers.label.show()),
    ];
    shared.into_iter().chain(settings).collect()
}
