//! Disciplines as scenario files write them: `"sfb:bins=46"`, or a table, with disciplines inside disciplines.

use std::fmt;
use std::ops::Range;

use headgate_core::params::Value;
use headgate_core::{BuildError, Limit, Place, Qdisc, registry};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::error::Fault;

/// Every parameter of `qdisc` with its value, after building it once to see that it can be.
///
/// # Errors
/// An unknown discipline or parameter, a bad value, values that do not fit each other.
fn check(qdisc: &Qdisc, limit: Limit, place: &Place) -> Result<Vec<(&'static str, String)>, BuildError> {
    let settings = qdisc.settings_with(limit);
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let resolved = registry::find(&qdisc.name)?.resolve(&settings)?;
    registry::boxed::<()>(&qdisc.name, &settings, place)?;
    Ok(resolved)
}

/// Builds a discipline to see that it can be; gives all of its values.
pub(crate) fn build(
    qdisc: &Qdisc,
    limit: Limit,
    place: &Place,
    span: &Range<usize>,
) -> Result<Vec<(&'static str, String)>, Fault> {
    check(qdisc, limit, place).map_err(|error| unbuilt(qdisc, &error, span))
}

/// What to say of a discipline that cannot be built: the known names go beside the caret.
fn unbuilt(qdisc: &Qdisc, error: &BuildError, span: &Range<usize>) -> Fault {
    let fault = |message| Fault::plain(span.clone(), message);
    match error {
        BuildError::UnknownDiscipline { known, .. } => {
            fault(error.brief()).help(format!("known disciplines: {}", known.join(", ")))
        }
        BuildError::UnknownName { what, known, .. } => {
            fault(format!("{}: {}", qdisc.name, error.brief())).help(format!("known {what}s: {}", known.join(", ")))
        }
        other => fault(format!("{}: {}", qdisc.name, other.brief())),
    }
}

/// A discipline as it stands in a file.
#[derive(Debug)]
pub(crate) struct Written(pub(crate) Qdisc);

struct QdiscVisitor;

impl<'de> Visitor<'de> for QdiscVisitor {
    type Value = Written;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a discipline, such as \"red:maxp=0.1\" or { name = \"red\", maxp = 0.1 }")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Written, E> {
        text.parse().map(Written).map_err(E::custom)
    }
    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Written, A::Error> {
        from_table(table).map(Written)
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QdiscVisitor)
    }
}

fn from_table<'de, A: MapAccess<'de>>(mut table: A) -> Result<Qdisc, A::Error> {
    let mut qdisc = Qdisc::named("");
    while let Some((key, Setting(value))) = table.next_entry::<String, Setting>()? {
        if key == "name" { qdisc.name = value } else { qdisc.add(&key, &value).map_err(A::Error::custom)? }
    }
    if qdisc.name.is_empty() {
        return Err(A::Error::custom("the discipline has no `name`"));
    }
    Ok(qdisc)
}

/// One setting of a discipline, as the text its registry reads.
struct Setting(String);

struct SettingVisitor;

impl<'de> Visitor<'de> for SettingVisitor {
    type Value = Setting;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, true or false, a discipline or a list of disciplines")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Setting, E> {
        // A discipline with settings inside another's: as text it stands between brackets.
        let nested = text.contains(':') && text.contains('=') && !text.starts_with('[');
        Ok(Setting(if nested { format!("[{text}]") } else { text.to_string() }))
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
    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Setting, A::Error> {
        from_table(table).map(|qdisc| Setting(qdisc.show()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Setting, A::Error> {
        let mut nested = Vec::new();
        while let Some(Written(qdisc)) = list.next_element()? {
            nested.push(qdisc);
        }
        Ok(Setting(nested.show()))
    }
}

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SettingVisitor)
    }
}
