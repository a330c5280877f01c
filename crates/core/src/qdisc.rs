//! Disciplines as users write them: `sfb:bins=46,levels=1`, and nested ones: `prio:children=[red:maxp=0.1; droptail]`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::params::{ParameterInfo, ParameterValue};
use crate::registry;
use crate::settings::{Settings, pairs, split};
use crate::units::Limit;

crate::named_settings! {
    /// A discipline and its settings.
    Qdisc, "a discipline, such as \"droptail\" or \"red:maxp=0.1\""
}

impl Qdisc {
    /// Its settings, plus `limit` unless they give a limit.
    pub fn settings_with(&self, limit: Limit) -> Vec<(&str, String)> {
        let mut settings: Vec<_> = self.settings.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        if !self.gives_limit() {
            settings.push(("limit", limit.to_string()));
        }
        settings
    }

    /// The discipline with the current names of its parameters, nested disciplines included. `report` is called with
    /// each old name and the current one.
    pub fn with_current_names(&self, report: &mut dyn FnMut(&str, &'static str)) -> Qdisc {
        let fields = registry::find(&self.name).map(|entry| entry.fields()).unwrap_or_default();
        let mut current = self.clone();
        for (name, value) in &mut current.settings {
            if let Some(field) = fields.iter().find(|field| field.renamed_from.contains(&name.as_str())) {
                report(name, field.name);
                *name = field.name.to_string();
            }
            let holds_disciplines = |field: &&ParameterInfo| field.name == name && field.kind.starts_with("discipline");
            if fields.iter().any(|field| holds_disciplines(&field))
                && let Ok(nested) = listed(value)
            {
                let renamed: Vec<Qdisc> = nested.iter().map(|inner| inner.with_current_names(report)).collect();
                if renamed != nested {
                    *value = renamed.show();
                }
            }
        }
        current
    }

    /// Whether its settings give a limit, under any name of that parameter.
    fn gives_limit(&self) -> bool {
        let fields = registry::find(&self.name).map(|entry| entry.fields()).unwrap_or_default();
        let also = fields.iter().find(|field| field.name == "limit").map_or(&[][..], |field| field.also);
        self.settings.iter().any(|(name, _)| name == "limit" || also.contains(&name.as_str()))
    }
}

/// A nested discipline: a name, or name and settings in square brackets.
impl ParameterValue for Qdisc {
    type Scalar = bool;
    fn kind() -> String {
        "discipline".to_string()
    }
    fn read(text: &str) -> Result<Qdisc, String> {
        let inner = text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        match listed(text)?.as_slice() {
            [only] if inner.is_some() || only.settings.is_empty() => known(only),
            _ => Err("one discipline, as in \"droptail\" or \"[red:maxp=0.1]\"".to_string()),
        }
    }
    fn show(&self) -> String {
        if self.settings.is_empty() { self.name.clone() } else { format!("[{self}]") }
    }
    fn nested(&self) -> Vec<(String, Settings)> {
        Vec::from([(self.name.clone(), self.settings.clone())])
    }
}

/// Nested disciplines in square brackets, separated by semicolons; `[]` for none.
impl ParameterValue for Vec<Qdisc> {
    type Scalar = bool;
    fn kind() -> String {
        "disciplines".to_string()
    }
    fn read(text: &str) -> Result<Vec<Qdisc>, String> {
        listed(text)?.iter().map(known).collect()
    }
    fn show(&self) -> String {
        let listed: Vec<String> = self.iter().map(Qdisc::to_string).collect();
        format!("[{}]", listed.join("; "))
    }
    fn nested(&self) -> Vec<(String, Settings)> {
        self.iter().flat_map(ParameterValue::nested).collect()
    }
}

/// Parses a list without checking names.
fn listed(text: &str) -> Result<Vec<Qdisc>, String> {
    let text = text.trim();
    let inside = text.strip_prefix('[').map_or(Some(text), |rest| rest.strip_suffix(']'));
    let inside = inside.ok_or("disciplines as in \"[droptail; red:maxp=0.1]\"")?;
    if inside.trim().is_empty() && text.starts_with('[') {
        return Ok(Vec::new());
    }
    split(inside, &[';'])?.into_iter().map(|item| item.trim().parse()).collect()
}

/// Checks the discipline and its settings against the registry.
fn known(qdisc: &Qdisc) -> Result<Qdisc, String> {
    let resolved = registry::find(&qdisc.name).and_then(|entry| entry.resolve(&pairs(&qdisc.settings)));
    resolved
        .map(|_| qdisc.clone())
        .map_err(|error| format!("disciplines that can be built: in \"{qdisc}\", {}", error.brief()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop_assert_eq, proptest};

    #[test]
    fn a_discipline_survives_a_round_trip_through_text() {
        let nested = "prio:children=[red:minth=25%,maxth=50%; tbf:rate=1Mbit/s,child=[sfb:bins=46]; droptail],limit=9p";
        for text in ["droptail", "sfb:bins=46,levels=1", "red:minth=25%,maxth=50%", nested] {
            assert_eq!(text.parse::<Qdisc>().unwrap().to_string(), text);
        }
        let spaced: Qdisc = " red : maxp = 0.1 , wq=0.002".parse().unwrap();
        assert_eq!(spaced.to_string(), "red:maxp=0.1,wq=0.002");
    }

    #[test]
    fn malformed_disciplines_are_refused() {
        for bad in [
            "",
            ":limit=5p",
            "red:",
            "red:maxp",
            "red:maxp=",
            "red:=1",
            "red:maxp=1,maxp=2",
            "red:a=b=c",
            "a:b=[c",
            "a:b=c]",
            "a:b=]c[",
            "a:[b]=c",
            "[a]",
            "a;b",
            "a:b=c;d",
        ] {
            assert!(bad.parse::<Qdisc>().is_err(), "{bad:?} was accepted");
        }
        let deep = format!("a:b={}c{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(deep.parse::<Qdisc>().unwrap_err().contains("deep"));
    }

    #[test]
    fn nested_disciplines_are_read_as_they_are_shown() {
        let list = <Vec<Qdisc>>::read("[ droptail ;red:maxp=0.1,ecn=off; prio:children=[fred; sfb:N=4] ]").unwrap();
        assert_eq!(list.show(), "[droptail; red:maxp=0.1,ecn=off; prio:children=[fred; sfb:N=4]]");
        assert_eq!(<Vec<Qdisc>>::read(&list.show()), Ok(list));
        assert_eq!(<Vec<Qdisc>>::read("[]"), Ok(Vec::new()));
        assert_eq!(Qdisc::read("[sfb:bins=46]").unwrap().show(), "[sfb:bins=46]");
        assert_eq!(Qdisc::read("droptail").unwrap().show(), "droptail");
        for bad in ["", "[red; fred]", "[red", "[]", "[red;]", "red; fred", "banana", "[red:maxpp=1]"] {
            assert!(Qdisc::read(bad).is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn old_names_of_parameters_become_current_ones_in_nested_disciplines_too() {
        let current = |text: &str| {
            let mut renamed = Vec::new();
            let mut report = |old: &str, new: &'static str| renamed.push(format!("{old} {new}"));
            let qdisc = text.parse::<Qdisc>().unwrap().with_current_names(&mut report);
            (qdisc.to_string(), renamed)
        };
        let (text, renamed) = current("prio:children=[droptail; red_penalty:places=3,rate_kept=0.5],limit=9p");
        assert_eq!(text, "prio:children=[droptail; red_penalty:max_penalized=3,flow_rate_factor=0.5],limit=9p");
        assert_eq!(renamed, ["places max_penalized", "rate_kept flow_rate_factor"]);
        let untouched = "tbf:rate=1Mbit/s,child=[sfb:places=3]";
        assert_eq!(current(untouched), (untouched.to_string(), Vec::new()));
    }

    #[test]
    fn the_links_limit_applies_unless_the_settings_give_one() {
        let limit = |text: &str| {
            let qdisc: Qdisc = text.parse().unwrap();
            let settings = qdisc.settings_with(Limit::Packets(780));
            settings.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        assert_eq!(limit("droptail"), ["limit=780p"]);
        assert_eq!(limit("droptail:limit=5p"), ["limit=5p"]);
    }

    proptest! {
        #[test]
        fn any_text_is_refused_or_survives_a_round_trip(text in "[a-c:=,;\\[\\] ]{0,40}") {
            if let Ok(qdisc) = text.parse::<Qdisc>() {
                prop_assert_eq!(qdisc.to_string().parse::<Qdisc>(), Ok(qdisc));
            }
            if let Ok(list) = listed(&text) {
                prop_assert_eq!(listed(&list.show()), Ok(list));
            }
        }
    }
}
