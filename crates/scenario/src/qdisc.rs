//! Disciplines as users write them: `sfb:bins=46,levels=1`.

use std::fmt;
use std::str::FromStr;

use headgate_core::{BuildError, Limit, Place, registry};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use crate::model::Qdisc;

impl Qdisc {
    /// The settings to build it with where the queue's room is `limit`: its own, and that room unless they give one.
    pub fn settings_with(&self, limit: Limit) -> Vec<(&str, String)> {
        let mut settings: Vec<_> = self.settings.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        if !self.gives_limit() {
            settings.push(("limit", limit.to_string()));
        }
        settings
    }

    /// Whether its settings say how much room there is, under any of the names its discipline knows for that.
    fn gives_limit(&self) -> bool {
        let fields = registry::find(&self.name).map(|entry| entry.fields()).unwrap_or_default();
        let also = fields.iter().find(|field| field.name == "limit").map_or(&[][..], |field| field.also);
        self.settings.iter().any(|(name, _)| name == "limit" || also.contains(&name.as_str()))
    }

    /// Every parameter with its value, after building the discipline once to see that it can be.
    ///
    /// # Errors
    /// An unknown discipline or parameter, a bad value, values that do not fit each other.
    pub(crate) fn check(&self, limit: Limit, place: &Place) -> Result<Vec<(&'static str, String)>, BuildError> {
        let settings = self.settings_with(limit);
        let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let resolved = registry::find(&self.name)?.resolve(&settings)?;
        registry::boxed::<()>(&self.name, &settings, place)?;
        Ok(resolved)
    }

    /// Adds one setting.
    ///
    /// # Errors
    /// What is wrong with it, if it cannot be written or was given before.
    pub(crate) fn add(&mut self, name: &str, value: &str) -> Result<(), String> {
        if name.is_empty() || value.is_empty() || [name, value].iter().any(|part| part.contains([',', '='])) {
            return Err(format!("expected settings as in \"red:minth=25%,maxp=0.1\", found \"{name}={value}\""));
        }
        if self.settings.iter().any(|(known, _)| known == name) {
            return Err(format!("`{name}` is given twice"));
        }
        self.settings.push((name.to_string(), value.to_string()));
        Ok(())
    }
}

impl fmt::Display for Qdisc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        let settings: Vec<String> = self.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if settings.is_empty() { Ok(()) } else { write!(f, ":{}", settings.join(",")) }
    }
}

/// Reads the form alone: whether there is such a discipline, the registry says.
impl FromStr for Qdisc {
    type Err = String;

    fn from_str(text: &str) -> Result<Qdisc, String> {
        let (name, settings) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let mut qdisc = Qdisc { name: name.trim().to_string(), settings: Vec::new() };
        if qdisc.name.is_empty() {
            return Err(format!("expected a discipline, such as \"droptail\" or \"red:maxp=0.1\", found {text:?}"));
        }
        for setting in settings.into_iter().flat_map(|settings| settings.split(',')) {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            qdisc.add(name.trim(), value.trim())?;
        }
        Ok(qdisc)
    }
}

struct QdiscVisitor;

impl<'de> Visitor<'de> for QdiscVisitor {
    type Value = Qdisc;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a discipline, such as \"red:maxp=0.1\" or { name = \"red\", maxp = 0.1 }")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Qdisc, E> {
        text.parse().map_err(E::custom)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Qdisc, A::Error> {
        let mut qdisc = Qdisc { name: String::new(), settings: Vec::new() };
        while let Some((key, Setting(value))) = table.next_entry::<String, Setting>()? {
            if key == "name" { qdisc.name = value } else { qdisc.add(&key, &value).map_err(A::Error::custom)? }
        }
        if qdisc.name.is_empty() {
            return Err(A::Error::custom("the discipline has no `name`"));
        }
        Ok(qdisc)
    }
}

impl<'de> Deserialize<'de> for Qdisc {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QdiscVisitor)
    }
}

/// One setting of a discipline, as the text its registry reads.
struct Setting(String);

struct SettingVisitor;

impl Visitor<'_> for SettingVisitor {
    type Value = Setting;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, true or false")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Setting, E> {
        Ok(Setting(text.to_string()))
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Setting, E> {
        Ok(Setting(number.to_string()))
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<Setting, E> {
        Ok(Setting(number.to_string()))
    }
    fn visit_bool<E: Error>(self, on: bool) -> Result<Setting, E> {
        Ok(Setting(if on { "on" } else { "off" }.to_string()))
    }
}

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SettingVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_discipline_survives_a_round_trip_through_text() {
        for text in ["droptail", "sfb:bins=46,levels=1", "red:minth=25%,maxth=50%"] {
            assert_eq!(text.parse::<Qdisc>().unwrap().to_string(), text);
        }
        let spaced: Qdisc = " red : maxp = 0.1 , wq=0.002".parse().unwrap();
        assert_eq!(spaced.to_string(), "red:maxp=0.1,wq=0.002");
    }

    #[test]
    fn what_is_not_of_the_form_is_refused() {
        for bad in ["", ":limit=5p", "red:", "red:maxp", "red:maxp=", "red:=1", "red:maxp=1,maxp=2", "red:a=b=c"] {
            assert!(bad.parse::<Qdisc>().is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn the_link_gives_room_unless_the_settings_do() {
        let limit = |text: &str| {
            let qdisc: Qdisc = text.parse().unwrap();
            let settings = qdisc.settings_with(Limit::Packets(780));
            settings.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        assert_eq!(limit("droptail"), ["limit=780p"]);
        assert_eq!(limit("droptail:limit=5p"), ["limit=5p"]);
    }
}
