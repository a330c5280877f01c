//! What can be said of each congestion controller: who has it, what defines it, which keys of its group are its options.

use headgate_core::Field;

use crate::cc::Cc;
use crate::changes::Changes;
use crate::model::Scenario;
use crate::recovery::Recovery;

/// A congestion controller or a loss recovery: a word that `cc` or `recovery` takes in a group of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// Of TCP flows.
    Tcp(Cc),
    /// The loss recovery of TCP flows.
    Recovery(Recovery),
    /// TCP-Friendly Rate Control, of UDP flows.
    Tfrc,
}

/// The options of TCP flows whose defaults the controller has a say in, or that say how it reacts: key, kind, meaning.
const TCP: &[(&str, &str, &str)] = &[
    ("ecn", "true or false", "Packets can be marked (RFC 3168)."),
    ("accecn", "true or false", "The receiver counts marks for the sender (RFC 9768)."),
    ("abe", "true or false", "A mark lowers the window by less than a loss does (RFC 8511)."),
    (
        "abc",
        "off, 1 or 2",
        "Windows grow by what is acknowledged, not by ACKs; in slow start by so many packets an ACK at most (RFC 3465).",
    ),
    ("pacing", "true or false", "Packets leave one by one, at a rate, not as ACKs come."),
    ("recovery", "tahoe, reno, newreno, sack or rack", "How losses are repaired."),
    ("prr", "true or false", "A loss recovery reduces in proportion to what arrives (RFC 9937)."),
    ("hystart", "true or false", "The first slow start ends where round-trip times rise (RFC 9406)."),
    ("initial_window", "packets", "cwnd at the start."),
    ("window", "packets", "The receiver's window, which bounds cwnd."),
];

/// What controllers that go by delays have besides.
const DELAYS: &[(&str, &str, &str)] = &[
    ("target", "time", "The queueing delay to have (TARGET; RFC 6817: at most 100 ms)."),
    ("gain", "number", "Packets a round trip by which the window grows without a queue (GAIN; RFC 6817: at most 1)."),
];

/// The same for TFRC.
const TFRC: &[(&str, &str, &str)] = &[
    ("rate", "rate, or off", "The most that it sends at."),
    ("packet", "bytes", "A packet on the wire, headers included: the s of its equation."),
    ("header", "bytes", "The part of it that is headers."),
    ("feedback", "bytes", "A report of the receiver on the wire."),
    ("ecn", "true or false", "Packets can be marked; a mark counts as a loss (RFC 5348, section 5.1)."),
];

impl Controller {
    /// Every controller: those of TCP in the order in which they are listed, its loss recoveries, then that of UDP.
    pub fn all() -> impl Iterator<Item = Controller> {
        let tcp = Cc::ALL.iter().copied().map(Controller::Tcp);
        // One name is one thing: `cc = "reno"` alone brings the recovery of that name.
        let recoveries = Recovery::ALL.iter().filter(|recovery| Cc::ALL.iter().all(|cc| cc.name() != recovery.name()));
        tcp.chain(recoveries.copied().map(Controller::Recovery)).chain([Controller::Tfrc])
    }

    /// The controller called `name`, if there is one.
    pub fn find(name: &str) -> Option<Controller> {
        Controller::all().find(|controller| controller.name() == name)
    }

    /// The name scenario files use.
    pub const fn name(self) -> &'static str {
        match self {
            Controller::Tcp(cc) => cc.name(),
            Controller::Recovery(recovery) => recovery.name(),
            Controller::Tfrc => "tfrc",
        }
    }

    /// What it does, in one line.
    pub fn summary(self) -> &'static str {
        match self {
            Controller::Tcp(cc) => cc.summary(),
            Controller::Recovery(recovery) => recovery.summary(),
            Controller::Tfrc => {
                "sends datagrams at the rate that TCP would have at the losses and round trips it meets"
            }
        }
    }

    /// The publication that defines it.
    pub fn citation(self) -> &'static str {
        match self {
            Controller::Tcp(cc) => cc.citation(),
            Controller::Recovery(recovery) => recovery.citation(),
            Controller::Tfrc => "RFC 5348",
        }
    }

    /// Whose it is: `tcp` or `udp`, the section of scenario files that takes it.
    pub const fn section(self) -> &'static str {
        match self {
            Controller::Tcp(_) | Controller::Recovery(_) => "tcp",
            Controller::Tfrc => "udp",
        }
    }

    /// The key there that takes its name.
    pub const fn key(self) -> &'static str {
        match self {
            Controller::Tcp(_) | Controller::Tfrc => "cc",
            Controller::Recovery(_) => "recovery",
        }
    }

    /// The keys of its group that bear on it, with the defaults that they have beside it in the profile `rfc`.
    pub fn fields(self) -> Vec<Field> {
        let group = self.group();
        let [options, own] = match self {
            Controller::Tcp(cc) if cc.needs().delays => [TCP, DELAYS],
            Controller::Tcp(_) | Controller::Recovery(_) => [TCP, &[]],
            Controller::Tfrc => [TFRC, &[]],
        };
        let field = |(name, kind, doc): &(&'static str, &str, &str)| {
            let default = match &group[*name] {
                toml::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            Field { name, also: &[], doc: doc.to_string(), kind: kind.to_string(), default, range: String::new() }
        };
        options.iter().chain(own).map(field).collect()
    }

    /// A group that says nothing but this, every default filled in.
    fn group(self) -> toml::Table {
        let (section, key, name) = (self.section(), self.key(), self.name());
        let link = "rate = \"10Mbit/s\"\ndelay = \"10ms\"\nlimit = \"100p\"";
        let text = format!(
            "name = \"{name}\"\nduration = \"1s\"\nqdiscs = [\"droptail\"]\n[link]\n{link}\n[[{section}]]\n{key} = \"{name}\"\n"
        );
        let read = Scenario::read(&text, name, &Changes::default()).expect("a group needs no more than this");
        let whole: toml::Table = read.to_toml().parse().expect("a scenario is written as TOML");
        whole[section][0].as_table().cloned().unwrap_or_default()
    }
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
            assert_eq!(Controller::find(controller.name()), Some(controller));
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
