//! Writes a scenario as a file.

use std::fmt::Write;

use headgate_core::ClassId;

use crate::classify::{ClassRule, Conditions};
use crate::fields::{Dscp, OrOwn, Protocol};
use crate::inputs::INPUTS;
use crate::medium::{Impairments, Pace};
use crate::model::{Access, FlowGroup, Record, Scenario};
use crate::network::{COMPARED, Link, Simplex};
use crate::schema::{RawTable, RawTcp, RawUdp, Show};
use crate::values::Seeds;

impl Scenario {
    /// The scenario as TOML in canonical form: every key, defaults included, in a fixed order. Reading it gives an
    /// equal scenario, and equal scenarios give the same bytes.
    pub fn to_toml(&self) -> String {
        let mut page = Page(String::new());
        page.put("name", &self.name);
        page.put("about", &self.about);
        page.put("duration", &self.duration);
        page.put("warmup", &self.warmup);
        page.put("seeds", &Seeds(self.seeds.clone()));
        page.put("qdiscs", &self.qdiscs.iter().map(ToString::to_string).collect::<Vec<_>>());
        let heading = if self.links.len() == 1 { "[link]" } else { "[[link]]" };
        self.links.iter().for_each(|link| page.link(heading, link));
        for tcp in &self.tcp {
            page.table::<RawTcp>("[[tcp]]", group(tcp, &self.nodes(&tcp.route), tcp.settings.entries()));
        }
        for udp in &self.udp {
            page.table::<RawUdp>("[[udp]]", group(udp, &self.nodes(&udp.route), udp.settings.entries()));
        }
        page.head("[classify]");
        page.put("flow", &self.flow_key.to_string());
        self.classes.iter().for_each(|class| page.class(class, &self.classes));
        let Record { interval, events, flows, flow_interval, capture } = &self.record;
        page.head("[record]");
        page.put("interval", interval);
        page.put("events", events);
        page.put("flows", &flows.iter().map(ToString::to_string).collect::<Vec<_>>());
        page.put("flow_interval", flow_interval);
        let captured = |link: &u16| self.links[usize::from(*link)].name.clone();
        page.put("capture", &capture.iter().map(captured).collect::<Vec<_>>());
        page.0
    }
}

struct Page(String);

impl Page {
    fn head(&mut self, heading: &str) {
        writeln!(self.0, "\n{heading}").expect("a String takes any text");
    }
    fn plain(&mut self, key: &str, value: &str) {
        writeln!(self.0, "{key} = {value}").expect("a String takes any text");
    }
    fn put(&mut self, key: &str, value: &impl Show) {
        self.plain(key, &value.show());
    }

    /// A table of `T`, with entries in the order of its keys.
    fn table<T: RawTable>(&mut self, heading: &str, mut entries: Vec<(&'static str, String)>) {
        self.head(heading);
        let names = T::names();
        entries.sort_by_key(|(key, _)| names.iter().position(|name| name == key));
        entries.iter().for_each(|(key, value)| self.plain(key, value));
    }

    fn link(&mut self, heading: &str, link: &Link) {
        self.head(heading);
        self.put("name", &link.name);
        self.put("from", &link.from);
        self.put("to", &link.to);
        self.put("delay", &link.delay);
        self.simplex(&link.forward);
        self.head("[link.reverse]");
        self.simplex(&link.reverse);
    }

    fn simplex(&mut self, simplex: &Simplex) {
        match &simplex.pace {
            Pace::Trace { name, .. } => self.put("trace", &format!("{INPUTS}/{name}")),
            Pace::Constant => self.put("rate", &simplex.rate),
            Pace::Schedule { steps, period } => {
                self.put("rate", &simplex.rate);
                let steps = steps.iter().map(|(at, rate)| format!("{{ at = \"{at}\", rate = \"{rate}\" }}"));
                self.plain("schedule", &format!("[{}]", steps.collect::<Vec<_>>().join(", ")));
                period.iter().for_each(|period| self.put("schedule_period", period));
            }
        }
        let Impairments { loss, burst, jitter, reorder, reorder_by } = &simplex.impairments;
        self.put("loss", loss);
        burst.iter().for_each(|burst| self.put("loss_burst", burst));
        self.put("jitter", jitter);
        self.put("reorder", reorder);
        self.put("reorder_by", reorder_by);
        self.put("limit", &simplex.limit);
        self.put("qdisc", &simplex.qdisc.as_ref().map_or_else(|| COMPARED.to_string(), ToString::to_string));
    }

    /// Absent conditions have no text.
    fn class(&mut self, class: &ClassRule, all: &[ClassRule]) {
        self.head("[[class]]");
        self.put("name", &class.name);
        if let Some(ClassId(number)) = class.parent {
            self.put("parent", &all[usize::from(number) - 1].name);
        }
        self.put("weight", &class.weight);
        let Conditions { protocol, source, destination, source_port, destination_port, dscp, label } =
            &class.conditions;
        self.any_of("protocol", protocol.iter().copied().map(Protocol).collect());
        self.any_of("source", source.clone());
        self.any_of("destination", destination.clone());
        self.any_of("source_port", source_port.clone());
        self.any_of("destination_port", destination_port.clone());
        self.any_of("dscp", dscp.iter().copied().map(Dscp).collect());
        self.any_of("label", label.clone());
    }

    fn any_of<T: Show>(&mut self, key: &str, values: Vec<T>) {
        match values.as_slice() {
            [] => {}
            [one] => self.put(key, one),
            _ => self.put(key, &values),
        }
    }
}

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
