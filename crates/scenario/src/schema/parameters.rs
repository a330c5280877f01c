//! Parameters of disciplines renamed since earlier releases. The old names still work, with a warning.

use std::borrow::Cow;

use aqm::params::ParameterValue;
use aqm::{Qdisc, registry};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Renamed;

/// Gives every parameter under `qdisc` and `qdiscs` its current name.
pub(crate) fn rename_parameters(table: &mut DeTable<'_>, renamed: &mut Renamed) {
    for (key, value) in table.iter_mut() {
        match (key.get_ref().as_ref(), value.get_mut()) {
            ("qdisc" | "qdiscs", _) => rename_in(value, renamed),
            (_, DeValue::Table(inner)) => rename_parameters(inner, renamed),
            (_, DeValue::Array(items)) => {
                let tables = items.iter_mut().filter_map(|item| match item.get_mut() {
                    DeValue::Table(inner) => Some(inner),
                    _ => None,
                });
                tables.for_each(|inner| rename_parameters(inner, renamed));
            }
            _ => {}
        }
    }
}

/// Renames parameters in a discipline, a list of disciplines, or a setting of one.
fn rename_in(value: &mut Spanned<DeValue<'_>>, renamed: &mut Renamed) {
    let span = value.span();
    match value.get_mut() {
        DeValue::String(text) => {
            let mut report = |old: &str, current: &'static str| renamed.change(old, current, span.clone());
            let Some(current) = with_current_names(text, &mut report) else { return };
            renamed.edit(span, format!("\"{current}\""));
            *text = Cow::Owned(current);
        }
        DeValue::Array(items) => items.iter_mut().for_each(|item| rename_in(item, renamed)),
        DeValue::Table(table) => {
            rename_keys(table, renamed);
            table.iter_mut().for_each(|(_, setting)| rename_in(setting, renamed));
        }
        _ => {}
    }
}

/// The text of a discipline or of nested disciplines with current names; `None` if it has no old name.
fn with_current_names(text: &str, report: &mut dyn FnMut(&str, &'static str)) -> Option<String> {
    if let Ok(qdisc) = text.parse::<Qdisc>() {
        let current = qdisc.with_current_names(report);
        return (current != qdisc).then(|| current.to_string());
    }
    let nested = <Vec<Qdisc>>::read(text).ok()?;
    let current: Vec<Qdisc> = nested.iter().map(|qdisc| qdisc.with_current_names(report)).collect();
    (current != nested).then(|| current.show())
}

/// Renames the keys of a discipline written as a table.
fn rename_keys(table: &mut DeTable<'_>, renamed: &mut Renamed) {
    let name = table.get("name").and_then(|name| name.get_ref().as_str()).unwrap_or_default();
    for field in registry::find(name).map(|entry| entry.fields()).unwrap_or_default() {
        for old in field.renamed_from {
            let Some((key, value)) = table.remove_entry(*old) else { continue };
            let span = key.span();
            table.insert(Spanned::new(span.clone(), Cow::Borrowed(field.name)), value);
            renamed.change(old, field.name, span.clone());
            renamed.edit(span, field.name.to_string());
        }
    }
}
