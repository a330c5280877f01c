//! Changes to single settings of the compared disciplines: `qdisc.red.maxp=0.2`.

use std::borrow::Cow;

use aqm::{Qdisc, registry};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::changes::unknown_name;
use crate::error::Fault;

/// Sets `setting` in every discipline `wanted` of `qdiscs`.
pub(crate) fn set<'c>(
    tree: &mut DeTable<'c>,
    wanted: &str,
    setting: &'c str,
    value: &Spanned<DeValue<'c>>,
) -> Result<(), Fault> {
    let mut known = Vec::new();
    let mut found = false;
    if let Some(DeValue::Array(qdiscs)) = tree.get_mut("qdiscs").map(Spanned::get_mut) {
        for qdisc in qdiscs.iter_mut() {
            let Some(mut table) = as_table(qdisc) else { continue };
            let name = table.get("name").and_then(|name| name.get_ref().as_str()).unwrap_or_default().to_string();
            if name == wanted {
                all_names(&name, setting).for_each(|name| drop(table.remove(name)));
                table.insert(Spanned::new(value.span(), Cow::Borrowed(setting)), value.clone());
                // The discipline is located at the change, so that an error about contradictory values shows the
                // change.
                *qdisc = Spanned::new(value.span(), DeValue::Table(table));
                found = true;
            } else if !known.contains(&name) {
                known.push(name);
            }
        }
    }
    if found { Ok(()) } else { Err(unknown_name("`qdiscs` has no discipline", wanted, &known, value.span())) }
}

/// A discipline as a table; `None` if it is invalid, which reading reports later.
fn as_table<'c>(qdisc: &Spanned<DeValue<'c>>) -> Option<DeTable<'c>> {
    let key = |name: &str| Spanned::new(qdisc.span(), Cow::Owned(name.to_string()));
    let text = |text: String| Spanned::new(qdisc.span(), DeValue::String(Cow::Owned(text)));
    match qdisc.get_ref() {
        DeValue::Table(table) => Some(table.clone()),
        DeValue::String(written) => {
            let Qdisc { name, settings } = written.parse().ok()?;
            let settings = settings.into_iter().map(|(name, value)| (key(&name), text(value)));
            Some([(key("name"), text(name))].into_iter().chain(settings).collect())
        }
        _ => None,
    }
}

/// All names of `setting`, itself included.
fn all_names<'a>(qdisc: &str, setting: &'a str) -> impl Iterator<Item = &'a str> + use<'a> {
    let fields = registry::find(qdisc).map(|entry| entry.fields()).unwrap_or_default();
    let mut names = fields.iter().map(|field| [&[field.name], field.also, field.inverse, field.renamed_from].concat());
    let names: Vec<&str> = names.find(|names| names.contains(&setting)).unwrap_or_default();
    std::iter::once(setting).chain(names)
}
