//! Sources of traffic as scenario files write them: `"telnet:gap=exp(1s)"`, or a table.

use std::fmt;
use std::ops::Range;

use headgate_core::{BuildError, Rate, Span};
use headgate_traffic::values::Schedule;
use headgate_traffic::{Plan, Sender, Traffic};
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use toml::Spanned;

use crate::error::Fault;
use crate::inputs::{INPUTS, Loader};
use crate::settings::{Grammar, named};
use crate::values::Quantity;

/// The source that `traffic` says, as its canonical form has it and ready for flows of `sender`; `loader` finds what it
/// names.
pub(crate) fn plan(traffic: &Spanned<Written>, sender: &Sender, loader: &Loader<'_>) -> Result<(Traffic, Plan), Fault> {
    let (Written(source), span) = (traffic.get_ref(), traffic.span());
    // What it names, with the files' own names; and why one could not be had.
    let (mut named, mut missing) = (Vec::new(), None);
    let mut files = |path: &str| match loader.load(&Spanned::new(span.clone(), path.to_string())) {
        Ok((name, bytes)) => {
            named.push((path.to_string(), format!("{INPUTS}/{name}")));
            Ok(bytes)
        }
        Err(fault) => Err(missing.insert(fault).message.clone()),
    };
    let plan = source.plan(sender, &mut files);
    match (plan, missing) {
        (_, Some(fault)) => Err(fault),
        (Err(error), None) => Err(unplanned(source, &error, span)),
        (Ok(plan), None) => Ok((renamed(source, &named).map_err(|why| Fault::value(span, why))?, plan)),
    }
}

/// The same source with its files where a result has them.
fn renamed(source: &Traffic, named: &[(String, String)]) -> Result<Traffic, String> {
    let mut canonical = Traffic::named(&source.name);
    for (key, value) in &source.settings {
        let input = named.iter().find(|(path, _)| path == value);
        canonical.add(key, input.map_or(value, |(_, input)| input))?;
    }
    Ok(canonical)
}

/// What to say of a source that cannot be: the known names go beside the caret.
fn unplanned(source: &Traffic, error: &BuildError, span: Range<usize>) -> Fault {
    match error {
        BuildError::UnknownName { what: "source", known, .. } => {
            Fault::plain(span, error.brief()).help(format!("known sources: {}", known.join(", ")))
        }
        BuildError::UnknownName { what, known, .. } => {
            Fault::plain(span, format!("{}: {}", source.name, error.brief()))
                .help(format!("known {what}s: {}", known.join(", ")))
        }
        other => Fault::plain(span, format!("{}: {}", source.name, other.brief())),
    }
}

/// A source as it stands in a file.
#[derive(Clone, Debug)]
pub(crate) struct Written(pub(crate) Traffic);

struct TrafficVisitor;

impl<'de> Visitor<'de> for TrafficVisitor {
    type Value = Written;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a source, such as \"telnet:gap=exp(1s)\" or { name = \"telnet\", gap = \"exp(1s)\" }")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Written, E> {
        text.parse().map(Written).map_err(E::custom)
    }
    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Written, A::Error> {
        let mut traffic = Traffic::named("");
        traffic.name = named::<Parameters, A>(table, |key, value| traffic.add(key, value))?;
        // Through the text, so that a name that would not be read back is refused.
        self.visit_str(&traffic.to_string())
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TrafficVisitor)
    }
}

/// One entry of a list: a rate of a ladder, or a step of a schedule.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a text, or a table such as { at = \"50s\", rate = \"4Mbit/s\" }")]
enum Listed {
    Text(String),
    Step { at: Quantity<Span>, rate: Quantity<Rate> },
}

/// The settings of a source: rates, times and sizes, or lists of them.
struct Parameters;

impl Grammar for Parameters {
    const WHAT: &'static str = "source";
    const EXPECTED: &'static str = "a text, a number, true or false, or a list of texts or of { at, rate }";

    fn list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<String, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(match item {
                Listed::Text(text) => text,
                Listed::Step { at, rate } => Schedule::step(at.0, rate.0),
            });
        }
        Ok(format!("[{}]", items.join("; ")))
    }
}
