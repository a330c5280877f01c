//! What can be said of each congestion controller and loss recovery: who has it, what defines it, which keys of its group are
//! its options.

use headgate_core::Field;
use headgate_core::params::range_in_words;

use crate::cc::{Cc, Recovery, Row, UdpCc};
use crate::changes::Changes;
use crate::model::Scenario;
use crate::schema::{Key, RawTable, RawTcp, RawUdp};

/// A congestion controller or a loss recovery: a word that `cc` or `recovery` takes in a group of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controller {
    /// The name scenario files use.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// The publication that defines it.
    pub citation: &'static str,
    /// Whose it is: `tcp` or `udp`, the section of scenario files that takes it.
    pub section: &'static str,
    /// The key there that takes its name.
    pub key: &'static str,
}

/// The settings whose defaults a controller has a say in, or that say how it reacts, and those of some controllers alone.
#[rustfmt::skip]
const OPTIONS: [&str; 16] = [
    "recovery", "window", "initial_window", "pacing", "ecn", "prr", "accecn", "hystart", "abe", "abc", "target", "gain", "rate",
    "packet", "header", "feedback",
];

impl Controller {
    /// Every controller: those of TCP in the order in which they are listed, its loss recoveries, then that of UDP.
    pub fn all() -> impl Iterator<Item = Controller> {
        let of = |section, key, rows: &'static [Row]| {
            rows.iter().map(move |&(name, summary, citation)| Controller { name, summary, citation, section, key })
        };
        let tcp = of("tcp", "cc", Cc::ROWS);
        // One name is one thing: `cc = "reno"` alone brings the recovery of that name.
        let recoveries =
            of("tcp", "recovery", Recovery::ROWS).filter(|row| Cc::ALL.iter().all(|cc| cc.name() != row.name));
        let udp = of("udp", "cc", UdpCc::ROWS).filter(|row| row.name != UdpCc::Off.name());
        tcp.chain(recoveries).chain(udp)
    }

    /// The controller called `name`, if there is one.
    pub fn find(name: &str) -> Option<Controller> {
        Controller::all().find(|controller| controller.name == name)
    }

    /// The keys of its group that bear on it, with the defaults that they have beside it in the profile `rfc`.
    pub fn fields(self) -> Vec<Field> {
        let group = self.group();
        let keys = if self.section == "tcp" { RawTcp::keys() } else { RawUdp::keys() };
        let options = keys.into_iter().filter(|key| key.is_setting && OPTIONS.contains(&key.name));
        let field = |key: Key| {
            let default = match group.get(key.name)? {
                toml::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let range = range_in_words(&(key.least, key.most));
            let doc = unlinked(&key.meaning);
            Some(Field { name: key.name, also: &[], doc, kind: key.form.words, default, range })
        };
        options.filter_map(field).collect()
    }

    /// A group that says nothing but this, every default filled in.
    fn group(self) -> toml::Table {
        let Controller { name, section, key, .. } = self;
        let link = "rate = \"10Mbit/s\"\ndelay = \"10ms\"\nlimit = \"100p\"";
        let text = format!(
            "name = \"{name}\"\nduration = \"1s\"\nqdiscs = [\"droptail\"]\n[link]\n{link}\n[[{section}]]\n{key} = \"{name}\"\n"
        );
        let read = Scenario::read(&text, name, &Changes::default()).expect("a group needs no more than this");
        let whole: toml::Table = read.to_toml().parse().expect("a scenario is written as TOML");
        whole[section][0].as_table().cloned().unwrap_or_default()
    }
}

/// Markdown without its links and quotes, as terminals show it.
fn unlinked(markdown: &str) -> String {
    let mut parts = markdown.split("](");
    let first = parts.next().unwrap_or_default().to_string();
    let text = parts.fold(first, |text, part| text + part.split_once(')').map_or("", |(_, rest)| rest));
    text.replace(['[', '`'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn default(name: &str, key: &str) -> String {
        let fields = Controller::find(name).unwrap().fields();
        fields.into_iter().find(|field| field.name == key).unwrap().default
    }

    #[test]
    fn every_controller_is_found_by_its_name_and_tells_its_defaults() {
        for controller in Controller::all() {
            assert_eq!(Controller::find(controller.name), Some(controller));
            assert!(controller.fields().iter().all(|field| !field.default.is_empty()), "{controller:?}");
        }
    }

    #[test]
    fn defaults_are_those_beside_the_controller() {
        // docs/guide/scenarios.md: DCTCP and Prague can be marked, Prague paces; RACK came after Reno.
        assert_eq!([default("reno", "ecn"), default("dctcp", "ecn")], ["false", "true"]);
        assert_eq!([default("cubic", "pacing"), default("prague", "pacing")], ["false", "true"]);
        assert_eq!([default("sack", "recovery"), default("cubic", "recovery")], ["sack", "rack"]);
        // RFC 6817, section 2.5.
        assert_eq!([default("ledbat", "target"), default("ledbat", "gain")], ["100ms", "1.0"]);
        // TFRC's most is its access link's rate.
        assert_eq!([default("tfrc", "rate"), default("tfrc", "header")], ["100Mbit/s", "40B"]);
    }
}
