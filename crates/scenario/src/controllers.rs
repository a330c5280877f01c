//! Catalog of congestion controllers and loss recoveries: section, citation and options.

use aqm::ParameterInfo;
use aqm::params::range_in_words;

use crate::cc::{Cc, ControllerRow, Recovery, UdpCc};
use crate::changes::Changes;
use crate::model::Scenario;
use crate::schema::{Key, RawTable, RawTcp, RawUdp};

/// A congestion controller or loss recovery: a value of `cc` or `recovery` in a group of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controller {
    /// The name in scenario files.
    pub name: &'static str,
    /// One-line summary.
    pub summary: &'static str,
    /// The publication that defines it.
    pub citation: &'static str,
    /// The section of scenario files that takes it: `tcp` or `udp`.
    pub section: &'static str,
    /// The key in that section that takes its name.
    pub key: &'static str,
}

/// Keys that are listed as options of a controller. Their default depends on the controller, they change its reaction,
/// or only some controllers have them.
#[rustfmt::skip]
const OPTIONS: [&str; 27] = [
    "recovery", "window", "initial_window", "pacing", "ecn", "prr", "accecn", "classic_fallback", "hystart", "abe", "abc", "target",
    "gain", "cubic_beta", "cubic_full_alpha", "cubic_hystart", "cubic_whole", "vegas_alpha", "vegas_beta", "vegas_gamma", "vegas_linux", "rate", "min_rate",
    "report_interval", "packet", "header", "feedback",
];

impl Controller {
    /// All controllers: of TCP, its loss recoveries, then of UDP.
    pub fn all() -> impl Iterator<Item = Controller> {
        let of = |section, key, rows: &'static [ControllerRow]| {
            rows.iter().map(move |&(name, summary, citation)| Controller { name, summary, citation, section, key })
        };
        let tcp = of("tcp", "cc", Cc::ROWS);
        // A recovery that shares a controller's name is left out: `cc = "reno"` alone implies `recovery = "reno"`.
        let recoveries =
            of("tcp", "recovery", Recovery::ROWS).filter(|row| Cc::ALL.iter().all(|cc| cc.name() != row.name));
        let udp = of("udp", "cc", UdpCc::ROWS).filter(|row| row.name != UdpCc::Off.name());
        tcp.chain(recoveries).chain(udp)
    }

    /// Finds a controller by name.
    pub fn find(name: &str) -> Option<Controller> {
        Controller::all().find(|controller| controller.name == name)
    }

    /// The controller's options, with their defaults in the profile `rfc`.
    pub fn fields(self) -> Vec<ParameterInfo> {
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
            Some(ParameterInfo {
                name: key.name,
                also: &[],
                inverse: &[],
                renamed_from: &[],
                doc,
                kind: key.form.words,
                default,
                range,
            })
        };
        options.filter_map(field).collect()
    }

    /// A group that names only this controller, with every default filled in.
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

/// Strips links and quotes from Markdown, for terminals.
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
    fn every_controller_is_found_by_its_name_and_has_defaults() {
        for controller in Controller::all() {
            assert_eq!(Controller::find(controller.name), Some(controller));
            assert!(controller.fields().iter().all(|field| !field.default.is_empty()), "{controller:?}");
        }
    }

    #[test]
    fn defaults_depend_on_the_controller() {
        // docs/guide/scenarios.md: DCTCP and Prague are ECN-capable by default, and Prague paces. Reno does without
        // RACK, which is newer.
        assert_eq!([default("reno", "ecn"), default("dctcp", "ecn")], ["false", "true"]);
        assert_eq!([default("cubic", "pacing"), default("prague", "pacing")], ["false", "true"]);
        assert_eq!([default("sack", "recovery"), default("cubic", "recovery")], ["sack", "rack"]);
        // RFC 6817, section 2.5.
        assert_eq!([default("ledbat", "target"), default("ledbat", "gain")], ["100ms", "1.0"]);
        // TFRC's upper bound is its access link's rate.
        assert_eq!([default("tfrc", "rate"), default("tfrc", "header")], ["100Mbit/s", "40B"]);
        // A call has a range of rates, and packets of its own. SCReAM's receiver reports often.
        assert_eq!([default("nada", "rate"), default("nada", "min_rate")], ["2.5Mbit/s", "150kbit/s"]);
        assert_eq!([default("gcc", "report_interval"), default("scream", "report_interval")], ["100ms", "20ms"]);
    }
}
