//! Disciplines in scenario files: `"sfb:bins=46"`, or a table; both can be nested.

use std::ops::Range;

use aqm::params::ParameterValue;
use aqm::{BuildError, Limit, LinkInfo, Qdisc, registry};
use toml::de::DeValue;

use crate::error::Fault;
use crate::schema::{Form, Node, ValueKind, mismatch};
use crate::settings::{read_named, text_of};

/// Builds `qdisc` once as a check, without its tables; returns the values of all parameters.
fn check(qdisc: &Qdisc, limit: Limit, link_info: &LinkInfo) -> Result<Vec<(&'static str, String)>, BuildError> {
    let settings = qdisc.settings_with(limit);
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let resolved = registry::find(&qdisc.name)?.resolve(&settings)?;
    registry::table_bytes::<()>(&qdisc.name, &settings, link_info)?;
    Ok(resolved)
}

pub(crate) fn build(
    qdisc: &Qdisc,
    limit: Limit,
    link_info: &LinkInfo,
    span: &Range<usize>,
) -> Result<Vec<(&'static str, String)>, Fault> {
    check(qdisc, limit, link_info).map_err(|error| build_fault(qdisc, &error, span))
}

/// The fault for a discipline that cannot be built. Known names are its help text, printed beside the caret.
fn build_fault(qdisc: &Qdisc, error: &BuildError, span: &Range<usize>) -> Fault {
    let fault = |message| Fault::plain(span.clone(), message);
    match error {
        BuildError::UnknownName { what: "discipline", known, .. } => {
            fault(error.brief()).help(format!("known disciplines: {}", known.join(", ")))
        }
        BuildError::UnknownName { what, known, .. } => {
            fault(format!("{}: {}", qdisc.name, error.brief())).help(format!("known {what}s: {}", known.join(", ")))
        }
        other => fault(format!("{}: {}", qdisc.name, other.brief())),
    }
}

impl ValueKind for Qdisc {
    fn form() -> Form {
        Form::named("discipline", "str | Qdisc")
    }
    fn expecting() -> String {
        "a discipline, such as \"red:maxp=0.1\" or { name = \"red\", maxp = 0.1 }".to_string()
    }
    fn read(node: &Node<'_>) -> Result<Qdisc, Fault> {
        match node.get_ref() {
            DeValue::String(text) => text.parse().map_err(|why: String| Fault::value(node.span(), why)),
            DeValue::Table(table) => {
                let mut qdisc = Qdisc::named("");
                qdisc.name = read_named("discipline", (node, table), setting, |key, value| qdisc.add(key, value))?;
                Ok(qdisc)
            }
            _ => mismatch(node, &Self::expecting()),
        }
    }
}

/// A setting, which may be a discipline or contain some.
fn setting(value: &Node<'_>) -> Result<String, Fault> {
    match value.get_ref() {
        // As text, a nested discipline with settings stands between brackets.
        DeValue::String(text) if text.contains(':') && text.contains('=') && !text.starts_with('[') => {
            Ok(format!("[{text}]"))
        }
        DeValue::Table(_) => <Qdisc as ValueKind>::read(value).map(|qdisc| qdisc.show()),
        DeValue::Array(items) => {
            items.iter().map(<Qdisc as ValueKind>::read).collect::<Result<Vec<_>, _>>().map(|all| all.show())
        }
        _ => text_of(value).map_or_else(
            || mismatch(value, "a text, a number, true or false, a discipline or a list of disciplines"),
            Ok,
        ),
    }
}
