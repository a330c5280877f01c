//! Traffic sources in scenario files: `"telnet:gap=exp(1s)"`, or a table.

use std::ops::Range;

use aqm::BuildError;
use headgate_traffic::values::RateSchedule;
use headgate_traffic::{GroupSource, SenderInfo, Traffic};
use toml::Spanned;
use toml::de::DeValue;

use crate::error::Fault;
use crate::inputs::{INPUTS, InputLoader};
use crate::schema::{Form, Node, RawStep, ValueKind, mismatch};
use crate::settings::{read_named, text_of};

/// The canonical form of `traffic`, and its source for flows of `sender`. `loader` reads the files that the source
/// names.
pub(crate) fn build_source(
    traffic: &Spanned<Traffic>,
    sender: &SenderInfo,
    loader: &InputLoader<'_>,
) -> Result<(Traffic, GroupSource), Fault> {
    let (source, span) = (traffic.get_ref(), traffic.span());
    // Each file that the source names: its path as written, and its path in the folder of inputs. `missing` is the
    // fault for a file that could not be read.
    let (mut named, mut missing) = (Vec::new(), None);
    let mut files = |path: &str| match loader.load(&Spanned::new(span.clone(), path.to_string())) {
        Ok((name, bytes)) => {
            named.push((path.to_string(), format!("{INPUTS}/{name}")));
            Ok(bytes)
        }
        Err(fault) => Err(missing.insert(fault).message.clone()),
    };
    let built = source.build(sender, &mut files);
    match (built, missing) {
        (_, Some(fault)) => Err(fault),
        (Err(error), None) => Err(build_fault(source, &error, span)),
        (Ok(built), None) => Ok((with_input_paths(source, &named).map_err(|why| Fault::value(span, why))?, built)),
    }
}

/// The source with its files in the folder of a result's inputs.
fn with_input_paths(source: &Traffic, named: &[(String, String)]) -> Result<Traffic, String> {
    let mut canonical = Traffic::named(&source.name);
    for (key, value) in &source.settings {
        let input = named.iter().find(|(path, _)| path == value);
        canonical.add(key, input.map_or(value, |(_, input)| input))?;
    }
    Ok(canonical)
}

/// The fault for a source that cannot be built. Known names are its help text, printed beside the caret.
fn build_fault(source: &Traffic, error: &BuildError, span: Range<usize>) -> Fault {
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

impl ValueKind for Traffic {
    fn form() -> Form {
        Form::named("source", "str | Traffic | Mapping[str, Any]")
    }
    fn expecting() -> String {
        "a source, such as \"telnet:gap=exp(1s)\" or { name = \"telnet\", gap = \"exp(1s)\" }".to_string()
    }
    fn read(node: &Node<'_>) -> Result<Traffic, Fault> {
        let parsed = |text: &str| text.parse().map_err(|why: String| Fault::value(node.span(), why));
        match node.get_ref() {
            DeValue::String(text) => parsed(text),
            DeValue::Table(table) => {
                let mut traffic = Traffic::named("");
                traffic.name = read_named("source", (node, table), setting, |key, value| traffic.add(key, value))?;
                // Via text, so that a name that could not be read back is refused.
                parsed(&traffic.to_string())
            }
            _ => mismatch(node, &Self::expecting()),
        }
    }
}

/// A setting of a source: a rate, a time, a size, or a list of them.
fn setting(value: &Node<'_>) -> Result<String, Fault> {
    match value.get_ref() {
        DeValue::Array(items) => {
            items.iter().map(listed).collect::<Result<Vec<_>, _>>().map(|items| format!("[{}]", items.join("; ")))
        }
        _ => text_of(value).map_or_else(
            || mismatch(value, "a text, a number, true or false, or a list of texts or of { at, rate }"),
            Ok,
        ),
    }
}

/// One entry of a list: a rate of a ladder, or a step of a schedule.
fn listed(item: &Node<'_>) -> Result<String, Fault> {
    let step = match item.get_ref() {
        DeValue::String(text) => return Ok(text.to_string()),
        DeValue::Table(_) => RawStep::read(item)?,
        _ => RawStep::default(),
    };
    match step {
        RawStep { at: Some(at), rate: Some(rate) } => Ok(RateSchedule::step(at.into_inner(), rate.into_inner())),
        _ => mismatch(item, "a text, or a table such as { at = \"50s\", rate = \"4Mbit/s\" }"),
    }
}
