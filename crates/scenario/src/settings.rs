//! Settings in tables: `{ name = "red", maxp = 0.1 }`. Disciplines and traffic sources share this form, but interpret
//! inner tables and lists themselves.

use toml::de::{DeTable, DeValue};

use crate::error::Fault;
use crate::schema::{Node, ValueKind, whole};

/// Reads the table at `node`, which describes a discipline or a source; errors call it `what`. Returns the table's
/// `name` and passes all other keys to `add`, with values converted by `text`.
pub(crate) fn read_named(
    what: &str,
    (node, table): (&Node<'_>, &DeTable<'_>),
    text: impl Fn(&Node<'_>) -> Result<String, Fault>,
    mut add: impl FnMut(&str, &str) -> Result<(), String>,
) -> Result<String, Fault> {
    let fault = |message| Fault::value(node.span(), message);
    let mut name = String::new();
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "name" => name = text(value)?,
            key => add(key, &text(value)?).map_err(fault)?,
        }
    }
    if name.is_empty() { Err(fault(format!("the {what} has no `name`"))) } else { Ok(name) }
}

/// A setting as the text that a registry reads; `None` for tables and lists.
pub(crate) fn text_of(value: &Node<'_>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Boolean(on) => Some(if *on { "on" } else { "off" }.to_string()),
        DeValue::Integer(number) => whole::<i128>(number).map(|number| number.to_string()),
        DeValue::Float(_) => f64::read(value).ok().map(|number| number.to_string()),
        _ => None,
    }
}
