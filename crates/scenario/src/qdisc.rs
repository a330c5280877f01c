//! Disciplines as scenario files write them: `"sfb:bins=46"`, or a table, with disciplines inside disciplines.

use std::fmt;
use std::ops::Range;

use headgate_core::params::Value;
use headgate_core::{BuildError, Limit, Place, Qdisc, registry};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::error::Fault;
use crate::settings::{Grammar, named};

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
#[derive(Clone, Debug)]
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

fn from_table<'de, A: MapAccess<'de>>(table: A) -> Result<Qdisc, A::Error> {
    let mut qdisc = Qdisc::named("");
    qdisc.name = named::<Nested, A>(table, |key, value| qdisc.add(key, value))?;
    Ok(qdisc)
}

/// The settings of a discipline: disciplines may be among them.
struct Nested;

impl Grammar for Nested {
    const WHAT: &'static str = "discipline";
    const EXPECTED: &'static str = "a text, a number, true or false, a discipline or a list of disciplines";

    /// A discipline with settings inside another's: as text it stands between brackets.
    fn text(text: &str) -> String {
        let nested = text.contains(':') && text.contains('=') && !text.starts_with('[');
        if nested { format!("[{text}]") } else { text.to_string() }
    }
    fn table<'de, A: MapAccess<'de>>(table: A) -> Result<String, A::Error> {
        from_table(table).map(|qdisc| qdisc.show())
    }
    fn list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<String, A::Error> {
        let mut nested = Vec::new();
        while let Some(Written(qdisc)) = list.next_element()? {
            nested.push(qdisc);
        }
        Ok(nested.show())
    }
}
