//! Settings as tables write them: `{ name = "red", maxp = 0.1 }`. Disciplines and sources of traffic are written alike;
//! what a table or a list among their settings means is each one's own.

use toml::de::{DeTable, DeValue};

use crate::error::Fault;
use crate::schema::{Kind, Node, whole};

/// The `name` in a table of a `what`, which stands at `node`. Every other key is given to `add`, with what `text` makes of its
/// value.
pub(crate) fn named(
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

/// A setting that is no table and no list, as the text that a registry reads.
pub(crate) fn plain(value: &Node<'_>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Boolean(on) => Some(if *on { "on" } else { "off" }.to_string()),
        DeValue::Integer(number) => whole::<i128>(number).map(|number| number.to_string()),
        DeValue::Float(_) => f64::read(value).ok().map(|number| number.to_string()),
        _ => None,
    }
}
